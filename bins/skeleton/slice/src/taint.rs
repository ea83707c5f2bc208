//! Which values depend on data that a skeleton does not have: payload that was received, elements of fields of
//! floating-point numbers, and clocks.
//!
//! Integers that travel are no such data: they are computed by whoever runs the skeleton. Nor is whether something has come
//! yet, and which of several requests is done first: whoever runs it has an order of its own, which is one of those
//! possible. The answer may name too many values, never too few of those that matter: what it does not name, the slice
//! computes for itself.

use crate::analysis::{ANY_LENGTH, Access, Analysis};
use crate::effects::{Binding, Outcome, Use};
use crate::memory::Place;
use crate::program::*;
use kizami_model::{Role, Shape};
use rustc_hash::FxHashMap;

/// Depends on data.
pub const DATA: u8 = 1;
/// Depends on who sent a message that anybody could have sent.
pub const SENDER: u8 = 2;

/// What values depend on.
pub struct Taint<'a> {
    analysis: &'a Analysis<'a>,
    of: Vec<u8>,
    memory: Vec<Vec<(Place, u64, u8)>>,
    open: Vec<ValueId>,
    open_memory: Vec<(Place, u64, u8, ValueId)>,
    /// For each value: the instruction by which it came to depend on something.
    cause: FxHashMap<ValueId, ValueId>,
    now: ValueId,
}

