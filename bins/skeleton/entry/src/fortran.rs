//! Open MPI's handles in Fortran: numbers of `mpif-handles.h`, and behind them those of objects that the program made.

use crate::convention::Object;
use kizami_mpi_stub::datatype::Basic;

/// Objects that a program makes are numbered from here on.
const MADE: i32 = 1000;

/// The number of the object that a handle names.
pub fn decode(kind: Object, handle: i32) -> Option<u32> {
    if handle >= MADE {
        return Some((handle - MADE) as u32);
    }
    let number = u32::try_from(handle).ok()?;
    match kind {
        Object::Comm => (number < 2).then_some(number),
        Object::Datatype => TYPES.iter().find(|(of, _)| *of == number).map(|(_, basic)| *basic as u32),
        Object::Op => match number {
            0 | 15.. => None,
            11 => Some(11),
            12 => Some(10),
            number => Some(number - 1),
        },
        Object::Group | Object::Info | Object::Message => (number == 1).then_some(0),
        Object::Errhandler => number.checked_sub(1),
        Object::Request | Object::Win | Object::File => None,
    }
}

/// The handle of an object.
pub fn encode(kind: Object, id: Option<u32>) -> i32 {
    let null = if kind == Object::Comm { 2 } else { 0 };
    let Some(id) = id else { return null };
    match kind {
        Object::Comm if id < 2 => id as i32,
        Object::Datatype if (id as usize) < Basic::ALL.len() => {
            TYPES.iter().find(|(_, basic)| *basic as u32 == id).map_or(null, |(number, _)| *number as i32)
        }
        Object::Op if id < 14 => match id {
            10 => 12,
            11 => 11,
            id => id as i32 + 1,
        },
        Object::Group | Object::Info | Object::Message if id == 0 => 1,
        Object::Errhandler if id < 2 => id as i32 + 1,
        _ => MADE + id as i32,
    }
}

const TYPES: &[(u32, Basic)] = &[
    (1, Basic::Byte),
    (2, Basic::Packed),
    (3, Basic::UpperBound),
    (4, Basic::LowerBound),
    (5, Basic::Character),
    (6, Basic::Logical),
    (7, Basic::Integer),
    (8, Basic::Integer1),
    (9, Basic::Integer2),
    (10, Basic::Integer4),
    (11, Basic::Integer8),
    (13, Basic::Real),
    (14, Basic::Real4),
    (15, Basic::Real8),
    (16, Basic::Real16),
    (17, Basic::DoublePrecision),
    (18, Basic::Complex),
    (19, Basic::Complex8),
    (20, Basic::Complex16),
    (21, Basic::Complex32),
    (22, Basic::DoubleComplex),
    (23, Basic::TwoReal),
    (24, Basic::TwoDoublePrecision),
    (25, Basic::TwoInteger),
    (29, Basic::Logical1),
    (30, Basic::Logical2),
    (31, Basic::Logical4),
    (32, Basic::Logical8),
    (33, Basic::Wchar),
    (34, Basic::Char),
    (35, Basic::UnsignedChar),
    (36, Basic::SignedChar),
    (37, Basic::Short),
    (38, Basic::UnsignedShort),
    (39, Basic::Int),
    (40, Basic::Unsigned),
    (41, Basic::Long),
    (42, Basic::UnsignedLong),
    (43, Basic::LongLong),
    (44, Basic::UnsignedLongLong),
    (45, Basic::Float),
    (46, Basic::Double),
    (47, Basic::LongDouble),
    (48, Basic::FloatInt),
    (49, Basic::DoubleInt),
    (50, Basic::LongDoubleInt),
    (51, Basic::LongInt),
    (52, Basic::TwoInt),
    (53, Basic::ShortInt),
    (58, Basic::Int8),
    (59, Basic::Uint8),
    (60, Basic::Int16),
    (61, Basic::Uint16),
    (62, Basic::Int32),
    (63, Basic::Uint32),
    (64, Basic::Int64),
    (65, Basic::Uint64),
    (66, Basic::Aint),
    (67, Basic::Offset),
    (68, Basic::CBool),
    (72, Basic::Count),
];
