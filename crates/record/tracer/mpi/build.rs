//! Writes the wrappers, and the way to MPI's own functions: for every function of the table an exported stub and a body that calls the real
//! function between `enter` and `leave` and hands the arguments that matter to the shape's hook.
//!
//! Why the generated `unsafe` is sound: a body has exactly the arguments the table gives the function, passed
//! as MPI passes them, and forwards them untouched to the function of the same name behind us; hooks look only at
//! what MPI itself may look at. Exceptions pass through a body: see `left`.

use kizami_model::EntryNote;
use kizami_model::function::{Function, Passing, mpi_functions};
use std::fmt::Write;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../../base/model/src/functions.txt");
    let mut text: String = mpi_functions().iter().map(wrapper).collect();
    text.push_str(&stubs());
    let directory = std::env::var("OUT_DIR").expect("cargo sets it");
    let own: String = mpi_functions().iter().map(own_function).collect();
    for (name, text) in [("wrappers", text), ("own", own)] {
        std::fs::write(format!("{directory}/{name}.rs"), text).expect("the build directory can be written");
    }
}

/// The MPI library's own function, for the tracer itself: with the table's arguments, so that the compiler finds what is
/// missing or of another kind.
fn own_function(function: &Function) -> String {
    let names: Vec<String> = function.arguments.iter().enumerate().map(|(i, a)| name(a.name, i)).collect();
    let is_place = |passing| matches!(passing, Passing::Pointer | Passing::Variadic);
    let (mut parameters, mut values) = (Vec::new(), Vec::new());
    for (name, argument) in names.iter().zip(&function.arguments) {
        let place = is_place(argument.passing);
        let kind = if place { "impl crate::real::Place" } else { rust_type(argument.passing) };
        parameters.push(format!("{name}: {kind}"));
        values.push(format!("{name}{}", if place { ".word()" } else { "" }));
    }
    let types: Vec<&str> = function.arguments.iter().map(|a| rust_type(a.passing)).collect();
    format!(
        "pub unsafe fn {name}({parameters}) -> {result} {{\n\
         type Real = unsafe extern \"C\" fn({types}) -> {result};\n\
         let real: Real = unsafe {{ std::mem::transmute(crate::real::own_address(kizami_model::Op({op}))) }};\n\
         unsafe {{ real({values}) }}\n\
         }}\n",
        name = function.name,
        parameters = parameters.join(", "),
        result = rust_type(function.result),
        types = types.join(", "),
        op = function.op.0,
        values = values.join(", "),
    )
}

/// A table of all stubs, by plain and by profiling name, in the order of the functions.
fn stubs() -> String {
    let rows: String = mpi_functions()
        .iter()
        .map(|function| format!("[{name}, P{name}],\n", name = function.name))
        .collect();
    format!(
        "pub static STUBS: [[unsafe extern \"C\" fn(); 2]; {count}] = [\n{rows}];\n",
        count = mpi_functions().len()
    )
}

fn wrapper(function: &Function) -> String {
    let names: Vec<String> = function.arguments.iter().enumerate().map(|(i, a)| name(a.name, i)).collect();
    let types: Vec<&str> = function.arguments.iter().map(|a| rust_type(a.passing)).collect();
    let parameters: Vec<String> =
        names.iter().zip(&types).map(|(name, kind)| format!("{name}: {kind}")).collect();
    let result = rust_type(function.result);
    let (before, after) = hook(function);
    let leave = match function.result {
        Passing::Int => "call.leave(result);",
        _ => "call.leave_with_value();",
    };
    let mut text = String::new();
    let body = format!("body_{}", function.name);
    write!(
        text,
        "crate::arch::export!({name}, P{name}, {op}, {body});\n\
         unsafe extern \"C-unwind\" fn {body}({parameters}) -> {result} {{\n\
         const OP: kizami_model::Op = kizami_model::Op({op});\n\
         type Real = unsafe extern \"C-unwind\" fn({types}) -> {result};\n\
         crate::left::tell_of_unwinding();\n\
         let real: Real = unsafe {{ std::mem::transmute(crate::real::address(OP)) }};\n\
         let Some(mut call) = crate::call::Call::enter(OP, kizami_model::Shape::{shape:?}, crate::lifecycle::wake, {note}) else {{\n\
         return unsafe {{ real({names}) }};\n\
         }};\n\
         {before}\n\
         let result = unsafe {{ real({names}) }};\n\
         {leave}\n\
         {after}\n\
         result\n\
         }}\n",
        name = function.name,
        parameters = parameters.join(", "),
        op = function.op.0,
        types = types.join(", "),
        shape = function.shape,
        note = note(function),
        names = names.join(", "),
    )
    .expect("strings can be written to");
    text
}

