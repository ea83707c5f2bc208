//! Definitions: what the numbers in call records stand for, written before their first use.
//!
//! Each is a kind byte followed by little-endian numbers and length-prefixed strings. Local numbers count
//! within the process; [`Definition::Communicator::identity`] is the same on all ranks of a communicator.

use crate::kind::DEFINITION;
use kizami_model::{CommKind, ObjectKind};
use kizami_segment::{Appender, SLOT_BYTES, head, slot_words};

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum Definition {
    /// A communicator: its local number, the identity all its ranks agree on, its parent's identity (0 for
    /// none), this process's rank in it and its size. For an inter-communicator the size of the remote group
    /// and which of the two groups (0 or 1, the same for all) this process is in.
    Communicator {
        local: u32,
        identity: u64,
        parent: u64,
        kind: CommKind,
        rank: u32,
        size: u32,
        remote: Option<(u32, u8)>,
    },
    /// Name given by `MPI_Comm_set_name`.
    CommunicatorName { local: u32, name: String },
    /// Cartesian shape of a communicator.
    Cartesian { local: u32, dims: Vec<u32>, periodic: Vec<bool> },
    /// Neighbours in a communicator with a graph topology: whom this process receives from and sends to.
    Neighbours { local: u32, sources: Vec<i32>, destinations: Vec<i32> },
    /// A call site: return address, the module it lies in (0 for none), and the frame that called its function (0 if there is
    /// none or it is not known).
    Site { local: u32, address: u64, module: u32, caller: u32 },
    /// The same of a call that led to other calls. Frames have numbers of their own; that of the caller is defined before.
    Frame { local: u32, address: u64, module: u32, caller: u32 },
    /// The same of a call that a script makes.
    ScriptFrame { local: u32, function: String, file: String, line: u32, caller: u32 },
    /// A loaded executable or library: address it is loaded at (what is to be subtracted), path, build id.
    Module { local: u32, bias: u64, path: String, build_id: Vec<u8> },
    /// A window, file or datatype: communicator (`NO_COMM` for none), name, size in bytes.
    Object { local: u32, kind: ObjectKind, comm: u32, name: String, bytes: u64 },
    /// A named region.
    Region { local: u32, name: String },
    /// The name of an amount of work.
    Count { local: u32, name: String },
    /// One argument of the command line.
    Argument { text: String },
    /// One question about another clock: this process asked the process with world rank `reference` for its
    /// clock at `sent_ticks`, received `reference_ticks`, and had the answer at `received_ticks`. Questions of
    /// one `round` belong together.
    ClockSample { round: u32, reference: u32, sent_ticks: u64, reference_ticks: u64, received_ticks: u64 },
    /// A counter that was asked for, by its number: it was opened as the next one, or refused with this error.
    Counter { number: u8, errno: u32 },
    /// Not all calls were to be kept: the bits of a floating-point number that is a share of the bytes, or bytes a second;
    /// what chance is made from; whether calls were sampled, as older versions could: those segments cannot be read; and
    /// with fewer calls than how many a thread has a record for each of them.
    Keep { per_second: bool, amount_bits: u64, seed: u64, sampled: bool, all_below: u32 },
    /// What the MPI library calls the communicator with this number; it may call another so once this one is freed.
    CommunicatorHandle { local: u32, handle: u64 },
    /// The same for a window, file or datatype.
    ObjectHandle { local: u32, handle: u64 },
    /// Cores of its host that the process may use, as the kernel lists them (`0-3,8`). Written where it is recorded how long
    /// threads had no core.
    Cores { allowed: String },
    /// Calls that the tracer does not see: why not, and the module that makes them or the runtime that has them.
    Unrecorded { reason: Unrecorded, module: String },
}

/// Why calls are not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unrecorded {
    /// MPI calls that the module made before its references were led to the tracer.
    MpiBefore = 1,
    /// MPI calls of the module: its references cannot be led to the tracer.
    Mpi = 2,
    /// MPI calls of the module: they go to another MPI library than the one that is recorded.
    OtherMpi = 3,
    /// What an OpenMP runtime runs: another one in the process is recorded.
    OtherRuntime = 4,
    /// What an OpenMP runtime runs: it reports to another tool.
    OtherTool = 5,
    /// OpenMP calls of the module: where they lead cannot be found out, or its references cannot be led to the tracer.
    OpenMp = 6,
    /// What an OpenMP runtime runs: the user has switched its tool interface off.
    NoTool = 7,
    /// Whatever the module and its libraries call: it was loaded into a name space of its own.
    Namespace = 8,
}

