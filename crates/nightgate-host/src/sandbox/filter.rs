//! Seccomp: system calls that no boxed program gets. A list of what is denied, since what honest programs call can't be listed.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::steps::Failure;
use super::{Network, Sandbox, Strength};

/// Reaches into other processes, or into the kernel.
const NEVER: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Makes mounts and namespaces; a box that nests has them.
const NESTING: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
];

/// Every namespace of clone(2) and unshare(2).
const NAMESPACES: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u64;

/// Types into a terminal, or into the console.
const TERMINAL: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Local sockets.
const LOCAL: &[i32] = &[libc::AF_UNIX];
/// Those, the internet, and what the C library asks for its addresses; not the ones that no namespace holds.
const USUAL: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Denies the calls to this process and all that it starts, for good.
pub(super) fn install(sandbox: &Sandbox, nesting: bool) -> Result<(), Failure> {
    for program in
        programs(sandbox, nesting).map_err(|error| failure("make the list of system calls", &error))?
    {
        apply_filter(&program).map_err(|error| failure("deny system calls", &error))?;
    }
    Ok(())
}

fn programs(sandbox: &Sandbox, nesting: bool) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut denied: BTreeMap<i64, Vec<SeccompRule>> = NEVER.iter().map(|call| (*call, Vec::new())).collect();
    if !nesting {
        denied.extend(NESTING.iter().map(|call| (*call, Vec::new())));
        denied.insert(libc::SYS_unshare, any_bit_of(NAMESPACES)?);
        denied.insert(libc::SYS_clone, any_bit_of(NAMESPACES)?);
    }
    let commands = TERMINAL.map(|command| rule(1, SeccompCmpOp::Eq, command));
    denied.insert(libc::SYS_ioctl, commands.into_iter().collect::<Result<_, _>>()?);
    // Flags of this one lie in memory, where no filter looks; the C library falls back to clone on this answer.
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let mut programs = vec![
        other_numbers(),
        filter(denied, libc::EPERM, arch)?,
        filter(sockets(sandbox)?, libc::EAFNOSUPPORT, arch)?,
    ];
    if !nesting {
        programs.push(filter(clone3, libc::ENOSYS, arch)?);
    }
    Ok(programs)
}

/// The second numbering of x86-64's calls (x32) would pass every other list.
fn other_numbers() -> BpfProgram {
    let statement = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    const SECOND: u32 = 0x4000_0000;
    vec![
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, SECOND),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Sockets of any family but the allowed ones.
fn sockets(sandbox: &Sandbox) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let closed = sandbox.network == Network::None && sandbox.strength == Strength::Restricted;
    let allowed = if closed { LOCAL } else { USUAL };
    let others = allowed
        .iter()
        .map(|family| {
            SeccompCondition::new(
                0,
                SeccompCmpArgLen::Dword,
                SeccompCmpOp::Ne,
                u64::from(family.unsigned_abs()),
            )
        })
        .collect::<Result<Vec<_>, _>>()?;
    let rule = SeccompRule::new(others)?;
    Ok(BTreeMap::from([(libc::SYS_socket, vec![rule.clone()]), (libc::SYS_socketpair, vec![rule])]))
}

fn any_bit_of(bits: u64) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    (0..u64::BITS)
        .map(|bit| 1 << bit)
        .filter(|bit| bits & bit != 0)
        .map(|bit| rule(0, SeccompCmpOp::MaskedEq(bit), bit))
        .collect()
}

fn rule(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)?])
}

fn filter(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
    arch: TargetArch,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let denied = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, denied, arch)?.try_into()
}

fn failure(doing: &str, error: &dyn std::error::Error) -> Failure {
    (io::Error::other(error.to_string()), doing.to_owned())
}
