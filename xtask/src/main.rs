//! `cargo run -p xtask -- tidy`: the checks of this house on itself. The rules are in `tidy`; a test runs them too.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

mod tidy;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ["tidy"] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        return say(&mut io::stderr(), &["usage: cargo run -p xtask -- tidy".to_owned()], 64);
    };
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match tidy::check(&repository) {
        Err(error) => say(&mut io::stderr(), &[format!("failed to read the repository: {error}")], 70),
        Ok(findings) => {
            let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
            let faults = findings.iter().filter(|finding| finding.is_fault()).count();
            say(&mut io::stdout(), &lines, u8::from(faults > 0))
        }
    }
}

fn say(stream: &mut impl Write, lines: &[String], status: u8) -> ExitCode {
    for line in lines {
        if writeln!(stream, "{line}").is_err() {
            return ExitCode::from(70);
        }
    }
    ExitCode::from(status)
}
