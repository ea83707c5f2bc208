//! Wrappers around MPI's functions in C, made from the table of functions: they write down each call, and give room to
//! calls of skeletons that have none for their payload.

use kizami_model::function::{Passing, mpi_functions};
use kizami_model::{Family, Function, role_of};
use std::fmt::Write;

const START: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int PMPI_Comm_rank(H, void *);
int PMPI_Comm_size(H, void *);
int PMPI_Type_size(H, void *);
static char *room;
static FILE *file;
static int rank = -1;
static void *payload(void *p, int number)
{
    if (p) return p;
    if (!room) room = calloc(1, 1 << 28);
    return room + ((long)(number % 4) << 26);
}
static int type_size(H type) { int size = -1; PMPI_Type_size(type, &size); return size; }
static int comm_size(H comm) { int size = -1; PMPI_Comm_size(comm, &size); return size; }
static void begin(void)
{
    char path[4096];
    PMPI_Comm_rank(WORLD, &rank);
    if (!getenv("CALLS")) return;
    snprintf(path, sizeof path, "%s/%d", getenv("CALLS"), rank);
    file = fopen(path, "w");
}
static int site_now = -1;
void __kizami_site(int site) { site_now = site; }
void __kizami_trips(int loop, long long count)
{
    static FILE *trips;
    char path[4096];
    if (!getenv("TRIPS") || rank < 0) return;
    snprintf(path, sizeof path, "%s/%d", getenv("TRIPS"), rank);
    if (!trips) trips = fopen(path, "w");
    fprintf(trips, "%d %lld\n", loop, count);
    fflush(trips);
}
long long __kizami_leaning(long long times, long long first, long long each, long long step)
{
    long long sum = 0;
    for (long long i = 0; i < times; i++)
        if (first + each * i > 0) sum += (first + each * i) / step;
    return sum;
}
long long __kizami_oracle(int oracle)
{
    static FILE *values[4096];
    static long long value[4096];
    static unsigned long long left[4096];
    if (!values[oracle]) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d.values", getenv("OBSERVED"), rank);
        values[oracle] = fopen(path, "r");
        char line[256];
        fgets(line, sizeof line, values[oracle]);
    }
    while (!left[oracle]) {
        int which;
        if (fscanf(values[oracle], "%d %lld %llu", &which, &value[oracle], &left[oracle]) != 3) {
            fprintf(stderr, "oracle %d has no more values\n", oracle);
            abort();
        }
        if (which != oracle) left[oracle] = 0;
    }
    left[oracle]--;
    return value[oracle];
}
"#;

/// The source of the wrappers, for an MPI whose handles are pointers or numbers.
pub fn source(handles_are_pointers: bool) -> String {
    let (handle, world) =
        if handles_are_pointers { ("void *", "(&ompi_mpi_comm_world)") } else { ("int", "0x44000000") };
    let mut text = format!(
        "typedef {handle} H;\nextern char ompi_mpi_comm_world[];\n#define WORLD ((H)(long){world})\n"
    );
    text.push_str(START);
    for function in mpi_functions().iter().filter(|function| is_compared(function)) {
        wrapper(function, &mut text);
    }
    text
}

fn is_compared(function: &Function) -> bool {
    let name = function.name.to_ascii_lowercase();
    let unlike = ["errhandler", "_info", "_attr", "keyval", "_name", "_c2f", "_f2c"];
    let variadic = function.arguments.iter().any(|argument| argument.passing == Passing::Variadic);
    let of_interest = match function.family {
        Family::Environment => matches!(function.shape_name, "init" | "finalize"),
        Family::Datatype => matches!(function.shape_name, "type_new" | "type_free"),
        _ => true,
    };
    of_interest && !variadic && !name.ends_with("_c") && !unlike.iter().any(|word| name.contains(word))
}

fn wrapper(function: &Function, text: &mut String) {
    let typed = |passing| match passing {
        Passing::Int => "int",
        Passing::Wide => "long",
        Passing::Handle => "H",
        Passing::Double => "double",
        _ => "void *",
    };
    let parameters: Vec<String> = function
        .arguments
        .iter()
        .map(|argument| format!("{} {}_", typed(argument.passing), argument.name))
        .collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let name = function.name;
    let _ = writeln!(text, "int P{name}({parameters}) __attribute__((weak));\nint {name}({parameters})\n{{");
    let mut format = name.to_owned();
    let mut values = String::new();
    let mut passed = Vec::new();
    for (number, argument) in function.arguments.iter().enumerate() {
        let role = role_of(function, number);
        let own = format!("{}_", argument.name);
        let message = matches!(function.family, Family::PointToPoint | Family::Collective);
        match argument.passing {
            Passing::Int | Passing::Wide => {
                let _ = write!(format, " {}=%ld", argument.name);
                let _ = write!(values, ", (long){own}");
            }
            Passing::Handle if message && argument.name.contains("type") => {
                let _ = write!(format, " {}=%d", argument.name);
                let _ = write!(values, ", type_size({own})");
            }
            Passing::Handle if message && argument.name == "comm" => {
                format.push_str(" of=%d");
                let _ = write!(values, ", comm_size({own})");
            }
            _ => {}
        }
        passed.push(if role.is_data() { format!("payload({own}, {number})") } else { own });
    }
    let init = function.shape_name == "init";
    let log = format!("    if (file) fprintf(file, \"{format}\\n\"{values});\n");
    let end = if function.shape_name == "finalize" { "    if (file) fflush(file);\n" } else { "" };
    let call = format!("P{name}({})", passed.join(", "));
    if init {
        let _ = writeln!(text, "    int result = {call};\n    begin();\n    return result;\n}}");
    } else {
        let _ = writeln!(text, "{log}{end}    return {call};\n}}");
    }
}