fn rust_type(passing: Passing) -> &'static str {
    match passing {
        Passing::Int => "i32",
        Passing::Wide => "i64",
        Passing::Handle | Passing::FileHandle | Passing::Pointer | Passing::Variadic => "usize",
        Passing::Double => "f64",
    }
}

/// The argument's name, made fit for Rust.
fn name(name: &str, index: usize) -> String {
    match name {
        "" => format!("variadic_{index}"),
        "type" | "ref" | "in" | "call" | "result" | "real" => format!("{name}_"),
        name => name.to_owned(),
    }
}

/// What is done before and after the real function, by shape.
fn hook(function: &Function) -> (String, String) {
    let has = |name: &str| function.arguments.iter().any(|argument| argument.name == name);
    let own_status =
        "let mut own_status = crate::status::Own::new(); let status = own_status.instead_of(status);";
    let h = "crate::hooks::";
    let pair = |before: &str, after: &str| (before.to_owned(), after.to_owned());
    let after = |text: String| (String::new(), text);
    match function.shape_name {
        "timed" => after(format!("{h}timed(call);")),
        "comm" => after(format!("{h}on_communicator(call, comm);")),
        "send" => after(format!("{h}message::send(call, count as i64, datatype, dest, tag, comm);")),
        "isend" | "send_init" | "irecv" | "recv_init" => {
            let rank = if has("dest") { "dest" } else { "source" };
            let hook = function.shape_name;
            after(format!("{h}message::{hook}(call, count as i64, datatype, {rank}, tag, comm, request);"))
        }
        "psend_init" | "precv_init" => {
            let hook = if function.shape_name == "psend_init" { "send_init" } else { "recv_init" };
            let count = "partitions as i64 * count";
            after(format!("{h}message::{hook}(call, {count}, datatype, dest, tag, comm, request);"))
        }
        "recv" => pair(own_status, &format!("{h}message::recv(call, source, tag, comm, status);")),
        "sendrecv" | "sendrecv_replace" | "isendrecv" | "isendrecv_replace" => {
            send_receive(function, own_status)
        }
        "probe" => pair(own_status, &format!("{h}message::probe(call, source, tag, comm, true, status, 0);")),
        "mprobe" => {
            pair(own_status, &format!("{h}message::probe(call, source, tag, comm, true, status, message);"))
        }
        "iprobe" | "improbe" => {
            let message = if has("message") { "message" } else { "0" };
            let found = "unsafe { *(flag as *const i32) } != 0";
            pair(
                own_status,
                &format!("{h}message::probe(call, source, tag, comm, {found}, status, {message});"),
            )
        }
        "mrecv" => (
            format!("{own_status} let matched = {h}message::message_handle(message);"),
            format!("{h}message::mrecv(call, matched, status);"),
        ),
        "imrecv" => (
            format!("let matched = {h}message::message_handle(message);"),
            format!("{h}message::imrecv(call, count as i64, datatype, matched, request);"),
        ),
        "wait" | "waitall" | "waitany" | "waitsome" | "test" | "testall" | "testany" | "testsome" => {
            completion(function.shape_name, own_status)
        }
        "start" => (
            format!("{h}completion::note_handles(&mut call, request, 1);"),
            format!("{h}completion::start(call, request);"),
        ),
        "startall" => (
            format!("{h}completion::note_handles(&mut call, array_of_requests, count);"),
            format!("{h}completion::start(call, array_of_requests);"),
        ),
        "request_free" => (
            format!("{h}completion::note_handles(&mut call, request, 1);"),
            format!("{h}completion::request_free(call);"),
        ),
        "request_get_status" => after(format!(
            "{h}completion::request_get_status(call, unsafe {{ *(flag as *const i32) }} != 0);"
        )),
        "cancel" => after(format!("{h}completion::cancel(call);")),
        "grequest" => after(format!(
            "let mut record = call.record(); \
             {h}message::post(&call, &mut record, crate::requests::Kind::Plain, 0, request); \
             call.finish(&record);"
        )),
        "comm_new" => {
            let (parent, place) = (&function.arguments[0].name, last_pointer(function));
            let kind = comm_kind(function.name);
            after(format!("{h}communicator::made(call, {parent}, {place}, kizami_model::CommKind::{kind});"))
        }
        "comm_create_group" => after(format!(
            "{h}communicator::made_by_members(call, comm, tag, newcomm, kizami_model::CommKind::Create);"
        )),
        "intercomm_create" => after(format!(
            "{h}communicator::made_by_members(call, local_comm, tag, newintercomm, kizami_model::CommKind::Inter);"
        )),
        "comm_idup" => after(format!("{h}communicator::duplicating(call, comm, newcomm, request);")),
        "comm_free" => (
            format!("let freed = {h}communicator::about_to_free(&mut call, comm);"),
            format!("{h}communicator::freed(call, freed);"),
        ),
        "comm_name" => after(format!("{h}communicator::named(call, comm, comm_name);")),
        "init" => after(format!("{h}environment::initialised(call);")),
        "session_init" => after(format!("{h}environment::session_begun(call);")),
        "session_finalize" => after(format!("{h}environment::session_ended(call);")),
        "finalize" => {
            ("crate::rendezvous::end(&mut call);".to_owned(), format!("{h}environment::finalised(call);"))
        }
        // The real function does not return, so the record is stored before it is called.
        "abort" => pair(&format!("{h}environment::aborting(&mut call, errorcode);"), "call.release();"),
        "pcontrol" => after(format!("{h}environment::pcontrol(call, level, variadic_1);")),
        "rma_out" | "rma_in" | "rma_both" | "rma_word" => one_sided(function),
        "win" => after(format!("{h}object::window(call, win, None);")),
        "win_lock" => after(format!("{h}object::window_locked(call, win, rank, lock_type);")),
        "win_group" => after(format!("{h}object::window_for_group(call, win, group);")),
        "win_test" => {
            after(format!("{h}object::window_tested(call, win, unsafe {{ *(flag as *const i32) }} != 0);"))
        }
        "win_rank" => after(format!("{h}object::window(call, win, Some(rank));")),
        "win_new" => {
            let bytes = if has("size") { "size as u64" } else { "0" };
            after(format!("{h}object::window_made(call, comm, {bytes}, win);"))
        }
        "win_free" => freed("Window", "win"),
        "file" => after(format!("{h}object::file(call, fh);")),
        "file_open" => after(format!("{h}object::file_opened(call, comm, filename, fh);")),
        "file_close" => freed("File", "fh"),
        "type_new" => {
            after(format!("{h}object::datatype_made(call, {:?}, {});", function.name, last_pointer(function)))
        }
        "type_free" => freed("Datatype", "datatype"),
        "io_out" | "io_in" | "io_end_out" | "io_end_in" => {
            let direction = direction(function);
            pair(own_status, &format!("{h}object::transfer(call, fh, {direction}, status);"))
        }
        // What a split access moved is known at its end.
        "io_begin_out" | "io_begin_in" => after(format!("{h}object::file(call, fh);")),
        "iio_out" | "iio_in" => {
            let direction = direction(function);
            let asked = format!("{h}object::Elements {{ count: count as i64, datatype }}");
            after(format!("{h}object::transfer_started(call, fh, {direction}, {asked}, request);"))
        }
        collective => after(collective_hook(function, collective)),
    }
}

