//! What belongs to a program, by where it lies: its installation's root, companions and variables. Finding it is not
//! here.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Kind;

/// Readable to everybody, on `PATH` anyway, and changed by the machine's administrator alone.
const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"];

/// As many links as the kernel follows.
const LINKS: usize = 40;

pub(super) struct Place {
    pub(super) program: PathBuf,
    pub(super) path: Vec<PathBuf>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) roots: Vec<PathBuf>,
    pub(super) kind: Kind,
}

/// Where `entry`, an executable, really lies, and with what.
pub(super) fn place(entry: &Path, home: Option<&Path>) -> io::Result<Place> {
    let entry = in_real_folder(entry)?;
    let program = follow(&entry)?;
    let mut place =
        Place { program, path: Vec::new(), variables: Vec::new(), roots: Vec::new(), kind: Kind::System };
    if is_system(&place.program) {
        // Many of the system's programs decide by their own name what they are.
        if is_system(&entry) {
            place.program = entry;
        }
        return Ok(place);
    }
    place.kind = kind(&place.program);
    // What `X/bin/npm` links to, `X/lib/node_modules/npm/bin/npm-cli.js`, is part of the installation `X`.
    let entered = installation(&entry, home).filter(|(root, _)| place.program.starts_with(root));
    if let Some(root) = below(&place.program, "uv", &["tools"]) {
        // Its folder holds a Python too, which must not become everybody's.
        place.roots.push(root);
    } else if let (None, Some(root)) = (&entered, node_modules(&place.program)) {
        place.roots.push(root);
    } else if let Some((root, folder)) = entered.or_else(|| installation(&place.program, home)) {
        if root.join("pyvenv.cfg").is_file() {
            place.variables.push(("VIRTUAL_ENV".into(), root.clone().into()));
        }
        place.roots.push(root);
        place.path.push(folder);
    } else {
        place.roots.push(place.program.clone());
    }
    let mut behind: Vec<PathBuf> = place.roots.iter().filter_map(|root| base_python(root)).collect();
    behind.extend(interpreter(&place.program)?);
    for interpreter in behind {
        add_interpreter(&mut place.roots, &interpreter, home)?;
    }
    Ok(place)
}

/// Adds what an interpreter needs: its own installation, and that of the Python behind an environment.
fn add_interpreter(roots: &mut Vec<PathBuf>, interpreter: &Path, home: Option<&Path>) -> io::Result<()> {
    let entry = in_real_folder(interpreter)?;
    let program = follow(&entry)?;
    for program in [program.canonicalize()?, program] {
        if is_system(&program) || roots.iter().any(|root| program.starts_with(root)) {
            continue;
        }
        let root = installation(&program, home).map_or_else(|| program.clone(), |(root, _)| root);
        roots.push(root);
    }
    Ok(())
}

/// The same entry, named by its folder's real path.
fn in_real_folder(entry: &Path) -> io::Result<PathBuf> {
    match (entry.parent(), entry.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Follows links one by one, but not out of a Python environment: its interpreter is a link, and knows the environment
/// by where the link lies.
fn follow(entry: &Path) -> io::Result<PathBuf> {
    let mut path = entry.to_owned();
    for _ in 0..LINKS {
        let environment =
            path.parent().and_then(Path::parent).is_some_and(|root| root.join("pyvenv.cfg").is_file());
        if environment || !path.is_symlink() {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = in_real_folder(&path.parent().unwrap_or(Path::new("/")).join(target))?;
    }
    Err(io::Error::other("too many links"))
}

/// The folder `X` of an installation with `X/bin` that holds `program`, and that `bin`. Never a folder that is, holds or
/// configures a home.
fn installation(program: &Path, home: Option<&Path>) -> Option<(PathBuf, PathBuf)> {
    let folder = program.parent().filter(|folder| folder.file_name() == Some(OsStr::new("bin")))?;
    let root = folder.parent()?;
    let personal = home.is_some_and(|home| {
        let hidden = root.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
        home.starts_with(root) || root.parent() == Some(home) && hidden
    });
    (!personal && root != Path::new("/")).then(|| (root.to_owned(), folder.to_owned()))
}

/// The outermost `node_modules` above a program.
fn node_modules(program: &Path) -> Option<PathBuf> {
    program
        .ancestors()
        .filter(|folder| folder.file_name() == Some(OsStr::new("node_modules")))
        .last()
        .map(Path::to_owned)
}

/// The folder `.../OUTER/INNER/X` that holds `program`.
fn below(program: &Path, outer: &str, inner: &[&str]) -> Option<PathBuf> {
    let named = |path: Option<&Path>, names: &[&str]| {
        path.and_then(Path::file_name).is_some_and(|name| names.iter().any(|one| name == *one))
    };
    let is_root =
        |root: &&Path| named(root.parent(), inner) && named(root.parent().and_then(Path::parent), &[outer]);
    program.ancestors().skip(1).find(is_root).map(Path::to_owned)
}

fn kind(program: &Path) -> Kind {
    let has = |wanted: &str| program.components().any(|component| component.as_os_str() == wanted);
    if below(program, "uv", &["tools", "python"]).is_some() {
        Kind::Uv
    } else if has(".nvm") || has("nvm") && has("versions") {
        Kind::Nvm
    } else if has(".rustup") {
        Kind::Rustup
    } else if has(".pyenv") {
        Kind::Pyenv
    } else if has(".volta") {
        Kind::Volta
    } else {
        Kind::Other
    }
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// The interpreter of the Python that an environment was made from (`home` in its `pyvenv.cfg`).
fn base_python(root: &Path) -> Option<PathBuf> {
    let config = fs::read_to_string(root.join("pyvenv.cfg")).ok()?;
    let home = config.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| PathBuf::from(value.trim()))
    })?;
    ["python3", "python"].map(|name| home.join(name)).into_iter().find(|python| python.is_file())
}

/// The interpreter that a script's first line names by an absolute path.
fn interpreter(program: &Path) -> io::Result<Option<PathBuf>> {
    let mut start = Vec::new();
    File::open(program)?.take(256).read_to_end(&mut start)?;
    let Some(line) = start.strip_prefix(b"#!") else { return Ok(None) };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let name = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let path = PathBuf::from(OsStr::from_bytes(name));
    Ok((path.is_absolute() && path.is_file()).then_some(path))
}
