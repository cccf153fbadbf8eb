//! A closed environment for one test: own folders, an environment built from nothing, the real `nightgate` binary.
//! Repositories are `repository`; what a run should have said is not here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tempfile::TempDir;

use crate::{Account, Fifo, Outcome, Repository, tree};

/// Where the tools of the tests are looked for: folders that an ordinary user can read, never somebody's home.
const SYSTEM_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// The environment of one test. Dropping it ends what was left running in it and removes its folders.
#[derive(Debug)]
pub struct Hermetic {
    root: TempDir,
    nightgate: PathBuf,
    account: Account,
    variables: BTreeMap<OsString, OsString>,
    outputs: AtomicUsize,
}

/// A process of a Hermetic environment.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its id.
    pub id: u32,
    /// Its command line, words separated by spaces.
    pub command: String,
}

impl Hermetic {
    /// An environment for whoever runs the tests, around the `nightgate` binary at this path (in an integration test
    /// of its crate: `env!("CARGO_BIN_EXE_nightgate")`).
    pub fn new(nightgate: impl AsRef<Path>) -> Self {
        Self::for_account(nightgate, Account::Caller)
    }

    /// An environment for `account`, who gets a copy of the binary: the build's folder may be closed to others.
    pub fn for_account(nightgate: impl AsRef<Path>, account: Account) -> Self {
        let root = make_root(account);
        let given = nightgate.as_ref();
        let nightgate = match account {
            Account::Caller => given.to_path_buf(),
            Account::Ordinary { .. } => copy_binary(given, root.path()),
        };
        let path = std::env::join_paths(SYSTEM_PATH).expect("the folders of PATH hold no colon");
        let mut hermetic =
            Self { root, nightgate, account, variables: BTreeMap::new(), outputs: AtomicUsize::new(0) };
        hermetic.set("HOME", hermetic.home());
        hermetic.set("NIGHTGATE_HOME", hermetic.state());
        hermetic.set("TMPDIR", hermetic.root().join("tmp"));
        hermetic.set("PATH", path);
        hermetic.set("LANG", "C.UTF-8");
        hermetic.set("TZ", "UTC");
        for folder in ["home", "tmp", "output", "bin"] {
            tree::make_folder(&hermetic.root().join(folder));
        }
        let identity =
            "[user]\n\tname = Test User\n\temail = user@example.invalid\n[init]\n\tdefaultBranch = main\n";
        fs::write(hermetic.home().join(".gitconfig"), identity).expect("the new home can be written");
        account.own(hermetic.root());
        hermetic
    }

    /// Starts `nightgate` from now on as on a machine that gives nobody a user namespace.
    pub fn without_user_namespaces(&mut self) {
        let real = self.nightgate.display();
        let wrapper = format!(
            "#!/bin/sh\nexec unshare --map-root-user sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"' sh '{real}' \"$@\"\n"
        );
        let path = self.write("bin/nightgate-without-user-namespaces", wrapper);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("the mode of a new file can be set");
        self.nightgate = path;
    }

    /// The folder that holds all of this environment.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// `NIGHTGATE_HOME`; Nightgate makes it.
    pub fn state(&self) -> PathBuf {
        self.root().join("nightgate-home")
    }

    /// Whose environment this is.
    pub fn account(&self) -> Account {
        self.account
    }

    /// Sets a variable for all that is started from now on.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.variables.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    /// Puts a folder at the front of `PATH`.
    pub fn prepend_path(&mut self, folder: impl AsRef<Path>) {
        let old = self.variables.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let folders = std::iter::once(folder.as_ref().to_path_buf()).chain(std::env::split_paths(&old));
        let path = std::env::join_paths(folders).expect("the folders of PATH hold no colon");
        self.set("PATH", path);
    }

    /// Puts the Rust toolchain that built these tests at the front of `PATH`: its own folder, so that `cargo` works
    /// without rustup and without the caller's home.
    pub fn prepend_rust_toolchain(&mut self) {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let answer = Command::new(rustc)
            .args(["--print", "sysroot"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("rustc can be started: a case that needs cargo needs the toolchain on the caller's PATH");
        let sysroot = String::from_utf8(answer.stdout).expect("the toolchain's path is text");
        self.prepend_path(Path::new(sysroot.trim_end()).join("bin"));
    }

    /// Where `program` lies on this environment's `PATH`.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.variables.get(OsStr::new("PATH"))?;
        std::env::split_paths(path).map(|folder| folder.join(program)).find(|candidate| {
            fs::metadata(candidate)
                .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        })
    }

    /// A path below the root that this environment's account owns, with this text in it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        let folder = path.parent().expect("a file lies in a folder");
        if !folder.exists() {
            tree::make_folder(folder);
            self.account.own(folder);
        }
        fs::write(&path, text).unwrap_or_else(|error| panic!("failed to write {}: {error}", path.display()));
        self.account.own(&path);
        path
    }

