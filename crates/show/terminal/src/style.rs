//! Colour, where there is somebody to see it.
//!
//! A [`Paint`] is made for one stream. Whether that stream is coloured is decided as `--help` does it: only a terminal that
//! can show colours is, `NO_COLOR` and `CLICOLOR` are heard; under a launcher no stream is. Otherwise every method returns
//! its text as it is.
//! Coloured text must go out through [`crate::text`].

use crate::text::MARK;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// Decides whether text for one stream is coloured.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    colours: bool,
}

impl Paint {
    /// For text that goes to standard output.
    pub fn stdout() -> Paint {
        Paint { colours: AutoStream::choice(&std::io::stdout()) != ColorChoice::Never }
    }

    /// For text that goes to standard error.
    pub fn stderr() -> Paint {
        Paint { colours: AutoStream::choice(&std::io::stderr()) != ColorChoice::Never }
    }

    /// Never any colour.
    pub fn plain() -> Paint {
        Paint { colours: false }
    }

    /// The head of a table or a section.
    pub fn heading(self, text: &str) -> String {
        self.wrap(Style::new().bold(), text)
    }

    /// The name of something that is said next.
    pub fn label(self, text: &str) -> String {
        self.wrap(AnsiColor::Cyan.on_default(), text)
    }

    /// All is well.
    pub fn good(self, text: &str) -> String {
        self.wrap(AnsiColor::Green.on_default(), text)
    }

    /// Worth a look.
    pub fn doubtful(self, text: &str) -> String {
        self.wrap(AnsiColor::Yellow.on_default(), text)
    }

    /// Something is wrong.
    pub fn bad(self, text: &str) -> String {
        self.wrap(AnsiColor::Red.on_default().bold(), text)
    }

    fn wrap(self, style: Style, text: &str) -> String {
        if !self.colours {
            return text.to_owned();
        }
        let marked = |code: String| code.replace('\u{1b}', MARK.as_str());
        marked(style.to_string()) + text + &marked(format!("{style:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::line;

    #[test]
    fn text_is_as_it_is_without_colours_and_ends_them_with() {
        assert_eq!(Paint::plain().bad("no"), "no");
        assert_eq!(line(&Paint { colours: true }.good("yes")), "\x1b[32myes\x1b[0m");
    }
}
