//! The whole way from bitcode to a skeleton's folder.

use crate::Error;
use crate::analysis::Analysis;
use crate::cut::{Cuts, cut};
use crate::effects::{Binding, mpi_function};
use crate::llvm::{self, Module};
use crate::observe::write_with_notes;
use crate::prepare::prepare;
use crate::program::*;
use crate::rounds::write_with_rounds;
use crate::slice::Slice;
use crate::taint::Taint;
use crate::trips::{Candidate, Trips};
use kizami_folder::{BITCODE, CallSite, CountedLoop, Dialect, FORMAT, Manifest, Oracle, Refusal};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What a skeleton is to be made of.
pub struct Request<'a> {
    /// The bitcode of all sources.
    pub bitcode: &'a [PathBuf],
    /// Whose headers they were compiled with.
    pub mpi: Dialect,
    /// Languages of the sources.
    pub languages: Vec<String>,
    /// What is refused already, by those who know how the program was linked.
    pub refused: Vec<Refusal>,
    /// Functions of libraries that call MPI and of which there is no code, with the library of each.
    pub strangers: HashMap<String, String>,
    /// Why whoever runs skeletons cannot make calls of a function of MPI or of a library, if so.
    pub cannot_run: fn(&str) -> Option<String>,
    /// `rounds.bc` is made as well: the whole program with counters in loops.
    pub rounds: bool,
    /// A skeleton is made although it has such calls: ranks that come to one stop there.
    pub partial: bool,
}

/// Makes `manifest.json` and `skeleton.bc` in a folder, and `observe.bc` if anything depends on data.
pub fn skeleton(request: Request, folder: &Path) -> Result<Manifest, Error> {
    let module = Module::link(request.bitcode)?;
    let instructions_before = module.instruction_count();
    prepare(&module)?;
    let program = Program::read(&module);
    let analysis = Analysis::of(&program, request.mpi);
    if analysis.mpi_calls.is_empty() {
        return Err(Error::NoCalls);
    }
    let taint = Taint::of(&analysis);
    let mut slice = Slice::of(&analysis, &taint);
    slice.refuse_strangers(&request.strangers);
    let trips = Trips::of(&analysis, &taint);
    let all_loops = trips.silent_loops();
    let counted = count_loops(&trips, &all_loops, &mut slice);
    let sites = numbered(&program, analysis.mpi_calls.iter().filter(|call| slice.kept[**call as usize]));
    let oracles = numbered(&program, slice.oracles.iter());
    let call_sites = call_sites(&analysis, &slice, &sites);
    let of_libraries = unsupported_library_calls(&analysis, &slice, &request);
    let mut refused = request.refused;
    refused.extend(slice.refused.iter().map(|(id, why)| refusal(&program, *id, why.clone())));
    let mut stops = unsupported_calls(&call_sites, request.cannot_run);
    stops.extend(of_libraries);
    if !request.partial {
        refused.append(&mut stops);
    }
    let mut manifest = Manifest {
        format: FORMAT,
        mpi: request.mpi,
        languages: request.languages,
        call_sites,
        oracles: named_oracles(&program, &slice, &taint, &oracles),
        loops: counted
            .iter()
            .zip(0..)
            .map(|(candidate, id)| counted_loop(&analysis, candidate, id))
            .collect(),
        loops_in_program: all_loops.len() as u64,
        loops_not_counted: not_counted(&analysis, &all_loops, &counted),
        instructions_before,
        instructions_after: 0,
        refused,
        stops,
    };
    if !oracles.is_empty() {
        write_with_notes(&module, &analysis, &oracles, &folder.join("observe.bc"))?;
    }
    if request.rounds {
        write_with_rounds(&module, &analysis, &all_loops, &folder.join("rounds.bc"))?;
    }
    let cuts = Cuts { sites: &sites, oracles: &oracles, counted: &counted };
    cut(&module, &analysis, &slice, &cuts)?;
    manifest.instructions_after = module.instruction_count();
    module.write(&folder.join(BITCODE))?;
    manifest.write(folder)?;
    Ok(manifest)
}

/// What the count of one loop may add to a skeleton, in instructions.
const COST_OF_A_COUNT: usize = 200;

/// The loops that can be counted at little cost.
fn count_loops(trips: &Trips, all: &[usize], slice: &mut Slice) -> Vec<Candidate> {
    let mut best = |number: &usize| {
        trips.candidates(*number).into_iter().find(|candidate| slice.try_count(candidate, COST_OF_A_COUNT))
    };
    all.iter().filter_map(&mut best).collect()
}

fn counted_loop(analysis: &Analysis, candidate: &Candidate, id: u32) -> CountedLoop {
    let (file, line, function) = place_of_loop(analysis, candidate.number);
    CountedLoop { id, file, line, function }
}

/// The loops for which there is no count, by their places among all loops.
fn not_counted(analysis: &Analysis, all: &[usize], counted: &[Candidate]) -> Vec<CountedLoop> {
    let without = |(_, number): &(u32, &usize)| !counted.iter().any(|candidate| candidate.number == **number);
    (0..)
        .zip(all)
        .filter(without)
        .map(|(id, number)| {
            let (file, line, function) = place_of_loop(analysis, *number);
            CountedLoop { id, file, line, function }
        })
        .collect()
}

