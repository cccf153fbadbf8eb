//! Runs setup and checks in a clean room and gathers the facts. What they mean is `judge`'s.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nightgate_core::declaration::{Check, Setup, Terms};
use nightgate_core::evidence::{
    Above, CheckRun, Exit, Room, SetupRun, SetupTree, StandIn, Stream, Survivors,
};
use nightgate_core::isolation::Enforcement;
use nightgate_core::stand_in::Sources;
use nightgate_core::tree::{EntryMode, Listing, changes};
use nightgate_core::{JobId, RepoPath, TreeId};
use nightgate_host::above;
use nightgate_host::env::{BYTE_CODE_FOLDER, Environment, EnvironmentSpec, Role};
use nightgate_host::memory::Kills;
use nightgate_host::process::{Ended, Stdin};
use nightgate_host::repository::Repository;
use nightgate_host::room::{self as clean, Observation, StandIns};
use nightgate_host::sandbox::Strength;

use crate::Engine;
use crate::confine::{Place, Purpose, Shown, named_files};
use crate::error::EngineError;
use crate::home::make_folder;
use crate::program::{Programs, Run, exit_of, is_in_tree, stop_enforcement, survivors_of};
use crate::step::{Observer, Step};

/// What is to be run, and on what.
pub(crate) struct RoomRequest<'a> {
    pub(crate) job: &'a JobId,
    /// Holds both trees.
    pub(crate) repository: &'a Repository,
    pub(crate) terms: &'a Terms,
    pub(crate) programs: &'a Programs,
    /// The checks to run, in order.
    pub(crate) checks: Vec<&'a Check>,
    pub(crate) base: Side<'a>,
    pub(crate) candidate: Side<'a>,
    /// Where logs go until they are kept; exists.
    pub(crate) logs: PathBuf,
    pub(crate) log_prefix: &'static str,
}

/// One tree with its listing.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) tree: &'a TreeId,
    pub(crate) listing: &'a Listing,
}

/// What was found in the room.
#[derive(Debug, Default)]
pub(crate) struct RoomFacts {
    pub(crate) room: Room,
    pub(crate) checks: Vec<CheckRun>,
    pub(crate) enforcements: Vec<Enforcement>,
    pub(crate) faults: Vec<String>,
    pub(crate) withheld: Vec<String>,
}

/// The folders of one clean room: a tree, a home and a folder for temporary files, nothing else.
struct Folders {
    root: PathBuf,
    tree: PathBuf,
    home: PathBuf,
    tmp: PathBuf,
}

impl Folders {
    fn place(&self) -> Place {
        Place { tree: self.tree.clone(), home: self.home.clone(), tmp: self.tmp.clone() }
    }
}

