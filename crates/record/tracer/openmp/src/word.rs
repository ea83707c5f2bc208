//! A task's name as one word, for those who keep words for us: runtimes that notify a tool, programs that report tasks.

use kizami_records::threading::TaskName;

/// Bits of a word for the number of a task in its stream; the stream, from 1, has the rest but for the flags.
const NUMBER_BITS: u32 = 40;
/// Bits that the keeper of the word may use.
pub const FLAGS: [u64; 4] = [1 << 63, 1 << 62, 1 << 61, 1 << 60];
/// Bits of the name.
const NAME: u64 = (1 << 60) - 1;

/// The word of a task, never 0.
pub fn of(task: TaskName) -> u64 {
    (u64::from(task.stream) + 1) << NUMBER_BITS | task.number
}

/// The task of a word; none if it is 0.
pub fn task(word: u64) -> Option<TaskName> {
    let stream = ((word & NAME) >> NUMBER_BITS).checked_sub(1)?;
    Some(TaskName { stream: stream as u32, number: word & ((1 << NUMBER_BITS) - 1) })
}
