//! The panels of time and of efficiency: a line, the band of its interval, and rings for recorded runs.

use super::super::predicted::Predicted;
use super::super::show::seconds;
use super::Panel;
use super::axes::{Axis, FIELD, LEFT, TOP, corners, frame, grid, height, legend_y, ranks, share_y};
use crate::page::{Markup, text};
use crate::show::quantity;
use crate::show::quantity::percent;
use kizami_predict::point::Point;

const BLUE: &str = "#4a86c0";
const GREEN: &str = "#2b9a63";

/// One value of a line with the ends of its interval, and what to say about it.
struct Value {
    x: f64,
    y: f64,
    low_y: f64,
    high_y: f64,
    title: String,
}

/// How long the run takes.
pub fn time(predicted: &Predicted) -> Panel {
    let x = ranks(predicted);
    let ends = predicted.points.iter().flat_map(|point| [point.low_s, point.high_s]);
    let recorded = predicted.from.iter().map(|run| run.time_s);
    let y = Axis::new(ends.chain(recorded), TOP + FIELD, TOP);
    let mut out = Markup::default();
    frame(&mut out, "time", predicted, &x);
    for value in y.round_values() {
        grid(&mut out, y.at(value), &seconds(value));
    }
    let values: Vec<Value> = predicted
        .points
        .iter()
        .map(|point| Value {
            x: x.at(f64::from(point.ranks)),
            y: y.at(point.time_s),
            low_y: y.at(point.low_s),
            high_y: y.at(point.high_s),
            title: format!(
                "{}: {} ({} .. {})",
                quantity::counted(u64::from(point.ranks), "rank"),
                seconds(point.time_s),
                seconds(point.low_s),
                seconds(point.high_s)
            ),
        })
        .collect();
    line(&mut out, BLUE, &values);
    for run in &predicted.from {
        let title =
            format!("{}, recorded: {}", quantity::counted(u64::from(run.ranks), "rank"), seconds(run.time_s));
        ring(&mut out, x.at(f64::from(run.ranks)), y.at(run.time_s), &title);
    }
    legend(&mut out, BLUE);
    Panel { label: "time over ranks", height: height(1), drawn: out }
}

/// The share of all ranks' time that is computation.
pub fn efficiency(predicted: &Predicted) -> Panel {
    let x = ranks(predicted);
    let mut out = Markup::default();
    frame(&mut out, "efficiency: computation's share of the time of all ranks", predicted, &x);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        grid(&mut out, share_y(share), &percent(share));
    }
    let values: Vec<Value> = predicted
        .points
        .iter()
        .map(|point| {
            let (low, high) = efficiency_between(point);
            Value {
                x: x.at(f64::from(point.ranks)),
                y: share_y(point.efficiency),
                low_y: share_y(low),
                high_y: share_y(high),
                title: format!(
                    "{}: {} ({} .. {})",
                    quantity::counted(u64::from(point.ranks), "rank"),
                    percent(point.efficiency),
                    percent(low),
                    percent(high)
                ),
            }
        })
        .collect();
    line(&mut out, GREEN, &values);
    for run in &predicted.from {
        let title = format!(
            "{}, recorded: {}",
            quantity::counted(u64::from(run.ranks), "rank"),
            percent(run.efficiency)
        );
        ring(&mut out, x.at(f64::from(run.ranks)), share_y(run.efficiency), &title);
    }
    legend(&mut out, GREEN);
    Panel { label: "efficiency over ranks", height: height(1), drawn: out }
}

/// What it is if the run is as long as the ends of its interval, and computation as foretold.
fn efficiency_between(point: &Point) -> (f64, f64) {
    let at =
        |time_s: f64| if time_s > 0.0 { (point.efficiency * point.time_s / time_s).min(1.0) } else { 1.0 };
    (at(point.high_s), at(point.low_s))
}

fn line(out: &mut Markup, colour: &'static str, values: &[Value]) {
    out.raw("<polygon fill=\"").raw(colour).raw("\" fill-opacity=\"0.2\" points=\"");
    let upper = values.iter().map(|value| (value.x, value.high_y));
    let lower = values.iter().rev().map(|value| (value.x, value.low_y));
    corners(out, upper.chain(lower));
    out.raw("\"/>\n<polyline fill=\"none\" stroke-width=\"2\" stroke=\"").raw(colour).raw("\" points=\"");
    corners(out, values.iter().map(|value| (value.x, value.y)));
    out.raw("\"/>\n");
    for value in values {
        out.raw("<g stroke=\"").raw(colour).raw("\" fill=\"").raw(colour).raw("\"><title>");
        out.text(&value.title).raw("</title><line x1=\"").number(value.x).raw("\" x2=\"").number(value.x);
        out.raw("\" y1=\"")
            .number(value.low_y)
            .raw("\" y2=\"")
            .number(value.high_y)
            .raw("\"/><circle r=\"3\" cx=\"");
        out.number(value.x).raw("\" cy=\"").number(value.y).raw("\"/></g>\n");
    }
}

/// A recorded run.
fn ring(out: &mut Markup, x: f64, y: f64, title: &str) {
    out.raw("<circle class=\"ideal\" fill=\"none\" stroke=\"#1d2730\" stroke-width=\"1.5\" r=\"6\" cx=\"")
        .number(x);
    out.raw("\" cy=\"").number(y).raw("\"><title>").text(title).raw("</title></circle>\n");
}

fn legend(out: &mut Markup, colour: &'static str) {
    let y = legend_y(0);
    out.raw("<line stroke-width=\"2\" stroke=\"").raw(colour).raw("\" x1=\"").number(LEFT).raw("\" x2=\"");
    out.number(LEFT + 22.0).raw("\" y1=\"").number(y - 4.0).raw("\" y2=\"").number(y - 4.0).raw("\"/>");
    text(out, "start", LEFT + 28.0, y, "predicted");
    out.raw("<rect fill-opacity=\"0.2\" fill=\"")
        .raw(colour)
        .raw("\" x=\"")
        .number(LEFT + 110.0)
        .raw("\" y=\"");
    out.number(y - 10.0).raw("\" width=\"22\" height=\"12\"/>");
    text(out, "start", LEFT + 138.0, y, "90 % interval");
    ring(out, LEFT + 250.0, y - 4.0, "recorded");
    text(out, "start", LEFT + 262.0, y, "recorded");
    out.raw("\n");
}
