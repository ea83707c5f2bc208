//! Calling contexts: which caller tells calls on one line apart, and which function two calls have in common.
//!
//! A call in a function that several others use says little by its line alone. [`places`] adds the innermost caller by which
//! paths to that line differ. [`alike`] finds call sites that differ in nothing that has a name. [`between`] finds the function that contains what happens between two calls, however deep in
//! helper functions they are made. Recursion counts once: how deep it is tells nothing apart.

use crate::definitions::{CallSite, Definitions, PathFrame, has_name};
use crate::source_line::{SourceLine, file_name};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The places of all call sites of some definitions, worked out on first use. Equal to any other.
#[derive(Clone, Debug, Default)]
pub struct Places(OnceLock<Vec<SourceLine>>);

impl PartialEq for Places {
    fn eq(&self, _: &Places) -> bool {
        true
    }
}

impl Places {
    pub(crate) fn get_or_find(&self, definitions: &Definitions) -> &[SourceLine] {
        self.0.get_or_init(|| places(definitions))
    }
}

/// A function on a path, with the call it makes there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Frame<'a> {
    function: &'a str,
    file: Option<&'a str>,
    /// None also for a function that another was inlined into.
    line: Option<u32>,
    module: Option<&'a str>,
    /// Where no line tells calls apart.
    offset: Option<u64>,
}

impl<'a> Frame<'a> {
    /// The functions of one frame of the stack, the innermost first.
    fn of_call(
        function: &'a str,
        file: Option<&'a str>,
        line: Option<u32>,
        (module, offset): (Option<&'a str>, u64),
        inlined_into: &'a [String],
    ) -> impl Iterator<Item = Frame<'a>> {
        let offset = line.is_none().then_some(offset);
        let outer = inlined_into.iter().map(move |function| Frame {
            function,
            file: None,
            line: None,
            module,
            offset: None,
        });
        std::iter::once(Frame { function, file, line, module, offset }).chain(outer)
    }

