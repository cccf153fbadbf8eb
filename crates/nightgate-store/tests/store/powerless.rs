//! Permission bits that hold for root as well.

use std::thread;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Runs `work` in a thread without the capabilities by which root passes over permission bits.
pub fn powerless<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let run = || {
        let mut sets = capabilities(None).unwrap();
        sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        set_capabilities(None, sets).unwrap();
        work()
    };
    thread::scope(|scope| scope.spawn(run).join().unwrap())
}
