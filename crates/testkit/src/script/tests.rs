use super::{Action, parse};

#[test]
fn a_text_is_joined_and_unescaped() {
    let script = "# an agent\n\nwrite src/a.py \"x = 1\\ny = 2\\n\"\nprint all done\n";
    let expected = vec![
        Action::Write("src/a.py".into(), b"x = 1\ny = 2\n".to_vec()),
        Action::Print(b"all done".to_vec()),
    ];
    assert_eq!(parse(script), Ok(expected));
}

#[test]
fn a_nested_action_is_one_line_that_reads_the_same_again() {
    let actions = parse("daemon-after go write 'a file' 'two words'").unwrap();
    let [Action::Daemon(Some(fifo), line)] = actions.as_slice() else { panic!("{actions:?}") };
    assert_eq!(fifo.to_str(), Some("go"));
    assert_eq!(parse(line), Ok(vec![Action::Write("a file".into(), b"two words".to_vec())]));
}

#[test]
fn what_is_no_action_is_refused_with_its_line() {
    for (script, fault) in [
        ("hang\nfly away", "line 2: `fly` with 1 words is no action"),
        ("write 'a", "line 1: a quote isn't closed"),
        ("exit soon", "line 1: `soon` is no number that fits"),
        ("chmod 9 a", "line 1: `9` is no octal mode"),
        ("spawn fly", "line 1: `fly` with 0 words is no action"),
        ("print 'a\\q'", r"line 1: only \n, \t, \0 and \\ may follow a backslash"),
    ] {
        assert_eq!(parse(script).unwrap_err().to_string(), fault, "{script}");
    }
}
