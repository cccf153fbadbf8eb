//! A flag that ends running programs from anywhere. Deciding when to raise it is not here.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// A flag that is raised once and wakes everyone who waits for it. Clones are the same flag. Raising it takes no lock
/// and allocates nothing.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug)]
struct Flag {
    raised: AtomicBool,
    event: OwnedFd,
}

impl Cancel {
    /// A flag that isn't raised.
    ///
    /// # Errors
    /// Where there are no descriptors left.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(Flag { raised: AtomicBool::new(false), event })))
    }

    /// Raises the flag: what runs under it is ended, what has not started won't start.
    pub fn cancel(&self) {
        self.0.raised.store(true, Ordering::SeqCst);
        // Nobody ever reads the event, so it stays readable; a full counter means that it is readable already.
        let _already_readable = rustix::io::write(&self.0.event, &1_u64.to_ne_bytes());
    }

    /// Whether the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }
}

impl AsFd for Cancel {
    /// Readable for ever once the flag is raised.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.event.as_fd()
    }
}
