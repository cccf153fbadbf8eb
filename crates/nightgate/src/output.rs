//! Writes to standard output and standard error. A closed reader is an error, never a panic.

use std::io::{self, IsTerminal as _, Write as _};

use nightgate_core::path::needs_quoting;
use serde::Serialize;

use crate::error::CommandError;

/// Writes data to standard output.
pub fn print(text: &str) -> Result<(), CommandError> {
    print_bytes(text.as_bytes())
}

/// Writes data of any kind to standard output.
pub fn print_bytes(bytes: &[u8]) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(CommandError::io("write to standard output"))
}

/// Writes a value as one JSON document to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|fault| CommandError::Surroundings(format!("write JSON: {fault}")))?;
    text.push('\n');
    print(&text)
}

/// Writes a line for a person to standard error, harmless for a terminal whatever it quotes. Where nobody can read it,
/// nothing is lost.
pub fn say(line: &str) {
    let _nobody_reads = writeln!(io::stderr().lock(), "{}", harmless(line));
}

/// True where standard output may be coloured: a terminal, and `NO_COLOR` isn't set (no-color.org).
pub fn may_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Text as a terminal may show it: control sequences and marks that reorder text are spelled out, so that no log or name can
/// move the cursor or read as something else.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            other if needs_quoting(other) => shown.extend(other.escape_default()),
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn what_moves_the_cursor_or_reorders_text_is_spelled_out() {
        assert_eq!(harmless("a\x1b[2J\u{202e}b\r\u{9b}"), "a\\u{1b}[2J\\u{202e}b\\r\\u{9b}");
        assert_eq!(harmless("é\tline\nend ✓"), "é\tline\nend ✓");
    }
}
