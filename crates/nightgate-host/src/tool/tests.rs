use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;
use crate::env::{Environment, EnvironmentSpec, Role};

/// A user's home, and a tree to be judged, in a folder of their own.
struct Machine {
    folder: tempfile::TempDir,
    home: PathBuf,
    tree: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (home, tree) = (base.join("home"), base.join("tree"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&tree).unwrap();
        Self { folder, home, tree }
    }

    /// Makes an executable. Another process writes it: while this one had it open, a child that another test starts
    /// could hold it open too, and executing it would fail.
    fn program(&self, path: &str, script: &str) -> PathBuf {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let write = "printf '%s' \"$1\" >\"$2\" && chmod 755 \"$2\"";
        let status = Command::new("/bin/sh").args(["-c", write, "sh", script]).arg(&path).status().unwrap();
        assert!(status.success());
        path
    }

    fn link(&self, target: &str, path: &str) -> PathBuf {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, &path).unwrap();
        path
    }

    fn inherited(&self) -> Inherited {
        Inherited::new([("HOME".into(), self.home.clone().into())])
    }

    fn resolve(&self, name: &str, search: &[&str]) -> Result<Tool, ToolError> {
        let search: Vec<PathBuf> = search.iter().map(|folder| self.home.join(folder)).collect();
        resolve(name, &search, &self.tree, &self.inherited())
    }

    fn home(&self, paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(|path| self.home.join(path)).collect()
    }
}

const TRUE: &str = "#!/bin/sh\n";

/// Answers like rustup, and only if it is asked as it ought to be.
const RUSTUP: &str = r#"#!/bin/sh
[ "$RUSTUP_AUTO_INSTALL" = 0 ] && [ "$1" = which ] || exit 9
[ -e "$HOME/.rustup/toolchains/stable/bin/$2" ] || { echo "error: no $2 in 'stable'" >&2; exit 1; }
[ -e here ] && { echo "$PWD/bin/$2"; exit; }
echo "$HOME/.rustup/toolchains/stable/bin/$2"
"#;

fn with_rustup() -> Machine {
    let machine = Machine::new();
    machine.program(".cargo/bin/rustup", RUSTUP);
    machine.program(".rustup/toolchains/stable/bin/cargo", TRUE);
    machine
}

#[test]
fn a_rustup_proxy_leads_to_the_toolchain() {
    let machine = with_rustup();
    machine.link("rustup", ".cargo/bin/cargo");
    let tool = machine.resolve("cargo", &[".cargo/bin"]).unwrap();
    assert_eq!(tool.program, machine.home.join(".rustup/toolchains/stable/bin/cargo"));
    assert_eq!(tool.path, machine.home(&[".rustup/toolchains/stable/bin"]));
    assert_eq!(tool.roots, machine.home(&[".rustup/toolchains/stable"]));
    assert_eq!((tool.kind, tool.digest), (Kind::Rustup, Digest::of(TRUE.as_bytes())));
    let absolute = machine.home.join(".cargo/bin/cargo");
    assert_eq!(machine.resolve(absolute.to_str().unwrap(), &[]).unwrap().program, tool.program);
}

#[test]
fn a_rustup_proxy_that_is_a_hard_link_or_a_copy_is_known_too() {
    let machine = with_rustup();
    let bin = machine.home.join(".cargo/bin");
    fs::hard_link(bin.join("rustup"), bin.join("cargo")).unwrap();
    assert_eq!(machine.resolve("cargo", &[".cargo/bin"]).unwrap().kind, Kind::Rustup);
    fs::remove_file(bin.join("cargo")).unwrap();
    machine.program(".cargo/bin/cargo", RUSTUP);
    assert_eq!(machine.resolve("cargo", &[".cargo/bin"]).unwrap().kind, Kind::Rustup);
}

#[test]
fn a_program_beside_rustup_is_no_proxy_and_exposes_nothing_beside_it() {
    let machine = with_rustup();
    let program = machine.program(".cargo/bin/ripgrep", TRUE);
    let tool = machine.resolve("ripgrep", &[".cargo/bin"]).unwrap();
    assert_eq!((tool.kind, &tool.roots, tool.path.len()), (Kind::Other, &vec![program], 0));
}

