//! Which memory a pointer may point to: a whole-program analysis in the manner of Andersen.
//!
//! Memory is divided into objects: globals, rooms on stacks, calls that allocate, and memory of libraries. A [`Place`] in an
//! object is an offset, exact or repeated with a stride, so that fields stay apart in structures, in arrays of structures
//! and behind pointers that walk through them. The answer holds for all runs and does not depend on the order of
//! instructions or on who called whom.

mod constraints;
mod solve;

use crate::effects::EffectTable;
use crate::program::*;
use constraints::Move;
use rustc_hash::FxHashMap;

/// Number of an object.
pub type ObjectId = u32;

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A global variable.
    Global(ValueId),
    /// Room on the stack.
    Stack(ValueId),
    /// Memory that a call gives.
    Heap(ValueId),
    /// Memory of the library that a call gives a pointer to.
    Library(ValueId),
    /// A function, which can be called.
    Code(FunctionId),
    /// The words of the command line: the list, or the words themselves.
    CommandLine(bool),
}

/// Where in an object: somewhere in `width` bytes from `offset` on, and at every `stride` bytes from there if it is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Which object.
    pub object: ObjectId,
    /// Offset in bytes, below `stride` if there is one.
    pub offset: i64,
    /// 0 for no repetition, 1 for anywhere.
    pub stride: u64,
    /// How far behind the offset it may begin: an array inside a structure.
    pub width: u64,
}

impl Place {
    /// Anywhere in the same object.
    pub fn anywhere(self) -> Place {
        Place { object: self.object, offset: 0, stride: 1, width: 0 }
    }

    /// The place after an address in it has changed.
    fn moved(self, by: Move) -> Place {
        let stride = gcd(self.stride, by.stride);
        let offset = self.offset.wrapping_add(by.bytes);
        let width = self.width + by.width;
        if stride != 0 && width >= stride || width > WIDEST {
            return Place { object: self.object, offset: 0, stride: 1, width: 0 };
        }
        Place { object: self.object, offset: wrapped(offset, stride), stride, width }
    }

    /// Whether so many bytes here and so many bytes there may have one in common.
    pub fn overlaps(self, length: u64, other: Place, other_length: u64) -> bool {
        if self.object != other.object {
            return false;
        }
        let (length, other_length) = (length + self.width, other_length + other.width);
        let stride = gcd(self.stride, other.stride);
        if stride == 0 {
            let (here, there) = (self.offset as i128, other.offset as i128);
            return here < there + other_length as i128 && there < here + length as i128;
        }
        let ahead = wrapped(other.offset.wrapping_sub(self.offset), stride) as u64;
        ahead < length || stride - ahead < other_length
    }
}

/// Beyond so many bytes nothing is known any more.
const WIDEST: u64 = 1 << 32;

fn wrapped(offset: i64, stride: u64) -> i64 {
    if stride == 0 { offset } else { offset.rem_euclid(stride as i64) }
}

fn gcd(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// What all pointers may point to.
pub struct Memory {
    objects: Vec<Object>,
    numbers: FxHashMap<Object, ObjectId>,
    targets: Vec<Vec<Place>>,
    /// For arguments of calls that are descriptors: where the arrays are.
    described: FxHashMap<(ValueId, u32), Vec<Place>>,
    /// Functions that calls through pointers may reach.
    indirect: FxHashMap<ValueId, Vec<FunctionId>>,
}

impl Memory {
    /// Analyses a program.
    pub fn of(program: &Program, effects: &EffectTable) -> Memory {
        constraints::Constraints::of(program, effects).solve(program, effects)
    }

    /// Where a value may point to.
    pub fn targets(&self, value: ValueId) -> &[Place] {
        self.targets.get(value as usize).map_or(&[], Vec::as_slice)
    }

    /// Where the array is that a descriptor describes which a call is given as an argument.
    pub fn described(&self, call: ValueId, argument: usize) -> &[Place] {
        self.described.get(&(call, argument as u32)).map_or(&[], Vec::as_slice)
    }

    /// How many objects there are.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// What an object is.
    pub fn object(&self, id: ObjectId) -> Object {
        self.objects[id as usize]
    }

    /// The number of an object, if anything points to it.
    pub fn number_of(&self, object: Object) -> Option<ObjectId> {
        self.numbers.get(&object).copied()
    }

    /// The functions that a call may reach: the one it names, or those its pointer may point to.
    pub fn callees(&self, program: &Program, call: ValueId) -> Vec<FunctionId> {
        match program.called(call) {
            Some(function) => vec![function],
            None => self.indirect.get(&call).cloned().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: i64, stride: u64) -> Place {
        Place { object: 0, offset, stride, width: 0 }
    }

    #[test]
    fn fields_of_repeated_structures_stay_apart() {
        assert!(!place(0, 24).overlaps(8, place(8, 24), 8));
        assert!(place(16, 24).overlaps(8, place(40, 0), 8));
        assert!(!place(16, 24).overlaps(8, place(48, 0), 8));
        assert!(place(0, 24).overlaps(8, place(20, 24), 8));
        assert!(place(3, 1).overlaps(1, place(1000, 0), 4));
    }

    #[test]
    fn moves_keep_offsets_and_strides() {
        let by = |bytes, stride, width| Move { bytes, stride, width };
        assert_eq!(place(8, 0).moved(by(8, 0, 0)), place(16, 0));
        assert_eq!(place(8, 0).moved(by(0, 24, 0)), place(8, 24));
        assert_eq!(place(8, 24).moved(by(20, 0, 0)), place(4, 24));
        assert_eq!(place(8, 24).moved(by(0, 16, 0)), place(0, 8));
        let in_an_array = place(8, 0).moved(by(0, 0, 20));
        assert!(in_an_array.overlaps(4, place(28, 0), 4) && !in_an_array.overlaps(4, place(32, 0), 4));
    }
}
