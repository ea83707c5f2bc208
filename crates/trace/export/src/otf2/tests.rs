//! Archives are judged by `otf2-print`, the reader that comes with OTF2.

use super::*;
use crate::made_up::{self, INTER, ITSELF, MESSAGES, REVERSED, WORLD, receive, row, send};
use kizami_model::{Call, ThreadIndex};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Output};

/// One line of the listing: the event, the location, the time, the rest.
struct Line {
    event: String,
    location: u64,
    time: u64,
    rest: String,
}

impl Line {
    /// The number behind a word such as `Tag:`.
    fn number(&self, word: &str) -> Option<u64> {
        let rest = &self.rest[self.rest.find(word)? + word.len()..];
        rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// The number in the first pair of angle brackets behind a word.
    fn reference(&self, word: &str) -> Option<u64> {
        let rest = &self.rest[self.rest.find(word)?..];
        let rest = &rest[rest.find('<')? + 1..];
        rest[..rest.find('>')?].parse().ok()
    }

    /// Sender, receiver, communicator, tag and bytes, if this is the sending or the receiving of a message.
    fn message(&self, events: [&str; 2], peer: &str) -> Option<(u64, u64, u32, u32, u64)> {
        if !events.contains(&self.event.as_str()) {
            return None;
        }
        let me = self.location & 0xffff_ffff;
        let comm = self.reference("Communicator:")? as u32;
        let (tag, bytes) = (self.number("Tag:")? as u32, self.number("Length:")?);
        Some((me, self.reference(peer)?, comm, tag, bytes))
    }
}

/// Runs `otf2-print`; nothing where it is not installed, which no build server may allow itself.
fn otf2_print(options: &[&str], archive: &Path) -> Option<Output> {
    match Command::new("otf2-print").args(options).arg(archive.join("traces.otf2")).output() {
        Ok(output) => Some(output),
        Err(error) if std::env::var_os("CI").is_some() => panic!("otf2-print (package otf2-tools): {error}"),
        Err(_) => {
            eprintln!("skipped: otf2-print (package otf2-tools) is not installed");
            None
        }
    }
}

/// What `otf2-print` lists, and what it complains of.
fn listing(archive: &Path) -> Option<(Vec<Line>, String)> {
    let output = otf2_print(&[], archive)?;
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaints}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let lines = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let (event, location, time) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        let rest = words.collect::<Vec<_>>().join(" ");
        Some(Line { event: event.to_owned(), location, time: time.parse().ok()?, rest })
    });
    Some((lines.collect(), complaints))
}

fn archive(source: Source) -> (tempfile::TempDir, PathBuf, Summary) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("run.otf2");
    let summary = write(source, &out, &|_, _| ()).unwrap();
    (directory, out, summary)
}

#[test]
fn every_message_is_sent_and_received_once() {
    let (_directory, out, summary) = archive(made_up::everything());
    let Some((lines, _)) = listing(&out) else { return };
    let mut sent: Vec<_> = lines
        .iter()
        .filter_map(|line| line.message(["MPI_SEND", "MPI_ISEND"], "Receiver:"))
        .map(|(me, peer, comm, tag, bytes)| (me as u32, peer as u32, comm, tag, bytes))
        .collect();
    let mut received: Vec<_> = lines
        .iter()
        .filter_map(|line| line.message(["MPI_RECV", "MPI_IRECV"], "Sender:"))
        .map(|(me, peer, comm, tag, bytes)| (peer as u32, me as u32, comm, tag, bytes))
        .collect();
    assert_eq!((sent.len(), received.len()), (summary.sends as usize, summary.receives as usize));
    let mut expected = MESSAGES.to_vec();
    expected.sort();
    received.sort();
    assert_eq!(received, expected);
    // One message of the sample was sent and never received.
    expected.push((1, 2, WORLD, 77, 5));
    expected.sort();
    sent.sort();
    assert_eq!(sent, expected);
    assert_eq!(summary.left_out, 1, "the receive from a lost rank");
}

#[test]
fn every_thread_is_nested_and_in_order_of_time() {
    let (_directory, out, summary) = archive(made_up::everything());
    let Some((lines, complaints)) = listing(&out) else { return };
    assert_eq!(lines.len() as u64, summary.written);
    let unexpected: Vec<&str> = complaints.lines().filter(|line| !line.contains("invalid rank")).collect();
    assert!(unexpected.is_empty(), "{complaints}");
    let mut stacks: HashMap<u64, Vec<&str>> = HashMap::new();
    let mut times: HashMap<u64, u64> = HashMap::new();
    for line in &lines {
        let stack = stacks.entry(line.location).or_default();
        match line.event.as_str() {
            "ENTER" => stack.push(&line.rest),
            "LEAVE" => assert_eq!(stack.pop(), Some(line.rest.as_str())),
            event => assert!(!stack.is_empty(), "{event} outside any region"),
        }
        let latest = times.entry(line.location).or_default();
        assert!(*latest <= line.time);
        *latest = line.time;
    }
    assert!(stacks.values().all(Vec::is_empty));
}

