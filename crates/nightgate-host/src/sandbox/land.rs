//! Landlock: what may be read, executed and written, as rules on paths that this process sees. Not for boxes that nest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::steps::Failure;
use super::{Access, SYSTEM, Sandbox, Strength};

/// The oldest interface that knows all ways of writing (truncate came last).
const NEEDED: ABI = ABI::V3;
/// Read by programs everywhere, and nobody's.
const READABLE: [&str; 3] = ["/proc", "/sys/devices/system/cpu", "/dev"];
/// Written by programs everywhere.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];
/// Of the box alone where it has namespaces, and then writable.
const SCRATCH: [&str; 5] = ["/tmp", "/var/tmp", "/run", "/dev/shm", "/dev/pts"];

/// Opens what the rules are about, while capabilities may still be needed for that.
pub(super) fn prepare(sandbox: &Sandbox) -> Result<RulesetCreated, Failure> {
    let all = AccessFs::from_all(NEEDED);
    let read = AccessFs::from_read(NEEDED);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)
        .map(|rules| rules.set_compatibility(CompatLevel::BestEffort))
        .and_then(|rules| rules.scope(Scope::Signal | Scope::AbstractUnixSocket))
        .and_then(Ruleset::create)
        .map_err(|error| failure("begin the landlock rules", &error))?
        .set_compatibility(CompatLevel::HardRequirement);
    let mut allow = |path: &Path, access| -> Result<(), Failure> {
        let opened = match PathFd::new(path) {
            Ok(opened) => opened,
            Err(_) if !path.exists() => return Ok(()),
            Err(error) => return Err(failure(&format!("open {}", path.display()), &error)),
        };
        let is_folder = fs::metadata(path).is_ok_and(|found| found.is_dir());
        let access = if is_folder { access } else { access & AccessFs::from_file(NEEDED) };
        (&mut rules)
            .add_rule(PathBeneath::new(opened, access))
            .map(|_| ())
            .map_err(|error| failure(&format!("allow {}", path.display()), &error))
    };
    if sandbox.strength == Strength::Namespaces {
        // The root holds only what may be seen; what may be written is said again here.
        allow(Path::new("/"), read)?;
        for path in SCRATCH {
            allow(Path::new(path), all)?;
        }
    } else {
        for path in SYSTEM.into_iter().chain(READABLE) {
            allow(Path::new(path), read)?;
        }
        allow(Path::new("/dev/shm"), all)?;
        if let Ok(resolver) = fs::canonicalize("/etc/resolv.conf") {
            allow(&resolver, read)?;
        }
    }
    for device in DEVICES {
        allow(Path::new(device), all)?;
    }
    for bind in &sandbox.binds {
        let path: &PathBuf = match sandbox.strength {
            Strength::Namespaces => &bind.target,
            Strength::Restricted => &bind.source,
        };
        let access = if bind.access == Access::Write { all } else { read };
        allow(path, access)?;
    }
    Ok(rules)
}

/// Confines this process, and all that it starts, for good.
pub(super) fn restrict(rules: RulesetCreated) -> Result<(), Failure> {
    let status = rules.restrict_self().map_err(|error| failure("apply the landlock rules", &error))?;
    match status.ruleset {
        RulesetStatus::NotEnforced => {
            Err((io::Error::from(io::ErrorKind::Unsupported), "apply the landlock rules".to_owned()))
        }
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

fn failure(doing: &str, error: &dyn std::error::Error) -> Failure {
    (io::Error::other(error.to_string()), doing.to_owned())
}
