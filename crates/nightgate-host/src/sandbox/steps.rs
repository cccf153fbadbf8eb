//! The order in which a box is built around the process that calls this. Each step says what it was doing when it failed.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{Resource, Rlimit, getegid, geteuid, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use super::{Network, Sandbox, Strength, filter, land, root};
use crate::process::raw;

/// More processes than a box may have at once, at its highest level. Bounds a fork bomb well below what a machine bears.
const MOST_PROCESSES: u64 = 8192;

pub(crate) type Failure = (io::Error, String);

/// Puts this process, which must have one thread only, into the box; `no_new_privs` must be set.
///
/// # Errors
/// The step that could not be done. The process is half in then and must end.
pub(crate) fn enter(sandbox: &Sandbox) -> Result<(), Failure> {
    let nesting = sandbox.nesting && sandbox.strength == Strength::Namespaces;
    if sandbox.strength == Strength::Namespaces {
        separate(sandbox.network)?;
        root::change(&sandbox.binds, nesting)?;
        bound_processes().map_err(doing("limit the number of processes"))?;
    }
    // Landlock's own rule: who is confined by it mounts nothing. A nested sandbox has to.
    let landed = if nesting { None } else { Some(land::prepare(sandbox)?) };
    // To map itself into a namespace of its own, root (and nobody else) needs this one. It acts on files of this namespace only.
    let kept = if nesting && geteuid().is_root() { CapabilitySet::SETFCAP } else { CapabilitySet::empty() };
    drop_capabilities(kept).map_err(doing("drop the capabilities"))?;
    if let Some(rules) = landed {
        land::restrict(rules)?;
    }
    filter::install(sandbox, nesting)
}

pub(super) fn doing<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Failure {
    move |error| (error.into(), what.to_owned())
}

/// Leaves the namespaces that are shared with the supervisor. The pid namespace is the keeper's work.
fn separate(network: Network) -> Result<(), Failure> {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    let mut spaces = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    if network == Network::None {
        spaces |= UnshareFlags::NEWNET;
    }
    raw::unshare(spaces).map_err(doing("make the namespaces"))?;
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| (error, format!("write {file}")))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{uid} {uid} 1"))?;
    write("gid_map", format!("{gid} {gid} 1"))?;
    if network == Network::None {
        loopback_up().map_err(doing("bring the loopback up"))?;
    }
    Ok(())
}

/// Many honest checks talk to a server of their own.
fn loopback_up() -> io::Result<()> {
    let socket: OwnedFd = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    raw::interface_up(socket.as_raw_fd(), "lo")
}

fn bound_processes() -> io::Result<()> {
    let lower = |limit: Option<u64>| Some(limit.map_or(MOST_PROCESSES, |limit| limit.min(MOST_PROCESSES)));
    let now = getrlimit(Resource::Nproc);
    let limit = Rlimit { current: lower(now.current), maximum: lower(now.maximum) };
    Ok(setrlimit(Resource::Nproc, limit)?)
}

/// Gives up all other capabilities for good, root's too: over its own namespaces, and over the machine where there are none.
fn drop_capabilities(kept: CapabilitySet) -> io::Result<()> {
    clear_ambient_capability_set()?;
    for capability in (CapabilitySet::all() - kept).iter() {
        match remove_capability_from_bounding_set(capability) {
            // An older kernel doesn't know it; who has none can't give up what could be got.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable })?;
    Ok(())
}
