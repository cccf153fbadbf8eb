//! Touches: processes, environments, git, trees, capture, clean rooms. The only crate that acts on the machine.
//!
//! No database, no HTTP server, no policy: what a fact means is decided in `nightgate-core`.

pub mod env;
