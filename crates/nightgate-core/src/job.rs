//! A job's state, derived from its events by one function: live, at replay and in any other engine.

use serde::Serialize;

use crate::event::{Event, EventBody, JobKind};
use crate::execution::Execution;
use crate::gate::Reason;
use crate::verdict::VerdictWord;
use crate::{CommitId, Digest, JobId, ProjectId};

/// What a job's events add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobState {
    /// The job.
    pub id: JobId,
    /// Why it exists.
    pub kind: JobKind,
    /// Whose project.
    pub project: ProjectId,
    /// Where the user's repository was.
    pub repository: String,
    /// One line for lists.
    pub title: String,
    /// The blob that says what was asked.
    pub request: Digest,
    /// When it was asked, in milliseconds since 1970.
    pub created_ms: u64,
    /// When its last event was written, in milliseconds since 1970.
    pub changed_ms: u64,
    /// Where it stands.
    pub phase: Phase,
    /// The commit it starts from, once frozen.
    pub base: Option<CommitId>,
    /// The plan, once frozen.
    pub plan: Option<Digest>,
    /// Attempts started.
    pub attempts: u32,
    /// The agent of the last attempt.
    pub agent: Option<String>,
    /// What happened to the last attempt's process; absent while it runs, and where there was none.
    pub execution: Option<Execution>,
    /// The logs of the last attempt's process: standard output, standard error.
    pub logs: (Option<Digest>, Option<Digest>),
    /// The facts of the capture.
    pub capture: Option<Digest>,
    /// The captured commit.
    pub candidate: Option<CommitId>,
    /// The ref that keeps it.
    pub reference: Option<String>,
    /// The verdict; absent means never asked.
    pub verdict: Option<VerdictWord>,
    /// The verdict's reasons.
    pub reasons: Vec<Reason>,
    /// The record.
    pub record: Option<Digest>,
    /// Events applied.
    pub sequence: u64,
    /// The digest of the last event's stored bytes.
    pub head: Digest,
    /// The highest fence seen.
    pub fence: u64,
}

/// Where a job stands (design, section 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "phase", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Phase {
    /// Asked for; nothing was done that an agent could see.
    Queued,
    /// Waits for a person to approve these bytes.
    Waiting {
        /// The digest of the bytes to approve.
        digest: Digest,
        /// What they are.
        of: String,
    },
    /// Its mutation window is open.
    Running,
    /// The window closed; nothing is captured yet.
    Capturing,
    /// Captured; being judged.
    Verifying,
    /// VERIFIED.
    Done,
    /// Ended otherwise; a person is asked.
    Blocked {
        /// In words.
        why: String,
    },
    /// Ended by a person.
    Cancelled,
}

impl Phase {
    /// The state's stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Waiting { .. } => "waiting",
            Self::Running | Self::Capturing => "running",
            Self::Verifying => "verifying",
            Self::Done => "done",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled => "cancelled",
        }
    }

    /// True where nothing more happens by itself.
    pub fn is_ended(&self) -> bool {
        matches!(self, Self::Done | Self::Blocked { .. } | Self::Cancelled)
    }
}

/// An event that doesn't follow from the state before it. The log is damaged, or its writer is at fault.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// The event can't happen in this state.
    #[error("event {sequence} (`{event}`) of job {job} can't follow the state `{phase}`")]
    Illegal {
        /// The job.
        job: JobId,
        /// The event's place.
        sequence: u64,
        /// The event's word.
        event: &'static str,
        /// The state's word, `nothing` before the first event.
        phase: &'static str,
    },
    /// The event's place, job or fence is not the next one's.
    #[error("event {found} of job {job} stands where event {expected} belongs, or is fenced off")]
    OutOfOrder {
        /// The job.
        job: JobId,
        /// The next place.
        expected: u64,
        /// The event's place.
        found: u64,
    },
    /// The event doesn't name the digest of the event before it.
    #[error(
        "event {sequence} of job {job} doesn't carry the digest of the event before it: the log was altered"
    )]
    Unchained {
        /// The job.
        job: JobId,
        /// The event's place.
        sequence: u64,
    },
    /// The event was written by an identity whose scope doesn't allow it.
    #[error("event {sequence} (`{event}`) of job {job} was written with a scope that may not write it")]
    OutOfScope {
        /// The job.
        job: JobId,
        /// The event's place.
        sequence: u64,
        /// The event's word.
        event: &'static str,
    },
}

impl JobState {
    /// The state after `event`, which comes after `state` (`None` before the first event). Total: any event that doesn't
    /// follow is an error and changes nothing.
    pub fn apply(state: Option<Self>, event: &Event) -> Result<Self, TransitionError> {
        let sequence = event.sequence;
        if event.actor.scope != event.body.scope() {
            let event_word = event.body.word();
            return Err(TransitionError::OutOfScope { job: event.job.clone(), sequence, event: event_word });
        }
        let head = Digest::of(&event.to_bytes());
        let Some(state) = state else { return Self::create(event, head) };
        let expected = state.sequence + 1;
        if event.job != state.id || sequence != expected || event.fence < state.fence {
            return Err(TransitionError::OutOfOrder { job: event.job.clone(), expected, found: sequence });
        }
        if event.previous != Some(state.head) {
            return Err(TransitionError::Unchained { job: event.job.clone(), sequence });
        }
        let phase = state.phase.word();
        let Some(mut next) = state.step(&event.body) else {
            let event_word = event.body.word();
            return Err(TransitionError::Illegal {
                job: event.job.clone(),
                sequence,
                event: event_word,
                phase,
            });
        };
        next.sequence = sequence;
        next.head = head;
        next.fence = event.fence;
        next.changed_ms = event.at_ms;
        Ok(next)
    }

