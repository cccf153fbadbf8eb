//! The store's promises, as its callers see them.

#![expect(clippy::unwrap_used, reason = "this is a test; clippy takes only the functions marked so for one")]

mod blobs;
mod child;
mod conformance;
mod crash;
mod damage;
mod file;
mod log;
mod model;
mod powerless;
mod reading;
mod together;
