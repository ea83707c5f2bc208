//! Datatypes, packing, and what statuses say about them.

use super::{Arguments, Handler, Outcome};
use crate::convention::Object;
use crate::process::{Process, Stop};
use kizami_mpi_stub::datatype::{Basic, Piece, TypeId};

pub fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "Type_commit" => commit,
        "Type_free" => free,
        "Type_contiguous" => contiguous,
        "Type_vector" => vector,
        "Type_create_hvector" | "Type_hvector" => hvector,
        "Type_indexed" => indexed,
        "Type_create_hindexed" | "Type_hindexed" => hindexed,
        "Type_create_indexed_block" => indexed_block,
        "Type_create_hindexed_block" => hindexed_block,
        "Type_create_struct" | "Type_struct" => structure,
        "Type_create_subarray" => subarray,
        "Type_create_resized" => resized,
        "Type_dup" => duplicate,
        "Type_size" => size,
        "Type_size_x" => wide_size,
        "Type_get_extent" | "Type_get_extent_x" => extent,
        "Type_get_true_extent" | "Type_get_true_extent_x" => true_extent,
        "Type_extent" => old_extent,
        "Type_lb" => old_lower,
        "Type_ub" => old_upper,
        "Type_set_name" => set_name,
        "Type_match_size" => match_size,
        "Get_address" | "Address" => get_address,
        "Aint_add" => add,
        "Aint_diff" => subtract,
        "Get_count" => get_count,
        "Get_elements" | "Get_elements_x" => get_elements,
        "Pack" => pack,
        "Unpack" => unpack,
        "Pack_size" => pack_size,
        _ => return None,
    })
}

/// Stores the handle of a new type; its number is the call's object.
fn made(process: &mut Process, a: &Arguments, place: usize, id: Option<TypeId>) -> Outcome {
    let id = id.ok_or_else(|| Stop::Refused("derives a datatype from an invalid one".to_owned()))?;
    // SAFETY: MPI stores the type there.
    unsafe { process.convention.store(Object::Datatype, a.address(place), 0, Some(id)) };
    process.note_plain(a.op, None);
    Ok(0)
}

fn commit(process: &mut Process, a: &Arguments) -> Outcome {
    process.note_plain(a.op, None);
    Ok(0)
}

fn free(process: &mut Process, a: &Arguments) -> Outcome {
    // SAFETY: the program's type, which MPI makes null.
    unsafe { process.convention.store(Object::Datatype, a.address(0), 0, None) };
    process.note_plain(a.op, None);
    Ok(0)
}

fn contiguous(process: &mut Process, a: &Arguments) -> Outcome {
    let of = process.type_id(a.word(1))?;
    let id = process.types.contiguous(a.number(0), of);
    made(process, a, 2, id)
}

fn vector(process: &mut Process, a: &Arguments) -> Outcome {
    let of = process.type_id(a.word(3))?;
    let extent = process.types.get(of).map_or(0, |of| of.extent);
    let id = process.types.strided(a.number(0), a.number(1), a.number(2) * extent, of);
    made(process, a, 4, id)
}

fn hvector(process: &mut Process, a: &Arguments) -> Outcome {
    let of = process.type_id(a.word(3))?;
    let id = process.types.strided(a.number(0), a.number(1), a.number(2), of);
    made(process, a, 4, id)
}

fn pieces(offsets: &[i64], counts: &[i64], of: TypeId, unit: i64) -> Vec<Piece> {
    let piece = |(offset, count): (&i64, &i64)| Piece { offset: offset * unit, count: *count, of };
    offsets.iter().zip(counts).map(piece).collect()
}

fn indexed(process: &mut Process, a: &Arguments) -> Outcome {
    let (count, of) = (a.number(0).max(0) as usize, process.type_id(a.word(3))?);
    let extent = process.types.get(of).map_or(0, |of| of.extent);
    let id = process.types.listed(pieces(&a.list(2, count), &a.list(1, count), of, extent), false);
    made(process, a, 4, id)
}

fn hindexed(process: &mut Process, a: &Arguments) -> Outcome {
    let (count, of) = (a.number(0).max(0) as usize, process.type_id(a.word(3))?);
    let id = process.types.listed(pieces(&a.wides(2, count), &a.list(1, count), of, 1), false);
    made(process, a, 4, id)
}

fn indexed_block(process: &mut Process, a: &Arguments) -> Outcome {
    let (count, of) = (a.number(0).max(0) as usize, process.type_id(a.word(3))?);
    let extent = process.types.get(of).map_or(0, |of| of.extent);
    let id = process.types.listed(pieces(&a.list(2, count), &vec![a.number(1); count], of, extent), false);
    made(process, a, 4, id)
}

