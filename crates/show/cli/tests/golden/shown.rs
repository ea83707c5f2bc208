//! How outputs and files stand in a transcript: whole if they are short, else their beginning and a checksum.
//!
//! The version of Kizami is left out. Pictures are told by their pixels and pages without the pictures in them, since
//! another encoder may pack the same picture in another way.

use std::path::Path;

/// Text up to so many bytes is kept whole.
const WHOLE: usize = 12_000;
/// Lines kept of what is longer.
const BEGINNING: usize = 60;

/// What was printed.
pub fn printed(text: &mut String, output: &str) {
    let output = without_version(output);
    if output.len() <= WHOLE {
        text.push_str(&output);
        if !output.is_empty() && !output.ends_with('\n') {
            text.push('\n');
        }
        return;
    }
    output.lines().take(BEGINNING).for_each(|line| {
        text.push_str(line);
        text.push('\n');
    });
    let (lines, sum) = (output.lines().count(), checksum(output.as_bytes()));
    text.push_str(&format!("[... {lines} lines in all, checksum {sum}]\n"));
}

/// A file or directory that was written.
pub fn file(text: &mut String, path: &Path) {
    let name = path.file_name().expect("a name").to_string_lossy();
    if path.is_dir() {
        text.push_str(&format!("[wrote {name}: {}]\n", names_below(path).join(" ")));
        return;
    }
    let content = std::fs::read(path).expect("it can be read");
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("png") => text.push_str(&format!("[wrote {name}: {}]\n", picture(&content))),
        Some("html") => page(text, &name, &without_version(&String::from_utf8(content).expect("UTF-8"))),
        _ => {
            let content = match String::from_utf8(content) {
                Ok(content) => without_version(&content).into_bytes(),
                Err(binary) => binary.into_bytes(),
            };
            let (bytes, sum) = (content.len(), checksum(&content));
            text.push_str(&format!("[wrote {name}: {bytes} bytes, checksum {sum}]\n"));
        }
    }
}

/// Files of a directory and of those in it, but for caches.
fn names_below(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "derived" {
            continue;
        }
        if entry.path().is_dir() {
            names.extend(names_below(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

fn picture(content: &[u8]) -> String {
    let mut reader = png::Decoder::new(std::io::Cursor::new(content)).read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a picture that fits in memory")];
    let frame = reader.next_frame(&mut pixels).expect("a picture");
    let (width, height) = (frame.width, frame.height);
    format!("{width} x {height} pixels, checksum {}", checksum(&pixels[..frame.buffer_size()]))
}

/// A page: a checksum of all but its pictures, and its text.
fn page(text: &mut String, name: &str, content: &str) {
    let mut parts = content.split("data:image/png;base64,");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = part.find(['"', ')', '\'']).expect("an end of the picture");
        page.push_str(&part[behind..]);
    }
    text.push_str(&format!(
        "[wrote {name}: checksum {} without pictures; its text:]\n",
        checksum(page.as_bytes())
    ));
    let shown = page.split_once("</style>").map_or(page.as_str(), |(_, shown)| shown);
    let mut words = String::new();
    for part in shown.split('<') {
        words.push_str(part.split_once('>').map_or(part, |(_, words)| words));
        words.push('\n');
    }
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    printed(text, &lines.join("\n"));
}

fn without_version(text: &str) -> String {
    text.replace(concat!("kizami ", env!("CARGO_PKG_VERSION")), "kizami [VERSION]")
        .replace(concat!("Kizami ", env!("CARGO_PKG_VERSION")), "Kizami [VERSION]")
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}
