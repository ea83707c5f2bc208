//! What `libkizami.so` has between a program and its files: with `kizami record --io` it records calls of the C library
//! that open, close, read, write or force out a file.
//!
//! Each of these functions is exported under its own name, by a stub that looks at one switch. As long as it is off, which
//! it is unless asked for, the stub goes straight on to the C library (or to another library before it). When it
//! is on, what `record` says is recorded: calls of the program itself, on threads that have called MPI, outside of
//! MPI's functions, on regular files. Pipes, sockets, terminals, `/proc`, `/sys` and whatever MPI and the tracer do with
//! files pass untouched.
//!
//! What it promises: arguments, results, `errno` and cancellation are as without it; what may be called in a signal handler
//! still may; a forked child is not recorded, whichever way it was forked.
//!
//! What it does not do: what the C library calls inside itself is not seen, so functions that fill or empty a buffer
//! are recorded themselves, where bytes really moved (`stream`). Mapped files, asynchronous I/O and direct system calls
//! are not seen.
//!
//! How a call runs: a stub of `hooks` looks at the `switch` → `record::around` asks whose call it is and on what
//! (`descriptors`, `stream`) → the real function → the recorder of the thread, in `kizami-tracer-mpi`.

mod descriptors;
mod errno;
mod hooks;
mod record;
mod stream;
mod switch;
