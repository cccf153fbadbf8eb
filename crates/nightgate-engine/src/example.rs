//! The repository of the demonstration. What is shown with it is the command line's.

use std::path::Path;

use crate::Engine;
use crate::error::EngineError;

impl Engine {
    /// Makes a small real repository at `root`, with these files in one commit.
    pub fn make_example(&self, root: &Path, files: &[(&str, &str)]) -> Result<(), EngineError> {
        nightgate_host::example::create(self.git()?, root, files)
            .map_err(|fault| EngineError::environment("make the demonstration's repository", fault))
    }
}
