//! Has SimGrid play a run on a platform, in this process.
//!
//! SimGrid keeps its state in the process and can be started once. It ends the process where a platform cannot be read.

use crate::actor::{self, Stage};
use crate::hosts;
use crate::library::SimGrid;
use crate::links::Links;
use crate::traffic::Traffic;
use crate::translate::Play;
use anyhow::{Context, Result, bail};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// The name under which SimGrid knows the run.
const PROGRAM: &str = "kizami";

/// Intervals in which links are looked at, if the run is as long as it was.
const FIRST_INTERVALS: f64 = 100.0;

/// Runs whose messages took no time last a while once they do.
const SHORTEST_RUN_S: f64 = 1e-3;

/// Where and how.
pub struct Setting<'a> {
    /// SimGrid's description of the machine.
    pub platform: &'a Path,
    /// Which host each rank ran on.
    pub recorded_hosts: Vec<Option<String>>,
    /// A list of hosts instead.
    pub host_list: Option<&'a Path>,
    /// How long the run was.
    pub recorded_s: f64,
    /// Factor on the time of computation.
    pub computation: f64,
    /// Settings of SimGrid, `name:value`.
    pub configuration: &'a [String],
}

/// Plays it; gives the stage with all times.
pub fn simulate(play: Play, setting: &Setting<'_>) -> Result<&'static Stage> {
    let named = std::env::var("KIZAMI_SIMGRID").ok();
    let simgrid = SimGrid::load(named.as_deref())?;
    let rows = play.scripts.iter().map(|script| script.steps.len()).sum();
    let members = play.communicators.iter().map(|communicator| communicator.members.len()).max().unwrap_or(1);
    let bytes = play.most_bytes.max(members);
    let ranks = play.scripts.len();
    let stage = Box::new(Stage {
        simgrid,
        play,
        times: UnsafeCell::new(vec![[0; 2]; rows]),
        buffers: [room(bytes)?, room(bytes)?],
        buffer_bytes: bytes,
        computation: setting.computation,
        begin_s: Cell::new(0.0),
        ended: Cell::new(0),
        calls: Cell::new(0),
        began: Instant::now(),
        links: RefCell::new(Links::default()),
        traffic: RefCell::new(Traffic::of(ranks)),
        interval_s: setting.recorded_s.max(SHORTEST_RUN_S) / FIRST_INTERVALS,
    })
    .set();
    start(stage, setting)?;
    if (stage.ended.get() as usize) < ranks {
        bail!(
            "the simulation hangs: only {} of {ranks} ranks finished; the calls in the trace do not match",
            stage.ended.get()
        );
    }
    Ok(stage)
}

fn start(stage: &Stage, setting: &Setting<'_>) -> Result<()> {
    let simgrid = &stage.simgrid;
    // The first two are those of smpirun.
    let configuration = [
        "surf/precision:1e-9",
        "network/model:SMPI",
        "smpi/simulate-computation:no",
        "smpi/privatization:no",
        "smpi/host-speed:1Gf",
    ];
    let configuration = configuration.into_iter().chain(setting.configuration.iter().map(String::as_str));
    let quiet = ["--log=root.thresh:error".to_owned(), "--log=no_loc".to_owned()];
    let words = std::iter::once(PROGRAM.to_owned())
        .chain(quiet)
        .chain(configuration.map(|setting| format!("--cfg={setting}")))
        .map(CString::new)
        .collect::<Result<Vec<_>, _>>()
        .context("a --cfg setting contains a zero byte")?;
    let mut arguments: Vec<*mut c_char> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
    let mut count = arguments.len() as c_int;
    arguments.push(std::ptr::null_mut());
    let platform = CString::new(setting.platform.to_string_lossy().as_bytes())?;
    let program = CString::new(PROGRAM)?;
    let ranks = stage.play.scripts.len();
    // SAFETY: in the order in which SimGrid wants it; it copies what it is given.
    unsafe {
        (simgrid.init_options)();
        (simgrid.init_engine)(&mut count, arguments.as_mut_ptr());
        (simgrid.init_mpi)();
        (simgrid.load_platform)(platform.as_ptr());
        (simgrid.register_program)(program.as_ptr(), actor::begin, ranks as c_int);
    }
    let placed = hosts::place(&setting.recorded_hosts, &hosts_of(simgrid), setting.host_list)?;
    let mut file = tempfile::NamedTempFile::new().context("cannot create a temporary deployment file")?;
    file.write_all(deployment(&placed).as_bytes())?;
    let path = CString::new(file.path().to_string_lossy().as_bytes())?;
    // SAFETY: as above.
    unsafe {
        (simgrid.load_deployment)(path.as_ptr());
        let (name, host) = (c"links", *(simgrid.hosts)());
        let watcher = (simgrid.new_actor)(name.as_ptr(), host, actor::watch, 0, std::ptr::null());
        (simgrid.leave_alone)(watcher);
        (simgrid.run)();
    }
    Ok(())
}

/// Names of the platform's hosts.
fn hosts_of(simgrid: &SimGrid) -> Vec<String> {
    // SAFETY: the list has as many entries as the count says; names are its own and stay.
    unsafe {
        let list = std::slice::from_raw_parts((simgrid.hosts)(), (simgrid.host_count)());
        list.iter()
            .map(|host| CStr::from_ptr((simgrid.host_name)(*host)).to_string_lossy().into_owned())
            .collect()
    }
}

/// Which rank runs where, as SimGrid reads it.
fn deployment(hosts: &[String]) -> String {
    let mut text = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
                    <platform version=\"4.1\">\n"
        .to_owned();
    for (rank, host) in hosts.iter().enumerate() {
        let host = host.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        let _ = writeln!(
            text,
            "<actor host=\"{host}\" function=\"{PROGRAM}\"><prop id=\"instance_id\" value=\"{PROGRAM}\"/>\
             <prop id=\"rank\" value=\"{rank}\"/></actor>"
        );
    }
    text + "</platform>\n"
}

/// Memory for messages of any size; pages that nobody writes take no room.
fn room(bytes: usize) -> Result<*mut c_void> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping that overlaps nothing.
    let room = unsafe {
        libc::mmap(std::ptr::null_mut(), bytes.max(1), libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if room == libc::MAP_FAILED {
        bail!("cannot allocate {bytes} bytes for message buffers: {}", std::io::Error::last_os_error());
    }
    Ok(room)
}
