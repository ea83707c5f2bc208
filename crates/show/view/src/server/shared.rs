//! What all requests share.

use super::guard::Guard;
use super::view::View;

/// What is looked at, and who may.
#[derive(Debug)]
pub(super) struct Shared {
    pub view: View,
    pub guard: Guard,
}
