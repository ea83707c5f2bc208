//! The panel of shares: computation, and waiting and transfer of the calls that matter, on top of each other.

use super::super::predicted::Predicted;
use super::Panel;
use super::axes::{LEFT, corners, frame, grid, height, legend_y, ranks, share_y};
use crate::page::{Markup, text};
use crate::show::quantity::percent;
use kizami_phrases::location::call_at;
use kizami_predict::CallShare;
use kizami_predict::point::Point;

/// Calls with a colour of their own; the rest are one.
const COLOURS: [&str; 5] = ["#d9812a", "#8a5fb0", "#2b9a63", "#c0475a", "#7a7a2a"];
/// A call that nowhere takes this share is one of the rest.
const WORTH_A_COLOUR: f64 = 0.01;
const COMPUTATION: &str = "#33699e";
const OTHERS: &str = "#8793a0";
/// Transfer is drawn in the colour of its call, lighter.
const LIGHTER: &str = "0.5";
/// A single number of ranks is drawn as a column, so wide to each side.
const HALF_COLUMN: f64 = 24.0;

/// One layer: its colour, how much of it, and its height at each point.
struct Layer {
    colour: &'static str,
    opacity: &'static str,
    title: String,
    shares: Vec<f64>,
}

/// Where the time goes.
pub fn shares(predicted: &Predicted) -> Panel {
    let x = ranks(predicted);
    let names = worst(&predicted.points);
    let mut out = Markup::default();
    frame(&mut out, "time of all ranks", predicted, &x);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        grid(&mut out, share_y(share), &percent(share));
    }
    let at: Vec<f64> = predicted.points.iter().map(|point| x.at(f64::from(point.ranks))).collect();
    let mut below = vec![0.0; at.len()];
    for layer in layers(&predicted.points, &names) {
        draw(&mut out, &layer, &at, &mut below);
    }
    legend(&mut out, &names);
    Panel {
        label: "shares of computation, waiting and transfer over ranks",
        height: height(names.len() + 2),
        drawn: out,
    }
}

/// A call at a place, as people read it.
fn name(call: &CallShare) -> String {
    call_at(&call.function, &call.place)
}

fn of_call<'a>(point: &'a Point, wanted: &str) -> Option<&'a CallShare> {
    point.shares.calls.iter().find(|call| name(call) == wanted)
}

/// The calls that take most somewhere, the worst first.
fn worst(points: &[Point]) -> Vec<String> {
    let mut all: Vec<(f64, String)> = Vec::new();
    for call in points.iter().flat_map(|point| &point.shares.calls) {
        let name = name(call);
        match all.iter_mut().find(|(_, known)| *known == name) {
            Some((most, _)) => *most = most.max(call.inside()),
            None => all.push((call.inside(), name)),
        }
    }
    all.retain(|(most, _)| *most >= WORTH_A_COLOUR);
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    all.truncate(COLOURS.len());
    all.into_iter().map(|(_, name)| name).collect()
}

/// From below: computation, the calls, all other calls.
fn layers(points: &[Point], names: &[String]) -> Vec<Layer> {
    let layer = |colour, opacity, title: String, share: &dyn Fn(&Point) -> f64| Layer {
        colour,
        opacity,
        title,
        shares: points.iter().map(|point| share(point).max(0.0)).collect(),
    };
    let mut layers =
        vec![layer(COMPUTATION, "1", "computation".to_owned(), &|point| point.shares.computation)];
    for (name, colour) in names.iter().zip(COLOURS) {
        let waiting = |point: &Point| of_call(point, name).map_or(0.0, |call| call.waiting);
        let transfer = |point: &Point| of_call(point, name).map_or(0.0, |call| call.transfer);
        layers.push(layer(colour, "1", format!("{name}: waiting"), &waiting));
        layers.push(layer(colour, LIGHTER, format!("{name}: transfer"), &transfer));
    }
    let rest = |point: &Point, whole: f64, of: fn(&CallShare) -> f64| {
        whole - names.iter().filter_map(|name| of_call(point, name)).map(of).sum::<f64>()
    };
    layers.push(layer(OTHERS, "1", "other calls: waiting".to_owned(), &|point| {
        rest(point, point.shares.waiting, |call| call.waiting)
    }));
    layers.push(layer(OTHERS, LIGHTER, "other calls: transfer".to_owned(), &|point| {
        rest(point, point.shares.transfer, |call| call.transfer)
    }));
    layers
}

fn draw(out: &mut Markup, layer: &Layer, at: &[f64], below: &mut [f64]) {
    let above: Vec<f64> = below.iter().zip(&layer.shares).map(|(below, share)| below + share).collect();
    if layer.shares.iter().any(|share| *share > 0.0005) {
        out.raw("<polygon fill=\"").raw(layer.colour).raw("\" fill-opacity=\"").raw(layer.opacity);
        out.raw("\" points=\"");
        match at {
            [only] => {
                let (left, right) = (only - HALF_COLUMN, only + HALF_COLUMN);
                let (low, high) = (share_y(below[0]), share_y(above[0]));
                corners(out, [(left, high), (right, high), (right, low), (left, low)].into_iter());
            }
            _ => {
                let upper = at.iter().zip(&above).map(|(x, share)| (*x, share_y(*share)));
                let lower = at.iter().zip(below.iter()).rev().map(|(x, share)| (*x, share_y(*share)));
                corners(out, upper.chain(lower));
            }
        }
        let most = layer.shares.iter().copied().fold(0.0, f64::max);
        out.raw("\"><title>")
            .text(&format!("{}, up to {}", layer.title, percent(most)))
            .raw("</title></polygon>\n");
    }
    below.copy_from_slice(&above);
}

fn legend(out: &mut Markup, names: &[String]) {
    let swatch = |out: &mut Markup, colour: &'static str, opacity: &'static str, x: f64, line: usize| {
        out.raw("<rect fill=\"").raw(colour).raw("\" fill-opacity=\"").raw(opacity).raw("\" x=\"").number(x);
        out.raw("\" y=\"").number(legend_y(line) - 10.0).raw("\" width=\"12\" height=\"12\"/>");
    };
    swatch(out, COMPUTATION, "1", LEFT, 0);
    text(
        out,
        "start",
        LEFT + 36.0,
        legend_y(0),
        "computation; below: waiting for other ranks (dark), transfer (light)",
    );
    let calls = names.iter().map(String::as_str).chain(["other calls"]);
    let colours = COLOURS.into_iter().take(names.len()).chain([OTHERS]);
    for (line, (call, colour)) in (1..).zip(calls.zip(colours)) {
        swatch(out, colour, "1", LEFT, line);
        swatch(out, colour, LIGHTER, LEFT + 14.0, line);
        text(out, "start", LEFT + 36.0, legend_y(line), call);
    }
    out.raw("\n");
}
