//! The question about what threads of ranks did.

use super::parameters::Parameters;
use super::reply::{Failure, Reply, ready};
use super::view::{View, layer};
use crate::query;
use crate::threads::RankThreads;
use axum::http::StatusCode;
use kizami_model::{Moment, Rank};
use kizami_tasks::Stretch;
use std::sync::Arc;

const MOST_COLUMNS: u64 = 2_000;
const MOST_ROWS: u64 = 64;
/// As many as are kept: more would be forgotten before the last is read.
const MOST_RANKS: u64 = crate::layer::MOST_THREAD_RANKS as u64;

pub(super) fn threads(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    if !layer.has_regions() {
        let next = "Record a program with OpenMP regions, or select its recorded layer.";
        return Err(Failure::plain(StatusCode::NOT_FOUND, "This run has no parallel regions.", next));
    }
    let index = ready(layer.index())?;
    let whole = Stretch { from: Moment(0), to: Moment(layer.opened.trace.run().span_ns.max(0)) };
    let shown = parameters.stretch(whole)?;
    let columns = parameters.columns(1_000, MOST_COLUMNS)? as usize;
    let rows = parameters.rows(32, MOST_ROWS)? as usize;
    let mut ranks = parameters.selection(&index)?.ranks;
    ranks.truncate(parameters.limit(4, MOST_RANKS)? as usize);
    let read = |rank: &u32| Ok((Rank(*rank), ready(layer.opened.threads(Rank(*rank)))?));
    let read: Vec<(Rank, Arc<RankThreads>)> = ranks.iter().map(read).collect::<Result<_, Failure>>()?;
    let of: Vec<(Rank, &RankThreads)> = read.iter().map(|(rank, threads)| (*rank, &**threads)).collect();
    Reply::json(&query::threads::threads(&of, &(shown.from..shown.to), columns, rows))
}
