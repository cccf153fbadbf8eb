use proptest::prelude::*;

use super::{CannotFail, can_fail};
use crate::declaration::Check;

fn check(words: &[&str]) -> Check {
    Check {
        name: "asked".to_owned(),
        executable: words[0].to_owned(),
        args: words[1..].iter().map(|&word| word.to_owned()).collect(),
        timeout_seconds: 1,
        required: true,
        expect_exit: 0,
        expect_empty_output: false,
        must_fail_on_base: false,
        pre_existing: false,
        outputs: Vec::new(),
    }
}

fn words(words: &[&str]) -> Result<(), CannotFail> {
    can_fail(&check(words))
}

fn shell(script: &str) -> Result<(), CannotFail> {
    words(&["sh", "-c", script])
}

/// Their success would prove nothing.
const CANNOT_FAIL: &[&str] = &[
    "",
    "# make test",
    "true",
    "exit 0",
    "make test || true",
    "make test||:",
    "make test || exit 0",
    "make test || /bin/true",
    "make test; exit 0",
    "make test; true",
    "make test; echo done",
    "make test\necho done",
    "make test\n\n# and then\n:",
    "make test; ls",
    "make test; ls -la",
    "make test; cd ..",
    "make test > log 2>&1; cat log",
    "make test; rm -rf build",
    "make test; sleep 1",
    "make test; printf '%s\\n' \"$?\"",
    "make test | tail -5",
    "make test 2>&1 | tee log",
    "make test |& tee log",
    "make test | sed s/a/b/ | cat",
    "make test | while read -r line; do echo \"$line\"; done",
    "make test &",
    "make test & wait",
    "(make test || true) && echo ok",
    "(make test; true)",
    "{ make test; true; }",
    "make test || echo failed",
    "make test || { echo failed; }",
    "make test && echo ok || echo failed",
    "set -e; make test && echo ok; echo done",
    "set -e; make test || echo failed; echo done",
    "set -e; ! make test; echo done",
    "set -e; if make test; then echo ok; fi; echo done",
    "set -e\ncd app\nmake test || true",
    "set -euo pipefail; make test | tee log || true",
    "set -o pipefail; make test | tee log; echo done",
    "set -e; set +e; make test; echo done",
    "set -o pipefail; set +o pipefail; make test | tee log",
    "set -e; (make test || true); echo done",
    "(set -e; make test) || true",
    "(set -e; make test; echo ok) || echo failed",
    "if make test; then echo ok; else echo failed; fi",
    "if make test; then echo ok; fi",
    "if ! make test; then echo failed; fi",
    "if make a; then echo a; elif make b; then echo b; else echo c; fi",
    "for t in a b; do make $t || echo failed; done",
    "for t in a b; do make $t; done; echo done",
    "for i in 1 2 3; do make test && break; sleep 1; done",
    "while read -r t; do make \"$t\" || true; done < list",
    "case $x in a) make test || true;; *) echo other;; esac",
    "case $(make test) in ok) echo ok;; esac",
    "trap 'exit 0' EXIT; make test",
    "trap \"exit 0\" EXIT; make test",
    "trap 'exit 0' 0; set -e; make test",
    "trap 'rm -f x; exit 0' EXIT; make test && echo ok",
    "trap 'exit 0' ERR; make test",
    "! false",
    "! ! true",
    "test 1",
    "[ 1 ]",
    "[ 1 = 1 ]",
    "test -n x",
    "[[ 1 ]]",
    "((1))",
    "sh -c true",
    "sh -c 'make test || true'",
    "bash -lc 'exit 0'",
    "env -u A sh -c 'true'",
    "exec true",
    "exec echo done",
    "command true",
    "eval 'make test || true'",
    "echo $(make test)",
    "echo \"`make test`\"",
    "export RESULT=$(make test)",
    "result=$(make test); echo \"$result\"",
    "test() { make test; }; test || true",
    "check() { make test; true; }; check",
    "check() { make test || return 0; }; check",
    "function check { make test; return 0; }; check",
    "make test; exit 0; make other",
    "make test || cat <<-EOF\n\tfailed || exit 1\n\tEOF",
    "python3 -c pass",
    "exit 256",
    "time make test | tee log",
    "cd app || exit 1; make test || true",
    "mkdir -p out && cd out || exit 1\nmake test\necho done",
    ". ./env.sh; make test || true",
];

