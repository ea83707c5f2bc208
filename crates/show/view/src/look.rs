//! How kinds of time are named and drawn, in pictures and in browsers alike.

use crate::index::category::CATEGORIES;
use serde::Serialize;

/// How a category is named and drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Look {
    /// Name.
    pub name: &'static str,
    /// Colour, as `#rrggbb`: told apart also by people who do not see all colours.
    pub colour: &'static str,
}

/// By number of the category. After Okabe and Ito, with computation quiet so that what is lost stands out.
pub const LOOKS: [Look; CATEGORIES] = [
    Look { name: "computation", colour: "#c3d3e0" },
    Look { name: "send/post", colour: "#0072b2" },
    Look { name: "receive/complete", colour: "#d55e00" },
    Look { name: "collective", colour: "#e69f00" },
    Look { name: "one-sided", colour: "#cc79a7" },
    Look { name: "file", colour: "#009e73" },
    Look { name: "other MPI", colour: "#8ecdf0" },
    Look { name: "tracer", colour: "#8a7d00" },
    Look { name: "no record", colour: "#f3f5f7" },
];
