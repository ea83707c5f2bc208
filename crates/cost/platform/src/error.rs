//! The one error of platforms: what is wrong with a description, and what to write instead.

/// Why there is no such platform.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum PlatformError {
    /// The short form is of no known kind.
    #[error(
        "there is no kind of platform called `{kind}`; write flat:64, fat-tree:64x16,2:1, torus:16x8x8 or \
         dragonfly:8x16x8"
    )]
    Kind { kind: String },

    /// A part of a short form cannot be read.
    #[error("`{part}` in the platform `{form}` is not understood: {why}")]
    Part { form: String, part: String, why: String },

    /// A file of SimGrid that is no XML, or not whole.
    #[error("the platform file is not read at line {line}: {why}")]
    File { line: u32, why: String },

    /// A message from or to nowhere.
    #[error(
        "a message goes from host {from} to host {to}, but the platform has {hosts}; take a larger platform"
    )]
    NoSuchHost { from: usize, to: usize, hosts: usize },
}
