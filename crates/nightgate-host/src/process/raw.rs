//! The four system calls that have no safe form in our dependencies. Deciding when to make them is not here.

#![expect(unsafe_code, reason = "exec without a shell, signal dispositions, descriptors by number, unshare")]

use std::ffi::{CString, c_char, c_int};
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
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
pub(super) fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: unsafe for `CLONE_FILES` alone, which no caller asks for.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}
