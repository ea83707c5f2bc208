//! Reading a launcher's command line: where its own options end, and how many ranks it starts.
//!
//! Only as much is understood as names need and as is safe to change. The options that take values are
//! listed; an option that is not listed makes the answer "not known", never a guess, because a wrong guess
//! could change an argument of the application.

use super::launcher::Launcher;
use crate::failure::UsageError;
use std::ffi::{OsStr, OsString};

/// One program of a launch; several are separated by `:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Index of its first word in the command.
    pub begin: usize,
    /// Index behind its last word.
    pub end: usize,
    /// Index of the program, if the options before it were all understood.
    pub program: Option<usize>,
    /// Number of ranks, if it is given.
    pub ranks: Option<u32>,
}

/// Refuses a command that begins with an option: one that `kizami COMMAND` does not know would else be run as a program.
pub fn refuse_option(command: &[OsString], name: &str) -> Result<(), UsageError> {
    match command.first().and_then(|word| word.to_str()).filter(|word| word.starts_with('-')) {
        None => Ok(()),
        Some(word) => Err(UsageError(format!(
            "{word} is no option of kizami {name}: `kizami {name} --help` lists them; the program to run comes after --"
        ))),
    }
}

/// The programs of a command whose first word is the launcher. Without a launcher the command is the program.
pub fn contexts(launcher: Launcher, command: &[OsString]) -> Vec<Context> {
    if launcher == Launcher::None {
        return vec![Context { begin: 0, end: command.len(), program: Some(0), ranks: None }];
    }
    let separators = (1..command.len()).filter(|index| command[*index] == ":");
    let begins = std::iter::once(1).chain(separators.clone().map(|index| index + 1));
    let ends = separators.chain(std::iter::once(command.len()));
    begins.zip(ends).map(|(begin, end)| context(launcher, command, begin, end)).collect()
}

/// All ranks of a launch, if every part says its own.
pub fn total_ranks(contexts: &[Context]) -> Option<u32> {
    contexts.iter().map(|context| context.ranks).try_fold(0, |sum: u32, ranks| sum.checked_add(ranks?))
}

/// The program and its arguments, of the first context that is understood.
pub fn first_program<'a>(
    contexts: &[Context],
    command: &'a [OsString],
) -> Option<(&'a OsStr, &'a [OsString])> {
    let context = contexts.first()?;
    let program = context.program?;
    Some((&command[program], &command[program + 1..context.end]))
}

fn context(launcher: Launcher, command: &[OsString], begin: usize, end: usize) -> Context {
    let mut found = Context { begin, end, program: None, ranks: None };
    let mut index = begin;
    while index < end {
        let Some(word) = command[index].to_str() else { return found };
        if !word.starts_with('-') || word == "-" {
            found.program = Some(index);
            return found;
        }
        if word == "--" {
            found.program = Some(index + 1).filter(|program| *program < end);
            return found;
        }
        let (name, attached) = option_parts(launcher, word);
        let Some(values) = values_of(launcher, name) else { return found };
        if RANK_OPTIONS.contains(&name) && !(launcher == Launcher::Srun && matches!(name, "c" | "np")) {
            let value = attached.or_else(|| command.get(index + 1).and_then(|value| value.to_str()));
            found.ranks = value.and_then(|value| value.parse().ok());
        }
        // Hydra takes a variable in two words, or as NAME=VALUE in one.
        let assigned = values == 2
            && launcher == Launcher::Hydra
            && command.get(index + 1).is_some_and(|word| word.to_string_lossy().contains('='));
        index += 1 + if attached.is_some() { 0 } else { values - usize::from(assigned) };
    }
    found
}

const RANK_OPTIONS: [&str; 4] = ["n", "np", "c", "ntasks"];

/// Splits `--name=value` and, for srun, `-n4` into name and value.
fn option_parts(launcher: Launcher, word: &str) -> (&str, Option<&str>) {
    let name = word.trim_start_matches('-');
    if let Some((name, value)) = name.split_once('=') {
        return (name, Some(value));
    }
    let short = !word.starts_with("--");
    if launcher == Launcher::Srun && short && name.len() > 1 && name.is_char_boundary(1) {
        let (letter, rest) = name.split_at(1);
        if SRUN_WITH_VALUE.split_whitespace().any(|option| option == letter) {
            return (letter, Some(rest));
        }
    }
    (name, None)
}

