//! What in a content makes git convert it. Asking for attributes is not here.

/// What was seen in the bytes of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sniff {
    /// A carriage return directly before a line feed.
    pub(super) crlf: bool,
    /// A NUL byte.
    pub(super) nul: bool,
    ends_in_cr: bool,
}

impl Sniff {
    /// Takes the next bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.nul |= bytes.contains(&0);
        self.crlf |= (self.ends_in_cr && bytes[0] == b'\n') || bytes.windows(2).any(|pair| pair == b"\r\n");
        self.ends_in_cr = *last == b'\r';
    }
}
