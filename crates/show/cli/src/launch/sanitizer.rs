//! Programs built with AddressSanitizer: its library wants to be the first of all, and ends the program if another one is
//! preloaded, although it works behind the tracer as well. An option of its own says so.

use crate::programs::on_path;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, ReadCache};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;

/// The variable it takes options from.
pub const OPTIONS: &str = "ASAN_OPTIONS";
const ANY_ORDER: &str = "verify_asan_link_order=0";

/// The options for a command in which any word is such a program; none if it needs no others.
pub fn options(command: &[OsString]) -> Option<OsString> {
    let is_checked = |word: &OsString| on_path(Path::new(word)).is_some_and(|program| is_checked(&program));
    command.iter().any(is_checked).then(|| with_any_order(&std::env::var_os(OPTIONS).unwrap_or_default()))
}

/// Of options, the last one said counts: those of the user stay what they are.
pub fn with_any_order(theirs: &OsStr) -> OsString {
    let mut value = OsString::from(ANY_ORDER);
    if !theirs.is_empty() {
        value.push(":");
        value.push(theirs);
    }
    value
}

/// Whether a program takes AddressSanitizer from a library.
fn is_checked(program: &Path) -> bool {
    let Ok(file) = File::open(program) else { return false };
    let cache = ReadCache::new(file);
    let elf: Result<ElfFile64<'_, Endianness, _>, _> = ElfFile64::parse(&cache);
    elf.is_ok_and(|elf| {
        elf.dynamic_symbols().any(|symbol| symbol.is_undefined() && symbol.name() == Ok("__asan_init"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_that_need_it_get_it() {
        assert_eq!(options(&["sh".into(), "-n".into(), "/no/such/program".into()]), None);
        assert_eq!(with_any_order(OsStr::new("detect_leaks=0")), "verify_asan_link_order=0:detect_leaks=0");
        assert_eq!(with_any_order(OsStr::new("")), ANY_ORDER);
    }
}
