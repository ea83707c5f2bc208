#!/usr/bin/env python3
"""Writes docs/src/reference/functions.md from the tables of functions, crates/base/model/src/functions.txt and
file_functions.txt.

    docs/functions.py            write it
    docs/functions.py --check    fail if it is not up to date

What a row of the trace tells about a call depends on the function's shape alone, so this file says it once
for each shape. A shape that is not listed here is an error: whoever adds one says what it means.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "crates/base/model/src/functions.txt"
FILE_TABLE = ROOT / "crates/base/model/src/file_functions.txt"
PAGE = ROOT / "docs/src/reference/functions.md"

MESSAGE = "`comm`, `peer`, `tag`"
ARRIVED = f"{MESSAGE} and `bytes_in` of the message that came, `any_source`, `any_tag`"
COLLECTIVE = "`comm`, `root` where there is one, `bytes_out`, `bytes_in`"
WINDOW = "`object` (the window), `comm`"
FILE = "`object` (the file), `comm`"

# Shape to what a row tells besides its time and call site. "" means nothing more.
MEANING = {
    "send": f"{MESSAGE}, `bytes_out`",
    "isend": f"{MESSAGE}, `bytes_out`, `request`",
    "send_init": f"{MESSAGE}, `request`; the bytes are told by each start",
    "psend_init": f"{MESSAGE}, `request`; the bytes of all partitions are told by each start",
    "recv": ARRIVED,
    "irecv": ARRIVED + ", `request`; what came is filled in from its completion",
    "recv_init": f"{MESSAGE} as posted, `request`; what came is told by each start",
    "precv_init": f"{MESSAGE} as posted, `request`; what came is told by each start",
    "mrecv": ARRIVED,
    "imrecv": ARRIVED + ", `request`; what came is filled in from its completion",
    "sendrecv": f"{MESSAGE}, `bytes_out` of the send; `recv_peer`, `recv_tag`, `bytes_in` of the message that came",
    "sendrecv_replace": "as `MPI_Sendrecv`",
    "isendrecv": "as `MPI_Sendrecv`, and `request`",
    "isendrecv_replace": "as `MPI_Sendrecv`, and `request`",
    "probe": f"{MESSAGE} of the message that was found",
    "mprobe": f"{MESSAGE} of the message that was found",
    "iprobe": f"{MESSAGE} of the message that was found; failed polls are folded into one row with a count",
    "improbe": f"{MESSAGE} of the message that was found; failed polls are folded into one row with a count",
    "start": f"`request` of this round, {MESSAGE} and bytes as set up (collectives: `comm`, `root`, bytes)",
    "startall": "one row for the call, and for each request one row of `MPI_Start` with `calls` = 0",
    **{shape: "`completes`: the requests it completed" for shape in ("wait", "waitall", "waitany", "waitsome")},
    **{
        shape: "`completes`: the requests it completed; failed polls are folded into one row with a count"
        for shape in ("test", "testall", "testany", "testsome")
    },
    "request_free": "",
    "request_get_status": "failed polls are folded into one row with a count; it completes nothing",
    "grequest": "`request`",
    "comm": "`comm`",
    "comm_new": "`comm` (the parent); the new communicator with its members and topology is in `defs/communicators`",
    "comm_create_group": "`comm` (the parent); the new communicator is in `defs/communicators`",
    "intercomm_create": "`comm` (the local one); the new communicator with both groups is in `defs/communicators`",
    "comm_idup": "`comm` (the parent), `request`; the new communicator is known once the request is complete",
    "comm_free": "`comm`",
    "comm_name": "`comm`; the name is in `defs/communicators`",
    "rma_out": f"{WINDOW}, `peer` (the target), `bytes_out`, `request` where it makes one",
    "rma_in": f"{WINDOW}, `peer` (the target), `bytes_in`, `request` where it makes one",
    "rma_both": f"{WINDOW}, `peer` (the target), `bytes_out`, `bytes_in`, `request` where it makes one",
    "rma_word": f"{WINDOW}, `peer` (the target), `bytes_out`, `bytes_in`",
    "win": WINDOW,
    "win_rank": f"{WINDOW}, `peer`",
    "win_lock": f"{WINDOW}, `peer`, `tag`: 1 if the lock is exclusive, 0 if it is shared",
    "win_group": f"{WINDOW}; behind it, for each rank of the group, one row with `peer` and `calls` = 0",
    "win_test": f"{WINDOW}; failed polls are folded into one row with a count, without the window",
    "win_new": f"{WINDOW}; its size is in `defs/objects`",
    "win_free": WINDOW,
    "file": FILE,
    "file_open": f"{FILE}; its path is in `defs/objects`",
    "file_close": FILE,
    "io_out": f"{FILE}, `bytes_out` as the status tells",
    "io_in": f"{FILE}, `bytes_in` as the status tells",
    "iio_out": f"{FILE}, `bytes_out` as asked for, `request`",
    "iio_in": f"{FILE}, `bytes_in` as asked for, `request`",
    "io_begin_out": f"{FILE}; the bytes are told by the end of the split access",
    "io_begin_in": f"{FILE}; the bytes are told by the end of the split access",
    "io_end_out": f"{FILE}, `bytes_out` as the status tells",
    "io_end_in": f"{FILE}, `bytes_in` as the status tells",
    "type_new": "`object` (the datatype); its size and maker are in `defs/objects`",
    "type_free": "`object` (the datatype)",
    "cancel": "what it led to shows on the row of the operation: a cancelled receive has no bytes",
    "init": "from here on rank, world and library are known",
    "session_init": "rank and size as the launcher tells them, if there is no world",
    "session_finalize": "the end of a program that lives by sessions alone",
    "finalize": "notes how the rank ended: `finalized`",
    "abort": "notes how the rank ended: `aborted`, with its code in `defs/ranks`",
    "pcontrol": "level 0 pauses recording on the calling thread, 1 and more resume it; `kizami.h` marks regions and tells work",
    "timed": "",
}
# The same for the functions of the C library; streams are those that take one.
OF_FILES = {
    "posix_open": "`object` (the file): its name is in `defs/objects`",
    "posix_close": "`object`",
    "posix_read": "`object`, `bytes_in` as the function tells",
    "posix_write": "`object`, `bytes_out` as the function tells",
    "posix_sync": "`object`",
    "stdio_close": "`object`, `bytes_out` that the buffer still held",
}
OF_STREAMS = {
    "posix_read": "`object`, `bytes_in` that came from the file; no row where the buffer had it all",
    "posix_write": "`object`, `bytes_out` that went to the file; no row where the buffer took it all",
}
COLLECTIVES = """barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw reduce
allreduce reduce_scatter reduce_scatter_block scan exscan neighbor_allgather neighbor_allgatherv neighbor_alltoall
neighbor_alltoallv neighbor_alltoallw""".split()

POINT_TO_POINT = (
    "send isend send_init psend_init recv irecv recv_init precv_init mrecv imrecv sendrecv sendrecv_replace isendrecv "
    "isendrecv_replace probe iprobe mprobe improbe start startall"
).split()
FAMILIES = {
    "point-to-point": "Point-to-point messages",
    "completion": "Requests and their completion",
    "collective": "Collectives",
    "communicator": "Communicators, groups and topologies",
    "one-sided": "One-sided communication",
    "io": "Files",
    "datatype": "Datatypes and packing",
    "environment": "Environment, errors, info, attributes, tools, sessions",
}


def is_collective(shape):
    return shape.split(":")[-1] in COLLECTIVES


def meaning(shape):
    if not is_collective(shape):
        return MEANING[shape]
    base = shape.split(":")[-1]
    text = "`comm`" if base == "barrier" else COLLECTIVE
    if shape.startswith("i:"):
        return text + ", `request`"
    if shape.startswith("init:"):
        return "`comm`, `root` where there is one, `request`; the bytes are told by each start"
    return text


def family(name, shape):
    """As `family` in crates/base/model/src/function.rs."""
    if shape in POINT_TO_POINT:
        return "point-to-point"
    if shape.startswith(("wait", "test")):
        return "completion"
    if is_collective(shape):
        return "collective"
    if name.startswith(("Request_", "Cancel")):
        return "completion"
    if name.startswith(("File_", "Register_datarep")):
        return "io"
    if name.startswith("Win_") or shape.startswith("rma"):
        return "one-sided"
    if name.startswith(("Type_", "Pack", "Unpack", "Get_count", "Get_elements")):
        return "datatype"
    if name.startswith(("Comm_", "Group_", "Cart", "Graph", "Dist_graph", "Intercomm", "Topo", "Dims")):
        return "communicator"
    return "environment"


def names_text(names):
    """Names in the table's order; `X` and `X_c` become one entry."""
    large = {name[:-2] for name in names if name.endswith("_c") and name[:-2] in names}
    listed = [name for name in names if not (name.endswith("_c") and name[:-2] in large)]
    return ", ".join(f"`{name}`" + (" (`_c`)" if name in large else "") for name in listed)


