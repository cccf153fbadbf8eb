//! A FIFO as a handshake between a test and the processes it started: they meet, and nobody sleeps. Time limits are
//! not here: the test runner ends what hangs.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::tree;

/// A FIFO in the file system.
#[derive(Debug)]
pub struct Fifo {
    path: PathBuf,
}

impl Fifo {
    /// Makes a new FIFO at `path`.
    pub fn create(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        tree::make_fifo(&path);
        Self { path }
    }

    /// Where it lies, for the other side.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Blocks until the other side has written and closed, and returns what it wrote.
    pub fn wait(&self) -> String {
        wait(&self.path).unwrap_or_else(|error| panic!("failed to read {}: {error}", self.path.display()))
    }

    /// Blocks until the other side reads, then writes one line.
    pub fn poke(&self) {
        poke(&self.path).unwrap_or_else(|error| panic!("failed to write {}: {error}", self.path.display()));
    }
}

/// Blocks until a writer has come to the FIFO at `path` and gone; returns what it wrote.
pub(crate) fn wait(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Blocks until a reader has come to the FIFO at `path`, and writes one line.
pub(crate) fn poke(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(b"now\n")
}
