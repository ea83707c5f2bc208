//! The kinds of records that are no plain calls: numbers from 960 on, which no function has. 960 itself is the container's
//! [`kizami_segment::PAD`].

/// A definition; word 1 is its length in bytes, which follow in whole slots.
pub const DEFINITION: u16 = 961;

/// A call in wide form.
pub const WIDE: u16 = 962;

/// Failed polls folded into one record that is updated in place while it is the last.
pub const FOLD: u16 = 963;

/// A named region begins; word 1 is its number.
pub const REGION_BEGIN: u16 = 964;

/// A named region ends.
pub const REGION_END: u16 = 965;

/// The tracer kept the program waiting, or did not look; words 1 to 3 are duration, reason and details of the reason.
pub const STOP: u16 = 966;

/// What was counted with the call that follows: word 1 says how many counters; words 2 and 3, and pairs of words
/// in the slots behind, are what each counted since the call before and inside this one.
pub const COUNTED: u16 = 967;

/// What a reducer handed over: word 1 is its length in bytes, which follow in whole slots; word 2 says which reducer.
pub const REDUCED: u16 = 968;

/// For how many calls the call that follows stands; word 1 has the bits of the number.
pub const WEIGHT: u16 = 969;

// 970 was that of older versions' threads that drew some of their calls; it is not given again.

/// The program counted an amount of work; words 1 to 3 are the number of its name, the amount, and the call site of the count.
pub const COUNT: u16 = 971;

/// How long the thread could have run, but had no core, around the call that follows: words 1 and 2 are nanoseconds between the
/// call before and this one, and inside this one; word 3 is what finding that out took, in ticks.
pub const OFF_CORE: u16 = 972;
