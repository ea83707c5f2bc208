//! Colour, where there is somebody to see it.
//!
//! A [`Paint`] is made for one stream. It colours only if that stream is a terminal and `NO_COLOR` is not
//! set, as the convention at no-color.org asks; otherwise every method returns its text as it is.

use std::io::IsTerminal;

/// Decides whether text for one stream is coloured.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    colours: bool,
}

impl Paint {
    /// For text that goes to standard output.
    pub fn stdout() -> Paint {
        Paint { colours: wanted() && std::io::stdout().is_terminal() }
    }

    /// For text that goes to standard error.
    pub fn stderr() -> Paint {
        Paint { colours: wanted() && std::io::stderr().is_terminal() }
    }

    /// Never any colour.
    #[cfg(test)]
    pub fn plain() -> Paint {
        Paint { colours: false }
    }

    /// The head of a table or a section.
    pub fn heading(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// The name of something that is said next.
    pub fn label(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// All is well.
    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Worth a look.
    pub fn doubtful(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Something is wrong.
    pub fn bad(self, text: &str) -> String {
        self.wrap("31;1", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}
