//! Beginning and end, clocks, errors, info, operations.

use super::communicator::{give_text, text};
use super::{Arguments, Handler, Outcome};
use crate::convention::{Library, Object};
use crate::process::{Process, Stop, UserOperation};
use kizami_mpi_stub::reduction::Operation;

pub fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "Init" => init,
        "Init_thread" => init_thread,
        "Finalize" => finalize,
        "Initialized" => initialized,
        "Finalized" => finalized,
        "Abort" => abort,
        "Wtime" => time,
        "Wtick" => tick,
        "Get_processor_name" => processor_name,
        "Get_version" => version,
        "Get_library_version" => library_version,
        "Query_thread" => query_thread,
        "Is_thread_main" => is_main_thread,
        "Pcontrol" | "Errhandler_free" | "Info_free" | "Info_delete" | "Free_mem" => noted,
        "Comm_create_errhandler" | "Errhandler_create" => create_handler,
        "Error_string" => error_string,
        "Error_class" => error_class,
        "Buffer_attach" => attach,
        "Buffer_detach" => detach,
        "Info_create" => info_create,
        "Info_set" => info_set,
        "Info_get" => info_get,
        "Op_create" => op_create,
        "Op_free" => op_free,
        "Op_commutative" => op_commutative,
        "Alloc_mem" => allocate,
        "Reduce_local" => reduce_local,
        _ => return None,
    })
}

fn noted(process: &mut Process, a: &Arguments) -> Outcome {
    process.note_plain(a.op, None);
    if a.op.name() == "MPI_Free_mem" {
        process.heap.free(a.address(0));
    }
    Ok(0)
}

fn init(process: &mut Process, a: &Arguments) -> Outcome {
    process.initialised = true;
    noted(process, a)
}

fn init_thread(process: &mut Process, a: &Arguments) -> Outcome {
    process.initialised = true;
    a.give(3, a.int(2));
    noted(process, a)
}

fn finalize(process: &mut Process, a: &Arguments) -> Outcome {
    process.finalised = true;
    noted(process, a)
}

fn initialized(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(0, i32::from(process.initialised));
    noted(process, a)
}

fn finalized(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(0, i32::from(process.finalised));
    noted(process, a)
}

fn abort(process: &mut Process, a: &Arguments) -> Outcome {
    process.note_plain(a.op, None);
    Err(Stop::Aborted(a.int(1)))
}

fn time(process: &mut Process, a: &Arguments) -> Outcome {
    // Differences of times are never zero, and always the same.
    process.clock += 1e-6;
    process.note_plain(a.op, None);
    Ok(process.clock.to_bits() as i64)
}

fn tick(process: &mut Process, a: &Arguments) -> Outcome {
    process.note_plain(a.op, None);
    Ok(1e-9f64.to_bits() as i64)
}

fn processor_name(process: &mut Process, a: &Arguments) -> Outcome {
    let name = format!("node{}", process.rank / process.ranks_per_node);
    give_text(a, 0, 1, &name);
    noted(process, a)
}

fn version(process: &mut Process, a: &Arguments) -> Outcome {
    let mpich = process.convention.library == Library::Mpich;
    a.give(0, if mpich { 4 } else { 3 });
    a.give(1, if mpich { 0 } else { 1 });
    noted(process, a)
}

fn library_version(process: &mut Process, a: &Arguments) -> Outcome {
    give_text(a, 0, 1, "Kizami's MPI stub");
    noted(process, a)
}

fn query_thread(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(0, 3);
    noted(process, a)
}

fn is_main_thread(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(0, 1);
    noted(process, a)
}

fn create_handler(process: &mut Process, a: &Arguments) -> Outcome {
    // Nothing fails here, so that it is there is all that matters.
    // SAFETY: MPI stores the handler there.
    unsafe { process.convention.store(Object::Errhandler, a.address(1), 0, Some(4)) };
    noted(process, a)
}

fn error_string(process: &mut Process, a: &Arguments) -> Outcome {
    give_text(a, 1, 2, "MPI error");
    noted(process, a)
}

fn error_class(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(1, a.int(0));
    noted(process, a)
}

