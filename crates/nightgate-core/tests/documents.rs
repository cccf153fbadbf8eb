//! The tables of the documents that repeat what core knows. Reading the text around them is for people.

use std::collections::BTreeSet;

use nightgate_core::declaration::{Declaration, LATER_KEYS};
use nightgate_core::gate::{FailureClass, Reason};

const DECLARATION: &str = include_str!("../../../docs/declaration.md");
const JSON: &str = include_str!("../../../docs/json.md");

/// The rows of the table that begins with this cell, each as its cells; its heading left out.
fn table<'t>(text: &'t str, first_cell: &str) -> Vec<Vec<&'t str>> {
    let begin = format!("| {first_cell} |");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&begin)).skip(1);
    assert!(lines.next().is_some_and(|line| line.starts_with("|---")), "no table begins with `{first_cell}`");
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn code(cell: &str) -> &str {
    cell.strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'))
        .expect("the cell holds one word in backticks")
}

#[test]
fn the_keys_that_are_refused_as_not_yet_are_those_of_the_document() {
    let documented: Vec<&str> = table(DECLARATION, "later key").iter().map(|row| code(row[0])).collect();
    assert_eq!(documented, LATER_KEYS);
}

#[test]
fn every_key_of_the_format_is_in_one_of_the_two_tables_of_states() {
    // An unknown key is refused with a list of those that are known.
    let refusal = Declaration::from_json(br#"{"?": 0}"#).unwrap_err().to_string();
    let known: BTreeSet<&str> =
        refusal.split('`').filter(|word| word.chars().all(|next| next.is_ascii_alphanumeric())).collect();
    assert!(known.contains("criteriaPaths"), "{refusal}");
    let top = |cell: &str| code(cell).split(['.', '[']).next().unwrap_or_default().to_owned();
    let rows = [table(DECLARATION, "key | JSON | TOML"), table(DECLARATION, "later key")].concat();
    let documented: BTreeSet<String> = rows.iter().map(|row| top(row[0])).collect();
    assert_eq!(documented.iter().map(String::as_str).collect::<BTreeSet<_>>(), known);
}

#[test]
fn the_reason_codes_and_their_classes_are_those_of_the_document() {
    let class = |reason: &Reason| match reason.class() {
        FailureClass::Tamper => "tamper",
        FailureClass::Scope => "scope",
        FailureClass::Implementation => "implementation",
        FailureClass::Uncertain => "uncertain",
    };
    let rows = table(JSON, "code | class");
    let documented: Vec<(&str, &str)> = rows.iter().map(|row| (code(row[0]), row[1])).collect();
    let known: Vec<(&str, &str)> =
        Reason::ALL.iter().map(|reason| (reason.as_str(), class(reason))).collect();
    assert_eq!(documented, known);
}