/// Their status is, or may be, that of something that decides.
const CAN_FAIL: &[&str] = &[
    "make test",
    "cd app && make test",
    "cd app; make test",
    "make test && echo ok",
    "set -e; make test; echo done",
    "set -o errexit; make test; echo done",
    "set -euo pipefail; make test | tee log",
    "set -o pipefail; make test | tee log",
    "grep -q 'a || true' file",
    "make test 2>&1",
    "make test >log 2>&1",
    "make test &>log",
    "make test # || true",
    "test -f a || exit 1",
    "make test || { echo bad; exit 1; }",
    "make test || (echo bad; exit 1)",
    "make test || echo bad && exit 1",
    "make test || { echo bad >&2; false; }",
    "make test || exit",
    "make test || exit $?",
    "test $(ls | wc -l) -ge 1; make test",
    "test `ls | wc -l` -ge 1; make test",
    "test \"`ls | grep \\`date +%F\\``\"; make test",
    "case x in a|x) make test;; esac",
    "case $x in (a) make test;; (*) exit 1; esac",
    "cat <<EOF | ./calc\n1 | 2 || true\nEOF",
    "./calc <<'EOF'\na | b\n; exit 0\nEOF",
    "make test <<-EOF\n\ta | b\n\tEOF\n",
    "cat <<A <<B && make test\n||\nA\n&\nB",
    "rm -f x || :; make test",
    "make test | grep -q passed",
    "! make test | grep -q FAILED",
    "./calc < in | diff - out",
    "make test > out; diff out expected",
    "make test; status=$?; rm -rf tmp; exit $status",
    "make test; exit $?",
    "make test; for i in 1; do exit $?; done",
    "make test; case $x in *) exit $?;; esac",
    "make test; return 0",
    "make test; exit",
    "make test || failed=1; exit ${failed:-0}",
    "make test | tee log; exit ${PIPESTATUS[0]}",
    "make test | tee log; test ${PIPESTATUS[0]} -eq 0",
    "make test > >(tee log)",
    "diff <(make a) <(make b)",
    "make test & wait $!",
    "server & pid=$!; make test; status=$?; kill $pid; exit $status",
    "trap 'kill $pid' EXIT; server & pid=$!; make test",
    "trap 'rm -rf \"$tmp\"' EXIT; tmp=$(mktemp -d); make test",
    "trap 'exit 1' ERR; make test; echo done",
    "trap 'echo failed; exit 3' ERR; make test; echo done",
    "trap 'exit 0' INT TERM; make test",
    "set -E; trap 'exit 1' ERR; (make test; echo done); echo done",
    "./test unit; echo x | ./true",
    "true\r\n",
    "make test || exit 1; trap 'exit 0' EXIT",
    "trap 'exit 0' EXIT; trap - EXIT; make test",
    "if make test; then exit 0; else exit 1; fi",
    "if ! make test; then echo failed; exit 1; fi",
    "if make test; then echo ok; else false; fi",
    "for t in a b; do make $t || exit 1; done; echo done",
    "for t in a b; do make $t; done",
    "for ((i = 0; i < 3; i++)); do make test || exit 1; done",
    "set -e; for t in a b; do make $t; done; echo done",
    "until curl -sf localhost; do sleep 1; done",
    "while true; do make test && break; sleep 1; done",
    "while read -r t; do make \"$t\" || exit 1; done < list",
    "cat list | while read -r t; do make \"$t\" || exit 1; done",
    "! make test",
    "! (make test)",
    "!(make test)",
    "[ -f out ]",
    "[[ -f out && ! -e err ]]",
    "[[ $x =~ ^a|b$ ]]",
    "((x > 1))",
    "(( (1 + x) > 1 )) && true",
    "((make a); make b)",
    "echo $(( (1 | 2) << 1 )); make test",
    "test -z \"$(gofmt -l .)\"",
    "out=$(make test)",
    "out=$(make test) && echo \"$out\"",
    "set -e; out=$(make test); echo \"$out\"",
    "exec make test",
    "exec > log; make test",
    "command -v gcc",
    "sh -c 'make test'",
    "sh -c \"make $target\"",
    "sh ./check.sh",
    "eval \"$check\"",
    "eval 'make test'",
    ". ./check.sh",
    ". ./strict.sh; make test; echo done",
    "check() { make test; }; check",
    "check() { make test || return 1; echo ok; }; check",
    "true() { make test; }; true",
    "set -e; check() { make test; echo ok; }; check",
    "\"$CHECK\" || $OTHER",
    "a=(1 2 '|'); make test",
    "shopt -s extglob; rm -f !(a|b); make test",
    "echo \"${x:-\"a|b\"}\" '|' \\|; make test",
    "echo ${x#*|} a#b; make test",
    "make test || kill $$; echo done",
    "make test ||\n  exit 1",
    "make \\\n  test",
    "{\n  make test\n} 2>&1",
    "(\n  make test\n)",
    "false",
    "exit 1",
    "python3 -c 'import app'",
    "cd dist && ls app.js",
    "cat dist/app.js",
    // Not understood.
    "make test || true )",
    "if make test; then true",
    "make 'test || true",
    "make test || true; coproc ( make ) { }",
    "&& true",
];