/// What is noted of the call before it is made.
fn note(function: &Function) -> String {
    let has = |name: &str| function.arguments.iter().any(|argument| argument.name == name);
    let h = "crate::hooks::entry::";
    match EntryNote::of(function) {
        EntryNote::Nothing => "|_| ()".to_owned(),
        EntryNote::Message => {
            let rank = if has("dest") { "dest" } else { "source" };
            format!("|note| {h}message(note, {rank}, tag, comm)")
        }
        EntryNote::TwoMessages => {
            format!("|note| {h}two_messages(note, (dest, sendtag), (source, recvtag), comm)")
        }
        EntryNote::Collective { rooted: true } => format!("|note| {h}rooted(note, root, comm)"),
        EntryNote::Collective { rooted: false } => format!("|note| {h}object(note, comm)"),
        EntryNote::Requests { .. } => {
            let count = ["count", "incount"].into_iter().find(|name| has(name)).unwrap_or("1");
            format!("|note| {h}requests(note, {count})")
        }
        EntryNote::Communicator => format!("|note| {h}object(note, {})", first_handle(function)),
        EntryNote::Window { ranked: false, .. } => format!("|note| {h}object(note, win)"),
        EntryNote::Window { locks: false, .. } => format!("|note| {h}rooted(note, rank, win)"),
        EntryNote::Window { .. } => format!("|note| {h}lock(note, rank, lock_type, win)"),
        EntryNote::File => format!("|note| {h}object(note, fh)"),
    }
}