impl<'a> Taint<'a> {
    /// Follows data from where it comes in.
    pub fn of(analysis: &'a Analysis<'a>) -> Taint<'a> {
        let mut taint = Taint {
            analysis,
            of: vec![0; analysis.program.values.len()],
            memory: vec![Vec::new(); analysis.memory.object_count()],
            open: Vec::new(),
            open_memory: Vec::new(),
            cause: FxHashMap::default(),
            now: ValueId::MAX,
        };
        let instructions = analysis.instructions();
        let any_source = instructions.iter().any(|id| taint.receives_from_any_source(*id));
        for id in &instructions {
            taint.now = *id;
            taint.source(*id, any_source);
        }
        taint.spread();
        taint.spread_by_control(&instructions);
        taint
    }

    /// What a value depends on.
    pub fn value(&self, id: ValueId) -> u8 {
        self.of[id as usize]
    }

    /// How a value came to depend on data: the instructions on the way back to where the data came in.
    pub fn way(&self, id: ValueId) -> Vec<ValueId> {
        let mut way = vec![id];
        while let Some(before) = way.last().and_then(|id| self.cause.get(id))
            && *before != ValueId::MAX
            && !way.contains(before)
        {
            way.push(*before);
        }
        way
    }

    fn mark(&mut self, id: ValueId, bits: u8) {
        let known = &mut self.of[id as usize];
        if *known | bits != *known {
            *known |= bits;
            self.cause.entry(id).or_insert(self.now);
            self.open.push(id);
        }
    }

    fn mark_memory(&mut self, place: Place, length: u64, bits: u8) {
        let known = &mut self.memory[place.object as usize];
        let covered = |entry: &&mut (Place, u64, u8)| entry.0 == place && entry.1 >= length;
        match known.iter_mut().find(covered) {
            Some(entry) if entry.2 | bits == entry.2 => return,
            Some(entry) => entry.2 |= bits,
            None => known.push((place, length, bits)),
        }
        self.open_memory.push((place, length, bits, self.now));
    }

    fn mark_target(&mut self, address: ValueId, length: u64, bits: u8) {
        for place in self.analysis.memory.targets(address) {
            let (place, length) = self.analysis.reached(address, *place, length);
            self.mark_memory(place, length, bits);
        }
    }

    fn receives_from_any_source(&self, id: ValueId) -> bool {
        let Some(effects) = self.analysis.mpi_call(id) else { return false };
        let shape = effects.mpi.map(|mpi| mpi.0.shape);
        matches!(shape, Some(Shape::Receive | Shape::Probe | Shape::SendReceive))
            && self.analysis.constant_argument(id, "source") == Some(self.analysis.dialect.any_source())
    }

    /// Marks what comes in by one instruction.
    fn source(&mut self, id: ValueId, any_source: bool) {
        let program = self.analysis.program;
        match program.instruction(id).expect("an instruction").1 {
            Action::Load(length) if program.value(id).kind == Kind::Float => {
                let address = program.value(id).operands[0];
                if has_variable_index(program, address) || self.is_received(address, *length) {
                    self.mark(id, DATA);
                }
            }
            Action::Call(_) => {
                let Some(effects) = self.analysis.effects.call(program, id) else { return };
                if effects.outcome == Outcome::Differs {
                    self.mark(id, DATA);
                }
                for (number, argument) in program.call_arguments(id).iter().enumerate() {
                    if effects.of(number) == Use::Differs {
                        self.mark_target(*argument, ANY_LENGTH, DATA);
                    }
                }
                if effects.mpi.is_some() {
                    self.mpi_source(id, any_source);
                }
            }
            _ => {}
        }
    }

    /// Whether a place holds payload that arrived, but for broadcasts, which are carried out.
    fn is_received(&self, address: ValueId, length: u64) -> bool {
        let from_mpi = |access: &Access| {
            let Some(effects) = self.analysis.mpi_call(access.by) else { return false };
            let data = access.argument.is_some_and(|n| matches!(effects.of(n as usize), Use::Data(_)));
            data && !effects.mpi.is_some_and(|mpi| mpi.0.shape_name.ends_with("bcast"))
        };
        let places = self.analysis.memory.targets(address);
        places.iter().any(|place| self.analysis.writers_of(*place, length).any(from_mpi))
    }

    /// What an MPI call writes that a skeleton cannot know.
    fn mpi_source(&mut self, id: ValueId, any_source: bool) {
        let Some(effects) = self.analysis.mpi_call(id) else { return };
        let Some((function, binding)) = effects.mpi else { return };
        let arguments = self.analysis.program.call_arguments(id).to_vec();
        let anybody = self.receives_from_any_source(id);
        let skipped =
            if binding == Binding::Fortran && function.name.starts_with("MPI_Init") { 2 } else { 0 };
        for (argument, described) in arguments.iter().zip(function.arguments.iter().skip(skipped)) {
            let number = function.arguments.iter().position(|a| a.name == described.name).expect("it is one");
            let role = kizami_model::role_of(function, number);
            let completes = function.shape == Shape::Completion;
            let bits = match described.name {
                _ if role == Role::Status && (anybody || completes && any_source) => SENDER,
                _ if role.writes_data() && anybody => DATA,
                _ if role.writes_data() && matches!(function.shape, Shape::ObjectIn | Shape::Object) => DATA,
                "base" | "baseptr" if function.name.starts_with("MPI_Win_") => DATA,
                _ => continue,
            };
            self.mark_target(*argument, ANY_LENGTH, bits);
            if described.name == "baseptr" {
                self.mark_windows(id);
            }
        }
    }

    /// Memory that MPI gave for a window.
    fn mark_windows(&mut self, call: ValueId) {
        if let Some(object) = self.analysis.memory.number_of(crate::memory::Object::Heap(call)) {
            self.mark_memory(Place { object, offset: 0, stride: 1, width: 0 }, ANY_LENGTH, DATA);
        }
    }

    fn spread(&mut self) {
        loop {
            if let Some(id) = self.open.pop() {
                self.now = id;
                self.spread_value(id);
            } else if let Some((place, length, bits, by)) = self.open_memory.pop() {
                self.now = by;
                self.spread_memory(place, length, bits);
            } else {
                return;
            }
        }
    }

    fn spread_value(&mut self, id: ValueId) {
        let program = self.analysis.program;
        let bits = self.of[id as usize];
        for user in &program.users[id as usize] {
            let Some((block, action)) = program.instruction(*user) else { continue };
            if !self.analysis.flow.passable[block as usize] {
                continue;
            }
            match action {
                Action::Store(length) => {
                    if program.value(*user).operands[0] == id {
                        self.mark_target(program.value(*user).operands[1], *length, bits);
                    }
                }
                Action::Call(_) => self.spread_to_call(*user, id, bits),
                Action::End(Ending::Return) => {
                    let function = program.block(block).function;
                    for call in &self.analysis.callers[function as usize] {
                        self.mark(*call, bits);
                    }
                }
                Action::Offset(_) | Action::Load(_) | Action::Alloca | Action::End(_) => {}
                _ => self.mark(*user, bits),
            }
        }
    }

    fn spread_to_call(&mut self, call: ValueId, value: ValueId, bits: u8) {
        let program = self.analysis.program;
        for callee in self.analysis.memory.callees(program, call) {
            let arguments = program.call_arguments(call);
            match self.analysis.effects.get(callee) {
                None => {
                    for (actual, formal) in arguments.iter().zip(&program.function(callee).arguments) {
                        if *actual == value {
                            self.mark(*formal, bits);
                        }
                    }
                }
                Some(effects) if effects.mpi.is_some() => {
                    for number in (0..arguments.len()).filter(|number| arguments[*number] == value) {
                        self.spread_by_size(call, number, bits);
                    }
                }
                Some(effects)
                    if effects.mpi.is_none() && effects.outcome != Outcome::Fresh && !effects.nothing =>
                {
                    self.taint_results(call, bits);
                }
                Some(_) => {}
            }
        }
    }

    /// Where the size of a message depends on data, so does what its receiver is told about it. Which message that is, is not
    /// looked at.
    fn spread_by_size(&mut self, send: ValueId, argument: usize, bits: u8) {
        let Some((function, _)) = self.analysis.mpi_call(send).and_then(|effects| effects.mpi) else {
            return;
        };
        let name = function.arguments.get(argument).map(|argument| argument.name);
        if !matches!(function.shape, Shape::Send | Shape::SendReceive)
            || !matches!(name, Some("count" | "sendcount" | "datatype" | "sendtype"))
        {
            return;
        }
        for call in self.analysis.mpi_calls.clone() {
            let Some(effects) = self.analysis.mpi_call(call) else { continue };
            let asks = effects
                .mpi
                .is_some_and(|mpi| mpi.0.name.contains("Get_count") || mpi.0.name.contains("Get_elements"));
            let written =
                effects.argument("count").and_then(|n| self.analysis.program.call_arguments(call).get(n));
            if asks && let Some(written) = written {
                self.mark_target(*written, 4, bits);
            }
        }
    }

    /// Whatever a call of a library gives or writes depends on what it was given.
    fn taint_results(&mut self, call: ValueId, bits: u8) {
        let program = self.analysis.program;
        if program.value(call).kind != Kind::Pointer {
            self.mark(call, bits);
        }
        let Some(effects) = self.analysis.effects.call(program, call) else { return };
        for (number, argument) in program.call_arguments(call).iter().enumerate() {
            if effects.of(number).writes() && effects.of(number) != Use::Stream {
                self.mark_target(*argument, ANY_LENGTH, bits);
            }
        }
    }

    fn spread_memory(&mut self, place: Place, length: u64, bits: u8) {
        let readers: Vec<Access> = self.analysis.readers_of(place, length).copied().collect();
        for access in readers {
            let program = self.analysis.program;
            match program.instruction(access.by).expect("an instruction").1 {
                Action::Load(_) if program.value(access.by).kind != Kind::Pointer => {
                    self.mark(access.by, bits)
                }
                Action::Load(_) => {}
                Action::Call(_) => match self.analysis.copy_of(access.by) {
                    Some((to, from)) => self.spread_copy(place, length, bits, to, from),
                    None if self.is_array(&access) => self.taint_arrays(access.by, bits),
                    None if self.analysis.mpi_call(access.by).is_none() => {
                        self.taint_results(access.by, bits)
                    }
                    None => {
                        if let Some(number) = access.argument {
                            self.spread_by_size(access.by, number as usize, bits);
                        }
                    }
                },
                _ => self.mark(access.by, bits),
            }
        }
        self.spread_by_collectives(place, length, bits);
    }

    /// Whether an access is to an array that a descriptor describes, and not to the descriptor.
    fn is_array(&self, access: &Access) -> bool {
        let Some(number) = access.argument.map(|number| number as usize) else { return false };
        let memory = &self.analysis.memory;
        let argument = self.analysis.program.call_arguments(access.by)[number];
        let same = |place: &Place| place.object == access.place.object;
        memory.described(access.by, number).iter().any(same) && !memory.targets(argument).iter().any(same)
    }

    /// Elements of arrays depend on what elements of others depend on; shapes do not.
    fn taint_arrays(&mut self, call: ValueId, bits: u8) {
        let program = self.analysis.program;
        let Some(effects) = self.analysis.effects.call(program, call) else { return };
        if program.value(call).kind != Kind::Pointer {
            self.mark(call, bits);
        }
        for number in 0..program.call_arguments(call).len() {
            if effects.of(number).writes() {
                for place in self.analysis.memory.described(call, number).to_vec() {
                    self.mark_memory(place.anywhere(), ANY_LENGTH, bits);
                }
            }
        }
    }

    fn spread_copy(&mut self, place: Place, length: u64, bits: u8, to: ValueId, from: ValueId) {
        let memory = &self.analysis.memory;
        for source in memory.targets(from).iter().filter(|source| source.object == place.object) {
            for target in memory.targets(to) {
                self.mark_memory(target.across(*source, place), length, bits);
            }
        }
    }

    /// What a collective makes of data is data.
    fn spread_by_collectives(&mut self, place: Place, length: u64, bits: u8) {
        let program = self.analysis.program;
        for call in self.analysis.collectives_that_read(place, length) {
            let effects = self.analysis.mpi_call(call).expect("a call of MPI").clone();
            for (number, argument) in program.call_arguments(call).iter().enumerate() {
                if matches!(effects.of(number), Use::Data(role) if role.writes_data()) {
                    self.mark_target(*argument, ANY_LENGTH, bits);
                }
            }
        }
    }

    /// Whether a value comes out of a loop without communication that ends when data says so.
    fn leaves_silent_loop(&self, phi: ValueId, block: BlockId, from: BlockId) -> bool {
        let program = self.analysis.program;
        let flow = &self.analysis.flow;
        let Some(number) = flow.loop_of[from as usize] else { return false };
        let of = &flow.loops[number];
        let value = program.value(phi).operands[0];
        let made_inside = program.instruction(value).is_some_and(|(at, _)| of.contains(at));
        let ends_by_data = |at: &BlockId| {
            let condition = program.value(program.terminator(*at)).operands.first();
            flow.successors[*at as usize].iter().any(|to| !of.contains(*to))
                && condition.is_some_and(|value| self.of[*value as usize] & DATA != 0)
        };
        self.analysis.silent[number]
            && !of.contains(block)
            && made_inside
            && matches!(program.value(phi).kind, Kind::Integer(_))
            && of.blocks.iter().any(ends_by_data)
    }

    /// A value that is one thing or another because of data depends on it, and so does memory that is written only then.
    fn spread_by_control(&mut self, instructions: &[ValueId]) {
        let program = self.analysis.program;
        let flow = &self.analysis.flow;
        loop {
            let mut marked = false;
            for id in instructions {
                let (block, action) = program.instruction(*id).expect("an instruction");
                let decided = |block: BlockId| {
                    flow.controllers[block as usize].iter().copied().find(|controller| {
                        let last = program.terminator(*controller);
                        let condition = program.value(last).operands.first();
                        let own = flow.controllers[*controller as usize].contains(controller);
                        let silent = flow.loop_of[*controller as usize]
                            .is_some_and(|number| self.analysis.silent[number]);
                        (!own || silent)
                            && condition.is_some_and(|value| self.of[*value as usize] & DATA != 0)
                    })
                };
                let before = self.of[*id as usize];
                // Because of the condition that decides.
                let condition = |by: BlockId| program.value(program.terminator(by)).operands[0];
                self.now = decided(block).map_or(*id, condition);
                match action {
                    Action::Phi(from)
                        if before & DATA == 0
                            && from.len() == 1
                            && self.leaves_silent_loop(*id, block, from[0]) =>
                    {
                        self.mark(*id, DATA);
                        marked = true;
                    }
                    Action::Phi(from) if before & DATA == 0 && from.len() > 1 => {
                        let here = decided(block);
                        let chosen =
                            from.iter().any(|from| decided(*from).is_some_and(|by| Some(by) != here));
                        if chosen && matches!(program.value(*id).kind, Kind::Integer(_)) {
                            self.mark(*id, DATA);
                            marked = true;
                        }
                    }
                    Action::Store(length) if decided(block).is_some() => {
                        let [value, address] = program.value(*id).operands[..] else { continue };
                        if matches!(program.value(value).kind, Kind::Integer(_)) {
                            self.mark_target(address, *length, DATA);
                            marked |= !self.open_memory.is_empty();
                        }
                    }
                    _ => {}
                }
            }
            self.spread();
            if !marked {
                return;
            }
        }
    }
}