#[test]
fn a_shell_string_that_loses_its_status_is_refused() {
    for script in CANNOT_FAIL {
        assert!(shell(script).is_err(), "{script:?} was accepted");
    }
}

#[test]
fn a_shell_string_that_can_fail_is_accepted() {
    for script in CAN_FAIL {
        assert_eq!(shell(script), Ok(()), "{script:?}");
    }
}

#[test]
fn a_program_that_always_succeeds_is_refused() {
    let refused: &[&[&str]] = &[
        &["true"],
        &["/bin/true"],
        &[":"],
        &["echo"],
        &["ls"],
        &["env", "A=1", "true"],
        &["env", "-u", "A", "true"],
        &["env", "-i", "--", "A=1", "true"],
        &["timeout", "5", "true"],
        &["timeout", "-s", "KILL", "5", "true"],
        &["timeout", "--signal=KILL", "-k5", "5", "true"],
        &["nice", "-n", "5", "stdbuf", "-oL", "/usr/bin/env", "true"],
        &["busybox", "true"],
        &["busybox", "sh", "-c", "make || true"],
        &["test", "1"],
        &["[", "1", "]"],
        &["test", "!", ""],
        &["bash", "-ec", "make || true"],
        &["bash", "-e", "-o", "pipefail", "-c", "make || true"],
        &["bash", "-c", "-e", "make && echo ok; echo done"],
        &["sh", "-nc", "make test"],
        &["env", "sh", "-c", "sh -c 'sh -c true'"],
        &["sh"],
        &["bash", "-s"],
        &["cat"],
        &["python3"],
        &["python3", "-c", "pass"],
        &["python3.11", "-I", "-Bc", "import sys; sys.exit(0)"],
        &["python", "-X", "dev", "-c", "# pytest\nprint('ok')"],
        &["node", "-e", ""],
        &["node", "--eval=process.exit(0);"],
        &["node", "-p", "1"],
        &["ruby", "-e", "exit 0"],
        &["perl", "-we", "exit 0;"],
        &["php", "-r", "echo 'ok';"],
    ];
    for program in refused {
        assert!(words(program).is_err(), "{program:?} was accepted");
    }
}

