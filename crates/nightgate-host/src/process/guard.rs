//! The guard: makes the namespaces, starts the keeper, and sweeps after it. Running the target is not here.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Pid, PidfdFlags, getegid, geteuid, getpid, pidfd_open, set_child_subreaper};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};

use super::wire::{self, GuardOrder, Report};
use super::{raw, stage, sweep};
use crate::lock::FileLock;

/// Runs the guard to its end. It never gives up a half-made namespace: what can't be had in full is refused before
/// anything is started, and the supervisor decides what to do instead.
pub(super) fn run(control: &UnixStream, order: &GuardOrder) -> io::Result<()> {
    raw::close_descriptors_on_exec()?;
    // Held until this process ends, which is after the last descendant. An exec gives it up in the child.
    let _held = match &order.hold {
        Some(path) => match FileLock::try_take(Path::new(path))? {
            Some(lock) => Some(lock),
            None => {
                let text = format!("take the lock {}: another run holds it", Path::new(path).display());
                return wire::send(control, &Report::Failed { text });
            }
        },
        None => None,
    };
    let user_namespace = if order.namespace {
        match leave_namespaces() {
            Ok(user_namespace) => user_namespace,
            Err(text) => return wire::send(control, &Report::Refused { text }),
        }
    } else {
        set_child_subreaper(Some(getpid()))?;
        false
    };
    let shared = control.as_fd().try_clone_to_owned()?;
    let mut keeper = match stage::next(order.argument.as_ref(), shared).spawn() {
        Ok(keeper) => keeper,
        Err(error) => {
            let text = format!("start the first process of the namespace: {error}");
            return wire::send(control, &Report::Refused { text });
        }
    };
    wire::send(control, &Report::Ready { user_namespace, keeper: keeper.id().cast_signed() })?;
    let status = end_of(&mut keeper, control)?;
    // When the first process of a namespace has been waited for, the kernel has ended all others in it.
    let swept = if order.namespace { sweep::Swept::default() } else { sweep::run(sweep::Scope::Descendants) };
    let sweep::Swept { survivors, names, remaining } = swept;
    wire::send(control, &Report::Swept { keeper: status.to_string(), survivors, names, remaining })
}

/// Waits for the keeper. If the supervisor is gone the keeper ends by itself; one that doesn't (the target may have
/// stopped it, where it can see it) is killed.
fn end_of(keeper: &mut Child, control: &UnixStream) -> io::Result<ExitStatus> {
    let pid = Pid::from_raw(keeper.id().cast_signed()).ok_or(io::ErrorKind::InvalidData)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    // Without a wish to read, what the supervisor says to the keeper doesn't wake this process, but its end does.
    let mut fds = [PollFd::new(&handle, PollFlags::IN), PollFd::new(control, PollFlags::empty())];
    while let Err(Errno::INTR) = poll(&mut fds, None) {}
    if fds[0].revents().is_empty() {
        let patience = Timespec { tv_sec: sweep::PATIENCE.as_secs().cast_signed() + 1, tv_nsec: 0 };
        let ended = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&patience));
        if !matches!(ended, Ok(1..)) {
            keeper.kill()?;
        }
    }
    keeper.wait()
}

/// Puts this process's next child into a pid namespace of its own, with mounts of its own; says whether a user
/// namespace was needed. Tried by doing: no setting is consulted.
fn leave_namespaces() -> Result<bool, String> {
    let spaces = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    let (uid, gid) = (geteuid(), getegid());
    let user_namespace = raw::unshare(spaces).is_err();
    if user_namespace {
        raw::unshare(spaces | UnshareFlags::NEWUSER).map_err(|error| said("make a pid namespace", error))?;
        map_onto_itself(uid.as_raw(), gid.as_raw())?;
        hand_on_mounting().map_err(|error| said("keep the right to mount", error))?;
    }
    let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", downstream).map_err(|error| said("make the mounts private", error))?;
    Ok(user_namespace)
}

fn map_onto_itself(uid: u32, gid: u32) -> Result<(), String> {
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| format!("write {file}: {error}"))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{uid} {uid} 1"))?;
    write("gid_map", format!("{gid} {gid} 1"))
}

/// A user other than root loses all capabilities at exec, those of its own user namespace too, unless they are ambient.
/// The keeper needs this one to mount `/proc`, and drops it.
fn hand_on_mounting() -> rustix::io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable |= CapabilitySet::SYS_ADMIN;
    set_capabilities(None, sets)?;
    configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)
}

fn said(doing: &str, error: Errno) -> String {
    format!("{doing}: {}", io::Error::from(error))
}
