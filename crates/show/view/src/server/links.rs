//! The question about links of a simulated network.

use super::parameters::Parameters;
use super::reply::{Failure, Reply, ready};
use super::text::shown;
use super::view::{View, layer};
use crate::query::links::busiest;
use axum::http::StatusCode;
use kizami_model::Moment;
use kizami_tasks::Stretch;

const MOST_COLUMNS: u64 = 4_096;
const MOST_LINKS: u64 = 200;

pub(super) fn links(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    if !layer.has_links() {
        let next = "Select a layer that kizami simgrid has written.";
        return Err(Failure::plain(StatusCode::NOT_FOUND, "This run has no link data.", next));
    }
    let links = ready(layer.opened.links())?;
    let whole = Stretch { from: Moment(0), to: Moment(layer.opened.trace.run().span_ns.max(0)) };
    let (range, marked) = (parameters.stretch(whole)?, parameters.marked(parameters.stretch(whole)?)?);
    // What is outside the run is not part of a mean.
    let marked_range = whole.clipped(marked.from, marked.to);
    let columns = parameters.columns(500, MOST_COLUMNS)? as usize;
    let limit = parameters.limit(20, MOST_LINKS)? as usize;
    let mut found =
        busiest(&links, &(marked_range.from..marked_range.to), &(range.from..range.to), columns, limit);
    found.links.iter_mut().for_each(|link| link.name = shown(&link.name));
    Reply::json(&found)
}
