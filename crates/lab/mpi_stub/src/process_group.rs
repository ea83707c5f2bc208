//! What ranks mean to each other.
//!
//! [`Together`]: all ranks are there. Messages wait in their receiver's mailbox, collectives in a meeting, with their data. A
//! rank that must wait is parked, and is woken when it is worth asking again.
//!
//! [`Alone`]: one rank at a time. Nothing is received; a collective over whole numbers gives what ranks gave to it in the pass
//! before, since such values steer programs (sizes, colours, counts). Passes are made until nothing changes any more.

use crate::communicator::Identity;
use crate::datatype::Basic;
use crate::group::Group;
use crate::reduction::Operation;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// One collective: on which communicator, and the index there.
pub type Key = (Identity, u32);

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Message {
    /// The communicator.
    pub comm: Identity,
    /// Place of its sender.
    pub source: u32,
    /// Its tag.
    pub tag: i32,
    /// Its size.
    pub bytes: u64,
    /// What it says, if the sender had it.
    pub data: Option<Box<[u8]>>,
}

/// What a receive or probe asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The communicator.
    pub comm: Identity,
    /// Place of the sender, unless any may send.
    pub source: Option<u32>,
    /// The tag, unless any will do.
    pub tag: Option<i32>,
}

impl Wanted {
    fn fits(&self, message: &Message) -> bool {
        self.comm == message.comm
            && self.source.is_none_or(|source| source == message.source)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// What came for a rank, and what it waits for.
#[derive(Clone, Debug, Default)]
struct Mailbox {
    unexpected: VecDeque<Message>,
    posted: VecDeque<(u64, Wanted)>,
    matched: HashMap<u64, Message>,
    next_ticket: u64,
}

/// What a rank gives to a collective.
#[derive(Clone, Debug, Default)]
pub struct Contribution {
    /// Its data, packed; nothing if the program has none.
    pub data: Option<Vec<u8>>,
    /// Where the parts for each receiver end, if it has several.
    pub ends: Vec<usize>,
    /// Colour and key, or how many of something.
    pub numbers: Vec<i64>,
}

impl Contribution {
    /// The part for one receiver.
    pub fn part(&self, index: usize) -> Option<&[u8]> {
        let begin = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.data.as_ref()?.get(begin..*self.ends.get(index)?)
    }
}

/// A collective in which ranks meet.
#[derive(Debug, Default)]
pub struct Meeting {
    /// By place; nothing of those who are not there yet.
    pub given: Vec<Option<Contribution>>,
    /// The result of a reduction, once it is worked out.
    pub reduced: Option<Vec<u8>>,
    /// How many are there.
    pub arrived: u32,
    left: u32,
    waiting: Vec<u32>,
}

impl Meeting {
    /// One that all members have entered.
    pub fn of(given: Vec<Option<Contribution>>) -> Meeting {
        Meeting { given, ..Meeting::default() }
    }
}

/// All ranks of a run.
#[derive(Debug, Default)]
pub struct Together {
    mailboxes: Vec<Mailbox>,
    meetings: HashMap<Key, Meeting>,
    /// Ranks for which something has changed since they began to wait.
    pub woken: Vec<u32>,
}

impl Together {
    /// So many ranks.
    pub fn new(ranks: u32) -> Together {
        Together { mailboxes: vec![Mailbox::default(); ranks as usize], ..Together::default() }
    }

    /// Puts a message into the mailbox of a world rank.
    pub fn send(&mut self, to: u32, message: Message) {
        let Some(mailbox) = self.mailboxes.get_mut(to as usize) else { return };
        self.woken.push(to);
        match mailbox.posted.iter().position(|(_, wanted)| wanted.fits(&message)) {
            Some(place) => {
                if let Some((ticket, _)) = mailbox.posted.remove(place) {
                    mailbox.matched.insert(ticket, message);
                }
            }
            None => mailbox.unexpected.push_back(message),
        }
    }

    /// Posts a receive; returns the ticket to ask with.
    pub fn post(&mut self, rank: u32, wanted: Wanted) -> u64 {
        let Some(mailbox) = self.mailboxes.get_mut(rank as usize) else { return 0 };
        mailbox.next_ticket += 1;
        let ticket = mailbox.next_ticket;
        match mailbox.unexpected.iter().position(|message| wanted.fits(message)) {
            Some(place) => {
                if let Some(message) = mailbox.unexpected.remove(place) {
                    mailbox.matched.insert(ticket, message);
                }
            }
            None => mailbox.posted.push_back((ticket, wanted)),
        }
        ticket
    }

    /// Posts a receive for a message that was found by a matched probe.
    pub fn post_matched(&mut self, rank: u32, message: Message) -> u64 {
        let Some(mailbox) = self.mailboxes.get_mut(rank as usize) else { return 0 };
        mailbox.next_ticket += 1;
        mailbox.matched.insert(mailbox.next_ticket, message);
        mailbox.next_ticket
    }

    /// Whether the message of a receive is there.
    pub fn has(&self, rank: u32, ticket: u64) -> bool {
        self.mailboxes.get(rank as usize).is_some_and(|mailbox| mailbox.matched.contains_key(&ticket))
    }

    /// Takes the message of a receive.
    pub fn take(&mut self, rank: u32, ticket: u64) -> Option<Message> {
        self.mailboxes.get_mut(rank as usize)?.matched.remove(&ticket)
    }

    /// Takes a receive back; false if its message is there already.
    pub fn cancel(&mut self, rank: u32, ticket: u64) -> bool {
        let Some(mailbox) = self.mailboxes.get_mut(rank as usize) else { return false };
        let before = mailbox.posted.len();
        mailbox.posted.retain(|(posted, _)| *posted != ticket);
        mailbox.posted.len() < before
    }

    /// Looks for a message that no receive has matched yet.
    pub fn probe(&self, rank: u32, wanted: Wanted) -> Option<&Message> {
        self.mailboxes.get(rank as usize)?.unexpected.iter().find(|message| wanted.fits(message))
    }

    /// Takes such a message away.
    pub fn take_unexpected(&mut self, rank: u32, wanted: Wanted) -> Option<Message> {
        let mailbox = self.mailboxes.get_mut(rank as usize)?;
        let place = mailbox.unexpected.iter().position(|message| wanted.fits(message))?;
        mailbox.unexpected.remove(place)
    }

    /// A rank enters a collective.
    pub fn arrive(&mut self, key: Key, size: u32, place: u32, given: Contribution) {
        let meeting = self.meetings.entry(key).or_default();
        if meeting.given.is_empty() {
            meeting.given.resize(size as usize, None);
        }
        meeting.given[place as usize] = Some(given);
        meeting.arrived += 1;
        self.woken.append(&mut meeting.waiting);
    }

    /// A rank will wait for others to come.
    pub fn wait(&mut self, key: Key, rank: u32) {
        if let Some(meeting) = self.meetings.get_mut(&key) {
            meeting.waiting.push(rank);
        }
    }

    /// Who entered a collective so far.
    pub fn meeting(&mut self, key: Key) -> Option<&mut Meeting> {
        self.meetings.get_mut(&key)
    }

    /// A rank has what it came for.
    pub fn leave(&mut self, key: Key) {
        if let Some(meeting) = self.meetings.get_mut(&key) {
            meeting.left += 1;
            if meeting.left as usize == meeting.given.len() {
                self.meetings.remove(&key);
            }
        }
    }
}

/// What a pass found out about one collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The same for all ranks.
    Same(Vec<u8>),
    /// A sum, or what else a reduction makes.
    Reduced {
        /// So far.
        bytes: Vec<u8>,
        /// Of what.
        basic: Basic,
        /// How.
        operation: Operation,
    },
    /// What each rank gave, by place.
    Each(Vec<Option<Box<[u8]>>>),
    /// Colours and keys by place, and the groups that follow from them.
    Split(Vec<Option<(i32, i32)>>),
}

/// What one pass learned: shared by all ranks of the next.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    values: HashMap<Key, Value>,
    groups: HashMap<(Key, i32), Group>,
    places: HashMap<(Key, i32), HashMap<u32, u32>>,
}

