//! Compiles as the real compiler does, and beside that to LLVM's intermediate language.
//!
//! The real compiler gets its arguments as they came, and its result is left alone: objects, executables, messages and the
//! exit code are its own. Afterwards each source is compiled once more by clang or flang, with the same definitions and
//! folders of headers, to bitcode that goes to the [`crate::store`]. If that fails, the build goes on; the skeleton says
//! later what is missing.

use crate::archive;
use crate::store::{self, Compiled, Link};
use anyhow::{Context, Result};
use kizami_folder::Dialect;
use kizami_terminal::failure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The module `mpi` for flang.
const MODULE: &str = include_str!("mpi_module.f90");

/// A language that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
    /// Fortran.
    Fortran,
}

impl Language {
    /// The language of the compiler with this name.
    pub fn called_as(name: &str) -> Option<Language> {
        match name {
            "kizami-cc" => Some(Language::C),
            "kizami-c++" => Some(Language::Cxx),
            "kizami-fc" => Some(Language::Fortran),
            _ => None,
        }
    }

    /// The name of its compiler.
    pub fn compiler_name(self) -> &'static str {
        match self {
            Language::C => "kizami-cc",
            Language::Cxx => "kizami-c++",
            Language::Fortran => "kizami-fc",
        }
    }

    /// The variable that names the real compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Language::C => "KIZAMI_SKELETON_CC",
            Language::Cxx => "KIZAMI_SKELETON_CXX",
            Language::Fortran => "KIZAMI_SKELETON_FC",
        }
    }

    /// The name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cxx => "c++",
            Language::Fortran => "fortran",
        }
    }

    fn real_compiler(self) -> OsString {
        let usual = match self {
            Language::C => "gcc",
            Language::Cxx => "g++",
            Language::Fortran => "gfortran",
        };
        std::env::var_os(self.variable()).unwrap_or_else(|| usual.into())
    }

    /// The language of a source, by its name.
    fn of_source(path: &Path, compiler: Language) -> Option<Language> {
        match path.extension()?.to_str()? {
            "c" if compiler == Language::Cxx => Some(Language::Cxx),
            "c" => Some(Language::C),
            "cc" | "cpp" | "cxx" | "C" | "c++" => Some(Language::Cxx),
            "f" | "f90" | "f95" | "f03" | "f08" | "F" | "F90" | "F95" | "F03" | "F08" | "for" | "ftn" => {
                Some(Language::Fortran)
            }
            _ => None,
        }
    }
}

/// What a compiler was asked to do.
struct CompilerCall {
    sources: Vec<PathBuf>,
    objects: Vec<PathBuf>,
    output: Option<PathBuf>,
    compile_only: bool,
    /// It was asked for something else: preprocessing, dependencies, assembly, its version.
    other: bool,
    /// What clang needs to understand the sources.
    understanding: Vec<String>,
    /// What says how to link.
    libraries: Vec<String>,
}

/// Runs the real compiler, and gathers.
pub fn compile(language: Language, arguments: Vec<OsString>) -> Result<ExitCode> {
    let real = language.real_compiler();
    let status = Command::new(&real)
        .args(&arguments)
        .status()
        .with_context(|| format!("cannot run the compiler {}", real.to_string_lossy()))?;
    if !status.success() {
        return Ok(ExitCode::from(status.code().map_or(1, |code| code as u8)));
    }
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let compiler_call = understand(&words, language);
    if !compiler_call.other
        && let Err(error) = gather(&compiler_call, language)
    {
        failure::report(&failure::message(&error));
    }
    Ok(ExitCode::SUCCESS)
}

fn gather(compiler_call: &CompilerCall, language: Language) -> Result<()> {
    let mut compiled = Vec::new();
    for source in &compiler_call.sources {
        let of = Language::of_source(source, language).expect("sources have a language");
        let one = to_bitcode(source, of, &compiler_call.understanding)?;
        if compiler_call.compile_only {
            let object = match &compiler_call.output {
                Some(output) => output.clone(),
                None => PathBuf::from(source.file_name().unwrap_or_default()).with_extension("o"),
            };
            store::remember(&object, &one)?;
        }
        compiled.push(one);
    }
    if compiler_call.compile_only || compiler_call.sources.is_empty() && compiler_call.objects.is_empty() {
        return Ok(());
    }
    let mut unknown = Vec::new();
    for object in &compiler_call.objects {
        let contents = match archive::members(object) {
            Some(members) => members,
            None => std::fs::read(object).into_iter().collect(),
        };
        for member in contents {
            match store::find(&member) {
                Some(one) if !compiled.contains(&one) => compiled.push(one),
                Some(_) => {}
                None => unknown.push(object.to_string_lossy().into_owned()),
            }
        }
    }
    unknown.dedup();
    let folder = std::env::current_dir()?;
    store::note_link(&Link {
        output: folder.join(compiler_call.output.clone().unwrap_or_else(|| "a.out".into())),
        folder,
        compiled,
        unknown,
        libraries: compiler_call.libraries.clone(),
        language: language.name().to_owned(),
    })
}