    /// A new FIFO below the root, for a handshake.
    pub fn fifo(&self, name: &str) -> Fifo {
        let fifo = Fifo::create(self.root().join(name));
        self.account.own(fifo.path());
        fifo
    }

    /// A new, empty git repository named `name`, on the branch `main`.
    pub fn repository(&self, name: &str) -> Repository<'_> {
        Repository::create(self, &self.root().join(name))
    }

    /// The `--agent-command` that runs a scripted agent with the script `text` (see `script`). The agent's binary lies
    /// beside nightgate's.
    pub fn scripted_agent(&self, text: &str) -> String {
        let beside = self.nightgate.with_file_name("scripted-agent");
        assert!(
            beside.is_file(),
            "{} is missing: run the tests of the whole workspace, or `cargo build --package testkit` first",
            beside.display()
        );
        let number = self.outputs.fetch_add(1, Ordering::Relaxed);
        let script = self.write(&format!("scripts/{number}.agent"), text);
        join_words([beside.as_os_str(), script.as_os_str()])
    }

    /// A command with this environment and account, no standard input, in the environment's root.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.account.command(program.as_ref());
        command.env_clear().envs(&self.variables).current_dir(self.root()).stdin(Stdio::null());
        command
    }

    /// Runs `command` to its end. Its output goes through files, so that a descendant that lives on can't hold us up.
    pub fn run(&self, command: &mut Command) -> Outcome {
        self.start(command).wait()
    }

    /// Starts `command` with its output going to files.
    pub fn start(&self, command: &mut Command) -> Running {
        let number = self.outputs.fetch_add(1, Ordering::Relaxed);
        let place = |stream| self.root().join("output").join(format!("{number}.{stream}"));
        let (stdout, stderr) = (place("stdout"), place("stderr"));
        let create = |path: &Path| File::create(path).expect("an output file can be made");
        let child = command
            .stdout(create(&stdout))
            .stderr(create(&stderr))
            .spawn()
            .unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        Running { child, stdout, stderr }
    }

    /// The `nightgate` command, to be run in `folder` with `arguments`.
    pub fn nightgate_command<I: IntoIterator<Item: AsRef<OsStr>>>(
        &self,
        folder: &Path,
        arguments: I,
    ) -> Command {
        let mut command = self.command(&self.nightgate);
        command.args(arguments).current_dir(folder);
        command
    }

    /// Runs `nightgate` in `folder` to its end.
    pub fn nightgate<I: IntoIterator<Item: AsRef<OsStr>>>(&self, folder: &Path, arguments: I) -> Outcome {
        self.run(&mut self.nightgate_command(folder, arguments))
    }

    /// Starts `nightgate` in `folder`, to be watched, killed or waited for.
    pub fn start_nightgate<I: IntoIterator<Item: AsRef<OsStr>>>(
        &self,
        folder: &Path,
        arguments: I,
    ) -> Running {
        self.start(&mut self.nightgate_command(folder, arguments))
    }

    /// The living processes that belong to this environment: its root stands in their environment, command line,
    /// working directory, an open file or, where they are in a box, a mount of theirs.
    pub fn processes(&self) -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|id| *id != std::process::id())
            .filter_map(|id| self.process(id))
            .collect()
    }

    fn process(&self, id: u32) -> Option<Process> {
        let folder = PathBuf::from(format!("/proc/{id}"));
        // A child that another thread of this program has forked and that hasn't started its own program yet still
        // shows our open files. This is asked first: once it has another program, the files are closed.
        if fs::read_link(folder.join("exe")).ok() == std::env::current_exe().ok() {
            return None;
        }
        let command = fs::read(folder.join("cmdline")).ok()?;
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        let root = self.root().as_os_str().as_encoded_bytes();
        let mentions = |text: &[u8]| text.windows(root.len()).any(|window| window == root);
        let links_here = |link: &Path| fs::read_link(link).is_ok_and(|aim| aim.starts_with(self.root()));
        let holds_file = || {
            fs::read_dir(folder.join("fd"))
                .is_ok_and(|entries| entries.flatten().any(|entry| links_here(&entry.path())))
        };
        // A mount says which folder of its file system it shows, so only the root's own name is sure to stand there.
        let is_boxed = || {
            let name = self.root().file_name().unwrap_or_default().as_encoded_bytes();
            fs::read(folder.join("mountinfo"))
                .is_ok_and(|mounts| mounts.windows(name.len()).any(|window| window == name))
        };
        let ours = mentions(&environment)
            || mentions(&command)
            || links_here(&folder.join("cwd"))
            || holds_file()
            || is_boxed();
        let words = command.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        ours.then(|| Process { id, command: words.collect::<Vec<_>>().join(" ").trim_end().to_owned() })
    }

    /// Returns once no process belongs to this environment any more. Nothing is ended here: a process that doesn't end
    /// by itself makes the test hang, and the test runner say so.
    pub fn await_processes(&self) {
        loop {
            let processes = self.processes();
            if processes.is_empty() {
                return;
            }
            for process in processes {
                if let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) {
                    // It may have ended since it was listed: then there is nothing to wait for.
                    let _ = pidfd_open(id, PidfdFlags::empty()).map(|process| await_end(&process));
                }
            }
        }
    }

    /// Ends every process that belongs to this environment, and returns when they are gone.
    pub fn kill_processes(&self) {
        for process in self.processes() {
            if let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) {
                // It may have ended by itself since it was listed: then there is nothing to wait for.
                let _ = kill_and_wait(id);
            }
        }
    }
}

