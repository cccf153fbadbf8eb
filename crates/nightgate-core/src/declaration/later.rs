//! Keys of the format that this version doesn't carry out yet, and their refusal by name.

use serde_json::Value;

use super::{Declaration, Refusal};

/// Keys that are refused while their value isn't the default; `docs/declaration.md` lists the same.
pub const LATER_KEYS: &[&str] = &[
    "stages",
    "criteriaMayGrow",
    "influence.allowed",
    "commands[].repeat",
    "commands[].report",
    "commands[].requiredTests",
    "commands[].canary",
    "heldOut",
    "reviewers",
    "verifiers",
    "byReviewOnly",
    "recovery",
    "ladder",
    "isolation.network",
    "budget.usd",
    "strength",
];

/// Refuses each later key that isn't at its default, and a format version that isn't ours.
pub(super) fn refuse(declaration: &Declaration, refusals: &mut Vec<Refusal>) {
    if let Some(version) = declaration.schema_version.filter(|version| *version != 1) {
        let text = format!(
            "{version} is not a version that this nightgate reads: write 1, or use a newer nightgate"
        );
        refusals.push(Refusal { key: "schemaVersion".to_owned(), text });
    }
    let mut later = |key: &str, is_default: bool| {
        if !is_default {
            let text = format!(
                "not yet: {key} has no effect in this version, so it is refused while it isn't at its \
                                default; remove it"
            );
            refusals.push(Refusal { key: key.to_owned(), text });
        }
    };
    let empty = |list: &Option<Vec<Value>>| list.as_ref().is_none_or(Vec::is_empty);
    later("stages", empty(&declaration.stages));
    later("criteriaMayGrow", declaration.criteria_may_grow.as_ref().is_none_or(Vec::is_empty));
    later(
        "influence.allowed",
        is_default_object(declaration.influence.as_ref(), "allowed", &Value::Array(vec![])),
    );
    for command in declaration.commands.iter().flatten() {
        later("commands[].repeat", command.repeat.is_none_or(|repeat| repeat == 1));
        later("commands[].report", is_null(command.report.as_ref()));
        later("commands[].requiredTests", command.required_tests.as_ref().is_none_or(Vec::is_empty));
        later("commands[].canary", is_null(command.canary.as_ref()));
    }
    later("heldOut", empty(&declaration.held_out));
    later("reviewers", empty(&declaration.reviewers));
    later("verifiers", empty(&declaration.verifiers));
    later("byReviewOnly", !declaration.by_review_only.unwrap_or(false));
    later("recovery", is_default_object(declaration.recovery.as_ref(), "limit", &Value::from(0)));
    later("ladder", empty(&declaration.ladder));
    let network = declaration.isolation.as_ref().and_then(|isolation| isolation.network.as_ref());
    let is = |value: Option<&Value>, default: &str| value.is_none_or(|value| value == default);
    later(
        "isolation.network",
        network.is_none_or(|network| {
            is(network.agent.as_ref(), "open")
                && is(network.setup.as_ref(), "open")
                && is(network.checks.as_ref(), "none")
                && is(network.reviewers.as_ref(), "open")
        }),
    );
    later("budget.usd", declaration.budget.as_ref().is_none_or(|budget| budget.usd.is_none()));
    later("strength", is_null(declaration.strength.as_ref()));
}

fn is_null(value: Option<&Value>) -> bool {
    value.is_none_or(Value::is_null)
}

/// True for an absent value, and for an object with nothing but `key` at `default`.
fn is_default_object(value: Option<&Value>, key: &str, default: &Value) -> bool {
    match value {
        None => true,
        Some(Value::Object(object)) => object.iter().all(|(name, value)| name == key && value == default),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => false,
    }
}