/// Compiles one source to bitcode.
fn to_bitcode(source: &Path, language: Language, understanding: &[String]) -> Result<Compiled> {
    let folder = std::path::absolute(store::folder()?)?;
    let at = std::path::absolute(source)?;
    let flags = understanding.join("\u{1}");
    let name = store::key(format!("{}\u{1}{flags}", at.display()).as_bytes());
    let bitcode = folder.join(format!("{name}.bc"));
    let mut command = match language {
        Language::C => clang("clang-19"),
        Language::Cxx => clang("clang++-19"),
        Language::Fortran => flang(&folder)?,
    };
    let (source, understanding) = (&at, &absolute(understanding)?);
    if let Some(dialect) = dialect_of(understanding)
        && language == Language::Fortran
    {
        command.arg("-I").arg(fortran_module(&folder, dialect, understanding)?);
    }
    let result = command.args(understanding).arg("-c").arg(source).arg("-o").arg(&bitcode).output();
    let result = result.context("cannot run clang 19 or flang 19, which skeletons require; install them")?;
    if !result.status.success() {
        let said = String::from_utf8_lossy(&result.stderr);
        let first: Vec<&str> = said.lines().take(8).collect();
        anyhow::bail!(
            "LLVM cannot compile {}; a skeleton needs this source:\n{}",
            source.display(),
            first.join("\n")
        );
    }
    Ok(Compiled {
        bitcode,
        source: at,
        language: language.name().to_owned(),
        mpi: dialect_of(understanding),
        includes: includes(understanding),
    })
}

fn clang(name: &str) -> Command {
    let mut command = Command::new(name);
    command.args([
        "-O1",
        "-Xclang",
        "-disable-llvm-passes",
        "-g",
        "-emit-llvm",
        "-fno-discard-value-names",
        "-w",
    ]);
    command.args(["-fno-strict-aliasing", "-fno-builtin-printf", "-U_FORTIFY_SOURCE"]);
    command
}

/// The same folders of headers, wherever the compiler runs.
fn absolute(understanding: &[String]) -> Result<Vec<String>> {
    let named = |word: &String| match word.strip_prefix("-I") {
        Some(folder) => Ok(format!("-I{}", std::path::absolute(folder)?.display())),
        None => Ok(word.clone()),
    };
    understanding.iter().map(named).collect()
}

/// Flang, in a folder that has its own modules and none of another compiler's, which it would look at first.
fn flang(folder: &Path) -> Result<Command> {
    let modules =
        folder.join("modules").join(store::key(std::env::current_dir()?.as_os_str().as_encoded_bytes()));
    std::fs::create_dir_all(&modules)?;
    let mut command = Command::new("flang-new-19");
    command
        .args(["-O0", "-g", "-emit-llvm", "-module-dir"])
        .arg(&modules)
        .arg("-I")
        .arg(&modules)
        .current_dir(&modules);
    Ok(command)
}

/// A folder with a module `mpi` that flang understands: MPI's own are made for other compilers.
fn fortran_module(store: &Path, dialect: Dialect, understanding: &[String]) -> Result<PathBuf> {
    let folder = store.join("modules").join(format!("{}-{}", dialect.name(), store::key(MODULE.as_bytes())));
    let finished = folder.join("mpi.mod");
    if !finished.exists() {
        std::fs::create_dir_all(&folder)?;
        let source = folder.join("mpi.f90");
        std::fs::write(&source, MODULE)?;
        let mut command = Command::new("flang-new-19");
        command.args(["-c", "-fsyntax-only", "-module-dir"]).arg(&folder).args(understanding).arg(&source);
        command.output().context("cannot run flang 19")?;
    }
    Ok(folder)
}

fn includes(understanding: &[String]) -> Vec<String> {
    understanding.iter().filter(|word| word.starts_with("-I")).cloned().collect()
}

