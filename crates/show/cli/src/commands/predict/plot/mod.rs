//! Time, efficiency and shares of time over the number of ranks: as one SVG file, or as a page that loads nothing.
//!
//! Ranks and times are on logarithmic axes, as such pictures are drawn. The band is the 90 % interval, rings are runs that
//! were recorded. Colours stand in the drawing itself, so that programs which know no style sheets show it as well; a
//! page's own style, with its dark form, goes before them.

mod axes;
mod page;
mod shares;
mod times;

use super::predicted::Predicted;
use crate::page::Markup;
use kizami_terminal::failure::UsageError;
use std::path::Path;

/// All panels are as wide.
const WIDTH: f64 = 720.0;
/// Room above the first panel of a picture.
const TOP: f64 = 12.0;

/// A drawing, and how high it is.
struct Panel {
    label: &'static str,
    height: f64,
    drawn: Markup,
}

/// What a file's name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Svg,
    Html,
}

impl Form {
    /// By the ending of the file.
    pub fn of(file: &Path) -> Result<Form, UsageError> {
        let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Form::Svg),
            Some("html" | "htm") => Ok(Form::Html),
            _ => Err(UsageError(format!(
                "{}: unknown format; use a name that ends in .svg or .html",
                file.display()
            ))),
        }
    }
}

/// What was foretold, drawn; `said` is what the command says about it.
pub fn draw(form: Form, predicted: &Predicted, said: &[String]) -> String {
    let panels = [times::time(predicted), times::efficiency(predicted), shares::shares(predicted)];
    match form {
        Form::Svg => picture(panels),
        Form::Html => page::page(predicted, panels, said),
    }
}

/// All panels below each other.
fn picture(panels: [Panel; 3]) -> String {
    let height = TOP + panels.iter().map(|panel| panel.height).sum::<f64>();
    let mut out = Markup::default();
    out.raw("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ").number(WIDTH).raw(" ").number(height);
    out.raw("\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"").number(WIDTH);
    out.raw("\" height=\"").number(height).raw("\" fill=\"#ffffff\"/>\n");
    let mut y = TOP;
    for panel in panels {
        out.raw("<g transform=\"translate(0,").number(y).raw(")\">\n").append(panel.drawn).raw("</g>\n");
        y += panel.height;
    }
    out.raw("</svg>\n");
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_what_to_draw() {
        assert_eq!(Form::of(Path::new("a.svg")).ok(), Some(Form::Svg));
        assert_eq!(Form::of(Path::new("a.b/c.HTML")).ok(), Some(Form::Html));
        assert!(Form::of(Path::new("a.png")).is_err() && Form::of(Path::new("svg")).is_err());
    }
}
