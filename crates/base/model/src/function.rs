//! The tables of functions: those of MPI, and those of the C library on files.
//!
//! `functions.txt` is the one place where an MPI function is written down. Its line number is the function's
//! [`Op`] in raw segments (which carry a [`fingerprint`] of the table, so a reader never takes one
//! version's numbers for another's); sealed traces carry names. The lines of `file_functions.txt` are numbered on from
//! there.

use crate::kind::{CollectiveKind, Kind};
use std::collections::HashMap;
use std::sync::OnceLock;

const TABLE_TEXT: &str = include_str!("functions.txt");
const FILE_TABLE_TEXT: &str = include_str!("file_functions.txt");

/// Number of a function in raw segments: 1 for the first line of MPI's table. 0 is no function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op(pub u16);

/// How an argument or a result travels in the C calling convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// `int`.
    Int,
    /// A 64-bit integer: `MPI_Aint`, `MPI_Count`, `MPI_Offset`.
    Wide,
    /// A handle by value: four or eight bytes, depending on the MPI library.
    Handle,
    /// A file handle by value: eight bytes in every library.
    FileHandle,
    /// A pointer or an array.
    Pointer,
    /// `double`, only as a result.
    Double,
    /// `...`
    Variadic,
}

/// One argument of a function.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name the standard gives it.
    pub name: &'static str,
    /// How it travels.
    pub passing: Passing,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its number in raw segments.
    pub op: Op,
    /// The full name, such as `MPI_Send` or `write`.
    pub name: &'static str,
    /// The shape's name as written in the table.
    pub shape_name: &'static str,
    /// How much of a call is understood.
    pub shape: Shape,
    /// What it does.
    pub kind: Kind,
    /// What kind of work it is, for people.
    pub family: Family,
    /// The result.
    pub result: Passing,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// It makes a persistent request: says what is to be moved, and moves nothing.
    pub prepares: bool,
}

impl Function {
    /// Whether it is MPI's; if not, it is the C library's.
    pub fn is_mpi(&self) -> bool {
        usize::from(self.op.0) <= mpi_functions().len()
    }

    /// Whether it gives its caller a request, to be completed by another call.
    pub fn gives_request(&self) -> bool {
        let moves = !matches!(self.shape, Shape::Timed | Shape::Completion | Shape::Start);
        moves && self.arguments.iter().any(|argument| argument.name == "request")
    }
}

/// What the words of a raw record mean for a function; many table shapes share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Only when and how long, and the communicator if there is one.
    Timed,
    /// A message leaves: peer is the destination, bytes go out.
    Send,
    /// A message arrives: peer is the source, bytes come in.
    Receive,
    /// A message leaves and another arrives.
    SendReceive,
    /// Looks for a message: peer and tag of what was found.
    Probe,
    /// Ends or tests requests.
    Completion,
    /// Starts persistent requests.
    Start,
    /// All ranks of the communicator take part; peer is the root where there is one.
    Collective,
    /// Data leaves for an object (window or file); peer is the target rank of a window.
    ObjectOut,
    /// Data comes from an object.
    ObjectIn,
    /// Data goes both ways, or none does, on an object.
    Object,
}

/// What kind of work a function does, as people group them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Sends, receives and probes.
    PointToPoint,
    /// Waiting for and testing requests.
    Completion,
    /// Collective communication, neighbourhood collectives included.
    Collective,
    /// Making, freeing and asking communicators, groups and topologies.
    Communicator,
    /// Windows and one-sided communication.
    OneSided,
    /// Files, by MPI's functions or by those of the C library.
    Io,
    /// Datatypes and packing.
    Datatype,
    /// Everything else: environment, errors, info, attributes, tools.
    Environment,
}

impl Family {
    /// The name used in trace tables.
    pub fn name(self) -> &'static str {
        match self {
            Family::PointToPoint => "point-to-point",
            Family::Completion => "completion",
            Family::Collective => "collective",
            Family::Communicator => "communicator",
            Family::OneSided => "one-sided",
            Family::Io => "io",
            Family::Datatype => "datatype",
            Family::Environment => "environment",
        }
    }
}