impl Place {
    /// Where a piece of memory comes to lie when what is at `from` is copied to here.
    pub fn across(self, from: Place, piece: Place) -> Place {
        if self.stride != 0 || from.stride != 0 || piece.stride != 0 {
            return self.anywhere();
        }
        let width = self.width + from.width + piece.width;
        Place { object: self.object, offset: self.offset + (piece.offset - from.offset), stride: 0, width }
    }
}

impl Analysis<'_> {
    /// Collective calls that take payload from a place.
    fn collectives_that_read(&self, place: Place, length: u64) -> Vec<ValueId> {
        let takes = |id: &ValueId| {
            let Some(effects) = self.mpi_call(*id) else { return false };
            effects.mpi.is_some_and(|mpi| mpi.0.shape == Shape::Collective)
                && self.program.call_arguments(*id).iter().enumerate().any(|(number, argument)| {
                    matches!(effects.of(number), Use::Data(role) if role.reads_data())
                        && self
                            .memory
                            .targets(*argument)
                            .iter()
                            .any(|at| at.overlaps(ANY_LENGTH, place, length))
                })
        };
        self.mpi_calls.iter().copied().filter(takes).collect()
    }
}

/// Arrays of up to so many bytes are parameters, not fields of data.
const SHORT_ARRAY: u64 = 64;

/// Whether an address is that of an element: moved by a variable on its way.
fn has_variable_index(program: &Program, mut address: ValueId) -> bool {
    loop {
        match program.instruction(address) {
            Some((_, Action::Offset(offset))) if !offset.strides.is_empty() || offset.width > SHORT_ARRAY => {
                return true;
            }
            Some((_, Action::Offset(_) | Action::Cast)) => address = program.value(address).operands[0],
            _ => return false,
        }
    }
}
