//! What a job must leave as it is: the user's repository, byte for byte, whatever the agent does and however
//! the repository is made. The one exception, the ref of the candidate, is checked here too.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Hermetic, Repository};

use crate::bench::{
    HONEST, assert_kept, assert_nothing_left, codes, declared, entries, environment, environments, execution,
    run, run_arguments, shop, text, told_again, unboxed_environments, verify,
};

/// Every hook that git knows to run in a repository of a user.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];

/// Runs a job on a repository and shows that it left all of it alone; returns what the job said.
#[track_caller]
fn run_untouched(hermetic: &Hermetic, repository: &Repository<'_>, content: &Value, script: &str) -> Value {
    let before = repository.snapshot();
    let outcome = run(hermetic, repository, content, script);
    let said = told_again(hermetic, &outcome);
    before.assert_same(&repository.snapshot());
    assert_eq!(repository.fsck(), "");
    assert_kept(repository, &said);
    assert_nothing_left(hermetic);
    said
}

#[test]
fn the_five_agents_of_the_demonstration_leave_the_repository_alone() {
    for hermetic in unboxed_environments() {
        let tool = hermetic.write("spelling", "#!/bin/sh\ngrep -q two greeting || test -e greeting\n");
        let make_tool = || {
            fs::write(&tool, "#!/bin/sh\ngrep -q two greeting || test -e greeting\n")
                .expect("the tool can be made");
            hermetic.run(hermetic.command("chmod").arg("755").arg(&tool)).assert_code(0);
        };
        make_tool();
        let repository = shop(&hermetic);
        let plain = declared(json!({}));
        let with_tool = declared(json!({"commands": [
            {"name": "tests", "executable": "sh", "args": ["check.sh"]},
            {"name": "spelling", "executable": text(&tool)},
        ]}));
        let said = run_untouched(&hermetic, &repository, &plain, HONEST);
        assert_eq!(said["verdict"], json!("VERIFIED"));
        let said = run_untouched(&hermetic, &repository, &plain, "write check.sh 'test -e greeting\\n'\n");
        assert_eq!((&said["verdict"], codes(&said)), (&json!("FAILED"), vec!["criteria_modified"]));
        let said = run_untouched(&hermetic, &repository, &plain, "print 'all done\\n'\n");
        assert_eq!((&said["verdict"], codes(&said)), (&json!("FAILED"), vec!["outcome_absent"]));
        let gone = format!("{HONEST}delete {}\n", text(&tool));
        let said = run_untouched(&hermetic, &repository, &with_tool, &gone);
        assert_eq!((&said["verdict"], codes(&said)), (&json!("UNCERTAIN"), vec!["check_not_started"]));
        let impatient = declared(json!({"budget": {"wallSeconds": 1}}));
        let said = run_untouched(&hermetic, &repository, &impatient, &format!("{HONEST}hang\n"));
        assert_eq!((&said["verdict"], execution(&said)), (&Value::Null, "timed_out"));
    }
}

/// What an agent can do to the git repository that it finds itself in, and still be honest.
const GIT_HABITS: &[(&str, &str)] = &[
    ("commits on its branch", "git add --all\ngit commit --quiet --message work\n"),
    (
        "switches to a branch of its own",
        "git switch --quiet --create other\ngit add --all\ngit commit --quiet --message work\n",
    ),
    ("sets core.hooksPath", "mkdir hooks-of-mine\ngit config core.hooksPath hooks-of-mine\n"),
    ("moves main", "git add --all\ngit commit --quiet --message work\ngit branch --force main HEAD\n"),
    ("amends the base", "git add --all\ngit commit --quiet --amend --message mine\n"),
    (
        "starts another history",
        "git checkout --quiet --orphan fresh\ngit add --all\ngit commit --quiet --message fresh\n",
    ),
    ("adds remotes", "git remote add origin /nowhere\ngit remote add other ext::false\n"),
    ("deletes its .git", "delete .git\n"),
    ("points its .git at nothing", "delete .git\nwrite .git 'gitdir: /nowhere\\n'\n"),
    (
        "tags, stashes and packs",
        "git add --all\ngit commit --quiet --message work\ngit tag v9\nwrite x y\n\
         git stash push --quiet --include-untracked\ngit pack-refs --all\ngit gc --quiet --prune=now\n",
    ),
    ("detaches HEAD", "git add --all\ngit commit --quiet --message work\ngit checkout --quiet --detach\n"),
    ("leaves a lock of the index", "write .git/index.lock ''\nwrite .git/HEAD.lock ''\n"),
    ("turns its repository bare", "git config core.bare true\ngit config core.worktree /nowhere\n"),
];

