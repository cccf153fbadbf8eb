//! Runs a test a second time, as a process of its own that can be killed or limited.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "NIGHTGATE_STORE_TEST_CHILD";

/// The folder to work in, where this process is such a child.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// A command that runs `test` (its path from the root of this binary) as a child at work in `folder`, under `limits`, a
/// piece of shell.
pub fn command(test: &str, folder: &Path, limits: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-ec", &format!("{limits}\nexec \"$@\""), "sh"]);
    command.arg(std::env::current_exe().unwrap()).args([test, "--exact", "--nocapture"]);
    command.env(FOLDER, folder);
    command
}

/// Tells the parent. The test harness writes to the same stream and doesn't always end its lines.
pub fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    write!(out, "\n{REPORT}{line}\n").unwrap();
    out.flush().unwrap();
}

const REPORT: &str = "child: ";

/// What a line of a child's output tells, if it is a report.
pub fn reported(line: &str) -> Option<&str> {
    line.strip_prefix(REPORT)
}