/// The communicator that something is made from comes first among the handles of communicators.
fn first_handle(function: &Function) -> &'static str {
    let named = function.arguments.iter().map(|argument| argument.name);
    named.into_iter().find(|name| name.contains("comm")).expect("something is made from a communicator")
}

fn direction(function: &Function) -> String {
    let way = if function.shape_name.ends_with("out") { "Out" } else { "In" };
    format!("crate::hooks::object::Direction::{way}")
}

fn freed(kind: &str, place: &str) -> (String, String) {
    let kind = format!("kizami_model::ObjectKind::{kind}");
    (
        format!("let freed = crate::hooks::object::about_to_free({kind}, {place});"),
        format!("crate::hooks::object::freed(call, {kind}, freed);"),
    )
}

/// New objects are returned through the last pointer argument.
fn last_pointer(function: &Function) -> &'static str {
    let last = function.arguments.iter().rev().find(|argument| argument.passing == Passing::Pointer);
    last.expect("a function that makes something has a place for it").name
}

fn comm_kind(name: &str) -> &'static str {
    match name {
        "MPI_Comm_dup" | "MPI_Comm_dup_with_info" => "Duplicate",
        "MPI_Comm_split" | "MPI_Comm_split_type" => "Split",
        "MPI_Comm_create" => "Create",
        "MPI_Cart_create" | "MPI_Cart_sub" => "Cartesian",
        "MPI_Graph_create" => "Graph",
        "MPI_Dist_graph_create" | "MPI_Dist_graph_create_adjacent" => "DistributedGraph",
        "MPI_Intercomm_merge" => "Merge",
        other => panic!("what kind of communicator does {other} make?"),
    }
}

fn send_receive(function: &Function, own_status: &str) -> (String, String) {
    let replaces = function.shape_name.ends_with("replace");
    let (send, receive) = if replaces {
        ("count: count as i64, datatype", "count: count as i64, datatype")
    } else {
        ("count: sendcount as i64, datatype: sendtype", "count: recvcount as i64, datatype: recvtype")
    };
    let m = "crate::hooks::message::";
    let halves = format!(
        "{m}Halves {{ send: {m}Half {{ {send}, rank: dest, tag: sendtag }}, \
         receive: {m}Half {{ {receive}, rank: source, tag: recvtag }}, comm }}"
    );
    if function.shape_name.starts_with('i') {
        (String::new(), format!("{m}isendrecv(call, &{halves}, request);"))
    } else {
        (own_status.to_owned(), format!("{m}sendrecv(call, &{halves}, status);"))
    }
}