#[test]
fn whatever_an_agent_does_to_its_own_git_repository_the_users_stays_and_the_files_decide() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    for (habit, script) in GIT_HABITS {
        let script = format!(
            "git config user.name agent\ngit config user.email agent@example.invalid\n{HONEST}{script}"
        );
        let said = run_untouched(&hermetic, &repository, &declared(json!({})), &script);
        assert_eq!(said["verdict"], json!("VERIFIED"), "an agent that {habit}: {said:#}");
        let commit = said["candidate"]["commit"].as_str().expect("there is a candidate");
        assert_eq!(repository.read_at(commit, "greeting").as_deref(), Some(b"two\n".as_slice()), "{habit}");
    }
}

#[test]
fn an_agent_that_does_all_of_it_as_an_ordinary_user_leaves_the_repository_alone() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let habits = [0, 2, 3, 1, 4, 6, 5];
        let script = habits.iter().fold(
            format!("git config user.name agent\ngit config user.email agent@example.invalid\n{HONEST}"),
            |script, habit| script + GIT_HABITS[*habit].1 + "append docs/notes 'more\\n'\n",
        );
        let said = run_untouched(&hermetic, &repository, &declared(json!({})), &script);
        assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
    }
}

/// A program that leaves a trace, and where.
fn tracer(hermetic: &Hermetic) -> (PathBuf, PathBuf) {
    let trace = hermetic.root().join("trace");
    let program = hermetic.write("tracer", format!("#!/bin/sh\necho \"$0 $*\" >>{}\ncat\n", trace.display()));
    hermetic.run(hermetic.command("chmod").arg("755").arg(&program)).assert_code(0);
    (program, trace)
}

/// Makes everything of the repository's own configuration that can start a program start the tracer.
fn arm(repository: &Repository<'_>, tracer: &str) {
    for hook in HOOKS {
        repository
            .write_executable(&format!(".git/hooks/{hook}"), format!("#!/bin/sh\nexec {tracer} {hook}\n"));
    }
    for (key, value) in [
        ("core.fsmonitor", tracer),
        ("core.pager", tracer),
        ("core.editor", tracer),
        ("core.askPass", tracer),
        ("core.sshCommand", tracer),
        ("core.gitProxy", tracer),
        ("core.alternateRefsCommand", tracer),
        ("sequence.editor", tracer),
        ("diff.external", tracer),
        ("diff.traced.command", tracer),
        ("diff.traced.textconv", tracer),
        ("filter.traced.clean", tracer),
        ("filter.traced.smudge", tracer),
        ("filter.traced.required", "true"),
        ("merge.traced.driver", tracer),
        ("gpg.program", tracer),
        ("gpg.ssh.program", tracer),
        ("commit.gpgSign", "true"),
        ("tag.gpgSign", "true"),
        ("credential.helper", tracer),
        ("uploadpack.packObjectsHook", tracer),
        ("remote.origin.url", "ext::false"),
        ("core.untrackedCache", "true"),
        ("core.logAllRefUpdates", "always"),
        ("maintenance.auto", "true"),
        ("gc.auto", "1"),
        ("core.autocrlf", "input"),
    ] {
        repository.git(["config", key, value]);
    }
    repository.write(".git/info/attributes", "greeting filter=traced diff=traced merge=traced\n");
}

