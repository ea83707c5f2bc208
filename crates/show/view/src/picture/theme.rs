//! The colours of pictures: those of the viewer's page, light for paper and dark for dark pages.

use crate::canvas::Rgb;
use crate::index::category::{CATEGORIES, Category};
use crate::look::LOOKS;

/// From the bottom of a row upwards: computation first, what is lost on top.
pub(super) const STACK: [Category; CATEGORIES] = [
    Category::Compute,
    Category::Tracer,
    Category::Other,
    Category::File,
    Category::OneSided,
    Category::PointToPoint,
    Category::Collective,
    Category::Receive,
    Category::NoRecord,
];
/// In the order a legend lists them.
pub(super) const LEGEND: [Category; CATEGORIES] = [
    Category::Compute,
    Category::Receive,
    Category::Collective,
    Category::PointToPoint,
    Category::OneSided,
    Category::File,
    Category::Other,
    Category::Tracer,
    Category::NoRecord,
];

/// Colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// By category.
    pub(super) categories: [Rgb; CATEGORIES],
    /// The second colour of what is hatched: no record.
    pub(super) hatch_none: Rgb,
    /// The same: tracer.
    pub(super) hatch_tracer: Rgb,
    pub(super) background: Rgb,
    pub(super) ink: Rgb,
    pub(super) soft: Rgb,
    pub(super) line: Rgb,
}

impl Theme {
    /// On white.
    pub fn light() -> Theme {
        Theme {
            categories: LOOKS.map(|look| rgb(look.colour)),
            hatch_none: rgb("#d9dee3"),
            hatch_tracer: rgb("#f0e442"),
            background: rgb("#ffffff"),
            ink: rgb("#16202a"),
            soft: rgb("#55636f"),
            line: rgb("#aab4bd"),
        }
    }

    /// On black, nearly: the panels of dark reports.
    pub fn dark() -> Theme {
        let categories = [
            "#3a5068", "#3f9fdc", "#e8702a", "#f0b429", "#d98cb8", "#1fb58a", "#7596ac", "#f0e442", "#161c22",
        ];
        Theme {
            categories: categories.map(rgb),
            hatch_none: rgb("#2a333d"),
            hatch_tracer: rgb("#6b6512"),
            background: rgb("#14191e"),
            ink: rgb("#e6ebf0"),
            soft: rgb("#a2aebb"),
            line: rgb("#56626e"),
        }
    }

    /// The colour of a category in one pixel of an area: some are hatched.
    pub(super) fn pixel(&self, category: Category, x: usize, y: usize) -> Rgb {
        match category {
            Category::NoRecord if (x + y) % 8 < 2 => self.hatch_none,
            Category::Tracer if (x + 3 * y) % 4 < 2 => self.hatch_tracer,
            _ => self.categories[category as usize],
        }
    }
}

/// Of a text like `#rrggbb`.
fn rgb(colour: &str) -> Rgb {
    let number = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or(0);
    [(number >> 16) as u8, (number >> 8) as u8, number as u8]
}

/// Black or white, whichever reads better on a colour.
pub(super) fn ink_on([red, green, blue]: Rgb) -> Rgb {
    let light = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    if light > 140_000 { [0x10, 0x16, 0x1c] } else { [0xff; 3] }
}
