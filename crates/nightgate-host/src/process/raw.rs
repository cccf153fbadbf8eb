//! The system calls that have no safe form in our dependencies. Deciding when to make them is not here.

#![expect(
    unsafe_code,
    reason = "exec without a shell, signal dispositions, descriptors by number, unshare, mount_setattr, interface flags"
)]

use std::ffi::{CString, c_char, c_int};
use std::fs;
use std::io;
use std::mem;
use std::ops::BitOr;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use rustix::io::FdFlags;
use rustix::thread::UnshareFlags;

unsafe extern "C" {
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn signal(number: c_int, handler: usize) -> usize;
}

/// Becomes another program; returns only if that failed. Unlike `execvp`, which the standard library uses, a file that
/// is no program is an error here and not handed to a shell: an empty file would "succeed".
pub(super) fn execute(program: &CString, argv: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |strings: &[CString]| -> Vec<*const c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
    };
    let (argv, environment) = (pointers(argv), pointers(environment));
    // SAFETY: both lists end with a null pointer, and everything they point to lives until after the call.
    unsafe { execve(program.as_ptr(), argv.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Gives each signal its default effect: an ignored signal (SIGPIPE in every Rust program, SIGHUP under `nohup`) would
/// stay ignored in the next program.
pub(super) fn reset_signals() {
    const SIG_DFL: usize = 0;
    for number in 1..=64 {
        // SAFETY: no handler is installed. The C library refuses the numbers that can't be changed.
        unsafe { signal(number, SIG_DFL) };
    }
}

/// Makes each descriptor above standard error close at the next exec.
///
/// # Errors
/// Where they can't be listed.
pub(super) fn close_descriptors_on_exec() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<c_int>().ok()) else {
            continue;
        };
        if number > 2 {
            // SAFETY: only a flag is set, on a descriptor of this single-threaded process that was just listed.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
        }
    }
    Ok(())
}

/// Leaves the shared namespaces.
///
/// # Errors
/// The system's refusal; then nothing was left.
pub(crate) fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: unsafe for `CLONE_FILES` alone, which no caller asks for.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Attributes that a mount can be given and, in a user namespace, never loses again.
#[derive(Clone, Copy)]
pub(crate) struct MountAttributes(u64);

impl MountAttributes {
    pub(crate) const READ_ONLY: Self = Self(libc::MOUNT_ATTR_RDONLY);
    pub(crate) const NO_SUID: Self = Self(libc::MOUNT_ATTR_NOSUID);
    pub(crate) const NO_DEVICES: Self = Self(libc::MOUNT_ATTR_NODEV);
}

impl BitOr for MountAttributes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Sets attributes of the mount at `path` and of all mounts below it; those that it has stay. In one step, so that there is
/// no moment in which only some have them.
///
/// # Errors
/// Where `path` is no mount, or the kernel is older than 5.12.
pub(crate) fn set_mount_attributes(path: &Path, attributes: MountAttributes) -> io::Result<()> {
    mount_setattr(path, attributes, libc::AT_RECURSIVE)
}

/// As [`set_mount_attributes`], of the one mount at `path` alone.
///
/// # Errors
/// The same.
pub(crate) fn set_one_mount_attributes(path: &Path, attributes: MountAttributes) -> io::Result<()> {
    mount_setattr(path, attributes, 0)
}

fn mount_setattr(path: &Path, attributes: MountAttributes, flags: c_int) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let wanted = libc::mount_attr { attr_set: attributes.0, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = flags | libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: path and attributes live until after the call, and the size is theirs.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const wanted,
            size_of_val(&wanted),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Brings a network interface of this process's network namespace up.
///
/// # Errors
/// Where there is no such interface, or no right to.
pub(crate) fn interface_up(socket: RawFd, name: &str) -> io::Result<()> {
    // SAFETY: all zeros are a valid request.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *place = c_char::from_ne_bytes([byte]);
    }
    // SAFETY: both calls are given a whole request, whose name ends with a zero.
    let done = unsafe {
        if libc::ioctl(socket, libc::SIOCGIFFLAGS, &raw mut request) == 0 {
            request.ifr_ifru.ifru_flags |= (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
            libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request)
        } else {
            -1
        }
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes a system call by its number for [`crate::sandbox::attempts_main`]: only to see whether it is denied, with arguments
/// that can't do harm where it isn't.
///
/// # Errors
/// What the system said.
pub(crate) fn attempt(call: libc::c_long, arguments: [libc::c_long; 3]) -> io::Result<()> {
    let [first, second, third] = arguments;
    // SAFETY: the callers pass numbers and null pointers only, which each of the calls refuses or survives.
    let done = unsafe { libc::syscall(call, first, second, third, 0, 0, 0) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
