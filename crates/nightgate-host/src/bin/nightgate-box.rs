//! The helper program of this crate's own tests. The `nightgate` binary has it as a hidden subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    nightgate_host::process::helper_main()
}
