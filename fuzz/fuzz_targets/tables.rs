//! The readers of small tables take any bytes at all. The first byte says which table: definitions, stops, clocks, and what a
//! reduced trace has beside its rows.
#![no_main]

use kizami_trace::columns::TableReader;
use kizami_trace::reduced_tables::{GapRow, PeerRow, SketchRow, SumRow};
use kizami_trace::schema::Record;
use kizami_trace::{CallSite, ClockRow, Communicator, HostInfo, RankClassRun, Neighbours, Object, RankInfo, Region, Stop, UnderWay};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::Once;

type Read = fn(&TableReader) -> bool;

/// Each at the index of its first byte.
const TABLES: [Read; 15] = [
    is_read::<RankInfo>,
    is_read::<HostInfo>,
    is_read::<Communicator>,
    is_read::<CallSite>,
    is_read::<Object>,
    is_read::<Region>,
    is_read::<Neighbours>,
    is_read::<UnderWay>,
    is_read::<RankClassRun>,
    is_read::<Stop>,
    is_read::<ClockRow>,
    is_read::<SumRow>,
    is_read::<SketchRow>,
    is_read::<GapRow>,
    is_read::<PeerRow>,
];

fn is_read<R: Record>(table: &TableReader) -> bool {
    R::read(table).is_ok()
}

fuzz_target!(|input: &[u8]| {
    // As in `trace`: a panic of the decoder that does not get out is no finding.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let Some((first, rest)) = input.split_first() else { return };
    let read = TABLES[usize::from(*first) % TABLES.len()];
    if let Ok(table) = TableReader::in_memory(rest.to_vec().into(), Path::new("a table")) {
        read(&table);
    }
});