def table(path):
    return [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def file_functions():
    """The section on the functions of the C library."""
    groups = {}
    for name, shape, _, *arguments in table(FILE_TABLE):
        of_stream = "stream:p" in arguments and shape in OF_STREAMS
        groups.setdefault((OF_STREAMS if of_stream else OF_FILES)[shape], []).append(name)
    return [
        "## Files of the C library",
        "",
        "With `kizami record --io` alone, on regular files, where the program calls them outside of MPI on a thread that has "
        "called MPI. Other names of these functions (`open64`, `pread64`, `pwritev2`, `__read_chk`, `vfprintf`, `getdelim` and "
        "the like) stand under the plain one. Language libraries are looked through: a row has the line of the Fortran or "
        "C++ statement.",
        "",
        "| Functions | What a row tells besides the time |",
        "|---|---|",
        *[f"| {names_text(names)} | {text} |" for text, names in groups.items()],
        "",
    ]


def page():
    rows = table(TABLE)
    functions = [(row[0], row[1]) for row in rows]
    understood = sum(1 for _, shape in functions if meaning(shape) != "")
    lines = [
        "# What is understood, what is timed",
        "",
        "<!-- Written by docs/functions.py from the tables in crates/base/model/src. Do not edit. -->",
        "",
        f"Kizami knows {len(functions)} C functions: those of MPI 3.1 and 4.0, and what the tested libraries add from 4.1 "
        "and 5.0. Every one of them that the loaded MPI library has is recorded with its start, its end, its thread, its "
        f"call site and whether it returned an error. For {understood} of them a row tells more. The tables below say what. "
        f"The other {len(functions) - understood} are only timed.",
        "",
        "Names stand without their `MPI_` prefix. `(_c)` means that the large-count form is treated alike. Columns are "
        "explained in [Trace format](trace-format.md).",
        "",
    ]
    for key, title in FAMILIES.items():
        members = [(name, shape) for name, shape in functions if family(name, shape) == key]
        groups = {}
        for name, shape in members:
            groups.setdefault(meaning(shape), []).append(name)
        timed = groups.pop("", [])
        lines += [f"## {title}", ""]
        if groups:
            lines += ["| Functions | What a row tells besides the time |", "|---|---|"]
            lines += [f"| {names_text(names)} | {text} |" for text, names in groups.items()]
            lines += [""]
        if timed:
            lines += [f"Only timed ({len(timed)}): {names_text(timed)}.", ""]
    lines += file_functions()
    lines += [
        "## Not recorded at all",
        "",
        "Handle conversions: names that end in `_c2f`, `_f2c`, `_toint`, `_fromint` and the like. Fortran bindings call "
        "them around every function; they neither communicate nor wait.",
        "",
        "Calls that MPI itself, or a callback, makes inside another call. They are part of that call. Only the outermost "
        "call on a thread is a row.",
        "",
        "## Notes",
        "",
        "- **Sessions** (`Session_*`, `Comm_create_from_group`) are timed. A communicator made from a session appears "
        "in `defs/communicators` with kind `other` when it is first used, if `MPI_Init` was called as well. In a program "
        "that uses sessions alone, ranks are not known, and its calls are left out of the trace; `kizami info` says so.",
        "- **Spawned processes** (`Comm_spawn`) are recorded like others, if the tracer reaches them. Their ranks come "
        "behind those of the first world.",
        "- **Tools interface** (`T_*`) is timed.",
        "- **Partitioned messages**: `Psend_init` and `Precv_init` are understood; `Pready*` and `Parrived` are timed.",
        "- Requests of `Buffer_iflush`, `Comm_iflush_buffer` and `Session_iflush_buffer` have no number, so their "
        "completion names none.",
        "",
    ]
    return "\n".join(lines)


def main():
    text = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit("docs/src/reference/functions.md is not up to date; run docs/functions.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
