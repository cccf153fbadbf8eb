//! Supervision of real processes, held both by a pid namespace (where this machine has one for us) and by a subreaper.
//!
//! Nothing here waits for a time to pass: a process that ought to be gone is known to be gone by the FIFO that it held.
//! A process that ought to be gone and isn't makes such a test fail at once or never end.

#![expect(clippy::unwrap_used, reason = "what can't go on in a test has failed")]

#[path = "process/bench.rs"]
mod bench;
#[path = "process/boxes.rs"]
mod boxes;
#[path = "process/death.rs"]
mod death;
#[path = "process/exits.rs"]
mod exits;
#[path = "process/surroundings.rs"]
mod surroundings;
#[path = "process/survivors.rs"]
mod survivors;
