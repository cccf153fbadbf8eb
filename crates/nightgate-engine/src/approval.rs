//! Whether a person approved exactly these bytes. Asking is the caller's.

use nightgate_core::Digest;
use nightgate_core::approval::{Approval, ApprovedThing};
use nightgate_core::plan::{DeclarationKind, Plan};

use crate::Engine;
use crate::error::EngineError;
use crate::request::DeclarationText;

/// Asks the person in front of the terminal whether this declaration may be used; `None` where nobody can be asked.
pub type Ask<'a> = Option<&'a mut dyn FnMut(&DeclarationText) -> bool>;

impl Engine {
    /// Records that the person who runs this process approved these bytes. The first approval of a digest stays.
    pub fn approve(&self, digest: Digest, of: ApprovedThing, how: &str) -> Result<Approval, EngineError> {
        let by = self.around.identity.clone();
        let approval = Approval { digest, of, by, how: how.to_owned(), at_ms: self.now() };
        Ok(self.store.approve(&approval)?)
    }

    /// Who approved the declaration and how; `None` where nobody did.
    ///
    /// A file that its owner names in a foreground run is approved by that act; a project's file has to be approved by
    /// its digest, once.
    pub(crate) fn approval_of(
        &self,
        text: &DeclarationText,
        ask: Ask<'_>,
    ) -> Result<Option<String>, EngineError> {
        let digest = text.digest();
        if let Some(approval) = self.store.approval(&digest)? {
            return Ok(Some(describe(&approval)));
        }
        let how = match text.kind {
            DeclarationKind::File => "named on the command line of a foreground run",
            DeclarationKind::Project | DeclarationKind::Uncommitted => match ask {
                Some(ask) => {
                    if !ask(text) {
                        return Ok(None);
                    }
                    "answered at the terminal"
                }
                None => return Ok(None),
            },
        };
        Ok(Some(describe(&self.approve(digest, ApprovedThing::Declaration, how)?)))
    }

    /// Who approved exactly this plan. That its declaration was approved isn't enough: anyone can write a plan that names
    /// an approved declaration.
    pub(crate) fn approval_of_plan(&self, plan: &Plan) -> Result<Option<String>, EngineError> {
        Ok(self.store.approval(&plan.digest())?.map(|approval| describe(&approval)))
    }
}

fn describe(approval: &Approval) -> String {
    format!("{} ({})", approval.by, approval.how)
}
