//! Shared libraries that a program is linked with: those that call MPI hide communication, since there is no code of them
//! to slice.

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, ReadCache};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Where linkers look without being told.
const DEFAULT_FOLDERS: [&str; 4] =
    ["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib"];

/// The functions of libraries that call MPI, with the library of each. `words` are the arguments of a link that name
/// libraries, as they were given in `folder`.
pub fn functions_that_communicate(words: &[String], folder: &Path) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for library in named(words, folder) {
        for function in communicating(&library).unwrap_or_default() {
            found.insert(function, library.display().to_string());
        }
    }
    found
}

/// The shared libraries that are named, by path or by `-l`.
fn named(words: &[String], folder: &Path) -> Vec<PathBuf> {
    let given = words.iter().filter_map(|word| word.strip_prefix("-L")).map(|at| folder.join(at));
    let folders: Vec<PathBuf> = given.chain(DEFAULT_FOLDERS.map(PathBuf::from)).collect();
    let by_name = words.iter().filter_map(|word| word.strip_prefix("-l")).filter_map(|name| {
        folders.iter().map(|at| at.join(format!("lib{name}.so"))).find(|library| library.exists())
    });
    let by_path = words.iter().filter(|word| !word.starts_with('-')).map(|word| folder.join(word));
    by_name.chain(by_path).collect()
}

/// What a library gives out, if it uses functions of MPI that it does not define itself.
fn communicating(library: &Path) -> Option<Vec<String>> {
    let cache = ReadCache::new(std::fs::File::open(library).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let of_mpi = |name: &str| name.starts_with("MPI_") || name.starts_with("mpi_");
    let (mut uses, mut gives) = (false, Vec::new());
    for symbol in file.dynamic_symbols() {
        let Ok(name) = symbol.name() else { continue };
        match symbol.is_undefined() {
            true => uses |= of_mpi(name),
            false => gives.push(name.to_owned()),
        }
    }
    uses.then_some(gives)
}