fn attach(process: &mut Process, a: &Arguments) -> Outcome {
    process.buffer_attached = (a.address(0), a.number(1));
    noted(process, a)
}

fn detach(process: &mut Process, a: &Arguments) -> Outcome {
    a.give_wide(0, process.buffer_attached.0 as i64);
    a.give(1, process.buffer_attached.1 as i32);
    noted(process, a)
}

fn info_create(process: &mut Process, a: &Arguments) -> Outcome {
    process.infos.push(Vec::new());
    let id = process.infos.len() as u32 - 1;
    // SAFETY: MPI stores the info there.
    unsafe { process.convention.store(Object::Info, a.address(0), 0, Some(id)) };
    noted(process, a)
}

fn info_set(process: &mut Process, a: &Arguments) -> Outcome {
    let id = process.convention.decode(Object::Info, a.word(0));
    if let Some(info) = id.and_then(|id| process.infos.get_mut(id as usize))
        && !process.convention.fortran
    {
        info.push((text(a.address(1)), text(a.address(2))));
    }
    noted(process, a)
}

fn info_get(process: &mut Process, a: &Arguments) -> Outcome {
    let id = process.convention.decode(Object::Info, a.word(0));
    let key = text(a.address(1));
    let info = id.and_then(|id| process.infos.get(id as usize));
    let value =
        info.and_then(|info| info.iter().rev().find(|(known, _)| *known == key)).map(|(_, value)| value);
    a.give(4, i32::from(value.is_some()));
    if let Some(value) = value {
        let most = value.len().min(a.int(2).max(0) as usize);
        let to = a.address(3) as *mut u8;
        // SAFETY: the program says that there is room for that many characters and an end.
        unsafe {
            std::ptr::copy_nonoverlapping(value.as_ptr(), to, most);
            *to.add(most) = 0;
        }
    }
    noted(process, a)
}

fn op_create(process: &mut Process, a: &Arguments) -> Outcome {
    process.operations.push(UserOperation { function: a.address(0), commutes: a.int(1) != 0 });
    let id = (Operation::ALL.len() + process.operations.len() - 1) as u32;
    // SAFETY: MPI stores the operation there.
    unsafe { process.convention.store(Object::Op, a.address(2), 0, Some(id)) };
    noted(process, a)
}

fn op_free(process: &mut Process, a: &Arguments) -> Outcome {
    // SAFETY: the program's operation, which MPI makes null.
    unsafe { process.convention.store(Object::Op, a.address(0), 0, None) };
    noted(process, a)
}

fn op_commutative(process: &mut Process, a: &Arguments) -> Outcome {
    let id = process.convention.decode(Object::Op, a.word(0)).unwrap_or(0) as usize;
    let user = id.checked_sub(Operation::ALL.len()).and_then(|user| process.operations.get(user));
    a.give(1, i32::from(user.is_none_or(|user| user.commutes)));
    noted(process, a)
}

fn allocate(process: &mut Process, a: &Arguments) -> Outcome {
    let block = process.heap.allocate(a.number(0).max(0) as usize, false);
    if block == 0 {
        return Err(Stop::Refused(format!(
            "requests {} bytes, more than the memory left for a rank",
            a.number(0)
        )));
    }
    a.give_wide(2, block as i64);
    noted(process, a)
}

fn reduce_local(process: &mut Process, a: &Arguments) -> Outcome {
    let (of, id) = (process.type_id(a.word(3))?, process.convention.decode(Object::Op, a.word(4)));
    let basic = process.types.plain(of);
    let operation = id.and_then(|id| Operation::ALL.get(id as usize).copied());
    let (Some(basic), Some(operation)) = (basic, operation) else {
        return Err(Stop::Refused("uses an unknown datatype or reduction operation".to_owned()));
    };
    // SAFETY: the program gives two buffers of that many elements, or none.
    unsafe {
        let (one, two) =
            (process.pack(a.address(0), a.number(2), of), process.pack(a.address(1), a.number(2), of));
        if let (Some(one), Some(mut two)) = (one, two) {
            operation.apply(basic, &mut two, &one);
            process.unpack(a.address(1), a.number(2), of, &two);
        }
    }
    noted(process, a)
}