#[test]
fn what_the_version_manager_says_against_it_is_in_the_error() {
    let machine = with_rustup();
    machine.link("rustup", ".cargo/bin/cargo-miri");
    let error = machine.resolve("cargo-miri", &[".cargo/bin"]).unwrap_err();
    assert!(matches!(error, ToolError::Shim { .. }), "{error}");
    assert!(error.to_string().contains("no cargo-miri in 'stable'"), "{error}");
}

#[test]
fn a_toolchain_that_the_tree_chooses_within_itself_is_refused() {
    let machine = with_rustup();
    machine.link("rustup", ".cargo/bin/cargo");
    fs::write(machine.tree.join("here"), "").unwrap();
    machine.program("../tree/bin/cargo", TRUE);
    let error = machine.resolve("cargo", &[".cargo/bin"]).unwrap_err();
    assert!(matches!(error, ToolError::LeadsIntoTree { .. }), "{error}");
}

#[test]
fn a_pyenv_shim_leads_to_the_python_with_its_libraries() {
    let machine = Machine::new();
    let pyenv = "#!/bin/sh\n[ \"$1\" = which ] && echo \"$PYENV_ROOT/versions/3.11/bin/$2\"\n";
    machine.program(".pyenv/bin/pyenv", pyenv);
    machine.program(".pyenv/shims/python3", TRUE);
    machine.program(".pyenv/versions/3.11/bin/python3.11", "python");
    machine.link("python3.11", ".pyenv/versions/3.11/bin/python3");
    let tool = machine.resolve("python3", &[".pyenv/shims"]).unwrap();
    assert_eq!(tool.program, machine.home.join(".pyenv/versions/3.11/bin/python3.11"));
    assert_eq!(tool.path, machine.home(&[".pyenv/versions/3.11/bin"]));
    assert_eq!(tool.roots, machine.home(&[".pyenv/versions/3.11"]));
    assert_eq!((tool.kind, tool.digest), (Kind::Pyenv, Digest::of(b"python")));
}

#[test]
fn a_shim_of_an_unknown_manager_is_refused() {
    let machine = Machine::new();
    machine.program(".asdf/shims/node", TRUE);
    machine.program(".local/bin/mise", TRUE);
    machine.link("../../bin/mise", ".local/share/links/node");
    for folder in [".asdf/shims", ".local/share/links"] {
        let error = machine.resolve("node", &[folder]).unwrap_err();
        assert!(matches!(error, ToolError::UnknownShim(_)), "{error}");
    }
}

#[test]
fn an_nvm_node_and_its_npm_are_found_with_their_common_folder() {
    let machine = Machine::new();
    let version = ".nvm/versions/node/v20.1.0";
    let node = machine.program(&format!("{version}/bin/node"), "node");
    let npm =
        machine.program(&format!("{version}/lib/node_modules/npm/bin/npm-cli.js"), "#!/usr/bin/env node\n");
    machine.link("../lib/node_modules/npm/bin/npm-cli.js", &format!("{version}/bin/npm"));
    for (name, program) in [("node", node), ("npm", npm)] {
        let tool = machine.resolve(name, &[&format!("{version}/bin")]).unwrap();
        assert_eq!((tool.program, tool.kind), (program, Kind::Nvm));
        assert_eq!(tool.path, machine.home(&[&format!("{version}/bin")]));
        assert_eq!(tool.roots, machine.home(&[version]));
    }
}

#[test]
fn a_volta_shim_leads_to_the_image() {
    let machine = Machine::new();
    let volta = "#!/bin/sh\n[ \"$1\" = which ] && echo \"$VOLTA_HOME/tools/image/node/20.1.0/bin/$2\"\n";
    machine.program(".volta/bin/volta", volta);
    machine.program(".volta/bin/volta-shim", TRUE);
    machine.link("volta-shim", ".volta/bin/node");
    let node = machine.program(".volta/tools/image/node/20.1.0/bin/node", "node");
    let tool = machine.resolve("node", &[".volta/bin"]).unwrap();
    assert_eq!((tool.program, tool.kind), (node, Kind::Volta));
    assert_eq!(tool.roots, machine.home(&[".volta/tools/image/node/20.1.0"]));
}