/// How many words after the option belong to it; `None` for an option that is not known.
fn values_of(launcher: Launcher, name: &str) -> Option<usize> {
    let (two, one, none) = match launcher {
        Launcher::OpenMpi => (OPEN_MPI_WITH_TWO, OPEN_MPI_WITH_VALUE, OPEN_MPI_ALONE),
        Launcher::Hydra => (HYDRA_WITH_TWO, HYDRA_WITH_VALUE, HYDRA_ALONE),
        Launcher::Srun => ("", SRUN_WITH_VALUE, SRUN_ALONE),
        Launcher::Smpi => ("", SMPI_WITH_VALUE, SMPI_ALONE),
        Launcher::None => return None,
    };
    let lists = |list: &str| list.split_whitespace().any(|option| option == name);
    match () {
        () if lists(two) => Some(2),
        () if lists(one) => Some(1),
        () if lists(none) => Some(0),
        () => None,
    }
}

// Options of Open MPI 4 and 5, with one dash or two.
const OPEN_MPI_WITH_TWO: &str = "mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca";
const OPEN_MPI_WITH_VALUE: &str = "am app bind-to c n np cf cartofile cpu-list cpu-set cpus-per-proc \
    cpus-per-rank debugger default-hostfile H host hnp hostfile launch-agent machinefile map-by max-restarts \
    max-vm-size N npernode npersocket ompi-server output-filename path personality ppr prefix preload-files \
    rank-by report-events report-pid report-uri rf rankfile stdin timeout tune wd wdir x xml-file xterm \
    output display runtime-options add-host add-hostfile stream-buffering pset dvm-uri pid \
    spawn-timeout with-ft memory-alloc-kinds num-connect-retries";
const OPEN_MPI_ALONE: &str = "allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d \
    debug debug-devel debug-daemons debug-daemons-file disable-recovery display-allocation \
    display-devel-allocation display-devel-map display-diffable-map display-map display-topo do-not-launch \
    do-not-resolve dvm enable-recovery get-stack-traces index-argv-by-rank leave-session-attached \
    merge-stderr-to-stdout nolocal nooversubscribe noprefix novm output-proctable oversubscribe pernode q \
    quiet report-bindings report-child-jobs-separately report-state-on-timeout s preload-binary \
    set-cwd-to-session-dir show-progress tag-output timestamp-output tv use-hwthread-cpus use-regexp v \
    verbose xml daemonize forward-signals exec-agent";

// Options of Hydra (MPICH, Intel MPI, MVAPICH).
const HYDRA_WITH_TWO: &str = "genv env";
const HYDRA_WITH_VALUE: &str = "n np genvlist envlist f hosts host hostlist hostfile machinefile wdir dir \
    configfile path launcher launcher-exec bootstrap bootstrap-exec rmk topolib bind-to map-by membind demux \
    iface ppn perhost rr prepend-pattern outfile-pattern errfile-pattern usize gpus-per-proc order-nodes arch \
    nameserver timeout errfile outfile pmi-timeout skip-hosts";
const HYDRA_ALONE: &str = "genvnone genvall envnone envall enable-x disable-x verbose v info \
    print-all-exitcodes print-rank-map profile prepend-rank l localonly nolocal disable-auto-cleanup \
    disable-hostname-propagation noconf debug";

// Options of Slurm's srun.
const SRUN_WITH_VALUE: &str = "A account b begin c cpus-per-task C constraint d dependency D chdir e error \
    export F nodefile G gpus gres i input J job-name m distribution M clusters mem mem-per-cpu mem-per-gpu \
    mpi n ntasks N nodes network nice ntasks-per-core ntasks-per-node ntasks-per-socket ntasks-per-gpu \
    o output p partition q qos r relative R reservation S core-spec t time T threads w nodelist W wait x \
    exclude cpu-bind cpu-freq gpu-bind gpus-per-node gpus-per-task jobid het-group \
    task-prolog task-epilog tasks-per-node threads-per-core signal multi-prog-file";
const SRUN_ALONE: &str = "E preserve-env exact exclusive H hold I immediate k no-kill K kill-on-bad-exit l \
    label O overcommit overlap pty Q quiet s oversubscribe u unbuffered v verbose X disable-status Z \
    no-allocate spread-job use-min-nodes contiguous";

// Options of SimGrid's smpirun.
const SMPI_WITH_VALUE: &str = "np n bandwidth latency platform hostfile machinefile replay trace-comment \
    trace-comment-file trace-file wrapper cfg log";
