//! The file system of a box with namespaces: a fresh root that holds the system's folders, devices, and the binds. What
//! belongs into it is the caller's.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, unmount,
};
use rustix::process::{chdir, pivot_root};

use super::steps::{Failure, doing};
use super::{Access, Bind, SYSTEM};
use crate::process::raw::{self, MountAttributes};

/// Where the new root is put together: any folder that every machine has.
const STAGE: &str = "/tmp";
const OLD: &str = "/old";
const NEW: &str = "/new";
/// Devices without state or harm.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// What of `/proc` acts on the machine and not on a process. To root without any capability much of it is writable.
const MACHINE: [&str; 6] =
    ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"];

/// Changes the root of this process, which must be alone in its mount namespace and hold all capabilities over it.
///
/// The old root stands aside while the new one is made from it, and is let go of at the end; nothing is mounted outside
/// this namespace, so nothing is left when its last process ends, however it does.
pub(super) fn change(binds: &[Bind], nesting: bool) -> Result<(), Failure> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(doing("make the mounts private"))?;
    let guarded = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", STAGE, "tmpfs", guarded, Some(c"mode=0755")).map_err(doing("mount a fresh root"))?;
    chdir(STAGE).map_err(doing("enter the fresh root"))?;
    for folder in ["old", "new"] {
        fs::create_dir(folder).map_err(doing("make the fresh root's folders"))?;
    }
    pivot_root(".", "old").map_err(doing("put the old root aside"))?;
    chdir("/").map_err(doing("enter the fresh root"))?;
    mount_bind_recursive(NEW, NEW).map_err(doing("make the new root a mount"))?;
    system()?;
    devices()?;
    processes(nesting)?;
    temporary()?;
    resolver();
    for bind in binds {
        lay(bind).map_err(|error| (error, format!("show {} in the box", bind.source.display())))?;
    }
    seal()?;
    chdir(NEW).map_err(doing("enter the new root"))?;
    pivot_root(".", ".").map_err(doing("change the root"))?;
    unmount(".", UnmountFlags::DETACH).map_err(doing("let go of the old root"))?;
    chdir("/").map_err(doing("enter the new root"))
}

/// The system's folders, read-only; one that is a link is the same link inside.
fn system() -> Result<(), Failure> {
    for folder in SYSTEM {
        let old = outside(Path::new(folder));
        let failed = |error: io::Error| (error, format!("show {folder} in the box"));
        match fs::symlink_metadata(&old) {
            Ok(found) if found.is_symlink() => {
                let target = fs::read_link(&old).map_err(failed)?;
                symlink(target, inside(Path::new(folder))).map_err(failed)?;
            }
            Ok(_) => lay(&Bind::same(folder, Access::Read)).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// `/etc/resolv.conf` is often a link to a file that a service keeps below `/run`. Without it names can't be resolved, which
/// the box's program will say itself.
fn resolver() {
    let Ok(target) = fs::read_link(outside(Path::new("/etc/resolv.conf"))) else { return };
    let target = Path::new("/etc").join(target);
    let mut path = PathBuf::from("/");
    for part in target.components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    if path.starts_with("/run") {
        let _missing = lay(&Bind::same(path, Access::Read));
    }
}

fn devices() -> Result<(), Failure> {
    let failed = doing("make the box's devices");
    let make = || -> io::Result<()> {
        fs::create_dir(inside(Path::new("/dev")))?;
        for device in DEVICES {
            let path = Path::new("/dev").join(device);
            let place = inside(&path);
            fs::write(&place, "")?;
            mount_bind_recursive(outside(&path), place)?;
        }
        for (link, target) in [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
            ("/dev/ptmx", "pts/ptmx"),
        ] {
            symlink(target, inside(Path::new(link)))?;
        }
        fs::create_dir(inside(Path::new("/dev/pts")))?;
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount(
            "devpts",
            inside(Path::new("/dev/pts")),
            "devpts",
            flags,
            Some(c"newinstance,ptmxmode=0666,mode=0620"),
        )?;
        scratch("/dev/shm")
    };
    make().map_err(failed)
}

/// The `/proc` of the keeper's pid namespace; where there is none of our own it is the machine's.
fn processes(nesting: bool) -> Result<(), Failure> {
    let lay_proc = || -> io::Result<()> {
        let place = inside(Path::new("/proc"));
        fs::create_dir(&place)?;
        mount_bind_recursive(outside(Path::new("/proc")), &place)?;
        // A nested sandbox can mount a `/proc` of its own only where nothing covers a part of this one. For an ordinary
        // user nothing there is writable anyway.
        if nesting && !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        for path in MACHINE.map(|path| inside(Path::new(path))) {
            if path.exists() {
                mount_bind_recursive(&path, &path)?;
                raw::set_mount_attributes(&path, MountAttributes::READ_ONLY)?;
            }
        }
        Ok(())
    };
    lay_proc().map_err(doing("show the box its processes"))
}

/// Folders for temporary files that end with the box. A bind may cover them.
fn temporary() -> Result<(), Failure> {
    let make = || -> io::Result<()> {
        scratch("/tmp")?;
        scratch("/var/tmp")?;
        scratch("/run")
    };
    make().map_err(doing("make the box's temporary folders"))
}

fn scratch(folder: &str) -> io::Result<()> {
    let place = inside(Path::new(folder));
    folders(&place)?;
    let mode = if folder == "/run" { c"mode=0755" } else { c"mode=1777" };
    Ok(mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(mode))?)
}

/// Puts one bind in its place. No link is followed on either side.
fn lay(bind: &Bind) -> io::Result<()> {
    let (source, target) = (outside(&bind.source), inside(&bind.target));
    let found = fs::symlink_metadata(&source)?;
    if found.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"));
    }
    if !exists(&target)? {
        folders(target.parent().unwrap_or(Path::new(NEW)))?;
        if found.is_dir() {
            fs::create_dir(&target)?;
        } else {
            fs::write(&target, "")?;
        }
    }
    mount_bind_recursive(source, &target)?;
    let guarded = MountAttributes::NO_SUID | MountAttributes::NO_DEVICES;
    let attributes = match bind.access {
        Access::Read => guarded | MountAttributes::READ_ONLY,
        Access::Write => guarded,
    };
    raw::set_mount_attributes(&target, attributes)
}

fn exists(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn folders(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o755).create(path)
}

/// Nobody writes into the root itself or the folders that only lead to a bind.
fn seal() -> Result<(), Failure> {
    raw::set_one_mount_attributes(Path::new(NEW), MountAttributes::READ_ONLY)
        .map_err(doing("make the new root read-only"))?;
    rustix::fs::accessat(CWD, NEW, rustix::fs::Access::EXEC_OK, rustix::fs::AtFlags::empty())
        .map_err(doing("look at the new root"))
}

fn outside(path: &Path) -> PathBuf {
    below(OLD, path)
}

fn inside(path: &Path) -> PathBuf {
    below(NEW, path)
}

fn below(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}