#[test]
fn a_uv_tool_is_found_with_the_python_behind_it_which_is_not_put_on_the_path() {
    let machine = Machine::new();
    let python = ".local/share/uv/python/cpython-3.12";
    machine.program(&format!("{python}/bin/python3.12"), "python");
    machine.link("python3.12", &format!("{python}/bin/python3"));
    let ruff = ".local/share/uv/tools/ruff";
    let interpreter = machine.link(
        machine.home.join(python).join("bin/python3.12").to_str().unwrap(),
        &format!("{ruff}/bin/python"),
    );
    let config = format!("home = {}\n", machine.home.join(python).join("bin").display());
    fs::write(machine.home.join(ruff).join("pyvenv.cfg"), config).unwrap();
    let program = machine.program(&format!("{ruff}/bin/ruff"), &format!("#!{}\n", interpreter.display()));
    machine.link("../share/uv/tools/ruff/bin/ruff", ".local/bin/ruff");
    let tool = machine.resolve("ruff", &[".local/bin"]).unwrap();
    assert_eq!((tool.program, tool.kind, tool.path), (program, Kind::Uv, vec![]));
    assert_eq!(tool.roots, machine.home(&[ruff, python]));
}

#[test]
fn a_uv_python_is_followed_to_its_installation() {
    let machine = Machine::new();
    let program = machine.program(".local/share/uv/python/cpython-3.12/bin/python3.12", "python");
    machine.link("../share/uv/python/cpython-3.12/bin/python3.12", ".local/bin/python3.12");
    let tool = machine.resolve("python3.12", &[".local/bin"]).unwrap();
    assert_eq!((tool.program, tool.kind), (program, Kind::Uv));
    assert_eq!(tool.roots, machine.home(&[".local/share/uv/python/cpython-3.12"]));
}

#[test]
fn an_environments_python_is_not_followed_out_of_it() {
    let machine = Machine::new();
    machine.program("apps/python/bin/python3", "python");
    let base = machine.home.join("apps/python/bin");
    let program = machine.link(base.join("python3").to_str().unwrap(), "envs/one/bin/python3");
    fs::write(machine.home.join("envs/one/pyvenv.cfg"), format!("home = {}\n", base.display())).unwrap();
    let tool = machine.resolve("python3", &["envs/one/bin"]).unwrap();
    assert_eq!((&tool.program, tool.kind), (&program, Kind::Other));
    assert_eq!(tool.roots, machine.home(&["envs/one", "apps/python"]));
    assert_eq!(tool.path, machine.home(&["envs/one/bin"]));
    assert_eq!(tool.variables, [("VIRTUAL_ENV".into(), machine.home.join("envs/one").into())]);
    assert_eq!(tool.digest, Digest::of(b"python"));
}

#[test]
fn a_package_of_npm_is_found_with_all_packages() {
    let machine = Machine::new();
    machine.program(".npm-global/lib/node_modules/@x/cli/bin/run.js", "#!/usr/bin/env node\n");
    machine.link("../lib/node_modules/@x/cli/bin/run.js", ".npm-global/bin/x");
    let tool = machine.resolve("x", &[".npm-global/bin"]).unwrap();
    assert!(tool.program.ends_with("@x/cli/bin/run.js"));
    assert_eq!(tool.roots, machine.home(&[".npm-global/lib/node_modules"]));
}

#[test]
fn no_root_is_ever_the_home_or_above_it() {
    let machine = Machine::new();
    for path in ["bin/x", "x", ".local/bin/x", ".config/bin/x", "../bin/x"] {
        let program = machine.program(path, TRUE).canonicalize().unwrap();
        let tool = machine.resolve(program.to_str().unwrap(), &[]).unwrap();
        assert_eq!(tool.roots, [program], "{path}");
    }
}

