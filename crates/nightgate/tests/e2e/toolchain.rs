//! Toolchains of the user's home under the fresh home of a check: the real program runs, a version manager's
//! stand-in never does. How a tool is found is tested in the host.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::{Hermetic, Repository};

use crate::bench::{HONEST, codes, declared, environment, environments, run, shop, told_again};

/// A home with programs in it, for layouts of version managers.
struct Home<'h> {
    hermetic: &'h Hermetic,
    trace: PathBuf,
}

impl<'h> Home<'h> {
    fn new(hermetic: &'h Hermetic) -> Self {
        Self { hermetic, trace: hermetic.root().join("stand-in-ran") }
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.hermetic.write(&format!("home/{name}"), format!("#!/bin/sh\n{script}"));
        self.hermetic.run(self.hermetic.command("chmod").arg("755").arg(&path)).assert_code(0);
    }

    fn link(&self, aim: &str, name: &str) {
        let path = self.hermetic.home().join(name);
        let folder = path.parent().expect("a link lies in a folder");
        fs::create_dir_all(folder).expect("a folder can be made");
        symlink(aim, &path).expect("a link can be made");
        self.hermetic.account().own(&self.hermetic.home());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.hermetic.home().join(name)
    }

    /// Runs an honest job; the answer must be that its check, which only the real tool can pass, has passed.
    #[track_caller]
    fn assert_works(&self, repository: &Repository<'_>, content: &Value) {
        let outcome = run(self.hermetic, repository, content, HONEST);
        let said = told_again(self.hermetic, outcome.assert_code(0));
        assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
        assert_eq!(said["checks"][0]["atBase"], json!({"exited": {"code": 1}}), "{said:#}");
        assert!(!self.trace.exists(), "{}", fs::read_to_string(&self.trace).unwrap_or_default());
    }
}

/// Says yes where the greeting is right and the home isn't the user's own.
fn judging(hermetic: &Hermetic) -> String {
    format!("test \"$HOME\" != {} || exit 98\ngrep -q two greeting\n", hermetic.home().display())
}

fn by(executable: &str, args: &[&str]) -> Value {
    declared(json!({"commands": [{"name": "tests", "executable": executable, "args": args}]}))
}

fn rustup<'h>(hermetic: &'h mut Hermetic) -> Home<'h> {
    hermetic.prepend_path(hermetic.home().join(".cargo/bin"));
    let home = Home::new(hermetic);
    let toolchain = home.path(".rustup/toolchains/fake/bin");
    // Under any other name it stands in for a tool, and then it must not run.
    let script = format!(
        "case \"$0\" in */rustup) ;; *) echo \"$0 $*\" >>{}; exit 99;; esac\n\
         test \"$1\" = which && echo {}/$2\n",
        home.trace.display(),
        toolchain.display()
    );
    home.program(".cargo/bin/rustup", &script);
    home.link("rustup", ".cargo/bin/cargo");
    home.link("rustup", ".cargo/bin/rustc");
    home.program(".rustup/toolchains/fake/bin/cargo", "test \"$1\" = test || exit 97\nrustc --judge\n");
    home.program(".rustup/toolchains/fake/bin/rustc", &judging(hermetic));
    home
}

#[test]
fn a_check_by_cargo_runs_the_toolchain_of_rustup_and_finds_its_companions() {
    for mut hermetic in environments() {
        let home = rustup(&mut hermetic);
        let repository = shop(home.hermetic);
        home.assert_works(&repository, &by("cargo", &["test"]));
    }
}

#[test]
fn a_script_that_calls_cargo_finds_it_though_the_plan_names_only_the_script() {
    let mut hermetic = environment();
    let home = rustup(&mut hermetic);
    let repository = shop(home.hermetic);
    repository.write("check.sh", "cargo test\n").commit("base");
    home.assert_works(&repository, &by("sh", &["check.sh"]));
}

#[test]
fn the_agent_has_the_toolchains_too() {
    let mut hermetic = environment();
    let home = rustup(&mut hermetic);
    let repository = shop(home.hermetic);
    let outcome =
        run(home.hermetic, &repository, &by("cargo", &["test"]), &format!("{HONEST}run cargo test\n"));
    told_again(home.hermetic, outcome.assert_code(0));
}

#[test]
fn a_check_by_python_runs_the_version_that_the_project_chooses_from_pyenv() {
    for mut hermetic in environments() {
        hermetic.prepend_path(hermetic.home().join(".pyenv/shims"));
        let home = Home::new(&hermetic);
        home.program(".pyenv/shims/python3", &format!("echo ran >>{}\nexit 99\n", home.trace.display()));
        home.program(
            ".pyenv/bin/pyenv",
            &format!(
                "test \"$1\" = which && echo {}/$(cat .python-version)/bin/$2\n",
                home.path(".pyenv/versions").display()
            ),
        );
        home.program(".pyenv/versions/3.98/bin/python3", "exit 96\n");
        home.program(".pyenv/versions/3.99/bin/python3", &judging(&hermetic));
        let repository = shop(&hermetic);
        repository.write(".python-version", "3.99\n").commit("base");
        home.assert_works(&repository, &by("python3", &["-m", "unittest"]));
        // The working tree's choice is not base's.
        repository.write(".python-version", "3.98\n");
        home.assert_works(&repository, &by("python3", &["-m", "unittest"]));
    }
}

