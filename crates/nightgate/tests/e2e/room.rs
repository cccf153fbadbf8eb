//! What a check can see beside the candidate: what setup made in the room, and what lies above it.
//! What a check's end means is `verify`.

use serde_json::{Value, json};
use testkit::{Hermetic, Repository};

use crate::bench::{
    HONEST, assert_nothing_left, codes, declared, environment, run, shell, shop, told_again,
    unboxed_environment, unboxed_environments, verify,
};

/// Judges what `work` does on top of a shop with some sources, with these setup steps and this one check.
#[track_caller]
fn judge(setup: Value, check: &str, work: impl FnOnce(&Repository<'_>)) -> Value {
    judge_in(&environment(), setup, check, work)
}

#[track_caller]
fn judge_in(hermetic: &Hermetic, setup: Value, check: &str, work: impl FnOnce(&Repository<'_>)) -> Value {
    let repository = shop(hermetic);
    repository.write("src/helper.py", "WORD = 'one'\n").write("src/tool.sh", "echo one\n");
    repository.write("src/index.js", "1\n").write("vendor/index.php", "1\n");
    repository.commit("sources");
    let base = repository.head();
    repository.write("greeting", "two\n");
    work(&repository);
    repository.commit("work");
    let content = declared(json!({"setup": setup, "commands": [shell("tests", check)]}));
    let outcome = verify(hermetic, &repository, &content, &["--base", &base, "--commit", "HEAD"]);
    let said = told_again(hermetic, &outcome);
    assert_nothing_left(hermetic);
    said
}

#[track_caller]
fn assert_answer(said: &Value, verdict: &str, reasons: &[&str], what: &str) {
    let mut found = codes(said);
    found.dedup();
    assert_eq!((&said["verdict"], found), (&json!(verdict), reasons.to_vec()), "{what}: {said:#}");
}

fn remove(name: &'static str) -> impl Fn(&Repository<'_>) {
    move |repository| {
        repository.git(["rm", "--quiet", name]);
    }
}

#[test]
fn byte_code_that_setup_made_of_base_is_never_what_a_check_imports() {
    const IMPORTS: &str = "cd src && exec python3 -c 'import helper; assert helper.WORD'";
    const SAYS_TWO: &str = "cd src && exec python3 -c 'import helper; assert helper.WORD == \"two\"'";
    let compile = |more: &str| json!([shell("compile", format!("exec python3 -m compileall -q {more} ."))]);
    for more in ["-b", "-b --invalidation-mode unchecked-hash"] {
        let said = judge(compile(more), IMPORTS, remove("src/helper.py"));
        assert_answer(&said, "FAILED", &["check_failed"], more);
    }
    // Byte code that is never compared with its source, where Python looks for it first.
    let unchecked = compile("--invalidation-mode unchecked-hash");
    let change = |repository: &Repository<'_>| {
        repository.write("src/helper.py", "WORD = 'two'\n");
    };
    assert_answer(&judge(unchecked, SAYS_TWO, change), "VERIFIED", &[], "changed");
    assert_answer(&judge(compile("-b"), IMPORTS, |_| {}), "VERIFIED", &[], "honest");
}

#[test]
fn a_product_of_setup_that_can_stand_in_for_a_changed_or_deleted_file_is_uncertain() {
    const BUILD: &str = "mkdir -p out && cp src/tool.sh out/tool";
    const CHECK: &str = "exec sh out/tool";
    let build = |inputs: &[&str]| {
        let mut step = shell("build", BUILD);
        step["inputs"] = json!(inputs);
        json!([step])
    };
    let change = |repository: &Repository<'_>| {
        repository.write("src/tool.sh", "exit 1\n");
    };
    for said in [judge(build(&[]), CHECK, change), judge(build(&[]), CHECK, remove("src/tool.sh"))] {
        assert_answer(&said, "UNCERTAIN", &["setup_stale"], "stale");
        let finding = &said["reasons"][0];
        assert_eq!(finding["path"], json!("src/tool.sh"), "{said:#}");
        let text = finding["text"].as_str().expect("a reason has a text");
        assert!(text.contains("out/tool") && text.contains("src/tool.sh"), "{text}");
        assert!(said["checks"][0]["exit"].get("not_run").is_some(), "{said:#}");
    }
    // The candidate can't make it look like a cache.
    let hidden = judge(build(&[]), CHECK, |repository| {
        change(repository);
        repository.write("out/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    });
    assert_answer(&hidden, "UNCERTAIN", &["setup_stale"], "marked by the candidate");
    // Built again from the candidate's own file, it is no stand-in: the check itself tells.
    assert_answer(&judge(build(&["src"]), CHECK, change), "FAILED", &["check_failed"], "built again");
    let honest = judge(build(&["src"]), CHECK, |repository| {
        repository.write("src/tool.sh", "echo two\n");
    });
    assert_answer(&honest, "VERIFIED", &[], "honest, built again");
    assert_answer(&judge(build(&[]), CHECK, |_| {}), "VERIFIED", &[], "nothing of it was changed");
}

#[test]
fn dependencies_that_setup_fetched_stand_in_for_nothing_of_the_project() {
    const FETCH: &str = "
        mkdir -p node_modules/dep vendor/dep env/lib target/debug
        echo 1 >node_modules/dep/index.js
        echo 1 >vendor/dep/index.html
        echo home = /usr/bin >env/pyvenv.cfg
        echo 1 >env/lib/index.js
        echo 'Signature: 8a477f597d28d172789f06886806bc55' >target/CACHEDIR.TAG
        echo 1 >target/debug/index.d
        mkdir links
        ln -s ../src/index.js links/index.js
        ln -s \"$PWD/src/index.js\" links/index.cjs";
    const CHECK: &str = "test -e node_modules/dep/index.js && sh check.sh";
    let fetch = || json!([shell("deps", FETCH)]);
    let said = judge(fetch(), CHECK, remove("src/index.js"));
    assert_answer(&said, "VERIFIED", &[], "an honest deletion");
    let said = judge(fetch(), CHECK, remove("vendor/index.php"));
    assert_answer(&said, "UNCERTAIN", &["setup_stale"], "a file of the same folder");
}

#[test]
fn configuration_above_the_clean_rooms_that_tools_would_find_is_uncertain_and_told_before_the_agent_starts() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        // Nightgate's home lies in the environment's root; the repository and the user's home lie beside it.
        hermetic.write("home/package.json", "{}");
        hermetic.write("package.json.bak", "{}");
        let outcome = run(&hermetic, &repository, &declared(json!({})), HONEST);
        assert_answer(&told_again(&hermetic, outcome.assert_code(0)), "VERIFIED", &[], "nothing above");
        assert_eq!(outcome.stderr_text(), "");

        hermetic.write(".cargo/config.toml", "[target.'cfg(all())']\nrunner = 'true'\n");
        hermetic.write("package.json", "{}");
        let outcome = run(&hermetic, &repository, &declared(json!({})), HONEST);
        let said = told_again(&hermetic, outcome.assert_code(2));
        assert_answer(&said, "UNCERTAIN", &["influence_above"], "above");
        let root = hermetic.root().display();
        for (reason, name) in [(0, ".cargo/config.toml"), (1, "package.json")] {
            let text = said["reasons"][reason]["text"].as_str().expect("a reason has a text");
            assert!(
                text.starts_with(&format!("{root}/{name} ")) && text.contains("NIGHTGATE_HOME"),
                "{text}"
            );
            assert!(outcome.stderr_text().contains(&format!("{root}/{name}")), "{outcome}");
        }
        assert_eq!(said["checks"][0]["passed"], json!(true), "{said:#}");
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn configuration_that_a_check_puts_above_its_room_is_seen_after_it() {
    let plant = "touch ../go.mod && exec sh check.sh";
    let said = judge_in(&unboxed_environment(), json!([]), plant, |_| {});
    assert_answer(&said, "UNCERTAIN", &["influence_above"], "planted");
    assert!(said["reasons"][0]["text"].as_str().is_some_and(|text| text.contains("/go.mod ")), "{said:#}");
}

#[test]
fn a_box_with_a_root_of_its_own_shows_a_check_nothing_above_its_room() {
    let hermetic = environment();
    hermetic.write(".cargo/config.toml", "[target.'cfg(all())']\nrunner = 'true'\n");
    hermetic.write("package.json", "{}");
    let look = "cd .. && ls -A && cd .. && ls -A && ! touch x && test ! -e package.json && test ! -e .cargo";
    let said = judge_in(&hermetic, json!([]), look, |_| {});
    assert_answer(&said, "VERIFIED", &[], "boxed");
}