fn kill_and_wait(id: Pid) -> rustix::io::Result<()> {
    let process = pidfd_open(id, PidfdFlags::empty())?;
    pidfd_send_signal(&process, Signal::KILL)?;
    await_end(&process);
    Ok(())
}

fn await_end(process: &OwnedFd) {
    while poll(&mut [PollFd::new(process, PollFlags::IN)], None) == Err(rustix::io::Errno::INTR) {}
}

impl Drop for Hermetic {
    fn drop(&mut self) {
        self.kill_processes();
    }
}

/// A process that was started and not yet waited for.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it by SIGKILL and collects it.
    pub fn kill(mut self) -> Outcome {
        self.child.kill().expect("a child that wasn't waited for can be killed");
        self.wait()
    }

    /// Sends it `signal`.
    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).expect("a child that wasn't waited for can be signalled");
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Outcome {
        let status = self.child.wait().expect("a child can be waited for");
        let read = |path: &Path| fs::read(path).expect("an output file can be read");
        Outcome { status, stdout: read(&self.stdout), stderr: read(&self.stderr) }
    }
}

/// One line that a shell would split into these words again.
pub(crate) fn join_words<'w>(words: impl IntoIterator<Item = &'w OsStr>) -> String {
    let words: Vec<&str> =
        words.into_iter().map(|word| word.to_str().expect("paths of tests are text")).collect();
    shlex::try_join(words).expect("paths of tests hold no NUL")
}

/// A new folder that `account` can reach.
fn make_root(account: Account) -> TempDir {
    let usual = std::env::temp_dir();
    let places = match account {
        Account::Caller => vec![usual],
        Account::Ordinary { .. } => vec![usual, "/tmp".into(), "/var/tmp".into()],
    };
    let reachable = |place: &PathBuf| account == Account::Caller || tree::is_open_to_all(place);
    let place = places.into_iter().find(reachable).expect("a temporary folder is open to all users");
    let place = fs::canonicalize(&place).expect("the temporary folder exists");
    tempfile::Builder::new()
        .prefix("nightgate-test-")
        .tempdir_in(place)
        .expect("a temporary folder can be made")
}

/// Copies the binary, and a scripted agent beside it, to where all may read it.
fn copy_binary(nightgate: &Path, root: &Path) -> PathBuf {
    let target = root.join("program");
    tree::make_folder(&target);
    for (from, needed) in
        [(nightgate.to_path_buf(), true), (nightgate.with_file_name("scripted-agent"), false)]
    {
        let name = from.file_name().expect("a binary has a name");
        let copied = fs::copy(&from, target.join(name));
        if needed {
            copied.unwrap_or_else(|error| panic!("failed to copy {}: {error}", from.display()));
        }
    }
    target.join(nightgate.file_name().expect("a binary has a name"))
}