#[test]
fn a_check_by_npm_runs_the_node_of_nvm() {
    for mut hermetic in environments() {
        hermetic.prepend_path(hermetic.home().join(".nvm/versions/node/v99.0.0/bin"));
        let home = Home::new(&hermetic);
        let node = ".nvm/versions/node/v99.0.0";
        home.program(
            &format!("{node}/bin/node"),
            &format!("test \"$2\" = test || exit 97\n{}", judging(&hermetic)),
        );
        let npm = hermetic
            .write(&format!("home/{node}/lib/node_modules/npm/bin/npm-cli.js"), "#!/usr/bin/env node\n");
        hermetic.run(hermetic.command("chmod").arg("755").arg(&npm)).assert_code(0);
        home.link("../lib/node_modules/npm/bin/npm-cli.js", &format!("{node}/bin/npm"));
        let repository = shop(&hermetic);
        home.assert_works(&repository, &by("npm", &["test"]));
    }
}

#[test]
fn a_check_by_a_tool_of_uv_runs_in_its_own_environment() {
    for mut hermetic in environments() {
        hermetic.prepend_path(hermetic.home().join(".local/bin"));
        let home = Home::new(&hermetic);
        let tool = ".local/share/uv/tools/linter";
        hermetic.write(&format!("home/{tool}/pyvenv.cfg"), "home = /usr/bin\n");
        home.program(&format!("{tool}/bin/python"), &judging(&hermetic));
        let entry = hermetic.write(
            &format!("home/{tool}/bin/linter"),
            format!("#!{}\n", home.path(&format!("{tool}/bin/python")).display()),
        );
        hermetic.run(hermetic.command("chmod").arg("755").arg(&entry)).assert_code(0);
        home.link("../share/uv/tools/linter/bin/linter", ".local/bin/linter");
        let repository = shop(&hermetic);
        home.assert_works(&repository, &by("linter", &["check"]));
    }
}

#[test]
fn a_stand_in_whose_manager_does_not_answer_makes_no_verdict() {
    let mut hermetic = environment();
    hermetic.prepend_path(hermetic.home().join(".pyenv/shims"));
    let home = Home::new(&hermetic);
    home.program(".pyenv/shims/python3", &format!("echo ran >>{}\nexit 0\n", home.trace.display()));
    home.program(".pyenv/bin/pyenv", "echo 'pyenv: no version is installed' >&2\nexit 1\n");
    let repository = shop(&hermetic);
    let outcome = run(&hermetic, &repository, &by("python3", &["-m", "unittest"]), HONEST);
    let said = outcome.assert_code(2).json();
    assert_eq!(codes(&said), ["environment_fault"], "{outcome}");
    assert!(outcome.stdout_text().contains("no version is installed"), "{outcome}");
    assert!(!home.trace.exists(), "the stand-in ran");
}

/// The folder of rustup's own stand-ins and rustup's home, where the Rust that builds these tests is of
/// rustup.
fn real_rustup() -> Option<(PathBuf, PathBuf)> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim_end());
    let toolchains = sysroot.parent().filter(|above| above.ends_with("toolchains"))?;
    let search = std::env::var_os("PATH")?;
    let stand_ins = std::env::split_paths(&search)
        .find(|folder| is_rustup(&folder.join("cargo")) || is_rustup(&folder.join("rustup")))?;
    Some((stand_ins, toolchains.parent()?.to_owned()))
}

fn is_rustup(program: &Path) -> bool {
    program.canonicalize().is_ok_and(|real| real.ends_with("rustup"))
}

#[test]
fn a_crate_is_built_and_tested_by_the_machines_own_toolchain_under_a_fresh_home() {
    let mut hermetic = environment();
    match real_rustup() {
        Some((stand_ins, home)) => {
            hermetic.prepend_path(stand_ins);
            hermetic.set("RUSTUP_HOME", home);
        }
        None => hermetic.prepend_rust_toolchain(),
    }
    let repository = shop(&hermetic);
    repository.write(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    repository.write("Cargo.lock", "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n");
    repository.write(
        "src/lib.rs",
        "#[test]\nfn greets() {\n    assert_eq!(include_str!(\"../greeting\"), \"two\\n\");\n}\n",
    );
    repository.commit("base");
    let content = declared(json!({
        "criteriaPaths": ["src"],
        "commands": [{
            "name": "tests", "executable": "cargo",
            "args": ["test", "--offline", "--locked", "--quiet", "--lib"],
        }],
    }));
    let outcome = run(&hermetic, &repository, &content, HONEST);
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
    assert_eq!(said["checks"][0]["atBase"], json!({"exited": {"code": 101}}), "{said:#}");
}
