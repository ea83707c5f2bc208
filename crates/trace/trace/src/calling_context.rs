//! Calling contexts: which caller distinguishes calls on one line, and which function two calls have in common.
//!
//! A call in a function that several others use says little by its line alone. [`places`] adds the innermost caller by which
//! paths to that line differ. [`alike`] finds call sites that differ in nothing that has a name. [`between`] finds the function
//! that contains what happens between two calls, however deep in helper functions they are made. Recursion counts once: how
//! deep it is distinguishes nothing.

use crate::definitions::{CallSite, Definitions, PathFrame, has_name, is_binding, is_interpreter};
use crate::source_line::{SourceLine, file_name};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What a reader can tell of the call sites of some definitions, worked out on first use. Equal to any other.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    places: OnceLock<Vec<SourceLine>>,
    alike: OnceLock<Vec<u32>>,
}

impl PartialEq for Contexts {
    fn eq(&self, _: &Contexts) -> bool {
        true
    }
}

impl Contexts {
    /// By call site, its place.
    pub(crate) fn places(&self, definitions: &Definitions) -> &[SourceLine] {
        self.places.get_or_init(|| places(definitions))
    }

    /// By call site, the first one that is alike.
    pub(crate) fn alike(&self, definitions: &Definitions) -> &[u32] {
        self.alike.get_or_init(|| alike(definitions))
    }
}

/// Functions of a path that are looked at, as many as are recorded; damaged ones may be longer.
const MOST_FUNCTIONS: usize = 128;
const MOST_FRAMES: usize = 1024;

/// A function on a path, with the call it makes there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Frame<'a> {
    function: &'a str,
    file: Option<&'a str>,
    /// None also for a function that another was inlined into.
    line: Option<u32>,
    module: Option<&'a str>,
    /// Where no line distinguishes calls.
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

    /// Whether it says something of the program: it has a name, and is neither an interpreter's nor its binding to MPI.
    fn has_name(&self) -> bool {
        has_name(self.function, self.file) && !is_binding(self.module) && !is_interpreter(self.module)
    }

    fn is_on_line_of(&self, other: &Frame<'_>) -> bool {
        (self.line, self.file) == (other.line, other.file)
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

/// The place of each call site, with the caller that distinguishes it from others on the same line.
fn places(definitions: &Definitions) -> Vec<SourceLine> {
    let mut places: Vec<SourceLine> = definitions.named_sites().map(|site| SourceLine::from(&site)).collect();
    let mut on_line: FxHashMap<&SourceLine, Vec<usize>> = FxHashMap::default();
    for (index, place) in places.iter().enumerate() {
        on_line.entry(place).or_default().push(index);
    }
    let several = on_line.into_values().filter(|sites| sites.len() > 1);
    let distinguished: Vec<(usize, SourceLine)> = several
        .flat_map(|sites| {
            let callers: Vec<Vec<Frame<'_>>> =
                sites.iter().map(|site| context(definitions, &definitions.callsites[*site])).collect();
            let differing = first_difference(&callers);
            let caller = move |frames: &Vec<Frame<'_>>| Some(frames.get(differing?)?.place());
            let callers: Vec<Option<SourceLine>> = callers.iter().map(caller).collect();
            sites.into_iter().zip(callers).filter_map(|(site, caller)| Some((site, caller?)))
        })
        .collect();
    for (site, caller) in distinguished {
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
    for frame in own.into_iter().chain(outer).take(MOST_FRAMES) {
        let repeats = known.iter().any(|inner| inner.is_function_of(&frame));
        if known.is_empty() || frame.has_name() && !repeats {
            known.push(frame);
        }
        if known.len() == MOST_FUNCTIONS {
            break;
        }
    }
    known
}

/// The place of a call site, and the named functions that lead there, each once, the innermost first.
pub(crate) fn functions(definitions: &Definitions, site: u32) -> Vec<SourceLine> {
    let site = definitions.callsites.get(site as usize);
    site.map_or(Vec::new(), |site| context(definitions, site).iter().map(Frame::place).collect())
}

/// By call site, the first one that is the same to a reader: on the same line, by the same lines of all functions that led
/// there. A compiler makes several where it inlines or unrolls, and recursion as many as it is deep.
fn alike(definitions: &Definitions) -> Vec<u32> {
    let mut numbers: FxHashMap<Frame<'_>, u32> = FxHashMap::default();
    let mut first: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let same = |site| {
        let number = |frame| {
            let next = numbers.len() as u32;
            *numbers.entry(frame).or_insert(next)
        };
        let frames = context(definitions, site).into_iter().map(number).collect();
        *first.entry(frames).or_insert(site.index)
    };
    definitions.callsites.iter().map(same).collect()
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
        // Copies of a call are at several addresses; a function that another was inlined into calls it on that one's line.
        if !one.is_on_line_of(other) || one.line.is_none() && call != other_call {
            break;
        }
    }
    let common = common?;
    common[0].has_name().then(|| common.map(Frame::place))
}

/// The functions that lead to a call, each with which call it makes.
fn outermost_first<'a>(definitions: &'a Definitions, site: &'a CallSite) -> Vec<(Frame<'a>, Call)> {
    let own = Frame::of_site(site).map(|frame| (frame, Call::Mpi(site.index)));
    let callers = definitions
        .callers(site.path)
        .flat_map(|caller| Frame::of_caller(caller).map(|frame| (frame, Call::Function(caller.index))));
    let mut path: Vec<(Frame<'_>, Call)> = own.chain(callers).take(MOST_FRAMES).collect();
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
