//! The keeper: holds the target and all its descendants, and ends them. What the end means is not here.

use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid,
    kill_process_group, set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal, setsid,
    wait, waitid,
};
use rustix::thread::{CapabilitySet, capabilities, clear_ambient_capability_set, set_capabilities};

use super::sweep::{self, Scope};
use super::wire::{self, Command, Entering, EntryOrder, Order, Report, Status};
use super::{raw, stage};

/// The target's process, or nothing once it has been reaped and its number may be another's.
type Target = Arc<Mutex<Option<Pid>>>;

/// Runs the keeper to its end: returns once the target's end has been reported. The end of this process is the end of
/// the namespace, if it is the first one of its own.
pub(super) fn run(control: UnixStream, order: &EntryOrder) -> io::Result<()> {
    let scope =
        if getpid() == Pid::INIT { Scope::Namespace { proc_mounted: false } } else { Scope::Descendants };
    let result = keep(&control, scope, order);
    if let Err(error) = &result {
        wire::send(&control, &Report::Failed { text: error.to_string() })?;
    }
    result
}

fn keep(control: &UnixStream, scope: Scope, order: &EntryOrder) -> io::Result<()> {
    let scope = settle(scope)?;
    let proc_mounted = matches!(scope, Scope::Namespace { proc_mounted: true });
    let main = match start(order)? {
        Entered::Running(main) => main,
        Entered::Failed { errno, text } => {
            return wire::send(control, &Report::NotStarted { errno, text });
        }
    };
    let target = Arc::new(Mutex::new(Some(main)));
    let obeying = (control.try_clone()?, Arc::clone(&target));
    thread::Builder::new().spawn(move || obey(&obeying.0, scope, &obeying.1))?;
    wire::send(control, &Report::Started { proc_mounted })?;
    let status = match reap_until(main, &target)? {
        status if status.signaled() => Status::Signalled(status.terminating_signal().unwrap_or_default()),
        status => {
            Status::Exited(status.exit_status().ok_or_else(|| io::Error::other("an unknown wait status"))?)
        }
    };
    let swept = sweep::run(scope);
    wire::send(control, &Report::Ended { status, survivors: swept.survivors, names: swept.names })
}

/// Makes this process what holds the target: without a terminal, dying with the guard, first of its namespace with the
/// `/proc` of it, or a subreaper; and out of reach of the target's debuggers.
fn settle(scope: Scope) -> io::Result<Scope> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    setsid()?;
    let scope = match scope {
        Scope::Namespace { .. } => {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            Scope::Namespace { proc_mounted: mount("proc", "/proc", "proc", flags, None).is_ok() }
        }
        Scope::Descendants => {
            set_child_subreaper(Some(getpid()))?;
            scope
        }
    };
    clear_ambient_capability_set()?;
    let mut sets = capabilities(None)?;
    sets.inheritable = CapabilitySet::empty();
    set_capabilities(None, sets)?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    raw::close_descriptors_on_exec()?;
    Ok(scope)
}

enum Entered {
    Running(Pid),
    Failed { errno: i32, text: String },
}

/// Starts the entry in a process group of its own and waits until it has become the target.
fn start(order: &EntryOrder) -> io::Result<Entered> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = stage::next(order.argument.as_ref(), theirs);
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit()).process_group(0);
    let entry = command.spawn()?;
    // The command holds the other end too; the end of file must not wait for it.
    drop(command);
    let pid = Pid::from_raw(entry.id().cast_signed()).ok_or_else(|| io::Error::other("no process number"))?;
    wire::send(&ours, &Order::Entry(order.clone()))?;
    match wire::receive(&ours)? {
        Some(Entering::Executing) => {}
        Some(Entering::Failed { errno, text }) => return Ok(Entered::Failed { errno, text }),
        None => return Err(io::Error::other("the entry ended before it became the program")),
    }
    match wire::receive(&ours)? {
        None => Ok(Entered::Running(pid)),
        Some(Entering::Failed { errno, text }) => Ok(Entered::Failed { errno, text }),
        Some(Entering::Executing) => Err(io::Error::other("the entry spoke twice")),
    }
}

/// Reaps every child that ends, at once, until the target is among them.
fn reap_until(main: Pid, target: &Target) -> io::Result<WaitStatus> {
    loop {
        // Waits without reaping, so that the number of a reaped target can't be signalled by the other thread.
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut alive = target.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((pid, status)) = wait(WaitOptions::NOHANG)? {
            if pid == main {
                *alive = None;
                return Ok(status);
            }
        }
    }
}

/// Obeys the supervisor until it says kill, or is gone. Never returns while this process lives.
fn obey(control: &UnixStream, scope: Scope, target: &Target) {
    while let Ok(Some(Command::Terminate)) = wire::receive(control) {
        if let Some(main) = *target.lock().unwrap_or_else(PoisonError::into_inner) {
            // A stopped process takes its signal only once it continues. Neither matters if the group is gone.
            let _gone = kill_process_group(main, Signal::TERM);
            let _gone = kill_process_group(main, Signal::CONT);
        }
    }
    let deadline = Instant::now() + sweep::PATIENCE;
    while Instant::now() < deadline {
        sweep::kill_all(scope);
        thread::sleep(Duration::from_millis(10));
    }
    // The other thread is waiting for something that can't be killed. Ends the namespace, if there is one.
    std::process::exit(1);
}