impl Op {
    /// The table's line for this number, if there is one.
    #[inline]
    pub fn function(self) -> Option<&'static Function> {
        functions().get(usize::from(self.0).checked_sub(1)?)
    }

    /// The full name, such as `MPI_Send`; `MPI_(unknown)` for a number outside the tables.
    pub fn name(self) -> &'static str {
        self.function().map_or("MPI_(unknown)", |f| f.name)
    }

    /// What the function does; something else for a number outside the table.
    #[inline]
    pub fn kind(self) -> Kind {
        self.function().map_or(Kind::Other, |function| function.kind)
    }

    /// The number of the function with this full name.
    pub fn by_name(name: &str) -> Option<Op> {
        static BY_NAME: OnceLock<HashMap<&'static str, Op>> = OnceLock::new();
        BY_NAME.get_or_init(|| functions().iter().map(|f| (f.name, f.op)).collect()).get(name).copied()
    }
}

/// All functions, in the order of their numbers.
#[inline]
pub fn functions() -> &'static [Function] {
    &tables().all
}

/// The functions of MPI, in the order of their numbers.
pub fn mpi_functions() -> &'static [Function] {
    let tables = tables();
    &tables.all[..tables.of_mpi]
}

/// The functions of the C library, in the order of their numbers.
pub fn file_functions() -> &'static [Function] {
    let tables = tables();
    &tables.all[tables.of_mpi..]
}

struct Tables {
    all: Vec<Function>,
    /// How many of them are MPI's: the first ones.
    of_mpi: usize,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let is_line = |line: &&str| !line.starts_with('#') && !line.trim().is_empty();
        let of_mpi = TABLE_TEXT.lines().filter(is_line).map(|line| (line, "MPI_"));
        let of_files = FILE_TABLE_TEXT.lines().filter(is_line).map(|line| (line, ""));
        let numbered = of_mpi.chain(of_files).zip(1..);
        Tables {
            all: numbered.map(|((line, prefix), number)| parse(line, prefix, Op(number))).collect(),
            of_mpi: TABLE_TEXT.lines().filter(is_line).count(),
        }
    })
}

/// A number that changes whenever the table of MPI functions does.
pub fn fingerprint() -> u64 {
    const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const FNV_PRIME: u64 = 0x0100_0000_01b3;
    static FINGERPRINT: OnceLock<u64> = OnceLock::new();
    *FINGERPRINT.get_or_init(|| {
        TABLE_TEXT.bytes().fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
    })
}

fn parse(line: &'static str, prefix: &str, op: Op) -> Function {
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_else(|| panic!("functions.txt: line too short: {line}"));
    let short_name = word();
    let shape_name = word();
    let result = passing(word());
    let arguments = words
        .map(|argument| match argument.split_once(':') {
            Some((name, kind)) => Argument { name, passing: passing(kind) },
            None => Argument { name: "", passing: Passing::Variadic },
        })
        .collect();
    let name: &'static str = Box::leak(format!("{prefix}{short_name}").into_boxed_str());
    Function {
        op,
        name,
        shape_name,
        shape: shape(shape_name),
        kind: Kind::of(short_name, shape_name),
        family: family(short_name, shape_name),
        result,
        arguments,
        prepares: shape_name.ends_with("_init") || shape_name.starts_with("init:"),
    }
}

fn passing(code: &str) -> Passing {
    match code {
        "i" => Passing::Int,
        "n" => Passing::Wide,
        "h" => Passing::Handle,
        "f" => Passing::FileHandle,
        "p" => Passing::Pointer,
        "d" => Passing::Double,
        other => panic!("functions.txt: unknown way of passing: {other}"),
    }
}