#[test]
fn a_program_that_decides_is_accepted() {
    let accepted: &[&[&str]] = &[
        &["make", "test"],
        &["false"],
        &["sh", "check.sh"],
        &["bash", "-n", "check.sh"],
        &["bash", "-o", "pipefail", "-c", "make | tee log"],
        &["bash", "-ec", "make; echo done"],
        &["sh", "-c"],
        &["timeout", "5", "make"],
        &["env", "-S", "true"],
        &["env", "A=true", "make", "true"],
        &["command", "-v", "true"],
        &["test", "-f", "true"],
        &["[", "1"],
        &["./test", "unit"],
        &["scripts/true"],
        &["./sh", "-c", "true"],
        &["/opt/tool/bin/test", "unit"],
        &["zsh", "-c", "setopt errexit; make test; echo done"],
        &["ls", "dist/app.js"],
        &["cat", "dist/app.js"],
        &["python3", "-m", "unittest"],
        &["python3", "true.py"],
        &["python3", "-c", "assert False"],
        &["python3", "-c", "print('a') or exit(1)"],
        &["node", "--test"],
        &["node", "-r", "./hook.js", "-e", ""],
        &["perl", "-ne", "die if /x/", "file"],
    ];
    for program in accepted {
        assert_eq!(words(program), Ok(()), "{program:?}");
    }
}

#[test]
fn what_passes_is_what_the_check_expects() {
    let expecting = |status: u8, words: &[&str]| can_fail(&Check { expect_exit: status, ..check(words) });
    assert!(expecting(1, &["false"]).is_err());
    assert!(expecting(3, &["sh", "-c", "make test; exit 3"]).is_err());
    assert_eq!(expecting(1, &["true"]), Ok(()));
    assert_eq!(expecting(1, &["sh", "-c", "make test || exit 1"]), Ok(()));
    let silent = |words: &[&str]| can_fail(&Check { expect_empty_output: true, ..check(words) });
    assert!(silent(&["true"]).is_err());
    assert!(silent(&["sh", "-c", "x=1; exit 0"]).is_err());
    assert_eq!(silent(&["sh", "-c", "grep -rn FIXED src || true"]), Ok(()));
    assert_eq!(silent(&["sh", "-c", "gofmt -l . | head -5"]), Ok(()));
}

#[test]
fn a_refusal_names_the_part_that_loses_the_status_and_what_to_write() {
    for (script, part, instead) in [
        ("make test || true", "`|| true` turns every failure of `make test` into success", "exit 1"),
        ("make test; echo done", "`make test` is lost, as `echo done` comes after", "`set -e;`"),
        ("set -e; make test && echo ok; echo", "`set -e` doesn't hold left of `&&`", "stand alone"),
        ("cd app; make test | tee log", "`make test` is lost before `|`", "pipefail"),
        ("make test & echo", "`make test` is put in the background", "wait $!"),
        ("if make test; then echo y; else echo n; fi", "`make test` says as a condition", "exit 1"),
        ("echo $(make test)", "`make test` is lost, as only its output", "variable"),
        ("trap 'exit 0' EXIT; make test", "a trap ends the script with success", "leave `exit` out"),
        ("exit 0", "nothing in it could say no", "declare the program"),
    ] {
        let text = shell(script).unwrap_err().to_string();
        assert!(text.contains(part) && text.contains(instead), "{script}: {text}");
    }
    assert!(words(&["true"]).unwrap_err().to_string().contains("`true` succeeds whatever happens"));
    let long = format!("make {}; true", "x".repeat(10_000));
    assert!(shell(&long).unwrap_err().to_string().len() < 500);
}

