//! The page: what is foretold in words, the panels, and the table behind them.

use super::super::predicted::Predicted;
use super::super::show;
use super::{Panel, WIDTH};
use crate::page::{Markup, begin, end};
use crate::show::quantity;
use crate::show::quantity::percent;

/// All of it.
pub fn page(predicted: &Predicted, panels: [Panel; 3], said: &[String]) -> String {
    let mut out = Markup::default();
    let title = title(predicted);
    begin(&mut out, &title);
    out.raw("<header><h1>").text(&title).raw("</h1></header>\n<section>\n");
    for line in said {
        out.raw("<p class=\"sentence\">").text(line).raw("</p>\n");
    }
    out.raw("</section>\n<section>\n");
    for panel in panels {
        out.raw("<figure>\n<svg class=\"chart\" role=\"img\" aria-label=\"")
            .raw(panel.label)
            .raw("\" width=\"");
        out.number(WIDTH).raw("\" height=\"").number(panel.height).raw("\" viewBox=\"0 0 ").number(WIDTH);
        out.raw(" ").number(panel.height).raw("\">\n").append(panel.drawn).raw("</svg>\n</figure>\n");
    }
    out.raw("</section>\n");
    table(&mut out, predicted);
    end(&mut out, |out| {
        let from: Vec<&str> = predicted.from.iter().map(|run| run.trace.as_str()).collect();
        out.text("from ").raw("<code>").text(&from.join(", ")).raw("</code>");
    });
    out.finish()
}

fn title(predicted: &Predicted) -> String {
    let ranks: Vec<String> = [predicted.points.first(), predicted.points.last()]
        .into_iter()
        .flatten()
        .map(|point| quantity::count(u64::from(point.ranks)))
        .collect();
    let ranks = match ranks.as_slice() {
        [first, last] if first != last => format!("{first} to {last} ranks"),
        [only, ..] => format!("{only} ranks"),
        [] => "no ranks".to_owned(),
    };
    let machine = predicted.machine.as_ref().map_or(String::new(), |machine| format!(" on {machine}"));
    format!("{}, predicted for {ranks}{machine}", predicted.program)
}

fn table(out: &mut Markup, predicted: &Predicted) {
    out.raw("<section>\n<h2>predicted</h2>\n<div class=\"scroll\"><table>\n<thead><tr>");
    for (name, number) in [
        ("ranks", true),
        ("time", true),
        ("90 % interval", true),
        ("efficiency", true),
        ("waiting", true),
        ("transfer", true),
        ("limited by", false),
    ] {
        out.raw(if number { "<th scope=\"col\" class=\"n\">" } else { "<th scope=\"col\">" })
            .raw(name)
            .raw("</th>");
    }
    out.raw("</tr></thead>\n<tbody>\n");
    for point in &predicted.points {
        out.raw("<tr>");
        for cell in [
            quantity::count(u64::from(point.ranks)),
            show::seconds(point.time_s),
            format!("{} .. {}", show::seconds(point.low_s), show::seconds(point.high_s)),
            percent(point.efficiency),
            percent(point.shares.waiting),
            percent(point.shares.transfer),
        ] {
            out.raw("<td class=\"n\">").text(&cell).raw("</td>");
        }
        let limit = point.limited_by.first().map(show::limit).unwrap_or_default();
        out.raw("<td>").text(&limit).raw("</td></tr>\n");
    }
    out.raw("</tbody>\n</table></div>\n</section>\n");
}
