//! The store's promises, as its callers see them.

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
