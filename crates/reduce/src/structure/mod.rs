//! The order of all calls, with loops folded.
