//! Says what this machine can do for Nightgate, found by doing it.

use nightgate_core::isolation::IsolationLevel;
use nightgate_host::sandbox::{Attempt, Strength, probe, probe_groups};

use crate::Engine;
use crate::confine::level_of;
use crate::error::EngineError;

/// One level of isolation on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ability {
    /// The level.
    pub level: IsolationLevel,
    /// Why it can't be had, with the system's error; `None` where it can.
    pub why_not: Option<String>,
    /// What to do about it.
    pub hint: Option<&'static str>,
    /// What was tried in a box of this level, and refused or not.
    pub attempts: Vec<Attempt>,
}

impl Engine {
    /// The levels above I1, strongest first. Boxes are built and tried in a temporary folder; nothing is left of it.
    pub fn abilities(&self) -> Result<Vec<Ability>, EngineError> {
        let doing = "try which boxes this machine builds";
        let scratch = tempfile::tempdir().map_err(|fault| EngineError::environment(doing, fault))?;
        let probed = probe(&self.around.helper, scratch.path())
            .map_err(|fault| EngineError::environment(doing, fault))?;
        let groups = match probe_groups() {
            Ok(()) => "a control group can be made, but this version sets no limits in it yet".to_owned(),
            Err(why) => why,
        };
        let mut abilities = vec![Ability {
            level: IsolationLevel::I4,
            why_not: Some(groups),
            hint: None,
            attempts: Vec::new(),
        }];
        abilities.extend(probed.probes.into_iter().map(|found| Ability {
            level: level_of(found.strength),
            hint: found.why_not.as_ref().map(|_| hint(found.strength)),
            why_not: found.why_not,
            attempts: found.attempts,
        }));
        Ok(abilities)
    }
}

fn hint(strength: Strength) -> &'static str {
    match strength {
        Strength::Namespaces => {
            "needs a kernel of 6.2 or newer that lets this user make user namespaces (user.max_user_namespaces above 0, no \
             security module that forbids them; in a container, one that permits unshare and mount)"
        }
        Strength::Restricted => "needs a kernel of 6.2 or newer with landlock among its security modules",
    }
}
