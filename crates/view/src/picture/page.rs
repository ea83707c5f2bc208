//! One HTML file for a colleague: the whole run as a picture, and the verdict as text. It loads nothing and runs
//! nothing; whatever a trace calls things, it is text.

use crate::category::LOOKS;
use kizami_explain::Report;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;\
color:#16202a;background:#fff}img{width:100%;image-rendering:pixelated;border:1px solid #d9d9d9}\
h1{font-size:1.3rem}ul.key{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}\
ul.key i{display:inline-block;width:.9em;height:.9em;margin-right:.4em;border:1px solid #0003}\
.axis{display:flex;justify-content:space-between;color:#555}\
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#14181c}.axis{color:#aaa}}";

/// The page. `kind` says how the times came to be; `picture` is a PNG file of the whole run.
pub fn page(report: &Report, kind: &str, picture: &[u8]) -> String {
    let name = text(report.executable.rsplit('/').next().unwrap_or(&report.executable));
    let mut page = String::new();
    let efficiency = &report.efficiency;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let seconds = |ns: i64| format!("{:.6} s", ns as f64 / 1e9);
    let mut put = |line: String| page.push_str(&(line + "\n"));
    put("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">".to_owned());
    put("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:\">"
        .to_owned());
    put(format!("<title>{name} on {} ranks</title>\n<style>{STYLE}</style>", report.ranks));
    put(format!("<h1>{name} on {} ranks: {} ({})</h1>", report.ranks, seconds(report.run_ns), text(kind)));
    put(format!(
        "<p>Parallel efficiency {} = load balance {} x serialisation {} x transfer {}.</p>",
        percent(efficiency.parallel),
        percent(efficiency.load_balance),
        percent(efficiency.serialisation),
        percent(efficiency.transfer)
    ));
    put(format!("<img alt=\"ranks over time\" src=\"data:image/png;base64,{}\">", base64(picture)));
    put(format!(
        "<div class=\"axis\"><span>0 s; rank 0 above</span><span>{}; rank {} below</span></div>",
        seconds(report.span_ns),
        report.ranks.saturating_sub(1)
    ));
    let mut key = String::from("<ul class=\"key\">");
    for look in LOOKS {
        let _ = write!(key, "<li><i style=\"background:{}\"></i>{}</li>", look.colour, look.name);
    }
    put(key + "</ul>");
    put("<h2>Findings</h2>".to_owned());
    if report.findings.is_empty() {
        put("<p>Nobody waited long for anybody.</p>".to_owned());
    }
    put("<ol>".to_owned());
    for finding in &report.findings {
        let gain = finding.gain.map_or(String::new(), |gain| {
            format!(
                "; without it the run takes {} less: {} +- {}",
                seconds(gain.ns),
                percent(gain.share),
                percent(gain.share_error)
            )
        });
        let waiting = seconds(finding.waiting_ns + finding.propagated_ns);
        put(format!("<li>{}<br>{waiting} of waiting{gain}</li>", text(&finding.sentence)));
    }
    put("</ol>\n</html>".to_owned());
    page
}

/// As text, whatever it holds.
fn text(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars().take(1_000) {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter if letter.is_control() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .enumerate()
            .fold(0u32, |all, (place, byte)| all | u32::from(*byte) << (16 - 8 * place));
        for place in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn names_stay_text() {
        assert_eq!(text("<script>\"'&\x1b"), "&lt;script&gt;&quot;&#39;&amp;\u{fffd}");
    }
}