fn hindexed_block(process: &mut Process, a: &Arguments) -> Outcome {
    let (count, of) = (a.number(0).max(0) as usize, process.type_id(a.word(3))?);
    let id = process.types.listed(pieces(&a.wides(2, count), &vec![a.number(1); count], of, 1), false);
    made(process, a, 4, id)
}

fn structure(process: &mut Process, a: &Arguments) -> Outcome {
    let count = a.number(0).max(0) as usize;
    let (counts, offsets) = (a.list(1, count), a.wides(2, count));
    let mut parts = Vec::with_capacity(count);
    for index in 0..count {
        // SAFETY: MPI asks for a list of that many types.
        let of = unsafe { process.convention.load(Object::Datatype, a.address(3), index) };
        let of =
            of.ok_or_else(|| Stop::Refused("creates a structure from an invalid datatype".to_owned()))?;
        parts.push(Piece { offset: offsets[index], count: counts[index], of });
    }
    let id = process.types.listed(parts, true);
    made(process, a, 4, id)
}

fn subarray(process: &mut Process, a: &Arguments) -> Outcome {
    let count = a.int(0).max(0) as usize;
    let of = process.type_id(a.word(5))?;
    let fortran = a.int(4) == process.convention.order_fortran;
    let id = process.types.subarray(&a.list(1, count), &a.list(2, count), &a.list(3, count), fortran, of);
    made(process, a, 6, id)
}

fn resized(process: &mut Process, a: &Arguments) -> Outcome {
    let of = process.type_id(a.word(0))?;
    let id = process.types.resized(of, a.number(1), a.number(2));
    made(process, a, 3, id)
}

fn duplicate(process: &mut Process, a: &Arguments) -> Outcome {
    let of = process.type_id(a.word(0))?;
    let id = process.types.duplicate(of);
    made(process, a, 1, id)
}

/// Numbers of a type, by what is asked for.
fn ask(process: &mut Process, a: &Arguments) -> Result<(i64, [i64; 4]), Stop> {
    let id = process.type_id(a.word(0))?;
    process.note_plain(a.op, None);
    let of = process.types.get(id).ok_or_else(|| Stop::Refused("queries an invalid datatype".to_owned()))?;
    Ok((of.size, [of.lower, of.extent, of.true_lower, of.true_extent]))
}

fn size(process: &mut Process, a: &Arguments) -> Outcome {
    let (size, _) = ask(process, a)?;
    if a.wide {
        a.give_wide(1, size);
    } else {
        a.give(1, size as i32);
    }
    Ok(0)
}

fn wide_size(process: &mut Process, a: &Arguments) -> Outcome {
    let (size, _) = ask(process, a)?;
    a.give_wide(1, size);
    Ok(0)
}

fn extent(process: &mut Process, a: &Arguments) -> Outcome {
    let (_, [lower, extent, ..]) = ask(process, a)?;
    a.give_wide(1, lower);
    a.give_wide(2, extent);
    Ok(0)
}

fn true_extent(process: &mut Process, a: &Arguments) -> Outcome {
    let (_, [_, _, lower, extent]) = ask(process, a)?;
    a.give_wide(1, lower);
    a.give_wide(2, extent);
    Ok(0)
}

fn old_extent(process: &mut Process, a: &Arguments) -> Outcome {
    let (_, [_, extent, ..]) = ask(process, a)?;
    a.give_wide(1, extent);
    Ok(0)
}

fn old_lower(process: &mut Process, a: &Arguments) -> Outcome {
    let (_, [lower, ..]) = ask(process, a)?;
    a.give_wide(1, lower);
    Ok(0)
}

fn old_upper(process: &mut Process, a: &Arguments) -> Outcome {
    let (_, [lower, extent, ..]) = ask(process, a)?;
    a.give_wide(1, lower + extent);
    Ok(0)
}

fn set_name(process: &mut Process, a: &Arguments) -> Outcome {
    let id = process.type_id(a.word(0))?;
    if !process.convention.fortran {
        let name = super::communicator::text(a.address(1));
        if let Some(of) = process.types.get_mut(id) {
            of.name = Some(name);
        }
    }
    process.note_plain(a.op, None);
    Ok(0)
}