#[test]
fn requests_begin_and_end_with_the_same_number() {
    let (_directory, out, _) = archive(made_up::everything());
    let Some((lines, _)) = listing(&out) else { return };
    let requests = |event: &str| {
        let lines = lines.iter().filter(|line| line.event == event);
        let mut list: Vec<_> = lines.map(|line| (line.location, line.number("Request:").unwrap())).collect();
        list.sort();
        list
    };
    assert_eq!(requests("MPI_ISEND"), requests("MPI_ISEND_COMPLETE"));
    let mut ended = [requests("MPI_IRECV"), requests("MPI_REQUEST_CANCELLED")].concat();
    ended.sort();
    assert_eq!(requests("MPI_IRECV_REQUEST"), ended);
    assert_eq!(requests("NON_BLOCKING_COLLECTIVE_REQUEST"), requests("NON_BLOCKING_COLLECTIVE_COMPLETE"));
}

#[test]
fn ranks_are_those_within_the_communicator() {
    let (_directory, out, _) = archive(made_up::everything());
    let Some((lines, _)) = listing(&out) else { return };
    let rank = |event: &str, comm: u32, word: &str| {
        let in_comm = |line: &&Line| line.reference("Communicator:") == Some(comm.into());
        let line = lines.iter().filter(in_comm).find(|line| line.event == event).unwrap();
        line.number(word).unwrap()
    };
    assert_eq!(rank("MPI_SEND", REVERSED, "Receiver:"), 1, "rank 1 of the world");
    assert_eq!(rank("MPI_RECV", REVERSED, "Sender:"), 0, "rank 3 of the world");
    assert_eq!(rank("MPI_SEND", INTER, "Receiver:"), 1, "rank 3 of the world");
    assert_eq!(rank("MPI_ISEND", ITSELF, "Receiver:"), 0);
    let roots: Vec<_> = lines
        .iter()
        .filter(|line| line.event == "MPI_COLLECTIVE_END" && line.rest.contains("BCAST"))
        .filter(|line| line.reference("Communicator:") == Some(INTER.into()))
        .map(|line| line.rest.split("Root: ").nth(1).unwrap().split([',', ' ']).next().unwrap())
        .collect();
    assert_eq!(roots, ["SELF", "0", "THIS_GROUP", "0"]);
}

#[test]
fn entries_carry_where_the_call_was_made_from() {
    let (_directory, out, _) = archive(made_up::everything());
    let Some(output) = otf2_print(&[], &out) else { return };
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = r#"send<int, "x"> a, b.cc:42 <- solve main.c:30 <- main main.c:7"#;
    let line = listing.lines().find(|line| line.contains(path)).unwrap_or_else(|| panic!("{listing}"));
    assert!(line.contains("call path") && line.contains("call site"), "{line}");
}

#[test]
fn buffers_that_overflow_are_written_out() {
    let pairs = 110_000;
    let calls = (0..pairs).flat_map(|i: i64| {
        let at = i * 1000;
        [
            Call { callsite: Some(0), weight: 1.5, ..send(row(0, "MPI_Send", at, at + 10), WORLD, 1, 0, 8) },
            receive(row(1, "MPI_Recv", at, at + 20), WORLD, 0, 0, 8),
        ]
    });
    let (_directory, out, summary) = archive(made_up::source(calls.collect(), Vec::new()));
    assert_eq!(summary.written, 6 * pairs as u64);
    let bytes = std::fs::metadata(out.join("traces/0.evt")).unwrap().len();
    assert!(bytes > 4 << 20, "only {bytes} bytes: too few to overflow the buffers");
    let Some(output) = otf2_print(&["--silent"], &out) else { return };
    assert!(output.status.success());
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(complaints.lines().all(|line| line.contains("invalid rank")), "{complaints}");
}

/// Numbers of threads come from the trace: a large one makes no archive large.
#[test]
fn only_threads_with_rows_are_defined() {
    let on_thread = |thread: u32, start: i64| Call {
        thread: ThreadIndex(thread),
        ..row(0, "MPI_Comm_rank", start, start + 5)
    };
    let threads = [0, 3_000_000, i32::MAX as u32];
    let calls = threads.iter().zip([10, 20, 30]).map(|(thread, start)| on_thread(*thread, start)).collect();
    let (_directory, out, summary) = archive(made_up::source(calls, Vec::new()));
    assert_eq!(summary.written, 2 * threads.len() as u64);
    let bytes = std::fs::metadata(out.join("traces.def")).unwrap().len();
    assert!(bytes < 100_000, "{bytes} bytes of definitions");
    let Some((lines, _)) = listing(&out) else { return };
    let of_thread =
        |thread: u32| lines.iter().filter(|line| line.location == u64::from(thread) << 32).count();
    assert_eq!(threads.map(of_thread), [2, 2, 2]);
}

#[test]
fn an_existing_directory_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let error = write(made_up::everything(), directory.path(), &|_, _| ()).unwrap_err();
    assert!(error.to_string().contains("exists already"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
