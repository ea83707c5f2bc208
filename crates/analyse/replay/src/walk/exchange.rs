//! What the walker of one share of the ranks needs from the others: the events that concern its ranks, and agreement on
//! what all do next.
//!
//! A walk goes in rounds. Everybody walks until none of its own ranks can go on, and then ends the round: it hands over
//! what others must receive, its own status, and gets what was sent to it and the status of all. From that
//! every partition draws the same conclusion, so none has to be in charge. [`Exchange`] is all the walk knows of
//! the others: they are threads (`threads`) or processes (`processes`).

use super::collective_state::CollectiveNews;
use super::pending::Arrival;
use kizami_model::Moment;

/// The way to the walkers of the other shares.
pub trait Exchange<const LANES: usize> {
    /// Ends a round: hands over and empties `outgoing`, and waits for the others to end it. Nothing if one of them never will.
    fn end_round(&mut self, standing: Standing, outgoing: &mut Outgoing<LANES>) -> Option<Round<LANES>>;
}

/// What one share has for the others.
#[derive(Clone, Debug)]
pub struct Outgoing<const LANES: usize> {
    /// For all of them: it is written once.
    pub to_all: Vec<RemoteEvent<LANES>>,
    /// For some, by share.
    pub to_each: Vec<Vec<RemoteEvent<LANES>>>,
}

impl<const LANES: usize> Outgoing<LANES> {
    /// Nothing, for so many shares.
    pub fn new(shares: usize) -> Outgoing<LANES> {
        Outgoing { to_all: Vec::new(), to_each: (0..shares).map(|_| Vec::new()).collect() }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.to_all.is_empty() && self.to_each.iter().all(Vec::is_empty)
    }
}

/// What a walker gets at the end of a round.
#[derive(Debug)]
pub struct Round<const LANES: usize> {
    /// How all shares stand together.
    pub all: Standing,
    /// What the others had for this one.
    pub incoming: Vec<RemoteEvent<LANES>>,
}

/// What ranks of one partition announce to those of another.
#[derive(Clone, Debug)]
pub enum RemoteEvent<const LANES: usize> {
    /// The message with this key has left.
    Departed(u64, Arrival<LANES>),
    /// The receive with this key is posted.
    Posted(u64, Arrival<LANES>),
    /// Members of a collective have come.
    Collective(CollectiveNews<LANES>),
}

/// How one share stands when none of its ranks can go on, or how several stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// There are events that others have not received yet.
    pub announcing: bool,
    /// When the first strand beyond the horizon goes on, in recorded time.
    pub next_start: Option<Moment>,
    /// The recorded end and the number of the parked strand whose call ended first.
    pub first_parked: Option<(Moment, u32)>,
    /// The same of those that wait for receives.
    pub first_sender: Option<(Moment, u32)>,
    /// The same of those that only a model of the network holds.
    pub first_held: Option<(Moment, u32)>,
    /// Somebody is parked for calls that may have begun after its own was over.
    pub patient: bool,
    /// Steps walked so far.
    pub steps_done: u64,
}

impl Standing {
    /// How both stand together. The order in which shares are put together makes no difference.
    pub fn and(self, other: Standing) -> Standing {
        fn first<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Standing {
            announcing: self.announcing || other.announcing,
            next_start: first(self.next_start, other.next_start),
            first_parked: first(self.first_parked, other.first_parked),
            first_sender: first(self.first_sender, other.first_sender),
            first_held: first(self.first_held, other.first_held),
            patient: self.patient || other.patient,
            steps_done: self.steps_done + other.steps_done,
        }
    }
}

/// There is one partition: none to wait for.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl<const LANES: usize> Exchange<LANES> for Alone {
    fn end_round(&mut self, standing: Standing, outgoing: &mut Outgoing<LANES>) -> Option<Round<LANES>> {
        debug_assert!(outgoing.is_empty(), "nobody writes to itself");
        Some(Round { all: standing, incoming: Vec::new() })
    }
}