/// Whose headers are found by these arguments.
fn dialect_of(understanding: &[String]) -> Option<Dialect> {
    let folders = understanding.iter().filter_map(|word| word.strip_prefix("-I"));
    let mut headers = folders.flat_map(|folder| ["mpi.h", "mpif.h"].map(|name| Path::new(folder).join(name)));
    if understanding.iter().any(|word| word.contains("smpi_helpers.h")) {
        return Some(Dialect::Smpi);
    }
    headers.find_map(|header| {
        let text = String::from_utf8_lossy(&std::fs::read(header).ok()?).into_owned();
        if text.contains("smpi") {
            Some(Dialect::Smpi)
        } else if text.contains("OPEN_MPI") || text.contains("OMPI") || text.contains("Open MPI") {
            Some(Dialect::OpenMpi)
        } else {
            (text.contains("MPICH") || text.contains("Argonne") || text.contains("MPI_COMM_WORLD=1140850688"))
                .then_some(Dialect::Mpich)
        }
    })
}

fn understand(words: &[String], language: Language) -> CompilerCall {
    let mut compiler_call = CompilerCall {
        sources: Vec::new(),
        objects: Vec::new(),
        output: None,
        compile_only: false,
        other: false,
        understanding: Vec::new(),
        libraries: Vec::new(),
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let path = Path::new(word);
        match word.as_str() {
            "-c" => compiler_call.compile_only = true,
            "-o" => compiler_call.output = rest.next().map(PathBuf::from),
            "-E" | "-S" | "-M" | "-MM" | "--version" | "-v" | "-dumpversion" | "-dumpmachine" => {
                compiler_call.other = true
            }
            "-MF" | "-MT" | "-MQ" | "-x" => {
                rest.next();
            }
            "-I" | "-D" | "-U" => {
                compiler_call.understanding.extend(rest.next().map(|next| format!("{word}{next}")));
            }
            "-include" | "-isystem" | "-iquote" | "-idirafter" | "-imacros" => {
                compiler_call.understanding.push(word.clone());
                compiler_call.understanding.extend(rest.next().cloned());
            }
            "-J" if language == Language::Fortran => {
                rest.next();
            }
            "-L" | "-l" | "-Xlinker" => {
                compiler_call.libraries.push(word.clone());
                compiler_call.libraries.extend(rest.next().cloned());
            }
            _ if word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-U") => {
                compiler_call.understanding.push(word.clone());
            }
            _ if word.starts_with("-std=") && language != Language::Fortran => {
                compiler_call.understanding.push(word.clone())
            }
            "-cpp" | "-ffixed-form" | "-ffree-form" | "-fdefault-real-8" | "-fdefault-integer-8" => {
                compiler_call.understanding.push(word.clone());
            }
            "-shared" | "-pthread" | "-fPIC" | "-static" => compiler_call.libraries.push(word.clone()),
            _ if ["-L", "-l", "-Wl,"].iter().any(|start| word.starts_with(start)) => {
                compiler_call.libraries.push(word.clone())
            }
            _ if word.starts_with('-') => {}
            _ if Language::of_source(path, language).is_some() => compiler_call.sources.push(path.to_owned()),
            _ if word.ends_with(".so") || word.contains(".so.") => compiler_call.libraries.push(word.clone()),
            _ if path.exists() => compiler_call.objects.push(path.to_owned()),
            _ => {}
        }
    }
    add_archives(&mut compiler_call);
    compiler_call
}

/// Static libraries that are given by `-l`.
fn add_archives(compiler_call: &mut CompilerCall) {
    let folders: Vec<&str> =
        compiler_call.libraries.iter().filter_map(|word| word.strip_prefix("-L")).collect();
    let names = compiler_call.libraries.iter().filter_map(|word| word.strip_prefix("-l"));
    let archives = names.filter_map(|name| {
        let found = folders.iter().find_map(|folder| {
            let shared = Path::new(folder).join(format!("lib{name}.so"));
            let archive = Path::new(folder).join(format!("lib{name}.a"));
            (shared.exists() || archive.exists()).then_some((shared, archive))
        })?;
        (!found.0.exists()).then_some(found.1)
    });
    let archives: Vec<PathBuf> = archives.collect();
    compiler_call.objects.extend(archives);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_distinguished() {
        let words = ["-O2", "-DN=3", "-I", "include", "-o", "prog", "a.c", "-Llib", "-lm", "-Wl,-z,now"];
        let compiler_call = understand(&words.map(str::to_owned), Language::C);
        assert_eq!(compiler_call.sources, [Path::new("a.c")]);
        assert_eq!(compiler_call.understanding, ["-DN=3", "-Iinclude"]);
        assert_eq!(compiler_call.libraries, ["-Llib", "-lm", "-Wl,-z,now"]);
        assert_eq!(compiler_call.output, Some("prog".into()));
        assert!(!compiler_call.compile_only && !compiler_call.other);
    }
}
