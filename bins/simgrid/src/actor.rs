//! A rank on the stage: an actor of SimGrid that plays its script and notes the simulated time of every call.
//!
//! All actors run on one thread of the system, one at a time; they share one buffer to send from and one to receive into,
//! since nobody looks at what is in them.

use kizami_rng::Xorshift64;
mod collectives;
mod windows;

use crate::library::{Handle, NULL, SimGrid, UNDEFINED};
use crate::links::Links;
use crate::script::{Action, Message, Step};
use crate::supervise;
use crate::traffic::Traffic;
use crate::translate::Play;
use kizami_model::CommKind;
use kizami_model::kind::SendMode;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What all actors share.
pub struct Stage {
    /// The library.
    pub simgrid: SimGrid,
    /// What is played.
    pub play: Play,
    /// By row: when it begins and ends, in nanoseconds since the run began.
    pub times: UnsafeCell<Vec<[i64; 2]>>,
    /// Where messages come from, and where they go.
    pub buffers: [*mut c_void; 2],
    /// How large they are.
    pub buffer_bytes: usize,
    /// Factor on the time of computation.
    pub computation: f64,
    /// When the run begins: after the communicators are there.
    pub begin_s: Cell<f64>,
    /// How many ranks have ended.
    pub ended: Cell<u32>,
    /// Calls made.
    pub calls: Cell<u64>,
    /// When the simulation was started.
    pub began: Instant,
    /// What links carry.
    pub links: RefCell<Links>,
    /// What is on its way.
    pub traffic: RefCell<Traffic>,
    /// How long the first intervals are in which links are looked at.
    pub interval_s: f64,
}

/// Calls between two words on how far it is, and how long nothing is said.
const CALLS_PER_REPORT: u64 = 1 << 12;
const UNTIL_FIRST_REPORT: Duration = Duration::from_secs(1);

/// How often to look whether it is known when the run begins, in simulated seconds.
const LOOK_FOR_BEGIN_S: f64 = 0.1;

static STAGE: AtomicPtr<Stage> = AtomicPtr::new(std::ptr::null_mut());

impl Stage {
    /// Is the stage of all actors from now on; it stays until the process ends.
    pub fn set(self: Box<Stage>) -> &'static Stage {
        let stage = Box::leak(self);
        STAGE.store(stage, Relaxed);
        stage
    }

    /// An interval ends for links. Gives whether the next ones are twice as long.
    fn end_interval(&self) -> bool {
        // SAFETY: takes nothing.
        self.links.borrow_mut().end_interval(unsafe { (self.simgrid.clock)() })
    }

    /// Counts, and tells of it now and then.
    fn made_a_call(&self) {
        let made = self.calls.get() + 1;
        self.calls.set(made);
        if made.is_multiple_of(CALLS_PER_REPORT) && self.began.elapsed() > UNTIL_FIRST_REPORT {
            // SAFETY: nobody holds a reference between calls.
            let all = unsafe { (&*self.times.get()).len() as u64 };
            supervise::report_progress(made, all);
        }
    }

    /// Whether all ranks wait for one moment before they begin.
    fn begins_together(&self) -> bool {
        self.play.communicators.len() > 1
    }

    /// Waits for that moment, which is put off while ranks are not ready.
    fn wait_for_begin(&self) {
        let left_s = || {
            // SAFETY: takes nothing.
            let now_s = unsafe { (self.simgrid.clock)() };
            let begin_s = self.begin_s.get();
            if begin_s > 0.0 { begin_s - now_s } else { LOOK_FOR_BEGIN_S }
        };
        while self.begins_together() && left_s() > 0.0 {
            // SAFETY: called by an actor.
            unsafe { (self.simgrid.sleep_for)(left_s()) };
        }
    }
}

/// Where an actor begins.
pub extern "C-unwind" fn begin(mut argc: c_int, mut argv: *mut *mut c_char) {
    // SAFETY: set before the simulation starts, and never taken away.
    let Some(stage) = (unsafe { STAGE.load(Relaxed).as_ref() }) else { return };
    let simgrid = &stage.simgrid;
    let mut rank = 0;
    // SAFETY: an actor of SimGrid's MPI calls these; the pointers are to variables of its own.
    unsafe {
        (simgrid.init)(&mut argc, &mut argv);
        (simgrid.comm_rank)(simgrid.world(), &mut rank);
    }
    let mut actor = Actor::new(stage, rank as u32);
    actor.make_communicators();
    actor.play();
    stage.ended.set(stage.ended.get() + 1);
    if stage.ended.get() as usize == stage.play.scripts.len() {
        stage.end_interval();
    }
    // SAFETY: as above.
    unsafe { (simgrid.finalize)() };
}

