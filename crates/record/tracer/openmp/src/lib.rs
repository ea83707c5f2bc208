//! What `libkizami.so` has between a program and its OpenMP runtime: it records parallel regions, shares of them, tasks and
//! waits, thread by thread, as words of `kizami_records::threading`.
//!
//! There are two ways to know. Runtimes of LLVM and Intel look for a tool when they start (OMPT) and call it
//! (`ompt`). GNU's has no such interface: there references of modules to the functions that compilers call are led to ours
//! (`references`), which note what happens, and go on to the real ones (`gomp`). Of several runtimes in a process one is
//! recorded (`choice`).
//!
//! Other runtimes may report their tasks by `include/kizami_tasks.h` (`tasks_header`).
//!
//! What it promises: programs without OpenMP pay nothing, results are as without it, a forked child records nothing, and what
//! cannot be written is counted as lost. Without `KIZAMI_RAW` in the environment, or with `--openmp off`, calls go
//! straight on.
//!
//! What it does not do: it makes nothing of what it sees. Who waited for whom, and in virtual time, is found out after
//! the run. Functions of old compilers (before GCC 4.9) and GNU's teams and offloading pass unseen.

mod budget;
mod choice;
mod clock;
mod gomp;
mod lacked;
mod lifecycle;
mod local;
mod ompt;
mod real;
mod recorder;
mod references;
mod regions;
mod rehearsal;
mod running;
mod stolen;
mod switches;
mod tasks_header;
mod thread;
mod wanted;
mod word;