#[test]
fn a_program_of_the_system_keeps_its_name_and_needs_nothing() {
    let machine = Machine::new();
    let tool = resolve("sh", &["/bin".into()], &machine.tree, &machine.inherited()).unwrap();
    assert_eq!((tool.kind, tool.program.file_name()), (Kind::System, Some("sh".as_ref())));
    assert_eq!((tool.path.len(), tool.roots.len(), tool.variables.len()), (0, 0, 0));
}

#[test]
fn relative_and_empty_folders_are_never_searched() {
    let machine = Machine::new();
    machine.program("../tree/bin/evil", TRUE);
    let search = ["".into(), ".".into(), "bin".into(), "./bin".into()];
    let error = resolve("sh", &search, &machine.tree, &machine.inherited()).unwrap_err();
    assert!(error.to_string().contains("no folder at all"), "{error}");
}

#[test]
fn the_error_names_what_was_looked_for_and_where() {
    let machine = Machine::new();
    let search = ["/nonexistent/a".into(), "rel".into(), "/nonexistent/b".into()];
    let error = resolve("frobnicate", &search, &machine.tree, &machine.inherited()).unwrap_err();
    assert_eq!(error.to_string(), "find `frobnicate`: it is in none of /nonexistent/a, /nonexistent/b");
}

#[test]
fn what_is_not_executable_is_passed_over() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home.join("a/tool")).unwrap();
    fs::create_dir_all(machine.home.join("b")).unwrap();
    fs::write(machine.home.join("b/tool"), TRUE).unwrap();
    machine.link("nowhere", "c/tool");
    let program = machine.program("d/bin/tool", TRUE);
    assert_eq!(machine.resolve("tool", &["a", "b", "c", "d/bin"]).unwrap().program, program);
    let error = machine.resolve(machine.home.join("b/tool").to_str().unwrap(), &[]).unwrap_err();
    assert!(matches!(error, ToolError::NotExecutable(_)), "{error}");
}

#[test]
fn a_path_within_the_tree_is_its_own_answer() {
    let machine = Machine::new();
    for name in ["./x", "a/b", "../x", ""] {
        assert!(matches!(machine.resolve(name, &["bin"]), Err(ToolError::InTree(_))), "{name}");
    }
}

#[test]
fn a_folder_of_the_tree_on_the_path_is_refused() {
    let machine = Machine::new();
    machine.program("../tree/bin/tool", TRUE);
    machine.link("../tree/bin/tool", "tool");
    for search in ["../tree/bin", "."] {
        let error = machine.resolve("tool", &[search]).unwrap_err();
        assert!(matches!(error, ToolError::LeadsIntoTree { .. }), "{error}");
    }
}

#[test]
fn a_version_manager_that_floods_is_refused() {
    let machine = Machine::new();
    machine.program(".cargo/bin/rustup", "#!/bin/sh\nwhile :; do echo flood; done\n");
    machine.link("rustup", ".cargo/bin/cargo");
    let error = machine.resolve("cargo", &[".cargo/bin"]).unwrap_err();
    assert!(error.to_string().contains("says too much"), "{error}");
}

#[test]
fn the_real_tools_of_this_machine_run_in_a_built_environment_with_an_empty_home() {
    let machine = Machine::new();
    let inherited = Inherited::new(std::env::vars_os());
    let search = inherited.search_path();
    let mut ran = 0;
    for name in ["cargo", "rustc", "python3", "node", "npm", "git", "env"] {
        let tool = match resolve(name, &search, &machine.tree, &inherited) {
            Ok(tool) => tool,
            Err(ToolError::NotFound { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let spec = EnvironmentSpec {
            home: machine.home.clone(),
            tmp: machine.folder.path().into(),
            path: tool.path.clone(),
            pass: &[],
            extra: tool.variables.clone(),
        };
        let mut command = Command::new(&tool.program);
        Environment::build(Role::Check, &inherited, &spec).apply(&mut command);
        let output = command.arg("--version").current_dir(&machine.tree).output().unwrap();
        assert!(output.status.success(), "{tool:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(shim::of(&tool.program).unwrap().is_none(), "{tool:?}");
        ran += 1;
    }
    assert!(ran > 0);
}
