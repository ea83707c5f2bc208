//! Reads the members of static libraries, as `ar` writes them.

use std::path::Path;

/// The contents of all members of an archive, in order; nothing if it is none.
pub fn members(path: &Path) -> Option<Vec<Vec<u8>>> {
    let bytes = std::fs::read(path).ok()?;
    let thin = bytes.starts_with(b"!<thin>\n");
    if !thin && !bytes.starts_with(b"!<arch>\n") {
        return None;
    }
    let mut found = Vec::new();
    let mut long_names: &[u8] = &[];
    let mut at = 8;
    while let Some(header) = bytes.get(at..at + 60) {
        let field = |range: std::ops::Range<usize>| std::str::from_utf8(&header[range]).unwrap_or("").trim();
        let size: usize = field(48..58).parse().ok()?;
        let name = field(0..16).to_owned();
        let special = matches!(name.as_str(), "/" | "//" | "/SYM64/");
        at += 60;
        if thin && !special {
            let start: usize = name.trim_start_matches('/').parse().ok()?;
            let rest = long_names.get(start..)?;
            let end = rest.iter().position(|byte| *byte == b'/' || *byte == b'\n')?;
            // Names of thin archives are relative to the archive; a path has slashes inside and ends with "/\n".
            let end = rest.windows(2).position(|pair| pair == b"/\n").unwrap_or(end);
            let member = path.parent()?.join(std::str::from_utf8(&rest[..end]).ok()?);
            found.extend(std::fs::read(member));
            continue;
        }
        let content = bytes.get(at..at + size)?;
        match name.as_str() {
            "//" => long_names = content,
            _ if special => {}
            _ => found.push(content.to_vec()),
        }
        at += size + size % 2;
    }
    Some(found)
}
