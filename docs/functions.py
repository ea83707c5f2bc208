#!/usr/bin/env python3
"""Writes docs/src/reference/functions.md from the tables of functions, crates/base/model/src/functions.txt and
file_functions.txt.

    docs/functions.py            write it
    docs/functions.py --check    fail if it is not up to date

The fields of a call's row depend only on the function's shape, so this file describes them once for each shape.
A shape that is not listed here is an error: add its description.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "crates/base/model/src/functions.txt"
FILE_TABLE = ROOT / "crates/base/model/src/file_functions.txt"
PAGE = ROOT / "docs/src/reference/functions.md"

MESSAGE = "`comm`, `peer`, `tag`"
ARRIVED = f"{MESSAGE} and `bytes_in` of the received message, `any_source`, `any_tag`"
COLLECTIVE = "`comm`, `root` if any, `bytes_out`, `bytes_in`"
WINDOW = "`object` (the window), `comm`"
FILE = "`object` (the file), `comm`"

# Fields of a row by shape, besides time and call site. "" means none.
MEANING = {
    "send": f"{MESSAGE}, `bytes_out`",
    "isend": f"{MESSAGE}, `bytes_out`, `request`",
    "send_init": f"{MESSAGE}, `request`; each start has the bytes",
    "psend_init": f"{MESSAGE}, `request`; each start has the bytes of all partitions",
    "recv": ARRIVED,
    "irecv": ARRIVED + ", `request`; the received message is filled in from the completion",
    "recv_init": f"{MESSAGE} as posted, `request`; each start has the received message",
    "precv_init": f"{MESSAGE} as posted, `request`; each start has the received message",
    "mrecv": ARRIVED,
    "imrecv": ARRIVED + ", `request`; the received message is filled in from the completion",
    "sendrecv": f"{MESSAGE}, `bytes_out` of the send; `recv_peer`, `recv_tag`, `bytes_in` of the received message",
    "sendrecv_replace": "as `MPI_Sendrecv`",
    "isendrecv": "as `MPI_Sendrecv`, plus `request`",
    "isendrecv_replace": "as `MPI_Sendrecv`, plus `request`",
    "probe": f"{MESSAGE} of the message found",
    "mprobe": f"{MESSAGE} of the message found",
    "iprobe": f"{MESSAGE} of the message found; failed polls are folded into one row with a count",
    "improbe": f"{MESSAGE} of the message found; failed polls are folded into one row with a count",
    "start": f"`request` of this start, {MESSAGE} and bytes as set up (collectives: `comm`, `root`, bytes)",
    "startall": "one row for the call, and one row of `MPI_Start` with `calls` = 0 for each request",
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
    "comm_idup": "`comm` (the parent), `request`; the new communicator is known once the request completes",
    "comm_free": "`comm`",
    "comm_name": "`comm`; the name is in `defs/communicators`",
    "rma_out": f"{WINDOW}, `peer` (the target), `bytes_out`, `request` if any",
    "rma_in": f"{WINDOW}, `peer` (the target), `bytes_in`, `request` if any",
    "rma_both": f"{WINDOW}, `peer` (the target), `bytes_out`, `bytes_in`, `request` if any",
    "rma_word": f"{WINDOW}, `peer` (the target), `bytes_out`, `bytes_in`",
    "win": WINDOW,
    "win_rank": f"{WINDOW}, `peer`",
    "win_lock": f"{WINDOW}, `peer`, `tag`: 1 if the lock is exclusive, 0 if it is shared",
    "win_group": f"{WINDOW}; then one row with `peer` and `calls` = 0 for each rank of the group",
    "win_test": f"{WINDOW}; failed polls are folded into one row with a count, without the window",
    "win_new": f"{WINDOW}; its size is in `defs/objects`",
    "win_free": WINDOW,
    "file": FILE,
    "file_open": f"{FILE}; its path is in `defs/objects`",
    "file_close": FILE,
    "io_out": f"{FILE}, `bytes_out` from the status",
    "io_in": f"{FILE}, `bytes_in` from the status",
    "iio_out": f"{FILE}, `bytes_out` as requested, `request`",
    "iio_in": f"{FILE}, `bytes_in` as requested, `request`",
    "io_begin_out": f"{FILE}; the end of the split access has the bytes",
    "io_begin_in": f"{FILE}; the end of the split access has the bytes",
    "io_end_out": f"{FILE}, `bytes_out` from the status",
    "io_end_in": f"{FILE}, `bytes_in` from the status",
    "type_new": "`object` (the datatype); its size and constructor are in `defs/objects`",
    "type_free": "`object` (the datatype)",
    "cancel": "its effect is on the row of the operation: a cancelled receive has no bytes",
    "init": "rank, world and library are known from here",
    "session_init": "without `MPI_Init`: rank and size, from the launcher",
    "session_finalize": "without `MPI_Init`: notes how the rank ended, `finalized`",
    "finalize": "notes how the rank ended: `finalized`",
    "abort": "notes how the rank ended: `aborted`, with its code in `defs/ranks`",
    "pcontrol": "level 0 pauses recording on the calling thread, 1 and more resume it; `kizami.h` uses it to mark regions and report work",
    "timed": "",
}
# The same for the functions of the C library; streams are those that take one.
OF_FILES = {
    "posix_open": "`object` (the file): its name is in `defs/objects`",
    "posix_close": "`object`",
    "posix_read": "`object`, `bytes_in` as returned",
    "posix_write": "`object`, `bytes_out` as returned",
    "posix_sync": "`object`",
    "stdio_close": "`object`, `bytes_out` left in the buffer",
}
OF_STREAMS = {
    "posix_read": "`object`, `bytes_in` read from the file; no row if the buffer had all of them",
    "posix_write": "`object`, `bytes_out` written to the file; no row if the buffer took all of them",
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
        return "`comm`, `root` if any, `request`; each start has the bytes"
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
        "Recorded only with `kizami record --io`, for regular files, when the program calls them outside MPI on a thread that "
        "has called MPI. Variants (`open64`, `pread64`, `pwritev2`, `__read_chk`, `vfprintf`, `getdelim` and the like) appear "
        "under the plain name. Calls through language libraries have the source line of the Fortran or C++ statement.",
        "",
        "| Functions | Row contents besides the time |",
        "|---|---|",
        *[f"| {names_text(names)} | {text} |" for text, names in groups.items()],
        "",
    ]


def page():
    rows = table(TABLE)
    functions = [(row[0], row[1]) for row in rows]
    understood = sum(1 for _, shape in functions if meaning(shape) != "")
    lines = [
        "# Supported functions",
        "",
        "<!-- Written by docs/functions.py from the tables in crates/base/model/src. Do not edit. -->",
        "",
        f"Kizami records {len(functions)} C functions: those of MPI 3.1 and 4.0, and those of 4.1 and 5.0 that the tested "
        "libraries provide. Each call has a row with start, end, thread, call site and whether it returned an error. For "
        f"{understood} functions the row has further columns, listed below. The other {len(functions) - understood} functions "
        "are only timed.",
        "",
        "The tables omit the prefix `MPI_`. `(_c)` means that the large-count form is recorded in the same way. [Trace "
        "format](trace-format.md) describes the columns.",
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
            lines += ["| Functions | Row contents besides the time |", "|---|---|"]
            lines += [f"| {names_text(names)} | {text} |" for text, names in groups.items()]
            lines += [""]
        if timed:
            lines += [f"Only timed ({len(timed)}): {names_text(timed)}.", ""]
    lines += file_functions()
    lines += [
        "## Functions that are not recorded",
        "",
        "- Handle conversions: names that end in `_c2f`, `_f2c`, `_toint`, `_fromint` and the like. Fortran bindings call "
        "them around every function; they neither communicate nor wait.",
        "- Calls that MPI or a callback makes inside another MPI call. They are part of that call: only the outermost call on "
        "a thread has a row.",
        "",
        "## Notes",
        "",
        "- **Sessions** (`Session_*`, `Comm_create_from_group`) are only timed. A communicator created from a session appears "
        "in `defs/communicators` with kind `other` when it is first used, provided the program also called `MPI_Init`. A "
        "program that uses only sessions gets rank and size from its launcher, and its communicators are unknown; if the "
        "launcher provides none, the trace has no rows of it, and `kizami info` says so.",
        "- **Spawned processes** (`Comm_spawn`) are recorded if the launcher passes the tracer on. Their ranks follow those of "
        "the first world.",
        "- **Tools interface** (`T_*`) is only timed.",
        "- **Partitioned messages**: `Psend_init` and `Precv_init` have further columns; `Pready*` and `Parrived` are only "
        "timed.",
        "- Requests of `Buffer_iflush`, `Comm_iflush_buffer` and `Session_iflush_buffer` have no number, so `completes` of "
        "their completion lacks them.",
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
