//! Requests of one rank: what was begun, and what is to be done when it is completed.

use crate::calls::collective::Plan;
use kizami_standin::datatype::TypeId;

/// Memory of the program in which elements of a type are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elements {
    pub address: usize,
    pub count: i64,
    pub datatype: TypeId,
}

/// A receive as it was posted.
#[derive(Clone, Copy, Debug)]
pub struct Receive {
    /// The ticket to ask with; none from nobody.
    pub ticket: Option<u64>,
    pub comm: u32,
    /// As the program gave them.
    pub source: i32,
    pub tag: i32,
    pub bytes: u64,
    pub into: Elements,
}

/// A send as it was posted.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    pub comm: u32,
    pub dest: i32,
    pub tag: i32,
    pub from: Elements,
}

/// What is under way.
#[derive(Clone, Debug)]
pub enum Doing {
    /// Nothing that could still come: it is done.
    Nothing,
    /// A receive.
    Receive(Receive),
    /// A collective.
    Collective(Box<Plan>),
    /// A persistent one that was not started.
    Idle,
}

/// What a persistent request does when it is started.
#[derive(Clone, Debug)]
pub enum Prepared {
    Send(Send),
    Receive(Receive),
    Collective(Box<Plan>),
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number in the stream.
    pub number: u32,
    pub doing: Doing,
    /// If it is persistent, what it does and the number of the call that made it.
    pub prepared: Option<Box<(Prepared, u32)>>,
    /// The program cancelled it.
    pub cancelled: bool,
}

/// All of a rank.
#[derive(Debug, Default)]
pub struct Requests {
    all: Vec<Option<Request>>,
    free: Vec<u32>,
    next_number: u32,
}

impl Requests {
    /// Forgets all.
    pub fn reset(&mut self) {
        self.all.clear();
        self.free.clear();
        self.next_number = 1;
    }

    /// The next number, and those behind it.
    pub fn take_numbers(&mut self, count: u32) -> u32 {
        let first = self.next_number;
        self.next_number += count;
        first
    }

    /// Adds one; gives its place.
    #[inline]
    pub fn add(&mut self, doing: Doing, prepared: Option<Prepared>) -> u32 {
        let number = self.take_numbers(1);
        let prepared = prepared.map(|prepared| Box::new((prepared, number)));
        let request = Request { number, doing, prepared, cancelled: false };
        match self.free.pop() {
            Some(place) => {
                self.all[place as usize] = Some(request);
                place
            }
            None => {
                self.all.push(Some(request));
                self.all.len() as u32 - 1
            }
        }
    }

    /// The one at a place.
    #[inline]
    pub fn get(&mut self, place: u32) -> Option<&mut Request> {
        self.all.get_mut(place as usize)?.as_mut()
    }

    /// Takes one away.
    #[inline]
    pub fn remove(&mut self, place: u32) -> Option<Request> {
        let request = self.all.get_mut(place as usize)?.take();
        if request.is_some() {
            self.free.push(place);
        }
        request
    }
}
