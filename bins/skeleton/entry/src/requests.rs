//! Requests of one rank: what was begun, and what is to be done when it is completed.

use crate::collective_plan::Plan;
use kizami_mpi_stub::datatype::TypeId;

/// Memory of the program in which elements of a type are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elements {
    pub address: usize,
    pub count: i64,
    pub datatype: TypeId,
}

/// A receive as it was posted.
#[derive(Clone, Copy, Debug, Default)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// Nothing that could still come: it is done.
    #[default]
    Nothing,
    /// A receive.
    Receive,
    /// A collective.
    Collective,
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

/// One request. What it does is told in parts, since a whole that is handed on would be stored twice.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Its number in the stream.
    pub number: u32,
    pub doing: Doing,
    /// The receive, if it is one.
    pub receive: Receive,
    /// The collective, if it is one.
    pub plan: Option<Box<Plan>>,
    /// If it is persistent, what it does and the number of the call that made it.
    pub prepared: Option<Box<(Prepared, u32)>>,
    /// The program cancelled it.
    pub cancelled: bool,
    is_there: bool,
}

/// All of a rank.
#[derive(Debug, Default)]
pub struct Requests {
    all: Vec<Request>,
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

    /// Adds one that does nothing yet; gives its place.
    #[inline]
    pub fn add(&mut self) -> (u32, &mut Request) {
        let number = self.take_numbers(1);
        let place = self.free.pop().unwrap_or_else(|| {
            self.all.push(Request::default());
            self.all.len() as u32 - 1
        });
        let request = &mut self.all[place as usize];
        (request.number, request.is_there) = (number, true);
        (place, request)
    }

    /// Adds a persistent one; gives its place.
    pub fn prepare(&mut self, prepared: Prepared) -> u32 {
        let (place, request) = self.add();
        request.doing = Doing::Idle;
        request.prepared = Some(Box::new((prepared, request.number)));
        place
    }

    /// The one at a place.
    #[inline]
    pub fn get(&mut self, place: u32) -> Option<&mut Request> {
        self.all.get_mut(place as usize).filter(|request| request.is_there)
    }

    /// Takes one away.
    #[inline]
    pub fn remove(&mut self, place: u32) {
        let Some(request) = self.get(place) else { return };
        (request.is_there, request.doing, request.cancelled) = (false, Doing::Nothing, false);
        (request.plan, request.prepared) = (None, None);
        self.free.push(place);
    }
}
