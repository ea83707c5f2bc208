//! Names of functions, as short as a reader needs them.
//!
//! Demangled C++ names of real applications take up to hundreds of characters, most of them arguments. [`short`] keeps the
//! qualified name and leaves out template arguments, parameters and the return type. Mangled names of Fortran module
//! procedures become `module::procedure`. What a trace stores is never changed.

use std::sync::atomic::{AtomicBool, Ordering};

static FULL: AtomicBool = AtomicBool::new(false);

/// From now on, [`shown`] and [`SourceLine`](crate::SourceLine) give names as they are stored.
pub fn show_full() {
    FULL.store(true, Ordering::Relaxed);
}

/// A name as people see it: short, unless full names were chosen for this process.
pub fn shown(name: &str) -> String {
    if FULL.load(Ordering::Relaxed) { name.to_owned() } else { short(name) }
}

/// Without template arguments, parameters and return type.
pub fn short(name: &str) -> String {
    if let Some(name) = of_fortran_module(name) {
        return name;
    }
    let name = without_outlining(name);
    if !name.contains(['(', '<']) {
        return name.to_owned();
    }
    let name = name.split(" [clone ").next().unwrap_or(name);
    let kept = without_arguments(name);
    let kept = kept.trim_end_matches(" const").trim_end_matches([' ', '&']);
    let short = without_return_type(kept);
    if short.is_empty() { name.to_owned() } else { short.to_owned() }
}

/// The function that has a parallel region or a task, of which compilers make functions of their own; the same if it has no name.
pub fn without_outlining(name: &str) -> &str {
    const MARKS: [&str; 5] = ["._omp_fn.", " [clone ._omp_fn.", ".omp_outlined", ".omp_task_entry", ".omp."];
    let end = MARKS.iter().filter_map(|mark| name.find(mark)).min();
    end.filter(|end| *end > 0).map_or(name, |end| &name[..end])
}

/// `__solver_MOD_step` (gfortran), `solver_mp_step_` (Intel) and `_QMsolverPstep` (flang).
fn of_fortran_module(name: &str) -> Option<String> {
    let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (module, procedure) = if let Some(rest) = name.strip_prefix("__") {
        rest.split_once("_MOD_")?
    } else if let Some(rest) = name.strip_prefix("_QM") {
        rest.split_once('P')?
    } else {
        let (module, rest) = name.split_once("_mp_")?;
        (module, rest.strip_suffix('_')?)
    };
    (plain(module) && plain(procedure)).then(|| format!("{module}::{procedure}"))
}

/// Leaves out what stands in brackets, but not the brackets of operators, lambdas and anonymous namespaces.
fn without_arguments(name: &str) -> String {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let mut kept = String::new();
    let (mut depth, mut rest) = (0_usize, name);
    while let Some(first) = rest.chars().next() {
        if depth == 0 && rest.starts_with(ANONYMOUS) {
            kept.push_str(ANONYMOUS);
            rest = &rest[ANONYMOUS.len()..];
            continue;
        }
        if let Some(symbol) = operator(rest).filter(|_| !kept.ends_with(is_of_word)) {
            if depth == 0 {
                kept.push_str(&rest[..symbol]);
            }
            rest = &rest[symbol..];
            continue;
        }
        match first {
            '(' | '<' => depth += 1,
            // An arrow in a decltype closes nothing.
            '>' if kept.ends_with('-') && depth == 0 => kept.push(first),
            ')' | '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(first),
            _ => {}
        }
        rest = &rest[first.len_utf8()..];
    }
    kept
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// How long `operator` and its symbol are at the start of a text.
fn operator(text: &str) -> Option<usize> {
    const WORD: &str = "operator";
    const SYMBOLS: [&str; 12] = ["()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<"];
    let symbol = text.strip_prefix(WORD)?;
    let longest = SYMBOLS.into_iter().chain([">"]).find(|known| symbol.starts_with(known))?;
    Some(WORD.len() + longest.len())
}

/// The last word: what stands before it is the type that a template function returns.
fn without_return_type(name: &str) -> &str {
    let end = name.find("operator").unwrap_or(name.len());
    let mut spaces = name[..end].rmatch_indices(' ').map(|(at, _)| at);
    spaces.find(|at| !name[..*at].ends_with("(anonymous")).map_or(name, |at| &name[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn arguments_and_return_types_are_left_out() {
        let names = [
            ("main", "main"),
            ("halo::exchange(Grid const&, int)", "halo::exchange"),
            ("void halo::exchange<double, 3>(Grid<double> const&) [clone .cold]", "halo::exchange"),
            ("std::vector<int>::push_back(int&&)", "std::vector::push_back"),
            ("Grid<double>::size() const", "Grid::size"),
            ("(anonymous namespace)::step(int)", "(anonymous namespace)::step"),
            ("void (anonymous namespace)::step<int>(int)", "(anonymous namespace)::step"),
            ("run(int)::{lambda(double)#1}::operator()(double) const", "run::{lambda#1}::operator()"),
            ("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<"),
            ("Matrix::operator[](unsigned long)", "Matrix::operator[]"),
            ("bool Key::operator<(Key const&) const", "Key::operator<"),
            ("Vector<double> Vector<double>::operator-<float>(float)", "Vector::operator-"),
            ("libhalo.so+0x1f3", "libhalo.so+0x1f3"),
        ];
        for (name, expected) in names {
            assert_eq!(short(name), expected, "{name}");
        }
    }

    #[test]
    fn fortran_modules_are_demangled() {
        let names = [
            ("__solver_MOD_step", "solver::step"),
            ("solver_mp_step_", "solver::step"),
            ("_QMsolverPstep", "solver::step"),
            ("__libc_start_main", "__libc_start_main"),
            ("omp_mp_", "omp_mp_"),
        ];
        for (name, expected) in names {
            assert_eq!(short(name), expected);
        }
    }
}