impl PartialEq for Learned {
    fn eq(&self, other: &Learned) -> bool {
        self.values == other.values
    }
}

impl Learned {
    /// Nothing was learned.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds what another thread learned in the same pass.
    pub fn merge(&mut self, other: Learned) {
        for (key, value) in other.values {
            match self.values.get_mut(&key) {
                None => {
                    self.values.insert(key, value);
                }
                Some(own) => own.merge(value),
            }
        }
    }

    /// Works out groups from colours, for the next pass. `members` gives the world rank of a place.
    pub fn settle(&mut self) {
        for (key, value) in &self.values {
            let Value::Split(all) = value else { continue };
            let mut by_colour: HashMap<i32, Vec<(i32, u32)>> = HashMap::new();
            for (place, colour_and_key) in all.iter().enumerate() {
                if let Some((colour, order)) = colour_and_key {
                    by_colour.entry(*colour).or_default().push((*order, place as u32));
                }
            }
            for (colour, mut places) in by_colour {
                places.sort_unstable();
                let order: Vec<u32> = places.iter().map(|(_, place)| *place).collect();
                let lookup = (0..).zip(&order).map(|(index, place)| (*place, index)).collect();
                self.places.insert((*key, colour), lookup);
                self.groups.insert((*key, colour), Group::of(order));
            }
        }
    }
}