fn completion(shape: &str, own_status: &str) -> (String, String) {
    let c = "crate::hooks::completion::";
    let several = format!(
        "{c}note_handles(&mut call, array_of_requests, COUNT); \
         let array_of_statuses = crate::status::array_instead_of(&mut call.thread().statuses, array_of_statuses, COUNT);"
    );
    let one_of = format!("{c}note_handles(&mut call, array_of_requests, count); {own_status}");
    let one = format!("{c}note_handles(&mut call, request, 1); {own_status}");
    let flag = "if unsafe { *(flag as *const i32) } != 0";
    let index = "unsafe { *(indx as *const i32) }";
    let found = "unsafe { *(outcount as *const i32) }";
    let all = format!("{c}all(call, array_of_requests, array_of_statuses);");
    let any = format!("{c}any(call, array_of_requests, {index}, status);");
    let some = format!("{c}some(call, array_of_requests, {found}, array_of_indices, array_of_statuses);");
    let none = format!("{c}none(call);");
    match shape {
        "wait" => (one, format!("{c}all(call, request, status);")),
        "test" => (one, format!("{flag} {{ {c}all(call, request, status); }} else {{ {none} }}")),
        "waitall" => (several.replace("COUNT", "count"), all),
        "testall" => (several.replace("COUNT", "count"), format!("{flag} {{ {all} }} else {{ {none} }}")),
        "waitany" => (one_of, any),
        "testany" => (one_of, format!("{flag} {{ {any} }} else {{ {none} }}")),
        "waitsome" => (several.replace("COUNT", "incount"), some),
        // Zero means that nothing was done; a negative number that no request was active.
        _ => (several.replace("COUNT", "incount"), format!("if {found} != 0 {{ {some} }} else {{ {none} }}")),
    }
}

fn one_sided(function: &Function) -> (String, String) {
    let o = "crate::hooks::object::";
    let none = format!("{o}Elements {{ count: 0, datatype: 0 }}");
    let origin = format!("{o}Elements {{ count: origin_count as i64, datatype: origin_datatype }}");
    let result = format!("{o}Elements {{ count: result_count as i64, datatype: result_datatype }}");
    let word = format!("{o}Elements {{ count: 1, datatype }}");
    let (out, obtained) = match function.shape_name {
        "rma_out" => (origin, none),
        "rma_in" => (none, origin),
        "rma_both" => (origin, result),
        _ => (word.clone(), word),
    };
    let request = if function.arguments.iter().any(|a| a.name == "request") { "request" } else { "0" };
    (String::new(), format!("{o}access(call, win, target_rank, {out}, {obtained}, {request});"))
}

fn collective_hook(function: &Function, shape: &str) -> String {
    let c = "crate::hooks::collective::";
    let (mode, base) = match shape.split_once(':') {
        Some(("i", base)) => (format!("{c}Mode::Started(request)"), base),
        Some(("init", base)) => (format!("{c}Mode::Persistent(request)"), base),
        _ => (format!("{c}Mode::Blocking"), shape),
    };
    let variant: String = base.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    const FIELDS: [(&str, &str); 13] = [
        ("sendbuf", ""),
        ("recvbuf", ""),
        ("count", " as i64"),
        ("datatype", ""),
        ("sendcount", " as i64"),
        ("sendtype", ""),
        ("recvcount", " as i64"),
        ("recvtype", ""),
        ("sendcounts", ""),
        ("sendtypes", ""),
        ("recvcounts", ""),
        ("recvtypes", ""),
        ("root", ""),
    ];
    let mut fields = String::new();
    for (field, cast) in FIELDS {
        if function.arguments.iter().any(|argument| argument.name == field) {
            let value = if cast.is_empty() { String::new() } else { format!(": {field}{cast}") };
            write!(fields, "{field}{value}, ").expect("strings can be written to");
        }
    }
    let wide = function.name.ends_with("_c");
    format!(
        "{c}collective(call, {c}Collective::{variant}, comm, \
         &{c}Arguments {{ {fields} wide: {wide}, ..Default::default() }}, {mode});"
    )
}