    fn of_site(site: &'a CallSite) -> impl Iterator<Item = Frame<'a>> {
        let CallSite { function, file, line, module, offset, inlined_into, .. } = site;
        Frame::of_call(function, file.as_deref(), *line, (module.as_deref(), *offset), inlined_into)
    }

    fn of_caller(caller: &'a PathFrame) -> impl Iterator<Item = Frame<'a>> {
        let PathFrame { function, file, line, module, offset, inlined_into, .. } = caller;
        Frame::of_call(function, file.as_deref(), *line, (module.as_deref(), *offset), inlined_into)
    }

    fn is_function_of(&self, other: &Frame<'_>) -> bool {
        (self.function, self.module) == (other.function, other.module)
    }

    fn has_name(&self) -> bool {
        has_name(self.function, self.file)
    }

    fn place(&self) -> SourceLine {
        SourceLine {
            file: self.file.map(file_name),
            line: self.line,
            function: self.function.to_owned(),
            caller: None,
        }
    }
}

/// The place of each call site, with the caller that tells it apart from others on the same line.
fn places(definitions: &Definitions) -> Vec<SourceLine> {
    let mut places: Vec<SourceLine> = definitions.named_sites().map(|site| SourceLine::from(&site)).collect();
    let mut on_line: FxHashMap<&SourceLine, Vec<usize>> = FxHashMap::default();
    for (index, place) in places.iter().enumerate() {
        on_line.entry(place).or_default().push(index);
    }
    let several = on_line.into_values().filter(|sites| sites.len() > 1);
    let told_apart: Vec<(usize, SourceLine)> = several
        .flat_map(|sites| {
            let callers: Vec<Vec<Frame<'_>>> =
                sites.iter().map(|site| context(definitions, &definitions.callsites[*site])).collect();
            let differing = first_difference(&callers);
            let caller = move |frames: &Vec<Frame<'_>>| Some(frames.get(differing?)?.place());
            let callers: Vec<Option<SourceLine>> = callers.iter().map(caller).collect();
            sites.into_iter().zip(callers).filter_map(|(site, caller)| Some((site, caller?)))
        })
        .collect();
    for (site, caller) in told_apart {
        places[site].caller = Some(Box::new(caller));
    }
    places
}

/// The place of a call site, and the named functions that lead there, the innermost first, each once.
fn context<'a>(definitions: &'a Definitions, site: &'a CallSite) -> Vec<Frame<'a>> {
    let named = definitions.named_frame(site);
    let own: Vec<Frame<'_>> = match named {
        Some(frame) => Frame::of_caller(frame).collect(),
        None => Frame::of_site(site).collect(),
    };
    let outer = definitions.callers(named.map_or(site.path, |frame| frame.caller)).flat_map(Frame::of_caller);
    let mut known: Vec<Frame<'_>> = Vec::new();
    for frame in own.into_iter().chain(outer) {
        let repeats = known.iter().any(|inner| inner.is_function_of(&frame));
        if known.is_empty() || frame.has_name() && !repeats {
            known.push(frame);
        }
    }
    known
}

/// By call site, the first one that is the same to a reader: on the same line, by the same lines of all functions that led
/// there. A compiler makes several where it inlines or unrolls, and recursion as many as it is deep.
pub(crate) fn alike(definitions: &Definitions) -> Vec<u32> {
    let mut first: FxHashMap<Vec<Frame<'_>>, u32> = FxHashMap::default();
    let sites = definitions.callsites.iter();
    sites.map(|site| *first.entry(context(definitions, site)).or_insert(site.index)).collect()
}

/// The depth of the innermost caller that not all have in common.
fn first_difference(paths: &[Vec<Frame<'_>>]) -> Option<usize> {
    let longest = paths.iter().map(Vec::len).max()?;
    (1..longest).find(|depth| {
        let mut frames = paths.iter().map(|path| path.get(*depth));
        let first = frames.next();
        frames.any(|frame| Some(frame) != first)
    })
}

/// The innermost function that makes both of two calls, as the lines in it that lead to them. None if they have none in common,
/// or it has no name.
pub(crate) fn between(definitions: &Definitions, first: u32, second: u32) -> Option<[SourceLine; 2]> {
    let [first, second] = [first, second].map(|site| definitions.callsites.get(site as usize));
    let [first, second] = [outermost_first(definitions, first?), outermost_first(definitions, second?)];
    let mut common = None;
    for ((one, call), (other, other_call)) in first.iter().zip(&second) {
        if !one.is_function_of(other) {
            break;
        }
        common = Some([one, other]);
        // A function that another was inlined into calls it where that one's line says.
        if call != other_call || (one.line, one.file) != (other.line, other.file) {
            break;
        }
    }
    let places = common?.map(Frame::place);
    places[0].has_name().then_some(places)
}

/// The functions that lead to a call, each with which call it makes.
fn outermost_first<'a>(definitions: &'a Definitions, site: &'a CallSite) -> Vec<(Frame<'a>, Call)> {
    let own = Frame::of_site(site).map(|frame| (frame, Call::Mpi(site.index)));
    let callers = definitions
        .callers(site.path)
        .flat_map(|caller| Frame::of_caller(caller).map(|frame| (frame, Call::Function(caller.index))));
    let mut path: Vec<(Frame<'_>, Call)> = own.chain(callers).collect();
    path.reverse();
    // An inlined function has its line; those that it was inlined into are given it, as they call it there.
    for index in (1..path.len()).rev() {
        if path[index - 1].0.line.is_none() && path[index - 1].1 == path[index].1 {
            (path[index - 1].0.line, path[index - 1].0.file) = (path[index].0.line, path[index].0.file);
        }
    }
    path
}

/// A call on a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    /// Of MPI, from this call site.
    Mpi(u32),
    /// Of a function: row of the paths.
    Function(u32),
}
