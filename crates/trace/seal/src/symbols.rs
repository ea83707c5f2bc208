//! From return addresses to functions, files and lines.
//!
//! Debug information is best, wherever it lies: in the module, or in a file of its own below
//! `/usr/lib/debug`. Without it the symbol table gives the function, and without that the place is named by
//! module and offset. A module that is gone, stripped or damaged is never an error.
//!
//! A call that was inlined is named by the innermost line, so that a wrapper in a header is a call site like any
//! other. Marks of our own headers are no places: they are where the program has them.

use addr2line::{Loader, demangle_auto};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Folder of debug information that distributions package apart, by build id.
const DEBUG_FOLDER: &str = "/usr/lib/debug/.build-id";

/// The headers by which programs name regions and report tasks. Their marks are inlined into the lines that have them.
const OWN_HEADERS: [&str; 2] = ["kizami.h", "kizami_tasks.h"];

/// What is known of a place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// The function it is in.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Functions it was inlined into, innermost first.
    pub inlined_into: Vec<String>,
}

/// The symbols of one module.
pub struct ModuleSymbols {
    /// The module's own, then those of a separate debug file.
    loaders: Vec<Loader>,
}

impl ModuleSymbols {
    /// Opens what there is.
    pub fn open(path: &Path, build_id: &[u8]) -> ModuleSymbols {
        let files = std::iter::once(path.to_path_buf()).chain(debug_file(build_id));
        let loaders = files.filter(|file| file.is_file()).filter_map(|file| Loader::new(file).ok()).collect();
        ModuleSymbols { loaders }
    }

    /// Looks up the call that returns to `return_offset`.
    pub fn look_up(&self, return_offset: u64) -> Symbol {
        // The call is the instruction before the one it returns to.
        let Some(address) = return_offset.checked_sub(1) else { return Symbol::default() };
        let found = self.loaders.iter().filter_map(|loader| by_debug_information(loader, address)).next();
        let mut symbol = found.unwrap_or_default();
        if symbol.function.is_none() {
            let mut names = self.loaders.iter().filter_map(|loader| loader.find_symbol(address));
            symbol.function = names.next().map(readable);
        }
        symbol
    }
}

fn by_debug_information(loader: &Loader, address: u64) -> Option<Symbol> {
    let mut frames = loader.find_frames(address).ok()?;
    let mut symbol = Symbol::default();
    let mut is_mark = true;
    // What is inlined at the beginning of a region or a task is not its place.
    let is_body = begins_body(loader, address);
    while let Ok(Some(frame)) = frames.next() {
        let name = frame.function.as_ref().and_then(|function| function.demangle().ok().map(Cow::into_owned));
        let location = frame.location.as_ref();
        let file = location.and_then(|location| location.file);
        if is_mark || is_body {
            symbol.function = name;
            symbol.file = file.map(str::to_owned);
            symbol.line = location.and_then(|location| location.line);
            is_mark = file.is_some_and(is_own_header);
        } else if let Some(name) = name {
            symbol.inlined_into.push(name);
        }
    }
    (symbol.function.is_some() || symbol.file.is_some()).then_some(symbol)
}

/// Whether a function begins there that GCC has made of a parallel region or a task.
fn begins_body(loader: &Loader, address: u64) -> bool {
    let symbol = |address: u64| loader.find_symbol(address).filter(|name| name.contains("._omp_fn."));
    symbol(address).is_some_and(|own| symbol(address.wrapping_sub(1)) != Some(own))
}

fn is_own_header(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| OWN_HEADERS.contains(&name))
}

fn readable(name: &str) -> String {
    demangle_auto(Cow::Borrowed(name), None).into_owned()
}

fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(DEBUG_FOLDER).join(format!("{first:02x}")).join(format!("{rest}.debug")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../include");

    /// Stands in for MPI: returns where each mark returns to.
    const MPI: &str = "#include <stdio.h>
static __attribute__((noinline, unused)) int MPI_Pcontrol(int level, ...) {
    return printf(\"%llx\\n\", (unsigned long long)__builtin_return_address(0)), level;
}
";

    /// Places of the marks of a program, in the order it makes them.
    fn marks(compiler: &str, optimised: &str, source_name: &str, source: &str) -> Vec<(String, u32)> {
        let folder = tempfile::tempdir().expect("a folder");
        let (program, text) = (folder.path().join("program"), folder.path().join(source_name));
        std::fs::write(folder.path().join("mpi.h"), MPI).expect("a stand-in");
        std::fs::write(&text, source).expect("a source");
        let mut compile = Command::new(compiler);
        compile.args(["-g", "-no-pie", optimised, "-I", HEADERS, "-I"]).arg(folder.path());
        assert!(compile.arg("-o").arg(&program).arg(&text).status().expect("a compiler").success());
        let output = Command::new(&program).output().expect("the program runs").stdout;
        let symbols = ModuleSymbols::open(&program, &[]);
        let addresses = String::from_utf8(output).expect("addresses");
        let place = |address: &str| {
            let symbol = symbols.look_up(u64::from_str_radix(address, 16).expect("an address"));
            assert_eq!(symbol.function.as_deref(), Some("main"), "{symbol:?}");
            let file = symbol.file.expect("a file");
            (file.rsplit('/').next().expect("a name").to_owned(), symbol.line.expect("a line"))
        };
        addresses.lines().map(place).collect()
    }

    #[test]
    fn marks_of_regions_are_where_the_program_has_them() {
        let c = "#include <kizami.h>
int main(void) {
    KIZAMI_REGION_BEGIN(\"all\");
    KIZAMI_REGION_END(\"all\");
    return 0;
}
";
        let cpp = "#include <kizami.h>
int main() {
    kizami::region all(\"all\");
    {
        kizami::region part(\"part\");
    }
    return 0;
}
";
        for optimised in ["-O0", "-O2"] {
            let of_c = marks("cc", optimised, "marked.c", c);
            assert_eq!(of_c, [("marked.c".to_owned(), 3), ("marked.c".to_owned(), 4)], "{optimised}");
            // Compilers differ in which line ends what lives as long as its block.
            let of_cpp = marks("c++", optimised, "marked.cpp", cpp);
            assert_eq!(
                of_cpp.iter().map(|(_, line)| *line).take(2).collect::<Vec<_>>(),
                [3, 5],
                "{optimised}"
            );
            assert_eq!(of_cpp.iter().filter(|(file, _)| file == "marked.cpp").count(), 4, "{optimised}");
        }
    }
}