impl Engine {
    /// Runs each check in a fresh room of its own: lays it out, prepares it, runs the check, removes it. Nothing that one
    /// check left can reach the next. Whatever goes wrong on the way becomes a fact; only a fault of our own surroundings
    /// is an error.
    pub(crate) fn run_in_rooms(
        &self,
        request: &RoomRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<RoomFacts, EngineError> {
        let mut facts = RoomFacts::default();
        for (place, check) in request.checks.iter().enumerate() {
            if !is_usable(&facts.room) {
                facts
                    .checks
                    .push(without_run(check, Exit::NotRun { text: "there was no clean room".to_owned() }));
                continue;
            }
            observer.step(&Step::CleanRoom);
            let folders = self.room_folders(request.job)?;
            let before = facts.room.tree.take();
            let worked = match self.prepare(request, &folders, &mut facts, observer) {
                Ok(Some(laid)) => self.check_in(request, &folders, place, laid, &mut facts, observer),
                Ok(None) => {
                    facts
                        .checks
                        .push(without_run(check, Exit::NotRun { text: "the clean room failed".to_owned() }));
                    Ok(())
                }
                Err(fault @ EngineError::Interrupted { .. }) => Err(fault),
                Err(fault) => {
                    facts.room.fault = Some(fault.to_string());
                    facts.checks.push(without_run(
                        check,
                        Exit::NotRun { text: "there was no clean room".to_owned() },
                    ));
                    Ok(())
                }
            };
            if before.is_some() && before != facts.room.tree {
                facts.room.tree = None;
            }
            if let Err(fault) = nightgate_host::walk::remove_tree(&folders.root, &self.home.rooms()) {
                facts.faults.push(format!("a clean room could not be removed: {fault}"));
            }
            worked?;
        }
        Ok(facts)
    }

    fn room_folders(&self, job: &JobId) -> Result<Folders, EngineError> {
        let rooms = self.home.rooms();
        make_folder(&rooms)?;
        let root = tempfile::Builder::new()
            .prefix(&format!("{job}-"))
            .tempdir_in(&rooms)
            .map_err(|source| EngineError::file("make a clean room in", &rooms, source))?
            .keep();
        let folders =
            Folders { tree: root.join("tree"), home: root.join("home"), tmp: root.join("tmp"), root };
        make_folder(&folders.home)?;
        make_folder(&folders.tmp)?;
        Ok(folders)
    }

    /// What the room holds, which is exactly the candidate; `None` where it doesn't, or a setup step failed.
    ///
    /// Setup runs on base: nothing that the attempt wrote is there yet. A step whose inputs the candidate changed runs
    /// again on the candidate. The candidate's files are written after it, so that no build output looks newer than its
    /// source. Where a product of base can be taken for a file that the candidate changed, the room isn't clean.
    fn prepare(
        &self,
        request: &RoomRequest<'_>,
        folders: &Folders,
        facts: &mut RoomFacts,
        observer: &mut dyn Observer,
    ) -> Result<Option<Observation>, EngineError> {
        let doing = |fault: &dyn std::fmt::Display| EngineError::environment("lay out the clean room", fault);
        let (base, candidate) = (request.base, request.candidate);
        if request.terms.setup.is_empty() {
            clean::materialise(request.repository, candidate.tree, &folders.tree)
                .map_err(|fault| doing(&fault))?;
        } else {
            clean::materialise(request.repository, base.tree, &folders.tree)
                .map_err(|fault| doing(&fault))?;
            for step in &request.terms.setup {
                if !self.run_setup(request, folders, step, SetupTree::Base, facts, observer)? {
                    return Ok(None);
                }
            }
            drop_byte_code(folders, base.listing).map_err(|fault| doing(&fault))?;
            let changed = changes(base.listing, candidate.listing);
            let seen = self.tree_seen(request.job, &folders.tree)?;
            let stand_ins = StandIns::find(&folders.tree, &seen, base.listing, &Sources::of(&changed))
                .map_err(|fault| doing(&fault))?;
            let lay =
                |from: &TreeId| clean::lay_candidate(request.repository, from, candidate.tree, &folders.tree);
            lay(base.tree).map_err(|fault| doing(&fault))?;
            for step in request.terms.setup.iter().filter(|step| inputs_differ(step, base, candidate)) {
                if !self.run_setup(request, folders, step, SetupTree::Candidate, facts, observer)? {
                    return Ok(None);
                }
                drop_byte_code(folders, candidate.listing).map_err(|fault| doing(&fault))?;
                lay(candidate.tree).map_err(|fault| doing(&fault))?;
            }
            facts.room.stand_ins = stand_ins.left_in(&folders.tree).map_err(|fault| doing(&fault))?;
            facts.room.stand_ins.truncate(StandIn::SAMPLE);
            if !facts.room.stand_ins.is_empty() {
                return Ok(None);
            }
        }
        let seen = clean::observe(&folders.tree, candidate.listing, request.repository.object_format());
        facts.room.tree = seen.tree.clone();
        if seen.tree.as_ref() != Some(candidate.tree) {
            facts.room.fault =
                Some(format!("it doesn't hold the captured tree: {}", seen.problems.join("; ")));
            return Ok(None);
        }
        clean::settle(&seen);
        Ok(Some(seen))
    }

    fn run_setup(
        &self,
        request: &RoomRequest<'_>,
        folders: &Folders,
        step: &Setup,
        on: SetupTree,
        facts: &mut RoomFacts,
        observer: &mut dyn Observer,
    ) -> Result<bool, EngineError> {
        observer.step(&Step::Setup(step.name.clone()));
        let place = facts.room.setup.len();
        let log_name = format!("{}-setup-{place}", request.log_prefix);
        let program = match request.programs.program(&step.executable, &folders.tree) {
            Ok(program) => program,
            Err(text) => {
                let exit = Exit::NotStarted { text };
                let none = Stream::default;
                facts.room.setup.push(SetupRun {
                    name: step.name.clone(),
                    on,
                    exit,
                    stdout: none(),
                    stderr: none(),
                    duration_ms: 0,
                });
                return Ok(false);
            }
        };
        let seconds = step.timeout_seconds;
        let ended = self.run_one(
            request,
            folders,
            Role::Setup,
            program,
            &step.args,
            seconds,
            log_name,
            facts,
            observer,
        )?;
        let exit = exit_of(&ended, seconds);
        let complete = ended.stop.is_complete();
        if !complete {
            facts.faults.push(format!("setup step `{}` left processes that could not be ended", step.name));
        }
        let succeeded = exit.is_success() && complete;
        facts.room.setup.push(SetupRun {
            name: step.name.clone(),
            on,
            exit,
            stdout: self.keep_stream(&ended.stdout, &mut facts.faults),
            stderr: self.keep_stream(&ended.stderr, &mut facts.faults),
            duration_ms: milliseconds(ended.duration),
        });
        Ok(succeeded)
    }

    fn check_in(
        &self,
        request: &RoomRequest<'_>,
        folders: &Folders,
        place: usize,
        laid: Observation,
        facts: &mut RoomFacts,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        let check = request.checks[place];
        observer.step(&Step::Check(check.name.clone()));
        let log_name = format!("{}-check-{place}", request.log_prefix);
        // A box with namespaces shows nothing above its tree.
        let looks_up = self.strength(request.job)? != Some(Strength::Namespaces);
        if looks_up {
            note_above(folders, facts);
        }
        let mut run = self.run_check(request, folders, check, log_name, facts, observer)?;
        if looks_up {
            note_above(folders, facts);
        }
        let format = request.repository.object_format();
        let after = clean::observe(&folders.tree, request.candidate.listing, format);
        run.drift = clean::drift(&laid, &after);
        run.touched = clean::touched(&laid, &after);
        // A product file that is made again with the same content is honest work, and may be one of thousands.
        run.touched
            .retain(|path| request.terms.criteria_paths.iter().any(|criteria| path.is_at_or_below(criteria)));
        run.unread = after.problems.clone();
        facts.room.untracked_after += after.untracked;
        facts.checks.push(run);
        Ok(())
    }

    fn run_check(
        &self,
        request: &RoomRequest<'_>,
        folders: &Folders,
        check: &Check,
        log_name: String,
        facts: &mut RoomFacts,
        observer: &mut dyn Observer,
    ) -> Result<CheckRun, EngineError> {
        let program = match request.programs.program(&check.executable, &folders.tree) {
            Ok(program) => program,
            Err(text) => return Ok(without_run(check, Exit::NotStarted { text })),
        };
        let seconds = check.timeout_seconds;
        let killed = Kills::count();
        let ended = self.run_one(
            request,
            folders,
            Role::Check,
            program,
            &check.args,
            seconds,
            log_name,
            facts,
            observer,
        )?;
        Ok(CheckRun {
            name: check.name.clone(),
            exit: exit_of(&ended, seconds).or_out_of_memory(Kills::count().grew_since(&killed)),
            stdout: self.keep_stream(&ended.stdout, &mut facts.faults),
            stderr: self.keep_stream(&ended.stderr, &mut facts.faults),
            duration_ms: milliseconds(ended.duration),
            program_removed: program_removed(check, request.base.listing, request.candidate.listing),
            drift: Vec::new(),
            touched: Vec::new(),
            unread: Vec::new(),
            survivors: survivors_of(&ended.stop),
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the one place where a room's programs are started")]
    fn run_one(
        &self,
        request: &RoomRequest<'_>,
        folders: &Folders,
        role: Role,
        program: PathBuf,
        args: &[String],
        seconds: u64,
        log_name: String,
        facts: &mut RoomFacts,
        observer: &mut dyn Observer,
    ) -> Result<Ended, EngineError> {
        let purpose = if role == Role::Check { Purpose::Check } else { Purpose::Setup };
        let confined = self.confine(request.job, purpose, folders.place(), &shown(request, purpose, args))?;
        for enforcement in &confined.enforcements {
            note_once(&mut facts.enforcements, enforcement);
        }
        let spec = EnvironmentSpec {
            home: confined.inside.home.clone(),
            tmp: confined.inside.tmp.clone(),
            path: request.programs.folders(),
            pass: &request.terms.pass_env,
            extra: request.programs.variables(),
        };
        let environment = Environment::build(role, &self.around.inherited, &spec);
        facts.withheld = environment.withheld().to_vec();
        let run = Run {
            program: confined.seen(&program),
            args: args.iter().map(OsString::from).collect(),
            cwd: confined.inside.tree.clone(),
            environment: &environment,
            stdin: Stdin::Null,
            wall: Duration::from_secs(seconds),
            silence: None,
            logs: request.logs.clone(),
            log_name,
            hold: Some(self.home.keeper_lock(request.job)),
            sandbox: confined.sandbox,
        };
        let ended = self.supervise(run, observer)?;
        // What a person interrupted says nothing about the work; it is done again from the start.
        if self.around.cancel.is_cancelled() {
            return Err(EngineError::Interrupted { next: String::new() });
        }
        note_once(&mut facts.enforcements, &stop_enforcement("stop.checks", &ended.stop));
        Ok(ended)
    }

    /// Removes what rooms of a dead run are left. The job's lock must be held.
    pub(crate) fn remove_rooms(&self, job: &JobId) -> Result<(), EngineError> {
        let rooms = self.home.rooms();
        let entries = fs::read_dir(&rooms).map_err(|source| EngineError::file("read", &rooms, source))?;
        let prefix = format!("{job}-");
        for entry in entries {
            let entry = entry.map_err(|source| EngineError::file("read", &rooms, source))?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                remove(&entry.path(), &rooms)?;
            }
        }
        Ok(())
    }
}

/// Removes one of our own folders, which lies directly below `above`.
pub(crate) fn remove(folder: &Path, above: &Path) -> Result<(), EngineError> {
    nightgate_host::walk::remove_tree(folder, above)
        .map_err(|fault| EngineError::environment(format!("remove {}", folder.display()), fault))
}

/// Each is told once.
pub(crate) fn note_once(enforcements: &mut Vec<Enforcement>, stop: &Enforcement) {
    if !enforcements.contains(stop) {
        enforcements.push(stop.clone());
    }
}

/// What a box of a room shows: the tools, and of the criteria files that they are not to be changed.
fn shown(request: &RoomRequest<'_>, purpose: Purpose, args: &[String]) -> Shown {
    let mut shown = Shown { read: request.programs.roots(), ..Shown::default() };
    shown.read.extend(named_files(args));
    if purpose != Purpose::Check {
        return shown;
    }
    let criteria = &request.terms.criteria_paths;
    let mut folders = BTreeSet::new();
    for (path, entry) in request.candidate.listing {
        if !criteria.iter().any(|folder| path.is_at_or_below(folder)) {
            continue;
        }
        folders.extend(path.ancestors());
        // A link can't be covered; that it changed is seen afterwards.
        if matches!(entry.mode, EntryMode::File | EntryMode::Executable) {
            shown.protected.push(native(path));
        }
    }
    shown.pinned = folders.iter().map(native).collect();
    shown
}

fn native(path: &RepoPath) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path.as_bytes()))
}