/// Where the actor begins that looks at links; it ends with the last rank.
pub extern "C-unwind" fn watch(_: c_int, _: *mut *mut c_char) {
    // SAFETY: set before the simulation starts, and never taken away.
    let Some(stage) = (unsafe { STAGE.load(Relaxed).as_ref() }) else { return };
    stage.wait_for_begin();
    // Links can be watched once the simulation runs; what communicators needed on their way is not of the run.
    *stage.links.borrow_mut() = Links::watch(&stage.simgrid);
    let mut interval_s = stage.interval_s;
    let looks = stage.links.borrow().looks_an_interval();
    // Looks without rhythm, the same in every run.
    let mut random = Xorshift64::new(1);
    loop {
        for _ in 0..looks {
            let gap_s = 2.0 * random.unit() * interval_s / f64::from(looks);
            // SAFETY: called by an actor.
            unsafe { (stage.simgrid.sleep_for)(gap_s) };
            stage.links.borrow_mut().look(&stage.simgrid, &mut stage.traffic.borrow_mut(), gap_s);
        }
        interval_s *= if stage.end_interval() { 2.0 } else { 1.0 };
    }
}

/// What a reduction does: nothing, and that takes no time.
extern "C-unwind" fn combine(_: *mut c_void, _: *mut c_void, _: *mut c_int, _: *mut Handle) {}

/// A rank.
struct Actor<'a> {
    stage: &'a Stage,
    rank: u32,
    /// By index of the trace's communicators; null where this rank is no member.
    communicators: Vec<Handle>,
    operation: Handle,
    requests: Vec<Handle>,
    /// By request: the message that it receives.
    awaited: Vec<Option<Message>>,
    windows: Vec<Handle>,
    /// Operations a second of its host.
    speed: f64,
    /// Amounts of the exchange at hand.
    counts: [Vec<c_int>; 4],
}