fn shape(name: &str) -> Shape {
    match name {
        "send" | "isend" | "send_init" | "psend_init" => Shape::Send,
        "recv" | "irecv" | "recv_init" | "precv_init" | "mrecv" | "imrecv" => Shape::Receive,
        "sendrecv" | "sendrecv_replace" | "isendrecv" | "isendrecv_replace" => Shape::SendReceive,
        "probe" | "iprobe" | "mprobe" | "improbe" => Shape::Probe,
        "wait" | "waitall" | "waitany" | "waitsome" | "test" | "testall" | "testany" | "testsome" => {
            Shape::Completion
        }
        "start" | "startall" => Shape::Start,
        "rma_out" | "io_out" | "iio_out" | "io_begin_out" | "io_end_out" | "posix_write" | "stdio_close" => {
            Shape::ObjectOut
        }
        "rma_in" | "io_in" | "iio_in" | "io_begin_in" | "io_end_in" | "posix_read" => Shape::ObjectIn,
        "rma_both" | "rma_word" | "win" | "win_rank" | "win_lock" | "win_group" | "win_test" | "win_new"
        | "win_free" | "file" | "file_open" | "file_close" | "type_new" | "type_free" | "posix_open"
        | "posix_close" | "posix_sync" => Shape::Object,
        "timed" | "comm" | "comm_name" | "comm_new" | "comm_create_group" | "comm_idup" | "comm_free"
        | "intercomm_create" | "init" | "session_init" | "session_finalize" | "finalize" | "abort"
        | "pcontrol" | "request_free" | "request_get_status" | "cancel" | "grequest" => Shape::Timed,
        collective => {
            let base = collective.rsplit(':').next().unwrap_or(collective);
            assert!(CollectiveKind::named(base).is_some(), "functions.txt: unknown shape: {collective}");
            Shape::Collective
        }
    }
}

fn family(short_name: &str, shape_name: &str) -> Family {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| short_name.starts_with(prefix));
    match shape(shape_name) {
        Shape::Send | Shape::Receive | Shape::SendReceive | Shape::Probe | Shape::Start => {
            Family::PointToPoint
        }
        Shape::Completion => Family::Completion,
        Shape::Collective => Family::Collective,
        _ if starts(&["Request_", "Cancel"]) => Family::Completion,
        _ if starts(&["File_", "Register_datarep"]) => Family::Io,
        _ if shape_name.starts_with("posix_") || shape_name.starts_with("stdio_") => Family::Io,
        _ if starts(&["Win_"]) || shape_name.starts_with("rma") => Family::OneSided,
        _ if starts(&["Type_", "Pack", "Unpack", "Get_count", "Get_elements"]) => Family::Datatype,
        _ if starts(&["Comm_", "Group_", "Cart", "Graph", "Dist_graph", "Intercomm", "Topo", "Dims"]) => {
            Family::Communicator
        }
        _ => Family::Environment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_parses_and_fits_ten_bits() {
        assert!(functions().len() > 600);
        assert!(functions().len() < 960, "op codes from 960 on are the segment's own");
        for function in functions() {
            assert_eq!(function.op.function().unwrap().name, function.name);
            assert_eq!(Op::by_name(function.name), Some(function.op));
        }
    }

    #[test]
    fn names_are_sorted_and_unique() {
        for pair in mpi_functions().windows(2) {
            assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
        }
    }

    #[test]
    fn functions_on_files_keep_their_numbers() {
        let place = |name| Op::by_name(name).unwrap().0 as usize - mpi_functions().len();
        for (name, number) in
            [("open", 1), ("close", 4), ("write", 9), ("fsync", 13), ("fflush", 21), ("getline", 25)]
        {
            assert_eq!(place(name), number, "{name}");
        }
        assert!(file_functions().iter().all(|function| !function.is_mpi() && function.family == Family::Io));
        assert!(
            mpi_functions().iter().all(|function| function.is_mpi() && function.name.starts_with("MPI_"))
        );
    }

    #[test]
    fn shapes_and_families_are_as_expected() {
        let of = |name| Op::by_name(name).unwrap().function().unwrap();
        assert_eq!(of("MPI_Isend").shape, Shape::Send);
        assert_eq!(of("MPI_Recv_c").shape, Shape::Receive);
        assert_eq!(of("MPI_Iallreduce").shape, Shape::Collective);
        assert_eq!(of("MPI_Waitsome").family, Family::Completion);
        assert_eq!(of("MPI_Put").family, Family::OneSided);
        assert_eq!(of("MPI_Comm_split").family, Family::Communicator);
        assert_eq!(of("MPI_Wtime").result, Passing::Double);
    }
}