impl Value {
    fn merge(&mut self, other: Value) {
        match (self, other) {
            (Value::Reduced { bytes, basic, operation }, Value::Reduced { bytes: more, .. }) => {
                operation.apply(*basic, bytes, &more);
            }
            (Value::Each(own), Value::Each(more)) => fill(own, more),
            (Value::Split(own), Value::Split(more)) => fill(own, more),
            _ => {}
        }
    }
}

fn fill<T>(own: &mut Vec<Option<T>>, more: Vec<Option<T>>) {
    own.resize_with(own.len().max(more.len()), || None);
    for (place, value) in own.iter_mut().zip(more) {
        if value.is_some() {
            *place = value;
        }
    }
}

/// Ranks one at a time.
#[derive(Clone, Debug, Default)]
pub struct Alone {
    /// From the pass before.
    pub known: Arc<Learned>,
    /// In this pass.
    pub learned: Learned,
}

impl Alone {
    /// A pass that knows what the one before learned.
    pub fn after(known: Arc<Learned>) -> Alone {
        Alone { known, learned: Learned::default() }
    }

    /// One rank gives what all will have; returns what it was in the pass before.
    pub fn same(&mut self, key: Key, given: Option<Vec<u8>>) -> Option<&[u8]> {
        if let Some(bytes) = given {
            self.learned.values.insert(key, Value::Same(bytes));
        }
        match self.known.values.get(&key)? {
            Value::Same(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A rank's part of a reduction; returns what all made of it in the pass before.
    pub fn reduce(&mut self, key: Key, basic: Basic, operation: Operation, given: Vec<u8>) -> Option<&[u8]> {
        match self.learned.values.get_mut(&key) {
            Some(Value::Reduced { bytes, .. }) => {
                operation.apply(basic, bytes, &given);
            }
            _ => {
                self.learned.values.insert(key, Value::Reduced { bytes: given, basic, operation });
            }
        }
        match self.known.values.get(&key)? {
            Value::Reduced { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// A rank's contribution to an exchange; returns those of all in the pass before.
    pub fn each(&mut self, key: Key, size: u32, place: u32, given: Vec<u8>) -> Option<&[Option<Box<[u8]>>]> {
        let value = self.learned.values.entry(key).or_insert_with(|| Value::Each(Vec::new()));
        if let Value::Each(all) = value {
            if all.is_empty() {
                all.resize(size as usize, None);
            }
            all[place as usize] = Some(given.into());
        }
        match self.known.values.get(&key)? {
            Value::Each(all) => Some(all),
            _ => None,
        }
    }

    /// A rank's colour and key; returns the places of those with its colour in the pass before, in order, and its own place
    /// among them.
    pub fn split(
        &mut self,
        key: Key,
        size: u32,
        place: u32,
        colour: i32,
        order: i32,
    ) -> Option<(Group, u32)> {
        let value = self.learned.values.entry(key).or_insert_with(|| Value::Split(Vec::new()));
        if let Value::Split(all) = value {
            if all.is_empty() {
                all.resize(size as usize, None);
            }
            all[place as usize] = Some((colour, order));
        }
        let own = *self.known.places.get(&(key, colour))?.get(&place)?;
        Some((self.known.groups.get(&(key, colour))?.clone(), own))
    }
}

/// Alone or not.
#[derive(Debug)]
pub enum ProcessGroup {
    /// One rank at a time.
    Alone(Alone),
    /// All of them.
    Together(Together),
}