#[test]
fn no_program_of_the_repositorys_configuration_is_run_and_nothing_that_lies_about_is_touched() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let (tracer, trace) = tracer(&hermetic);
        repository.git(["tag", "light"]);
        repository.git(["tag", "--annotate", "heavy", "--message", "a tag"]);
        repository.git(["branch", "other"]);
        repository.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        repository.git(["pack-refs", "--all"]);
        repository.git(["branch", "loose"]);
        repository.write("docs/notes", "stashed\n");
        repository.git(["stash", "push", "--quiet"]);
        repository.write("staged", "staged\n").write("docs/notes", "staged\n");
        repository.git(["add", "staged", "docs/notes"]);
        repository.write("docs/notes", "dirty\n").write("untracked", "").write("greeting", "dirty\n");
        repository.git(["update-index", "--assume-unchanged", "check.sh"]);
        repository.git(["notes", "add", "--message", "a note", "HEAD"]);
        repository.git(["replace", "HEAD:greeting", "HEAD:check.sh"]);
        arm(&repository, text(&tracer));
        let before = repository.snapshot();
        assert!(trace.exists(), "the repository runs no program of its own: this shows nothing");
        fs::remove_file(&trace).expect("the trace can be removed");
        let outcome = run(&hermetic, &repository, &declared(json!({})), HONEST);
        assert!(!trace.exists(), "{}", fs::read_to_string(&trace).expect("the trace can be read"));
        let said = told_again(&hermetic, &outcome);
        assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
        before.assert_same(&repository.snapshot());
        assert_kept(&repository, &said);
        // Git is asked about the working tree too, and about what of it a commit would hold.
        fs::remove_file(&trace).expect("taking the snapshot left a trace");
        let outcome = verify(&hermetic, &repository, &declared(json!({})), &["--base", "HEAD", "--worktree"]);
        outcome.assert_code(2);
        assert!(!trace.exists(), "{}", fs::read_to_string(&trace).expect("the trace can be read"));
        before.assert_same(&repository.snapshot());
        assert_eq!(repository.fsck(), "");
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn a_job_from_inside_a_linked_worktree_leaves_it_and_the_main_one_alone() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        repository.git(["worktree", "add", "--quiet", "-b", "side", "../linked"]);
        let linked = Repository::at(&hermetic, hermetic.root().join("linked"));
        linked.write("docs/notes", "on the side\n").commit("side");
        linked.write("docs/notes", "dirty\n");
        let (main_before, base) = (repository.snapshot(), linked.head());
        let said = run_untouched(&hermetic, &linked, &declared(json!({})), HONEST);
        main_before.assert_same(&repository.snapshot());
        assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
        assert_eq!(said["base"], json!(base));
        assert_kept(&repository, &said);
        assert_eq!(repository.fsck(), "");
    }
}

#[test]
fn a_job_from_a_folder_below_or_with_a_repository_option_is_the_same_job() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let before = repository.snapshot();
    let content = declared(json!({}));
    let outcome =
        hermetic.nightgate(&repository.path().join("docs"), run_arguments(&hermetic, &content, HONEST));
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_kept(&repository, &said);
    let mut arguments = run_arguments(&hermetic, &content, HONEST);
    arguments.splice(2..2, ["--repository".to_owned(), "shop".to_owned()]);
    let outcome = hermetic.nightgate(hermetic.root(), arguments);
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_kept(&repository, &said);
    before.assert_same(&repository.snapshot());
}

#[test]
fn a_job_on_a_bare_repository_leaves_all_but_its_ref_alone() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        repository.git(["clone", "--quiet", "--bare", ".", "../bare.git"]);
        let bare = Repository::at(&hermetic, hermetic.root().join("bare.git"));
        let before = bare.snapshot_bare();
        let outcome = run(&hermetic, &bare, &declared(json!({})), HONEST);
        let said = told_again(&hermetic, outcome.assert_code(0));
        before.assert_same(&bare.snapshot_bare());
        assert_kept(&bare, &said);
        assert_eq!(bare.fsck(), "");
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn a_job_on_a_detached_head_starts_from_it_and_leaves_it_alone() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let base = repository.head();
    repository.write("greeting", "four\n").commit("later");
    repository.git(["checkout", "--quiet", "--detach", &base]);
    let said = run_untouched(&hermetic, &repository, &declared(json!({})), HONEST);
    assert_eq!((&said["verdict"], &said["base"]), (&json!("VERIFIED"), &json!(base)));
}

#[test]
fn a_job_on_a_repository_with_a_submodule_leaves_both_alone() {
    let hermetic = environment();
    let part = hermetic.repository("part");
    part.write("file", "part\n").commit("part");
    let repository = shop(&hermetic);
    repository.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../part", "part"]);
    repository.commit("with a part");
    let part_before = part.snapshot();
    let said = run_untouched(&hermetic, &repository, &declared(json!({})), HONEST);
    part_before.assert_same(&part.snapshot());
    assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
    let commit = said["candidate"]["commit"].as_str().expect("there is a candidate");
    let entry = |revision: &str| repository.git(["ls-tree", revision, "part"]);
    assert!(entry("HEAD").starts_with("160000"), "{}", entry("HEAD"));
    assert_eq!(entry(commit), entry("HEAD"), "the submodule is part of the candidate");
}