fn match_size(process: &mut Process, a: &Arguments) -> Outcome {
    // The classes are numbered differently by each library: real, integer, complex.
    let integer = if process.convention.library == crate::convention::Library::Mpich { 2 } else { 1 };
    let basic = match (a.int(0), a.int(1)) {
        (3, 8) => Basic::Complex8,
        (3, 16) => Basic::Complex16,
        (class, 4) if class == integer => Basic::Integer4,
        (class, 8) if class == integer => Basic::Integer8,
        (_, 4) => Basic::Real4,
        (_, 8) => Basic::Real8,
        _ => return Err(Stop::Refused("requests a size that the MPI stub does not support".to_owned())),
    };
    made(process, a, 2, Some(basic as TypeId))
}

fn get_address(process: &mut Process, a: &Arguments) -> Outcome {
    a.give_wide(1, a.number(0));
    process.note_plain(a.op, None);
    Ok(0)
}

fn add(process: &mut Process, a: &Arguments) -> Outcome {
    process.note_plain(a.op, None);
    Ok(a.number(0).wrapping_add(a.number(1)))
}

fn subtract(process: &mut Process, a: &Arguments) -> Outcome {
    process.note_plain(a.op, None);
    Ok(a.number(0).wrapping_sub(a.number(1)))
}

fn count_of(process: &mut Process, a: &Arguments) -> Result<(i64, TypeId), Stop> {
    if process.is_alone() {
        return Err(Stop::NeedsOthers("the received size is known only to the sender".to_owned()));
    }
    let id = process.type_id(a.word(1))?;
    // SAFETY: the program gives a status that a receive filled in.
    let bytes = unsafe { process.convention.status_bytes(a.address(0)) };
    process.note_plain(a.op, None);
    Ok((bytes as i64, id))
}

fn get_count(process: &mut Process, a: &Arguments) -> Outcome {
    let (bytes, id) = count_of(process, a)?;
    let size = process.types.get(id).map_or(0, |of| of.size);
    let count = match (bytes, size) {
        (0, _) => 0,
        (_, 0) => i64::from(process.convention.undefined),
        (bytes, size) if bytes % size != 0 => i64::from(process.convention.undefined),
        (bytes, size) => bytes / size,
    };
    if a.wide {
        a.give_wide(2, count);
    } else {
        a.give(2, count as i32);
    }
    Ok(0)
}

fn get_elements(process: &mut Process, a: &Arguments) -> Outcome {
    let (bytes, id) = count_of(process, a)?;
    let (mut left, mut elements) = (bytes, 0);
    let whole = process.types.get(id).map_or(1, |of| of.size.max(1));
    process.types.blocks(id, bytes / whole + 1, &mut |block| {
        let size = i64::from(block.basic.traits().0);
        let fits = (left / size.max(1)).min(block.count as i64);
        left -= fits * size;
        elements += fits;
    });
    if a.wide || a.op.name().ends_with("_x") {
        a.give_wide(2, elements);
    } else {
        a.give(2, elements as i32);
    }
    Ok(0)
}

/// Where packing goes on.
fn position(a: &Arguments, place: usize) -> i64 {
    super::read_count(a.address(place), a.wide, 0)
}

fn advance(a: &Arguments, place: usize, to: i64) {
    if a.wide {
        a.give_wide(place, to);
    } else {
        a.give(place, to as i32);
    }
}

fn pack(process: &mut Process, a: &Arguments) -> Outcome {
    let (count, of, comm) = (a.number(1), process.type_id(a.word(2))?, process.comm_id(a.word(6))?);
    let at = position(a, 5);
    // SAFETY: the program gives data and room for it, or none.
    if let Some(data) = unsafe { process.pack(a.address(0), count, of) }
        && a.address(3) != 0
    {
        // SAFETY: as above.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), (a.address(3) + at as usize) as *mut u8, data.len())
        };
    }
    advance(a, 5, at + process.bytes(of, count) as i64);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn unpack(process: &mut Process, a: &Arguments) -> Outcome {
    let (count, of, comm) = (a.number(4), process.type_id(a.word(5))?, process.comm_id(a.word(6))?);
    let (at, bytes) = (position(a, 2), process.bytes(of, count));
    if a.address(0) != 0 {
        // SAFETY: the program gives packed data of that length, and room for it.
        unsafe {
            let data = std::slice::from_raw_parts((a.address(0) + at as usize) as *const u8, bytes as usize);
            process.unpack(a.address(3), count, of, data);
        }
    }
    advance(a, 2, at + bytes as i64);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn pack_size(process: &mut Process, a: &Arguments) -> Outcome {
    let (of, comm) = (process.type_id(a.word(1))?, process.comm_id(a.word(2))?);
    let bytes = process.bytes(of, a.number(0)) as i64;
    advance(a, 3, bytes);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}