#[test]
fn a_script_that_is_too_deep_or_too_long_is_accepted() {
    for opening in ["(", "$(", "${x:-", "\"$(", "((", "$((", "{ ", "if ", "! ", "`", "sh -c '", "a=("] {
        assert_eq!(shell(&opening.repeat(20_000)), Ok(()), "{opening}");
    }
    let nested = |depth: usize| format!("{}true{}", "( ".repeat(depth), ")".repeat(depth));
    assert!(shell(&nested(5)).is_err());
    assert_eq!(shell(&nested(5_000)), Ok(()));
    assert_eq!(shell(&"$((".repeat(40)), Ok(()));
    assert_eq!(shell(&"true;".repeat(50_000)), Ok(()));
    assert_eq!(shell("f() { f; }; f || true"), Ok(()));
    assert_eq!(shell("f() { if ( for a in b; do { x=$(f; true); }; done ); then :; fi; }; f"), Ok(()));
    let loops = format!("{}true{}", "for a in b; do ".repeat(20), "; done".repeat(20));
    assert_eq!(shell(&loops), Ok(()));
}

/// The ways of writing the same script.
fn dressed(script: &str) -> [String; 8] {
    [
        format!("{{ {script}\n}}"),
        format!("({script}\n)"),
        format!("\n  {script}"),
        format!("{script}\n\n"),
        format!("{script} \n\t# and no more"),
        format!("{{\n({{ {script}\n}}) \n}}"),
        format!("if :; then {script}\nfi"),
        format!("true && {{ {script}\n}}"),
    ]
}

#[test]
fn braces_parentheses_and_blanks_change_nothing() {
    for script in CANNOT_FAIL {
        for dressed in dressed(script).iter().filter(|_| !script.is_empty() && !script.starts_with('#')) {
            assert!(shell(dressed).is_err(), "{dressed:?} was accepted");
        }
    }
    for script in CAN_FAIL {
        for dressed in dressed(script) {
            assert_eq!(shell(&dressed), Ok(()), "{dressed:?}");
        }
    }
}

/// Scripts of plain commands, and whether they can fail.
fn scripts() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["make test", "true", "false", "exit 0", "exit 1", "echo a", "cd b"]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 24, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), prop::sample::select(vec!["; ", " && ", " || ", " | ", "\n", " & "]))
                .prop_map(|((left, right), joint)| format!("{left}{joint}{right}")),
            inner.clone().prop_map(|script| format!("( {script} )")),
            inner.clone().prop_map(|script| format!("{{ {script}; }}")),
            inner.clone().prop_map(|script| format!("{{ ! {{ {script}; }}; }}")),
            inner.clone().prop_map(|script| format!("set -e; {script}")),
            inner.clone().prop_map(|script| {
                if script.contains('\'') { script } else { format!("sh -c '{script}'") }
            }),
            pair.prop_map(|(condition, body)| format!("if {condition}; then {body}; fi")),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(script in "\\PC*", program in "\\PC*") {
        let _ = shell(&script);
        let _ = words(&[&program, &script]);
    }

    #[test]
    fn any_heap_of_syntax_is_read_without_a_panic(pieces in prop::collection::vec(
        prop::sample::select(vec![
            "(", ")", "((", "))", "{", "}", "$(", "${", "`", "'", "\"", "\\", "\n", ";", ";;", "&", "&&", "|", "||",
            "<<E", "E", "<(", "if", "then", "fi", "while", "do", "done", "case", "in", "esac", "for", "[[", "]]", " ",
            "true", "make", "#", "!", "=", "=(", "f()", "exit", "0", "trap", "EXIT", "eval", "sh -c", "set -e", "$",
        ]), 0..60)) {
        let _ = shell(&pieces.concat());
        let _ = shell(&pieces.join(" "));
    }

    #[test]
    fn a_script_means_the_same_in_braces_and_parentheses(script in scripts()) {
        let answer = shell(&script).is_ok();
        for dressed in dressed(&script) {
            prop_assert_eq!(shell(&dressed).is_ok(), answer, "{}", dressed);
        }
    }

    #[test]
    fn an_excuse_at_the_end_is_seen_behind_every_script(script in scripts().prop_filter("it ends early", |script| {
        !script.contains("exit") && !script.contains("set -e")
    })) {
        let excused = format!("{{ {script}\n}} || true");
        prop_assert!(shell(&excused).is_err());
    }
}
