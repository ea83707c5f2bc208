//! From return addresses to functions, files and lines.
//!
//! Debug information is best, wherever it lies: in the module, or in a file of its own below
//! `/usr/lib/debug`. Without it the symbol table gives the function, and without that the place is named by
//! module and offset. A module that is gone, stripped or damaged is never an error.

use addr2line::{Loader, demangle_auto};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Folder of debug information that distributions package apart, by build id.
const DEBUG_FOLDER: &str = "/usr/lib/debug/.build-id";

/// What is known of a place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    /// Functions it was inlined into, innermost first.
    pub inlined_into: Vec<String>,
}

/// The symbols of one module.
pub(crate) struct ModuleSymbols {
    /// The module's own, then those of a separate debug file.
    loaders: Vec<Loader>,
}

impl ModuleSymbols {
    /// Opens what there is.
    pub(crate) fn open(path: &Path, build_id: &[u8]) -> ModuleSymbols {
        let files = std::iter::once(path.to_path_buf()).chain(debug_file(build_id));
        let loaders = files.filter(|file| file.is_file()).filter_map(|file| Loader::new(file).ok()).collect();
        ModuleSymbols { loaders }
    }

    /// Looks up the call that returns to `return_offset`.
    pub(crate) fn look_up(&self, return_offset: u64) -> Symbol {
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
    let mut innermost = true;
    while let Ok(Some(frame)) = frames.next() {
        let name = frame.function.as_ref().and_then(|function| function.demangle().ok().map(Cow::into_owned));
        if innermost {
            symbol.function = name;
            let location = frame.location.as_ref();
            symbol.file = location.and_then(|location| location.file).map(str::to_owned);
            symbol.line = location.and_then(|location| location.line);
        } else if let Some(name) = name {
            symbol.inlined_into.push(name);
        }
        innermost = false;
    }
    (symbol.function.is_some() || symbol.file.is_some()).then_some(symbol)
}

fn readable(name: &str) -> String {
    demangle_auto(Cow::Borrowed(name), None).into_owned()
}

fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(DEBUG_FOLDER).join(format!("{first:02x}")).join(format!("{rest}.debug")))
}