fn place_of_loop(analysis: &Analysis, number: usize) -> (String, u32, String) {
    let program = analysis.program;
    let header = analysis.flow.loops[number].header;
    let (file, line) = source(program, program.terminator(header));
    (file, line, program.function(program.block(header).function).name.clone())
}

/// Numbers in the order of the program.
fn numbered<'a>(program: &Program, ids: impl Iterator<Item = &'a ValueId>) -> FxHashMap<ValueId, u32> {
    let mut ids: Vec<ValueId> = ids.copied().collect();
    ids.sort_by_key(|id| (llvm::source(program.value(*id).handle), *id));
    ids.into_iter().zip(0..).collect()
}

/// Where in the source an instruction is.
fn source(program: &Program, id: ValueId) -> (String, u32) {
    let found = llvm::source(program.value(id).handle);
    found.filter(|(_, line)| *line != 0).or_else(|| nearest_source(program, id)).unwrap_or_default()
}

fn place(program: &Program, id: ValueId) -> String {
    let (file, line) = source(program, id);
    format!("{file}:{line}")
}

/// The place of the nearest instruction of the same block that has one, or of the function.
fn nearest_source(program: &Program, id: ValueId) -> Option<(String, u32)> {
    let (block, _) = program.instruction(id)?;
    let others = program.block(block).instructions.iter();
    let near =
        others.filter_map(|other| llvm::source(program.value(*other).handle)).find(|(_, line)| *line != 0);
    near.or_else(|| llvm::source(program.value(program.function(program.block(block).function).value).handle))
}

fn refusal(program: &Program, id: ValueId, reason: String) -> Refusal {
    let (file, line) = source(program, id);
    Refusal { file, line, reason }
}

fn call_sites(analysis: &Analysis, slice: &Slice, sites: &FxHashMap<ValueId, u32>) -> Vec<CallSite> {
    let mut all: Vec<CallSite> = sites
        .iter()
        .map(|(call, id)| {
            let program = analysis.program;
            let called = program.called(*call).expect("sites call by name");
            let (function, _): (_, Binding) =
                mpi_function(&program.function(called).name).expect("one of MPI");
            let (file, line) = source(program, *call);
            let carries = slice.carries.contains(call);
            CallSite { id: *id, function: function.name.to_owned(), file, line, carries }
        })
        .collect();
    all.sort_by_key(|site| site.id);
    all
}

/// Calls of libraries that were kept and that whoever runs the skeleton does not make, each line once.
fn unsupported_library_calls(analysis: &Analysis, slice: &Slice, request: &Request) -> Vec<Refusal> {
    let program = analysis.program;
    let mut all = Vec::new();
    for call in analysis.instructions().into_iter().filter(|call| slice.kept[*call as usize]) {
        let Some(effects) = analysis.effects.call(program, call) else { continue };
        let name = &program.function(program.called(call).expect("it has effects")).name;
        // Functions of libraries that call MPI are refused already.
        if effects.mpi.is_none()
            && !request.strangers.contains_key(name)
            && let Some(reason) = (request.cannot_run)(name)
        {
            let refusal = refusal(program, call, reason);
            if !all.contains(&refusal) {
                all.push(refusal);
            }
        }
    }
    all
}

/// Calls of functions that whoever runs the skeleton has not, each line once.
fn unsupported_calls(sites: &[CallSite], cannot_run: fn(&str) -> Option<String>) -> Vec<Refusal> {
    let unable = sites.iter().filter_map(|site| {
        let reason = cannot_run(&site.function)?;
        Some(Refusal { file: site.file.clone(), line: site.line, reason })
    });
    let mut all: Vec<Refusal> = unable.collect();
    all.sort_by(|one, two| (&one.file, one.line, &one.reason).cmp(&(&two.file, two.line, &two.reason)));
    all.dedup();
    all
}

fn named_oracles(
    program: &Program,
    slice: &Slice,
    taint: &Taint,
    oracles: &FxHashMap<ValueId, u32>,
) -> Vec<Oracle> {
    let mut all: Vec<Oracle> = oracles
        .iter()
        .map(|(value, id)| {
            let (file, line) = source(program, *value);
            let asked_by = slice.reasons(*value).last().map(|root| place(program, *root));
            let mut because: Vec<String> = taint.way(*value).iter().map(|id| place(program, *id)).collect();
            because.dedup();
            Oracle { id: *id, file, line, variable: variable(program, *value, 0), asked_by, because }
        })
        .collect();
    all.sort_by_key(|oracle| oracle.id);
    all
}

/// The name of the variable behind a value, from the names that the compiler kept.
fn variable(program: &Program, id: ValueId, depth: u32) -> String {
    let value = program.value(id);
    let own = llvm::name(value.handle);
    // `residual.lcssa.0` and `arrayidx12` are LLVM's ways to make names unique.
    let base = own.split('.').next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit());
    let made_up =
        ["", "cmp", "conv", "call", "tobool", "arrayidx", "add", "sub", "mul", "cond", "lnot", "land", "lor"];
    let is_good = !made_up.contains(&base);
    if is_good && !matches!(value.is, Is::Instruction(_, Action::CompareFloats)) {
        return base.to_owned();
    }
    if depth < 4 {
        let named =
            value.operands.iter().filter(|operand| !matches!(program.value(**operand).is, Is::Constant));
        let names: Vec<String> =
            named.map(|operand| variable(program, *operand, depth + 1)).filter(|name| name != "?").collect();
        if let Some(first) = names.first() {
            return first.clone();
        }
    }
    "?".to_owned()
}
