//! Paths as people would type them.

use std::path::Path;

/// A path as the user would type it: relative where that is shorter.
pub fn as_typed(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&here).unwrap_or(path);
    if relative.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let text = relative.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:=@".contains(c);
    if text.chars().all(plain) && !text.starts_with('-') {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_spaces_can_be_pasted_back() {
        assert_eq!(as_typed(Path::new("/a/b.kz")), "/a/b.kz");
        assert_eq!(as_typed(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }
}
