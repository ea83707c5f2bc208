//! HTML being written, in which text cannot become markup.
//!
//! Markup is only taken as a literal of this program; everything else goes through [`Markup::text`], which escapes it.
//! So a name in a trace stays a name, whatever it looks like.

use std::fmt::Write;

/// Longer texts are cut: a mangled C++ name may fill pages.
const LONGEST_TEXT: usize = 400;

/// A piece of HTML.
#[derive(Default)]
pub struct Markup(String);

impl Markup {
    /// Markup of our own.
    pub fn raw(&mut self, markup: &'static str) -> &mut Markup {
        self.0.push_str(markup);
        self
    }

    /// Text, also between the quotes of an attribute.
    pub fn text(&mut self, text: &str) -> &mut Markup {
        for c in text.chars().take(LONGEST_TEXT) {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c if c.is_control() => self.0.push(' '),
                c => self.0.push(c),
            }
        }
        if text.chars().nth(LONGEST_TEXT).is_some() {
            self.0.push('…');
        }
        self
    }

    /// A coordinate or a length.
    pub fn number(&mut self, value: f64) -> &mut Markup {
        // Two digits are enough for a pixel, and shorter by far than all of them.
        let rounded = (value * 100.0).round() / 100.0 + 0.0;
        let _ = write!(self.0, "{}", if rounded.is_finite() { rounded } else { 0.0 });
        self
    }

    /// Another piece behind this one.
    pub fn append(&mut self, other: Markup) -> &mut Markup {
        self.0.push_str(&other.0);
        self
    }

    /// Bytes as letters that need no escape.
    pub fn base64(&mut self, bytes: &[u8]) -> &mut Markup {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        self.0.reserve(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let number = chunk
                .iter()
                .enumerate()
                .fold(0u32, |all, (place, byte)| all | u32::from(*byte) << (16 - 8 * place));
            for place in 0..4 {
                let letter = LETTERS[(number >> (18 - 6 * place)) as usize & 63];
                self.0.push(if place <= chunk.len() { char::from(letter) } else { '=' });
            }
        }
        self
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        let mut markup = Markup::default();
        markup.text(text);
        markup.finish()
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(text("a<b>&\"c\"'\n"), "a&lt;b&gt;&amp;&quot;c&quot;&#39; ");
        assert_eq!(text("operator<<"), "operator&lt;&lt;");
        assert_eq!(text("größe"), "größe");
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let mut markup = Markup::default();
            assert_eq!(markup.base64(bytes.as_bytes()).0, expected);
        }
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(text(&"x".repeat(LONGEST_TEXT)), "x".repeat(LONGEST_TEXT));
        assert_eq!(text(&"<".repeat(9_999)), format!("{}…", "&lt;".repeat(LONGEST_TEXT)));
    }

    #[test]
    fn numbers_are_short_and_always_numbers() {
        let mut markup = Markup::default();
        markup.number(1.0 / 3.0).raw(" ").number(2.0).raw(" ").number(f64::NAN).raw(" ").number(-0.001);
        assert_eq!(markup.finish(), "0.33 2 0 0");
    }
}
