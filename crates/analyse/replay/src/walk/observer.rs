//! What those who watch a walk get to see.

use crate::lane_moment::LaneMoment;
use kizami_graph::{Step, Tie};
use kizami_model::Moment;

/// Sees the steps of the strands of one thread of the walk. Steps of a strand come in order, and no step comes before
/// those it waited for.
pub trait Observer<const LANES: usize>: Send {
    /// A step has ended.
    fn step(&mut self, seen: &EndedStep<'_, LANES>);

    /// A message is taken by the step that is about to end.
    fn message(&mut self, _message: &Message) {}

    /// A message is announced, or that a rank is ready for one: at these moments of each lane.
    fn announced(&mut self, _tie: Tie, _at: &[LaneMoment; LANES]) {}
}

/// A step that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedStep<'a, const LANES: usize> {
    /// Index of its strand.
    pub strand: u32,
    /// Its own index.
    pub index: u64,
    /// As recorded.
    pub step: &'a Step,
    /// When it begins in each lane.
    pub start: [LaneMoment; LANES],
    /// When it ends in each lane.
    pub end: [LaneMoment; LANES],
    /// Whom it waited for last, in the recorded run.
    pub wait: Option<Wait>,
    /// In a call that waits for all others: when the last of them came, whether it was waited for or not.
    pub all_came: Option<Moment>,
}

/// What a step waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What it was.
    pub kind: WaitKind,
    /// When the one waited for sent, posted or came; later than the start of the step.
    pub until: Moment,
    /// The strand that was waited for.
    pub strand: u32,
    /// Its step.
    pub step: u64,
}

/// What a step can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A message that was not sent yet.
    Sender,
    /// The other side, which was not ready: a receive was not posted yet, a lock was held, a window was accessed.
    Receiver,
    /// A window that was not open yet.
    Window,
    /// The others of a collective.
    All,
    /// The root of a collective.
    Root,
    /// Those of lower rank in a collective.
    Lower,
}

impl WaitKind {
    /// All of them, each at the index of its number.
    pub const ALL: [WaitKind; 6] = [
        WaitKind::Sender,
        WaitKind::Receiver,
        WaitKind::Window,
        WaitKind::All,
        WaitKind::Root,
        WaitKind::Lower,
    ];

    /// Whom it is for, in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            WaitKind::Sender => "sender",
            WaitKind::Receiver => "receiver",
            WaitKind::Window => "window",
            WaitKind::All => "all",
            WaitKind::Root => "root",
            WaitKind::Lower => "lower ranks",
        }
    }
}

/// A message and the step that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Index of the channel.
    pub channel: u32,
    /// Size as the receiver has it.
    pub bytes: u64,
    /// When it was sent, as recorded.
    pub sent: Moment,
    /// The strand that sent it.
    pub from: u32,
    /// The strand that takes it.
    pub strand: u32,
    /// The step that takes it.
    pub step: u64,
}

/// Watches nothing.
impl<const LANES: usize> Observer<LANES> for () {
    fn step(&mut self, _seen: &EndedStep<'_, LANES>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_wait_is_found_by_its_number() {
        for (number, kind) in WaitKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }
}
