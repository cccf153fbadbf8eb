//! Shows a person at a terminal what is being done, on one line of standard error. Nothing at all elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use nightgate_core::evidence::Above;
use nightgate_engine::{Observer, Step};

use crate::output::{harmless, say};

/// The progress line.
pub struct Progress {
    is_terminal: bool,
    began: Instant,
    doing: String,
}

impl Progress {
    /// A line that is shown only where standard error is a terminal.
    pub fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), began: Instant::now(), doing: String::new() }
    }

    /// Says what stays true after the line is gone, also where there is no line.
    fn warn(&self, found: &[Above]) {
        if self.is_terminal {
            let _only_for_show = io::stderr().lock().write_all(b"\r\x1b[K");
        }
        say(
            "nightgate: warning: no verdict will be VERIFIED with these above the clean rooms, where tools find them:",
        );
        for above in found {
            say(&format!("  {} ({})", above.path, above.tool));
        }
        say("  set NIGHTGATE_HOME to a folder with nothing of the kind above it, or remove them");
    }

    fn draw(&self, detail: &str) {
        if self.is_terminal {
            let seconds = self.began.elapsed().as_secs();
            let line =
                format!("\r\x1b[K{:02}:{:02}  {}{detail}", seconds / 60, seconds % 60, harmless(&self.doing));
            let mut stderr = io::stderr().lock();
            let _only_for_show = stderr.write_all(line.as_bytes()).and_then(|()| stderr.flush());
        }
    }
}

impl Progress {
    fn clear(&self) {
        if self.is_terminal && !self.doing.is_empty() {
            let _only_for_show = io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Observer for Progress {
    fn step(&mut self, step: &Step) {
        if let Step::InfluenceAbove(found) = step {
            return self.warn(found);
        }
        self.doing = match step {
            Step::LeftForLater { job, why } => {
                self.clear();
                say(&format!("nightgate: job {job} is left as it is, for the next command: failed to {why}"));
                return;
            }
            Step::Recovering(job) => format!("capturing what interrupted job {job} left"),
            Step::Started(job) => format!("job {job}"),
            Step::Importing => "importing the base commit".to_owned(),
            Step::CheckAtBase(name) => format!("check `{name}` at base"),
            Step::InfluenceAbove(_) => String::new(),
            Step::Workspace => "laying out the workspace".to_owned(),
            Step::Agent(name) => format!("agent `{name}` works"),
            Step::Capturing => "capturing".to_owned(),
            Step::CleanRoom => "laying out a clean room".to_owned(),
            Step::Setup(name) => format!("setup step `{name}`"),
            Step::Check(name) => format!("check `{name}`"),
            Step::Judging => "judging".to_owned(),
        };
        self.draw("");
    }

    fn alive(&mut self, elapsed: Duration, output_bytes: u64) {
        self.draw(&format!("  {} s, {} of output", elapsed.as_secs(), size(output_bytes)));
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}