const SMPI_ALONE: &str = "no-privatize map trace trace-ti trace-grouped trace-resource keep-temps quiet analyze \
    foreground gdb lldb vgdb";

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn programs(launcher: Launcher, line: &str) -> Vec<Option<String>> {
        let command = words(line);
        let name = |index: usize| command[index].to_string_lossy().into_owned();
        contexts(launcher, &command).iter().map(|context| context.program.map(name)).collect()
    }

    fn ranks(launcher: Launcher, line: &str) -> Option<u32> {
        total_ranks(&contexts(launcher, &words(line)))
    }

    #[test]
    fn open_mpi_lines() {
        let lines = [
            ("mpirun ./app", None),
            ("mpirun -n 4 ./app -n 9", Some(4)),
            ("mpirun --np 4 --oversubscribe ./app", Some(4)),
            ("mpirun --mca mpi_yield_when_idle 1 -x FOO=1 -np 16 --host a:8,b:8 ./app", Some(16)),
            ("mpirun --map-by ppr:2:node --bind-to core -c 3 ./app", Some(3)),
            ("mpirun --prtemca a b --n 2 -- ./app", Some(2)),
        ];
        for (line, expected) in lines {
            assert_eq!(programs(Launcher::OpenMpi, line), [Some("./app".to_owned())], "{line}");
            assert_eq!(ranks(Launcher::OpenMpi, line), expected, "{line}");
        }
    }

    #[test]
    fn hydra_lines() {
        let lines = [
            ("mpiexec -n 4 ./app", Some(4)),
            ("mpiexec -genv A 1 -env B 2 -hosts x,y -ppn 2 -np 8 ./app -np 3", Some(8)),
            ("mpiexec -genv A=1 -env B=2 -n 3 ./app", Some(3)),
            ("mpiexec -print-all-exitcodes -l ./app", None),
        ];
        for (line, expected) in lines {
            assert_eq!(programs(Launcher::Hydra, line), [Some("./app".to_owned())], "{line}");
            assert_eq!(ranks(Launcher::Hydra, line), expected, "{line}");
        }
    }

    #[test]
    fn smpi_lines() {
        let lines = [
            (
                "smpirun -np 64 -platform cluster.xml -hostfile hosts --cfg=smpi/host-speed:1Gf ./app -n 3",
                Some(64),
            ),
            ("smpirun -platform cluster.xml -hostfile hosts -keep-temps ./app", None),
        ];
        for (line, expected) in lines {
            assert_eq!(programs(Launcher::Smpi, line), [Some("./app".to_owned())], "{line}");
            assert_eq!(ranks(Launcher::Smpi, line), expected, "{line}");
        }
    }

    #[test]
    fn srun_lines() {
        let lines = [
            ("srun -n4 ./app", Some(4)),
            ("srun -n 4 -c 2 -N1 ./app", Some(4)),
            ("srun --ntasks=12 --mpi=pmix -t 10 ./app", Some(12)),
            ("srun -c 8 ./app", None),
        ];
        for (line, expected) in lines {
            assert_eq!(programs(Launcher::Srun, line), [Some("./app".to_owned())], "{line}");
            assert_eq!(ranks(Launcher::Srun, line), expected, "{line}");
        }
    }

    #[test]
    fn several_programs_add_up() {
        let line = "mpirun -n 1 ./master : -n 3 ./worker -v";
        assert_eq!(
            programs(Launcher::OpenMpi, line),
            [Some("./master".to_owned()), Some("./worker".to_owned())]
        );
        assert_eq!(ranks(Launcher::OpenMpi, line), Some(4));
        assert_eq!(ranks(Launcher::OpenMpi, "mpirun -n 1 ./master : ./worker"), None);
    }

    #[test]
    fn what_is_not_understood_is_not_guessed() {
        assert_eq!(programs(Launcher::OpenMpi, "mpirun --new-option 4 ./app"), [None]);
        assert_eq!(programs(Launcher::Hydra, "mpiexec -n"), [None]);
        assert_eq!(programs(Launcher::Hydra, "mpiexec"), [None]);
        assert_eq!(ranks(Launcher::OpenMpi, "mpirun -n many ./app"), None);
    }

    #[test]
    fn without_a_launcher_the_command_is_the_program() {
        assert_eq!(programs(Launcher::None, "./app : -n 4"), [Some("./app".to_owned())]);
    }
}