    /// The state after all of `events`; `None` where there are none.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Option<Self>, TransitionError> {
        events.into_iter().try_fold(None, |state, event| Self::apply(state, event).map(Some))
    }

    fn create(event: &Event, head: Digest) -> Result<Self, TransitionError> {
        let EventBody::Created { kind, project, repository, title, request } = &event.body else {
            return Err(TransitionError::Illegal {
                job: event.job.clone(),
                sequence: event.sequence,
                event: event.body.word(),
                phase: "nothing",
            });
        };
        if event.sequence != 1 {
            return Err(TransitionError::OutOfOrder {
                job: event.job.clone(),
                expected: 1,
                found: event.sequence,
            });
        }
        if event.previous.is_some() {
            return Err(TransitionError::Unchained { job: event.job.clone(), sequence: 1 });
        }
        Ok(Self {
            id: event.job.clone(),
            kind: *kind,
            project: project.clone(),
            repository: repository.clone(),
            title: title.clone(),
            request: *request,
            created_ms: event.at_ms,
            changed_ms: event.at_ms,
            phase: Phase::Queued,
            base: None,
            plan: None,
            attempts: 0,
            agent: None,
            execution: None,
            logs: (None, None),
            capture: None,
            candidate: None,
            reference: None,
            verdict: None,
            reasons: Vec::new(),
            record: None,
            sequence: 1,
            head,
            fence: event.fence,
        })
    }

    /// The table of transitions; `None` where the event can't happen in this state.
    fn step(mut self, body: &EventBody) -> Option<Self> {
        match (&self.phase, body) {
            (Phase::Queued, EventBody::AwaitedApproval { digest, of }) if self.plan.is_none() => {
                self.phase = Phase::Waiting { digest: *digest, of: of.clone() };
            }
            (Phase::Queued | Phase::Waiting { .. }, EventBody::Frozen { plan, base })
                if self.plan.is_none() =>
            {
                self.plan = Some(*plan);
                self.base = Some(base.clone());
                self.phase = Phase::Queued;
            }
            (Phase::Queued, EventBody::Authorized { plan, .. })
                if self.kind == JobKind::Run && self.plan == Some(*plan) =>
            {
                self.phase = Phase::Running;
            }
            (Phase::Running, EventBody::AttemptStarted { attempt, agent })
                if *attempt == self.attempts + 1 && !self.has_running_attempt() =>
            {
                self.attempts = *attempt;
                self.agent = Some(agent.clone());
                self.execution = None;
            }
            (Phase::Running, EventBody::AttemptEnded { attempt, execution, stdout, stderr })
                if *attempt == self.attempts && *attempt > 0 =>
            {
                self.execution = Some(execution.clone());
                self.logs = (*stdout, *stderr);
                self.phase = Phase::Capturing;
            }
            (Phase::Capturing, EventBody::Captured { candidate, reference, capture }) => {
                self.keep(candidate.as_ref(), reference.as_ref(), *capture);
                self.phase = match &self.execution {
                    Some(execution) if !execution.is_executed() => {
                        Phase::Blocked { why: format!("the agent was not executed: {}", execution.word()) }
                    }
                    Some(_) | None => Phase::Verifying,
                };
            }
            (Phase::Queued, EventBody::Captured { candidate, reference, capture })
                if self.kind == JobKind::Verify && self.plan.is_some() =>
            {
                self.keep(candidate.as_ref(), reference.as_ref(), *capture);
                self.phase = Phase::Verifying;
            }
            (Phase::Verifying, EventBody::Judged { record, verdict, reasons }) => {
                self.record = Some(*record);
                self.verdict = Some(*verdict);
                self.reasons.clone_from(reasons);
                self.phase = match verdict {
                    VerdictWord::Verified => Phase::Done,
                    VerdictWord::Failed | VerdictWord::Uncertain => {
                        Phase::Blocked { why: verdict.to_string() }
                    }
                };
            }
            (phase, EventBody::Stopped { why }) if !phase.is_ended() => {
                self.phase = Phase::Blocked { why: why.clone() };
            }
            // Between authorization and capture there may be work to keep: a running job is cancelled through the end of
            // its attempt, never past it.
            (Phase::Queued | Phase::Waiting { .. } | Phase::Verifying, EventBody::Cancelled { .. }) => {
                self.phase = Phase::Cancelled;
            }
            (
                Phase::Queued
                | Phase::Waiting { .. }
                | Phase::Running
                | Phase::Capturing
                | Phase::Verifying
                | Phase::Done
                | Phase::Blocked { .. }
                | Phase::Cancelled,
                _,
            ) => return None,
        }
        Some(self)
    }

    /// True between an attempt's start and its end.
    fn has_running_attempt(&self) -> bool {
        self.phase == Phase::Running && self.attempts > 0 && self.execution.is_none()
    }

    fn keep(&mut self, candidate: Option<&CommitId>, reference: Option<&String>, capture: Digest) {
        self.candidate = candidate.cloned();
        self.reference = reference.cloned();
        self.capture = Some(capture);
    }
}

#[cfg(test)]
mod tests;
