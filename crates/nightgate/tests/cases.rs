//! Every folder of `cases/`, attack and honest twin, against the real binary. What a case holds is `testkit::case`.

fn main() -> std::process::ExitCode {
    testkit::case::main(env!("CARGO_BIN_EXE_nightgate"), concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"))
}