impl<'a> Actor<'a> {
    fn new(stage: &'a Stage, rank: u32) -> Actor<'a> {
        let simgrid = &stage.simgrid;
        let mut operation = NULL;
        // SAFETY: called by an actor; the operation's pointer is to a variable here.
        let speed = unsafe {
            (simgrid.op_create)(combine, 1, &mut operation);
            let host = (simgrid.own_host)();
            stage.traffic.borrow_mut().lives(rank, host);
            (simgrid.host_speed)(host)
        };
        let script = &stage.play.scripts[rank as usize];
        Actor {
            stage,
            rank,
            communicators: vec![NULL; stage.play.communicators.len()],
            operation,
            requests: vec![NULL; script.requests as usize],
            awaited: vec![None; script.requests as usize],
            windows: vec![NULL; script.windows as usize],
            speed,
            counts: Default::default(),
        }
    }

    /// All communicators of the run are made before it begins, so that nothing depends on who makes which.
    fn make_communicators(&mut self) {
        let simgrid = &self.stage.simgrid;
        let (world, all) = (simgrid.world(), &self.stage.play.communicators);
        let mut group = NULL;
        // SAFETY: called by an actor; pointers are to variables here and to lists that outlive the call.
        unsafe {
            (simgrid.comm_group)(world, &mut group);
            for (place, communicator) in self.communicators.iter_mut().zip(all) {
                if communicator.kind == CommKind::World {
                    *place = world;
                    continue;
                }
                let members: Option<Vec<c_int>> =
                    communicator.members.iter().map(|member| Some(member.as_ref()?.0 as c_int)).collect();
                let Some(members) = members.filter(|members| !members.is_empty()) else { continue };
                let mut subset = NULL;
                (simgrid.group_incl)(group, members.len() as c_int, members.as_ptr(), &mut subset);
                (simgrid.comm_create)(world, subset, place);
            }
            if self.stage.begins_together() {
                self.begin_together();
            }
        }
    }

    /// Waits until everybody has come so far, and then until a moment that is the same for all.
    unsafe fn begin_together(&self) {
        let simgrid = &self.stage.simgrid;
        // SAFETY: called by an actor.
        unsafe {
            let begin_s = &self.stage.begin_s;
            // Twice as late as the last is later than anybody's way out of the barrier.
            begin_s.set(begin_s.get().max(2.0 * (simgrid.clock)() + 1.0));
            (simgrid.barrier)(simgrid.world());
            (simgrid.sleep_for)(begin_s.get() - (simgrid.clock)());
        }
    }

    fn play(&mut self) {
        let script = &self.stage.play.scripts[self.rank as usize];
        let played = (script.first_row..).zip(&script.steps).enumerate();
        for (_, (row, step)) in played.filter(|(number, _)| !script.left_out.contains(number)) {
            self.compute((step.before_ns as f64 * self.stage.computation) as i64);
            let start = self.now_ns();
            self.step(step);
            let end = self.now_ns();
            // SAFETY: actors run one at a time, each writes its own rows, and nobody holds a reference.
            unsafe { (&mut *self.stage.times.get())[row as usize] = [start, end] };
            self.stage.made_a_call();
        }
    }

    fn now_ns(&self) -> i64 {
        // SAFETY: takes nothing.
        let now_s = unsafe { (self.stage.simgrid.clock)() };
        ((now_s - self.stage.begin_s.get()) * 1e9).round() as i64
    }

    fn compute(&self, length_ns: i64) {
        if length_ns > 0 {
            // SAFETY: called by an actor.
            unsafe { (self.stage.simgrid.execute)(length_ns as f64 * 1e-9 * self.speed) };
        }
    }

    fn step(&mut self, step: &Step) {
        match &step.action {
            Action::Keep => self.compute(step.recorded_ns),
            Action::Look { between_ns } => self.compute(*between_ns),
            Action::Send(mode, message) => {
                self.sends(message, step);
                self.send(*mode, message);
            }
            Action::SendLater(mode, message, request) => {
                self.sends(message, step);
                self.send_later(*mode, message, *request);
            }
            Action::Receive(message) => {
                self.receive(message);
                self.has_received(message);
            }
            Action::ReceiveLater(message, request) => {
                self.receive_later(message, *request);
                self.awaited[*request as usize] = Some(*message);
            }
            Action::SendReceive(out, back) => {
                self.sends(out, step);
                self.send_receive(out, back);
                self.has_received(back);
            }
            Action::Probe(message) => {
                let comm = self.communicators[message.comm as usize];
                // SAFETY: called by an actor; no status is asked for.
                unsafe { (self.stage.simgrid.probe)(message.peer, message.tag, comm, NULL) };
            }
            Action::Complete(range) => self.complete(range.start as usize..range.end as usize),
            Action::Collective(collective) => {
                self.stage.traffic.borrow_mut().is_in(self.rank, Some(step.call));
                self.collective(collective, None);
                self.stage.traffic.borrow_mut().is_in(self.rank, None);
            }
            Action::CollectiveLater(collective, request) => {
                self.stage.traffic.borrow_mut().is_in(self.rank, Some(step.call));
                self.collective(collective, Some(*request));
            }
            Action::NewCommunicator { parent, made } => self.new_communicator(*parent, *made),
            Action::OnWindow(window, on) => {
                self.stage.traffic.borrow_mut().is_in(self.rank, Some(step.call));
                self.on_window(*window, on);
                self.stage.traffic.borrow_mut().is_in(self.rank, None);
            }
        }
    }

    /// The rank of the world that is at the other end of a message.
    fn other_end(&self, message: &Message) -> Option<u32> {
        let members = &self.stage.play.communicators[message.comm as usize].members;
        Some(members.get(message.peer as usize).copied()??.0)
    }

    fn sends(&self, message: &Message, step: &Step) {
        if let Some(to) = self.other_end(message) {
            self.stage.traffic.borrow_mut().sent(self.rank, to, message, step.call);
        }
    }

    fn has_received(&self, message: &Message) {
        if let Some(from) = self.other_end(message) {
            self.stage.traffic.borrow_mut().received(from, self.rank, message);
        }
    }

    fn send(&self, mode: SendMode, message: &Message) {
        let simgrid = &self.stage.simgrid;
        let send = if mode == SendMode::Synchronous { simgrid.ssend } else { simgrid.send };
        let comm = self.communicators[message.comm as usize];
        // SAFETY: called by an actor; the buffer has room for the largest message.
        unsafe { send(self.stage.buffers[0], message.bytes, simgrid.byte, message.peer, message.tag, comm) };
    }

    fn send_later(&mut self, mode: SendMode, message: &Message, request: u32) {
        let simgrid = &self.stage.simgrid;
        let send = if mode == SendMode::Synchronous { simgrid.issend } else { simgrid.isend };
        let (comm, buffer) = (self.communicators[message.comm as usize], self.stage.buffers[0]);
        let request = &mut self.requests[request as usize];
        // SAFETY: called by an actor; the buffer has room for the largest message.
        unsafe { send(buffer, message.bytes, simgrid.byte, message.peer, message.tag, comm, request) };
    }

    fn receive(&self, message: &Message) {
        let simgrid = &self.stage.simgrid;
        let (comm, buffer) = (self.communicators[message.comm as usize], self.stage.buffers[1]);
        // SAFETY: called by an actor; the buffer has room for the largest message.
        unsafe { (simgrid.recv)(buffer, message.bytes, simgrid.byte, message.peer, message.tag, comm, NULL) };
    }

    fn receive_later(&mut self, message: &Message, request: u32) {
        let simgrid = &self.stage.simgrid;
        let (comm, buffer) = (self.communicators[message.comm as usize], self.stage.buffers[1]);
        let request = &mut self.requests[request as usize];
        // SAFETY: called by an actor; the buffer has room for the largest message.
        unsafe {
            (simgrid.irecv)(buffer, message.bytes, simgrid.byte, message.peer, message.tag, comm, request)
        };
    }

    fn send_receive(&self, out: &Message, back: &Message) {
        let (simgrid, [from, to]) = (&self.stage.simgrid, self.stage.buffers);
        let comm = self.communicators[out.comm as usize];
        // SAFETY: called by an actor; the buffers have room for the largest message.
        unsafe {
            (simgrid.sendrecv)(
                from,
                out.bytes,
                simgrid.byte,
                out.peer,
                out.tag,
                to,
                back.bytes,
                simgrid.byte,
                back.peer,
                back.tag,
                comm,
                NULL,
            )
        };
    }

    fn complete(&mut self, range: std::ops::Range<usize>) {
        let places = &self.stage.play.scripts[self.rank as usize].waits_for[range];
        self.wait_for(places);
        for place in places {
            if let Some(message) = self.awaited[*place as usize].take() {
                self.has_received(&message);
            }
        }
        self.stage.traffic.borrow_mut().is_in(self.rank, None);
    }

    fn wait_for(&mut self, places: &[u32]) {
        let simgrid = &self.stage.simgrid;
        if let [place] = places {
            // SAFETY: called by an actor; no status is asked for.
            unsafe { (simgrid.wait)(&mut self.requests[*place as usize], NULL) };
            return;
        }
        let mut requests: Vec<Handle> =
            places.iter().map(|place| std::mem::replace(&mut self.requests[*place as usize], NULL)).collect();
        // SAFETY: as above.
        unsafe { (simgrid.waitall)(requests.len() as c_int, requests.as_mut_ptr(), NULL) };
    }

    fn new_communicator(&self, parent: u32, made: Option<u32>) {
        let simgrid = &self.stage.simgrid;
        let parent = self.communicators[parent as usize];
        let communicator = made.map(|made| (made, &self.stage.play.communicators[made as usize]));
        let mut new = NULL;
        // SAFETY: called by an actor; lists outlive the calls.
        unsafe {
            match communicator {
                Some((_, communicator)) if communicator.kind == CommKind::Duplicate => {
                    (simgrid.comm_dup)(parent, &mut new);
                }
                Some((_, communicator)) if communicator.kind == CommKind::Cartesian => {
                    let dims: Vec<c_int> = communicator.dims.iter().map(|extent| *extent as c_int).collect();
                    let periodic: Vec<c_int> =
                        communicator.periodic.iter().map(|periodic| c_int::from(*periodic)).collect();
                    let count = dims.len() as c_int;
                    (simgrid.cart_create)(parent, count, dims.as_ptr(), periodic.as_ptr(), 0, &mut new);
                }
                Some((made, _)) => {
                    (simgrid.comm_split)(parent, made as c_int, self.own_place(made) as c_int, &mut new);
                }
                None => {
                    (simgrid.comm_split)(parent, UNDEFINED, 0, &mut new);
                }
            }
        }
    }
}