fn without_run(check: &Check, exit: Exit) -> CheckRun {
    CheckRun {
        name: check.name.clone(),
        exit,
        stdout: Stream::default(),
        stderr: Stream::default(),
        duration_ms: 0,
        program_removed: false,
        drift: Vec::new(),
        touched: Vec::new(),
        unread: Vec::new(),
        survivors: Survivors::default(),
    }
}

/// Adds what tools would find above the room, each once.
fn note_above(folders: &Folders, facts: &mut RoomFacts) {
    let doing = "look for files above the clean room that steer tools";
    let seen = match above::look(&folders.root) {
        Ok(seen) => seen,
        Err(fault) => return facts.faults.push(format!("failed to {doing}: {fault}")),
    };
    for found in seen.found {
        let found = Above { path: found.path.display().to_string(), tool: found.tool.to_owned() };
        if !facts.room.above.contains(&found) {
            facts.room.above.push(found);
        }
    }
    for text in seen.unknown {
        let text = format!("failed to {doing}: {text}");
        if !facts.faults.contains(&text) {
            facts.faults.push(text);
        }
    }
}

/// False where a room failed for a reason that the next one will have too.
fn is_usable(room: &Room) -> bool {
    room.fault.is_none() && room.stand_ins.is_empty() && room.setup.iter().all(|step| step.exit.is_success())
}

/// Removes byte code that a setup step made, in the tree and where Python keeps it for the room.
fn drop_byte_code(folders: &Folders, tracked: &Listing) -> Result<(), Box<dyn std::error::Error>> {
    nightgate_host::walk::remove_tree(&folders.tmp.join(BYTE_CODE_FOLDER), &folders.root)?;
    Ok(clean::remove_byte_code(&folders.tree, tracked)?)
}

fn inputs_differ(step: &Setup, base: Side<'_>, candidate: Side<'_>) -> bool {
    let below = |listing: &Listing| -> BTreeMap<RepoPath, _> {
        let inside = |path: &RepoPath| step.inputs.iter().any(|input| path.is_at_or_below(input));
        listing
            .iter()
            .filter(|(path, _)| inside(path))
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .collect()
    };
    below(base.listing) != below(candidate.listing)
}

/// True where the check's program is a file that base has and the candidate lacks.
fn program_removed(check: &Check, base: &Listing, candidate: &Listing) -> bool {
    let inside = check.executable.strip_prefix("./").unwrap_or(&check.executable);
    is_in_tree(&check.executable)
        && inside
            .parse::<RepoPath>()
            .is_ok_and(|path| base.contains_key(&path) && !candidate.contains_key(&path))
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
