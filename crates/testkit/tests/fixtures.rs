//! Every folder of `cases/` is a case: its attack bites without Nightgate. Judging them is a test of `nightgate`.

fn main() -> std::process::ExitCode {
    testkit::case::fixtures_main(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"))
}
