//! Whether limits on memory and processes could be had for each box: a control group that is delegated to this user.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the second version of control groups is mounted: alone, or beside the first.
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
/// What limits a box.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// Makes a group below this process's own and removes it again; says why that can't be done.
///
/// # Errors
/// In words, with the system's error: this machine gives no limits of this kind.
pub fn probe_groups() -> Result<(), String> {
    let membership = fs::read_to_string("/proc/self/cgroup")
        .map_err(|error| format!("read /proc/self/cgroup: {error}"))?;
    let own = own_group(&membership).ok_or("this process is in no control group of version 2")?;
    let has_controllers = |folder: &Path| folder.join("cgroup.controllers").is_file();
    let mount = MOUNTS.map(Path::new).into_iter().find(|folder| has_controllers(folder));
    let mount = mount.ok_or("control groups of version 2 are not mounted")?;
    let group = mount.join(own.strip_prefix("/").unwrap_or(&own));
    let list = group.join("cgroup.controllers");
    let controllers = fs::read_to_string(&list).map_err(|error| said("read", &list, &error))?;
    let has = |name: &str| controllers.split_whitespace().any(|found| found == name);
    if let Some(name) = CONTROLLERS.into_iter().find(|name| !has(name)) {
        return Err(format!("the controller `{name}` is not delegated to {}", group.display()));
    }
    let made = group.join(format!("nightgate-probe-{}", std::process::id()));
    fs::create_dir(&made).map_err(|error| said("make", &made, &error))?;
    fs::remove_dir(&made).map_err(|error| said("remove", &made, &error))
}

/// The group of version 2 in the text of `/proc/self/cgroup`.
fn own_group(membership: &str) -> Option<PathBuf> {
    membership.lines().find_map(|line| line.strip_prefix("0::")).map(PathBuf::from)
}

fn said(doing: &str, path: &Path, error: &io::Error) -> String {
    format!("{doing} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_the_one_of_version_2() {
        let group = |text| own_group(text).map(|path| path.display().to_string());
        assert_eq!(group("4:memory:/a\n0::/user.slice/one\n").as_deref(), Some("/user.slice/one"));
        assert_eq!(group("4:memory:/a\n"), None);
        assert_eq!(group(""), None);
    }
}
