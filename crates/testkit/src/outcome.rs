//! What a program left when it ended: status and output. Starting it is `hermetic`.

use std::fmt;
use std::process::ExitStatus;

/// How a program ended and what it printed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As the system reported it.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// All of its standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// The exit status; absent where a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Standard output as text, with anything that isn't text replaced.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text, with anything that isn't text replaced.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Standard output as exactly one JSON document, or what is wrong with it.
    pub fn try_json(&self) -> Result<serde_json::Value, String> {
        serde_json::from_slice(&self.stdout)
            .map_err(|error| format!("standard output is not one JSON document: {error}"))
    }

    /// Standard output as exactly one JSON document; panics with the whole output otherwise.
    pub fn json(&self) -> serde_json::Value {
        self.try_json().unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// Panics with the whole output unless the exit status is `code`.
    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        assert!(self.code() == Some(code), "exit status {code} was expected\n{self}");
        self
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "ended with {}", self.status)?;
        writeln!(f, "--- stdout\n{}", self.stdout_text().trim_end())?;
        write!(f, "--- stderr\n{}", self.stderr_text().trim_end())
    }
}