#[test]
fn a_shallow_clone_one_of_sha256_and_one_with_a_stale_lock_are_worked_on_and_left_alone() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let content = declared(json!({}));
    repository.write("docs/notes", "more\n").commit("second");
    let url = format!("file://{}", text(repository.path()));
    repository.git(["clone", "--quiet", "--depth=1", &url, "../shallow"]);
    let shallow = Repository::at(&hermetic, hermetic.root().join("shallow"));
    assert!(shallow.path().join(".git/shallow").exists(), "the clone is whole");
    assert_eq!(run_untouched(&hermetic, &shallow, &content, HONEST)["verdict"], json!("VERIFIED"));

    repository.git(["init", "--quiet", "--object-format=sha256", "../long"]);
    let long = Repository::at(&hermetic, hermetic.root().join("long"));
    long.write("greeting", "one\n").write("check.sh", "grep -q two greeting\n").commit("base");
    let said = run_untouched(&hermetic, &long, &content, HONEST);
    assert_eq!((&said["verdict"], said["base"].as_str().map(str::len)), (&json!("VERIFIED"), Some(64)));

    repository
        .write(".git/index.lock", "")
        .write(".git/HEAD.lock", "")
        .write(".git/refs/heads/main.lock", "");
    assert_eq!(run_untouched(&hermetic, &repository, &content, HONEST)["verdict"], json!("VERIFIED"));
}

#[test]
fn folders_whose_names_need_quoting_are_folders_like_any_other() {
    for mut hermetic in environments() {
        hermetic.set("NIGHTGATE_HOME", hermetic.root().join("a home: it's \"mine\"\\n"));
        let repository = hermetic.repository("it's a \"shop\": é\\n\t\nnew line");
        repository.write("greeting", "one\n").write("check.sh", "grep -q two greeting\n").commit("base");
        let said = run_untouched(&hermetic, &repository, &declared(json!({})), HONEST);
        assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
    }
}

#[test]
fn variables_of_git_in_nightgates_own_environment_redirect_nothing() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let decoy = hermetic.repository("decoy");
        decoy.write("greeting", "four\n").write("check.sh", "exit 1\n").commit("another project");
        let index = hermetic.write("index-of-a-hook", "no index\n");
        let trace = hermetic.root().join("git-trace");
        let (before, decoy_before) = (repository.snapshot(), decoy.snapshot());
        let git_dir = decoy.path().join(".git");
        let mut command = hermetic
            .nightgate_command(repository.path(), run_arguments(&hermetic, &declared(json!({})), HONEST));
        command.env("GIT_DIR", &git_dir).env("GIT_COMMON_DIR", &git_dir).env("GIT_WORK_TREE", decoy.path());
        command.env("GIT_INDEX_FILE", &index).env("GIT_OBJECT_DIRECTORY", git_dir.join("objects"));
        command.env("GIT_NAMESPACE", "decoy").env("GIT_PREFIX", "docs/").env("GIT_CONFIG_GLOBAL", "/nowhere");
        command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "core.bare");
        command.env("GIT_CONFIG_VALUE_0", "true").env("GIT_CONFIG_PARAMETERS", "'core.bare=true'");
        command.env("GIT_TRACE", &trace).env("GIT_EXTERNAL_DIFF", "/nowhere");
        command.env("GIT_CEILING_DIRECTORIES", hermetic.root()).env("GIT_EXEC_PATH", "/nowhere");
        let outcome = hermetic.run(&mut command);
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
        assert_kept(&repository, &said);
        before.assert_same(&repository.snapshot());
        decoy_before.assert_same(&decoy.snapshot());
        assert_eq!(decoy.git(["for-each-ref", "refs/nightgate"]), "");
        assert_eq!(entries(&git_dir.join("refs")), ["heads", "tags"]);
        assert_eq!(fs::read(&index).expect("the index file can be read"), b"no index\n");
        assert!(!trace.exists(), "git was traced");
    }
}