impl Unrecorded {
    fn from_number(number: u8) -> Option<Unrecorded> {
        use Unrecorded::{Mpi, MpiBefore, Namespace, NoTool, OpenMp, OtherMpi, OtherRuntime, OtherTool};
        let all = [MpiBefore, Mpi, OtherMpi, OtherRuntime, OtherTool, OpenMp, NoTool, Namespace];
        all.into_iter().find(|reason| *reason as u8 == number)
    }
}

impl Definition {
    /// Appends the bytes of the definition.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut w = Writer(out);
        match self {
            Definition::Communicator { local, identity, parent, kind, rank, size, remote } => {
                w.byte(1).u32(*local).u64(*identity).u64(*parent).byte(*kind as u8).u32(*rank).u32(*size);
                let (remote_size, group) = remote.unwrap_or((0, u8::MAX));
                w.u32(remote_size).byte(group);
            }
            Definition::CommunicatorName { local, name } => {
                w.byte(2).u32(*local).text(name);
            }
            Definition::Cartesian { local, dims, periodic } => {
                w.byte(3).u32(*local).u32(dims.len() as u32);
                for (dim, periodic) in dims.iter().zip(periodic) {
                    w.u32(*dim).byte(u8::from(*periodic));
                }
            }
            Definition::Neighbours { local, sources, destinations } => {
                w.byte(4).u32(*local).u32(sources.len() as u32).u32(destinations.len() as u32);
                for rank in sources.iter().chain(destinations) {
                    w.u32(*rank as u32);
                }
            }
            Definition::Site { local, address, module, caller: 0 } => {
                w.byte(5).u32(*local).u64(*address).u32(*module);
            }
            Definition::Site { local, address, module, caller } => {
                w.byte(18).u32(*local).u64(*address).u32(*module).u32(*caller);
            }
            Definition::Frame { local, address, module, caller } => {
                w.byte(19).u32(*local).u64(*address).u32(*module).u32(*caller);
            }
            Definition::ScriptFrame { local, function, file, line, caller } => {
                w.byte(20).u32(*local).text(function).text(file).u32(*line).u32(*caller);
            }
            Definition::Module { local, bias, path, build_id } => {
                w.byte(6).u32(*local).u64(*bias).text(path).bytes(build_id);
            }
            Definition::Object { local, kind, comm, name, bytes } => {
                w.byte(7).u32(*local).byte(*kind as u8).u32(*comm).text(name).u64(*bytes);
            }
            Definition::Region { local, name } => {
                w.byte(8).u32(*local).text(name);
            }
            Definition::Argument { text } => {
                w.byte(9).text(text);
            }
            Definition::ClockSample { round, reference, sent_ticks, reference_ticks, received_ticks } => {
                w.byte(10).u32(*round).u32(*reference);
                w.u64(*sent_ticks).u64(*reference_ticks).u64(*received_ticks);
            }
            Definition::Counter { number, errno } => {
                w.byte(11).byte(*number).u32(*errno);
            }
            Definition::Keep { per_second, amount_bits, seed, sampled, all_below } => {
                w.byte(12).byte(u8::from(*per_second)).u64(*amount_bits).u64(*seed);
                // Older versions stored here how they sampled, if they did.
                w.byte(u8::from(*sampled)).u32(*all_below).u32(0);
            }
            Definition::CommunicatorHandle { local, handle } => {
                w.byte(13).u32(*local).u64(*handle);
            }
            Definition::ObjectHandle { local, handle } => {
                w.byte(14).u32(*local).u64(*handle);
            }
            Definition::Count { local, name } => {
                w.byte(15).u32(*local).text(name);
            }
            Definition::Unrecorded { reason, module } => {
                w.byte(16).byte(*reason as u8).text(module);
            }
            Definition::Cores { allowed } => {
                w.byte(17).text(allowed);
            }
        }
    }

    /// Writes the definition as a record of its own. The error is an `errno`.
    pub fn append_to(&self, segment: &mut Appender) -> Result<(), i32> {
        let mut bytes = Vec::with_capacity(4 * SLOT_BYTES);
        self.encode(&mut bytes);
        let first = [head(DEFINITION, 0), bytes.len() as u64, 0, 0];
        bytes.resize(bytes.len().next_multiple_of(SLOT_BYTES), 0);
        segment.push(
            first,
            (0..bytes.len() / SLOT_BYTES).map(|slot| slot_words(&bytes, slot).unwrap_or_default()),
        )
    }

    /// Reads one definition; `None` if the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Option<Definition> {
        let mut r = Reader(bytes);
        Some(match r.byte()? {
            1 => {
                let (local, identity, parent) = (r.u32()?, r.u64()?, r.u64()?);
                let kind = CommKind::from_number(r.byte()?)?;
                let (rank, size, remote_size, group) = (r.u32()?, r.u32()?, r.u32()?, r.byte()?);
                let remote = (group <= 1).then_some((remote_size, group));
                Definition::Communicator { local, identity, parent, kind, rank, size, remote }
            }
            2 => Definition::CommunicatorName { local: r.u32()?, name: r.text()? },
            3 => {
                let local = r.u32()?;
                let count = r.u32()?;
                let (mut dims, mut periodic) = (Vec::new(), Vec::new());
                for _ in 0..count {
                    dims.push(r.u32()?);
                    periodic.push(r.byte()? != 0);
                }
                Definition::Cartesian { local, dims, periodic }
            }
            4 => {
                let (local, sources, destinations) = (r.u32()?, r.u32()?, r.u32()?);
                let mut list = |count| (0..count).map(|_| r.u32().map(|rank| rank as i32)).collect();
                let sources: Option<Vec<i32>> = list(sources);
                let destinations: Option<Vec<i32>> = list(destinations);
                Definition::Neighbours { local, sources: sources?, destinations: destinations? }
            }
            5 => Definition::Site { local: r.u32()?, address: r.u64()?, module: r.u32()?, caller: 0 },
            6 => Definition::Module {
                local: r.u32()?,
                bias: r.u64()?,
                path: r.text()?,
                build_id: r.bytes()?.to_vec(),
            },
            7 => Definition::Object {
                local: r.u32()?,
                kind: ObjectKind::from_number(r.byte()?)?,
                comm: r.u32()?,
                name: r.text()?,
                bytes: r.u64()?,
            },
            8 => Definition::Region { local: r.u32()?, name: r.text()? },
            9 => Definition::Argument { text: r.text()? },
            10 => Definition::ClockSample {
                round: r.u32()?,
                reference: r.u32()?,
                sent_ticks: r.u64()?,
                reference_ticks: r.u64()?,
                received_ticks: r.u64()?,
            },
            11 => Definition::Counter { number: r.byte()?, errno: r.u32()? },
            12 => {
                let (per_second, amount_bits, seed) = (r.byte()? != 0, r.u64()?, r.u64()?);
                let (sampled, all_below, _) = (r.byte()? != 0, r.u32()?, r.u32()?);
                Definition::Keep { per_second, amount_bits, seed, sampled, all_below }
            }
            13 => Definition::CommunicatorHandle { local: r.u32()?, handle: r.u64()? },
            14 => Definition::ObjectHandle { local: r.u32()?, handle: r.u64()? },
            15 => Definition::Count { local: r.u32()?, name: r.text()? },
            16 => Definition::Unrecorded { reason: Unrecorded::from_number(r.byte()?)?, module: r.text()? },
            17 => Definition::Cores { allowed: r.text()? },
            18 => Definition::Site { local: r.u32()?, address: r.u64()?, module: r.u32()?, caller: r.u32()? },
            19 => {
                Definition::Frame { local: r.u32()?, address: r.u64()?, module: r.u32()?, caller: r.u32()? }
            }
            20 => Definition::ScriptFrame {
                local: r.u32()?,
                function: r.text()?,
                file: r.text()?,
                line: r.u32()?,
                caller: r.u32()?,
            },
            _ => return None,
        })
    }
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn byte(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }
    fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.u32(value.len() as u32);
        self.0.extend(value);
        self
    }
    fn text(&mut self, value: &str) -> &mut Self {
        self.bytes(value.as_bytes())
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }
    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }
    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }
    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}
