//! The messages between supervisor, guard, keeper and entry: a length and JSON. What they cause is not here.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sandbox::Sandbox;

/// No report of a helper is longer; an order may be as long as the system's limit for arguments and more.
const LONGEST_REPORT: usize = 64 << 10;
const LONGEST_ORDER: usize = 64 << 20;

/// The first message to each stage: which one it is, and what it shall do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Guard(GuardOrder),
    Keeper(EntryOrder),
    Entry(EntryOrder),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GuardOrder {
    /// Whether to make a pid namespace (else to be a subreaper).
    pub(super) namespace: bool,
    /// The argument that makes this program a helper.
    pub(super) argument: Option<OsString>,
    /// The lock to hold until the end.
    pub(super) hold: Option<OsString>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EntryOrder {
    pub(super) argument: Option<OsString>,
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: OsString,
    pub(super) environment: Vec<(OsString, OsString)>,
    /// A file, or nothing for `/dev/null`.
    pub(super) stdin: Option<OsString>,
    /// The box to be built around the program.
    pub(super) sandbox: Option<Sandbox>,
}

/// From the supervisor to the keeper of a running target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Command {
    /// Ask the target's process group to end.
    Terminate,
    /// Kill everything.
    Kill,
}

/// From guard and keeper to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// Guard: the keeper runs (its pid as the supervisor sees it) and waits for its order.
    Ready { user_namespace: bool, keeper: i32 },
    /// Guard: no namespace can be had; nothing was started.
    Refused { text: String },
    /// Keeper: the target has been executed.
    Started { proc_mounted: bool },
    /// Keeper: the target could not be executed.
    NotStarted { errno: i32, text: String },
    /// Keeper: the target has ended.
    Ended { status: Status, survivors: u32, names: Vec<String> },
    /// Guard, last: the keeper is gone; this was left and killed, that couldn't be.
    Swept { keeper: String, survivors: u32, names: Vec<String>, remaining: u32 },
    /// Keeper: something of its own failed.
    Failed { text: String },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Status {
    Exited(i32),
    Signalled(i32),
}

/// From entry to keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Entering {
    /// The next thing is the exec. An end of file after this is its success.
    Executing,
    Failed {
        errno: i32,
        text: String,
    },
}

/// Sends one message.
pub(super) fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    let length = u32::try_from(json.len()).map_err(|_| invalid("an order that is too long"))?;
    let mut frame = Vec::with_capacity(json.len() + 4);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&json);
    to.write_all(&frame)
}

/// Receives one message and not a byte of the next; `None` at the end of the stream.
pub(super) fn receive<M: DeserializeOwned>(mut from: impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_ORDER {
        return Err(invalid("a message that is too long"));
    }
    let mut json = vec![0; length];
    from.read_exact(&mut json)?;
    Ok(Some(serde_json::from_slice(&json)?))
}

/// Takes the messages out of a stream that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Inbox(Vec<u8>);

impl Inbox {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    pub(super) fn next(&mut self) -> io::Result<Option<Report>> {
        let Some((length, rest)) = self.0.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST_REPORT {
            return Err(invalid("a report that is too long"));
        }
        let Some(json) = rest.get(..length) else { return Ok(None) };
        let report = serde_json::from_slice(json)?;
        self.0.drain(..length + 4);
        Ok(Some(report))
    }
}

/// How long the supervisor waits for a helper that has nothing to wait for itself.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(30);

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
