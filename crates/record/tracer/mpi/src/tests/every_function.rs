//! Every function of the table, once as it succeeds and once as it fails: each call leaves one record of its own.

use super::library::DOUBLE;
use super::{Mpi, Recorded, numbers, recorded};
use crate::abi::{self, Kind};
use kizami_model::function::{Argument, Function, Passing, mpi_functions};
use std::ffi::c_int;

/// What ends or begins MPI is called around every script.
fn is_called_here(function: &Function) -> bool {
    !matches!(function.shape_name, "init" | "finalize")
}

/// A value that fits an argument: of places, one that is full of ones, whatever they are taken for.
fn value(argument: &Argument, ones: usize) -> usize {
    match argument.passing {
        Passing::Int | Passing::Wide => 1,
        Passing::Handle if argument.name.contains("comm") => abi::get().comm_world,
        Passing::Handle if argument.name.contains("type") => DOUBLE,
        Passing::Handle | Passing::FileHandle => 0x44,
        Passing::Pointer | Passing::Variadic | Passing::Double => ones,
    }
}

fn call_all(mpi: &Mpi) {
    for function in mpi_functions().iter().filter(|function| is_called_here(function)) {
        for code in codes(function) {
            let ones = numbers(&[1i32; 4096]);
            let place = ones.address();
            let arguments: Vec<usize> =
                function.arguments.iter().map(|argument| value(argument, place)).collect();
            mpi.call(function.name, &arguments, move |_| code);
        }
    }
}

/// Whose result is no error code cannot fail.
fn codes(function: &Function) -> impl Iterator<Item = c_int> {
    [0, 1].into_iter().take(if function.result == Passing::Int { 2 } else { 1 })
}

fn each_leaves_a_record(test: &str, kind: Kind) {
    let Some(all) = recorded(test, kind, call_all) else { return };
    let calls = all.into_iter().filter_map(|recorded| match recorded {
        Recorded::Call(call) if call.part => None,
        Recorded::Call(call) | Recorded::Completion(call, _) | Recorded::Start(call, _) => {
            Some((call.op, call.failed))
        }
        Recorded::Fold(call, count) => panic!("{count} polls that found something: {call:?}"),
        Recorded::Count(..) => None,
    });
    let expected = mpi_functions().iter().filter(|function| is_called_here(function)).flat_map(|function| {
        // What never returns is stored before it is called.
        let returns = function.shape_name != "abort";
        codes(function).map(move |code| (function.op, returns && code != 0))
    });
    let name = |(op, failed): (kizami_model::Op, bool)| format!("{} failed: {failed}", op.name());
    let (calls, expected): (Vec<_>, Vec<_>) = (calls.map(name).collect(), expected.map(name).collect());
    assert_eq!(calls, expected);
}

#[test]
fn open_mpi() {
    each_leaves_a_record(concat!(module_path!(), "::open_mpi"), Kind::OpenMpi);
}

#[test]
fn mpich() {
    each_leaves_a_record(concat!(module_path!(), "::mpich"), Kind::Mpich);
}
