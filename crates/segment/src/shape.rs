//! Flags of a call's shape in the folded sequence of calls, as the tracer writes them and sealing reads them.

/// The call returned an error code.
pub const FAILED: u16 = 1;
/// The source was a wildcard; the first value is what was found.
pub const ANY_SOURCE: u16 = 2;
/// The tag was a wildcard; the next value is what was found.
pub const ANY_TAG: u16 = 4;
/// It is no call but a part of the one before it.
pub const PART: u16 = 8;
/// Polls that found nothing, one behind the other; the value is how many.
pub const POLLS: u16 = 16;
/// More was completed or started than there is room for: the last value says how many values there would be.
pub const CUT_SHORT: u16 = 32;
