//! Datatypes with their true sizes and bounds, made as programs make them.
//!
//! A derived type keeps how it was made, not a list of its bytes: sizes and bounds follow from that at once, and the bytes are
//! listed only when data is really moved ([`Datatypes::blocks`]). A type that was freed stays while its rank runs: others may
//! be made of it.

use std::rc::Rc;

/// How the bytes of a basic type are to be read by a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A signed number.
    Signed,
    /// An unsigned number, or a character.
    Unsigned,
    /// A floating-point number.
    Float,
    /// Two floating-point numbers.
    Complex,
    /// True or false.
    Logical,
    /// Bytes without a meaning.
    Bytes,
    /// A value of the given class and an index of 4 bytes behind it.
    PairOf(Value),
}

/// The first half of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // They are C's.
pub enum Value {
    Short,
    Int,
    Long,
    Float,
    Double,
    LongDouble,
}

macro_rules! basics {
    ($($name:ident $size:literal $extent:literal $align:literal $class:expr;)*) => {
        /// A type of the standard; its number is its place in the table of datatypes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs)] // Their names are those of the standard.
        pub enum Basic { $($name),* }

        impl Basic {
            /// All of them, by number.
            pub const ALL: &[Basic] = &[$(Basic::$name),*];

            /// Bytes of data, bytes from one to the next, alignment, and how it is reduced.
            pub fn traits(self) -> (u32, u32, u32, Class) {
                match self { $(Basic::$name => ($size, $extent, $align, $class)),* }
            }
        }
    };
}

basics! {
    Char 1 1 1 Class::Signed; SignedChar 1 1 1 Class::Signed; UnsignedChar 1 1 1 Class::Unsigned; Byte 1 1 1 Class::Bytes;
    Wchar 4 4 4 Class::Signed; Short 2 2 2 Class::Signed; UnsignedShort 2 2 2 Class::Unsigned; Int 4 4 4 Class::Signed;
    Unsigned 4 4 4 Class::Unsigned; Long 8 8 8 Class::Signed; UnsignedLong 8 8 8 Class::Unsigned;
    Float 4 4 4 Class::Float; Double 8 8 8 Class::Float; LongDouble 16 16 16 Class::Float;
    LongLong 8 8 8 Class::Signed; UnsignedLongLong 8 8 8 Class::Unsigned; Packed 1 1 1 Class::Bytes;
    LowerBound 0 0 1 Class::Bytes; UpperBound 0 0 1 Class::Bytes;
    FloatInt 8 8 4 Class::PairOf(Value::Float); DoubleInt 12 16 8 Class::PairOf(Value::Double);
    LongInt 12 16 8 Class::PairOf(Value::Long); ShortInt 6 8 4 Class::PairOf(Value::Short);
    TwoInt 8 8 4 Class::PairOf(Value::Int); LongDoubleInt 20 32 16 Class::PairOf(Value::LongDouble);
    Complex 8 8 4 Class::Complex; DoubleComplex 16 16 8 Class::Complex; Logical 4 4 4 Class::Logical;
    Real 4 4 4 Class::Float; DoublePrecision 8 8 8 Class::Float; Integer 4 4 4 Class::Signed;
    TwoInteger 8 8 4 Class::PairOf(Value::Int); TwoReal 8 8 4 Class::Bytes; TwoDoublePrecision 16 16 8 Class::Bytes;
    Character 1 1 1 Class::Unsigned; Real4 4 4 4 Class::Float; Real8 8 8 8 Class::Float; Real16 16 16 16 Class::Float;
    Complex8 8 8 4 Class::Complex; Complex16 16 16 8 Class::Complex; Complex32 32 32 16 Class::Complex;
    Integer1 1 1 1 Class::Signed; Integer2 2 2 2 Class::Signed; Integer4 4 4 4 Class::Signed; Integer8 8 8 8 Class::Signed;
    Int8 1 1 1 Class::Signed; Int16 2 2 2 Class::Signed; Int32 4 4 4 Class::Signed; Int64 8 8 8 Class::Signed;
    Uint8 1 1 1 Class::Unsigned; Uint16 2 2 2 Class::Unsigned; Uint32 4 4 4 Class::Unsigned; Uint64 8 8 8 Class::Unsigned;
    CBool 1 1 1 Class::Logical; CFloatComplex 8 8 4 Class::Complex; CDoubleComplex 16 16 8 Class::Complex;
    CLongDoubleComplex 32 32 16 Class::Complex; Aint 8 8 8 Class::Signed; Offset 8 8 8 Class::Signed; Count 8 8 8 Class::Signed;
    CxxBool 1 1 1 Class::Logical; CxxFloatComplex 8 8 4 Class::Complex; CxxDoubleComplex 16 16 8 Class::Complex;
    CxxLongDoubleComplex 32 32 16 Class::Complex; Logical1 1 1 1 Class::Logical; Logical2 2 2 2 Class::Logical;
    Logical4 4 4 4 Class::Logical; Logical8 8 8 8 Class::Logical;
}

/// Number of a datatype: a basic one, or one that the rank made.
pub type TypeId = u32;

/// Bytes of one kind in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where they begin, from the address the program gave.
    pub offset: i64,
    /// What they are.
    pub basic: Basic,
    /// How many of them.
    pub count: u64,
}

/// How a type was made from others.
#[derive(Clone, Debug)]
enum Made {
    Basic(Basic),
    /// Blocks of the same length at equal distances.
    Strided {
        count: i64,
        block: i64,
        stride: i64,
        of: TypeId,
    },
    /// Blocks anywhere.
    Listed(Rc<[Piece]>),
}

/// A block of a listed type.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where it begins, in bytes.
    pub offset: i64,
    /// How many elements.
    pub count: i64,
    /// Of which type.
    pub of: TypeId,
}

/// A type and what follows from how it was made.
#[derive(Clone, Debug)]
pub struct Datatype {
    made: Made,
    /// Bytes of data.
    pub size: i64,
    /// Lower bound.
    pub lower: i64,
    /// From one element to the next.
    pub extent: i64,
    /// Where data begins.
    pub true_lower: i64,
    /// From there to its end.
    pub true_extent: i64,
    align: i64,
    /// Bounds were given by the program.
    explicit: bool,
    /// The name the program gave it.
    pub name: Option<String>,
    /// Its one basic type, if data of it is nothing but that, without holes.
    plain: Option<Basic>,
}

/// The datatypes of a rank.
#[derive(Clone, Debug)]
pub struct Datatypes {
    all: Vec<Datatype>,
}

impl Default for Datatypes {
    fn default() -> Datatypes {
        let basic = |basic: &Basic| {
            let (size, extent, align, _) = basic.traits();
            Datatype {
                made: Made::Basic(*basic),
                size: i64::from(size),
                lower: 0,
                extent: i64::from(extent),
                true_lower: 0,
                true_extent: i64::from(extent),
                align: i64::from(align),
                explicit: false,
                name: None,
                plain: (size == extent).then_some(*basic),
            }
        };
        Datatypes { all: Basic::ALL.iter().map(basic).collect() }
    }
}

impl Datatypes {
    /// Forgets what the rank made.
    pub fn reset(&mut self) {
        self.all.truncate(Basic::ALL.len());
    }

    /// The type with this number.
    #[inline]
    pub fn get(&self, id: TypeId) -> Option<&Datatype> {
        self.all.get(id as usize)
    }

    /// The same, to be named.
    pub fn get_mut(&mut self, id: TypeId) -> Option<&mut Datatype> {
        self.all.get_mut(id as usize)
    }

    /// Bytes of data in so many elements.
    #[inline]
    pub fn bytes(&self, id: TypeId, count: i64) -> Option<u64> {
        Some((self.get(id)?.size * count.max(0)) as u64)
    }

    /// The basic type of which data of this type consists, if there is one only and no hole.
    pub fn plain(&self, id: TypeId) -> Option<Basic> {
        self.get(id)?.plain
    }

    /// Whether all data are whole numbers: then a collective's result may steer the program.
    pub fn is_whole_numbers(&self, id: TypeId) -> bool {
        let Some(datatype) = self.get(id) else { return false };
        match &datatype.made {
            Made::Basic(basic) => {
                let pair = matches!(basic.traits().3, Class::PairOf(Value::Int | Value::Long | Value::Short));
                pair || matches!(
                    basic.traits().3,
                    Class::Signed | Class::Unsigned | Class::Logical | Class::Bytes
                )
            }
            Made::Strided { of, .. } => self.is_whole_numbers(*of),
            Made::Listed(pieces) => pieces.iter().all(|piece| self.is_whole_numbers(piece.of)),
        }
    }

    fn add(&mut self, datatype: Datatype) -> TypeId {
        self.all.push(datatype);
        self.all.len() as TypeId - 1
    }

    /// A copy.
    pub fn duplicate(&mut self, of: TypeId) -> Option<TypeId> {
        let copy = Datatype { name: None, ..self.get(of)?.clone() };
        Some(self.add(copy))
    }

    /// Blocks of `block` elements, `stride` bytes apart.
    pub fn strided(&mut self, count: i64, block: i64, stride: i64, of: TypeId) -> Option<TypeId> {
        let old = self.get(of)?;
        let (count, block) = (count.max(0), block.max(0));
        let mut bounds = Bounds::default();
        if count > 0 && block > 0 {
            bounds.block(0, block, old);
            bounds.block((count - 1) * stride, block, old);
        }
        let plain = old.plain.filter(|_| count <= 1 || stride == block * old.extent);
        let made = Datatype {
            made: Made::Strided { count, block, stride, of },
            size: old.size * count * block,
            align: old.align,
            explicit: old.explicit,
            plain,
            ..bounds.datatype()
        };
        Some(self.add(made))
    }

    /// `count` elements in a row.
    pub fn contiguous(&mut self, count: i64, of: TypeId) -> Option<TypeId> {
        let extent = self.get(of)?.extent;
        self.strided(count, 1, extent, of)
    }

    /// Blocks anywhere. `padded`: the extent is rounded up as a compiler does for a structure.
    pub fn listed(&mut self, pieces: Vec<Piece>, padded: bool) -> Option<TypeId> {
        let (mut bounds, mut size, mut align) = (Bounds::default(), 0, 1);
        let (mut explicit, mut lower, mut upper) = (false, None::<i64>, None::<i64>);
        for piece in &pieces {
            let of = self.get(piece.of)?;
            if piece.of == Basic::LowerBound as TypeId {
                lower = Some(lower.map_or(piece.offset, |now| now.min(piece.offset)));
                continue;
            }
            if piece.of == Basic::UpperBound as TypeId {
                upper = Some(upper.map_or(piece.offset, |now| now.max(piece.offset)));
                continue;
            }
            if piece.count > 0 {
                bounds.block(piece.offset, piece.count, of);
                align = align.max(of.align);
            }
            size += of.size * piece.count.max(0);
            explicit |= of.explicit;
        }
        let mut made = Datatype { size, align, explicit, ..bounds.datatype() };
        if padded && !explicit && upper.is_none() {
            let over = made.extent.rem_euclid(align);
            made.extent += if over == 0 { 0 } else { align - over };
        }
        let (old_lower, old_upper) = (made.lower, made.lower + made.extent);
        made.lower = lower.unwrap_or(old_lower);
        made.extent = upper.unwrap_or(old_upper) - made.lower;
        made.explicit |= lower.is_some() || upper.is_some();
        made.made = Made::Listed(pieces.into());
        Some(self.add(made))
    }

    /// The same data with other bounds.
    pub fn resized(&mut self, of: TypeId, lower: i64, extent: i64) -> Option<TypeId> {
        let old = self.get(of)?.clone();
        let piece = Piece { offset: 0, count: 1, of };
        let plain = old.plain.filter(|_| lower == 0 && extent == old.extent);
        let made = Made::Listed(Rc::from([piece]));
        Some(self.add(Datatype { made, lower, extent, explicit: true, name: None, plain, ..old }))
    }

    /// A part of an array of several dimensions; the first varies slowest, unless it is Fortran's order.
    pub fn subarray(
        &mut self,
        sizes: &[i64],
        parts: &[i64],
        starts: &[i64],
        fortran: bool,
        of: TypeId,
    ) -> Option<TypeId> {
        let element = self.get(of)?.extent;
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        if !fortran {
            order.reverse();
        }
        let (mut inner, mut step, mut offset) = (of, element, 0);
        for (place, dimension) in order.into_iter().enumerate() {
            let count = parts[dimension];
            inner = if place == 0 {
                self.contiguous(count, inner)?
            } else {
                self.strided(count, 1, step, inner)?
            };
            offset += starts[dimension] * step;
            step *= sizes[dimension];
        }
        let moved = self.listed(vec![Piece { offset, count: 1, of: inner }], false)?;
        self.resized(moved, 0, step)
    }

    /// Calls `each` with the bytes of `count` elements, in the order in which they are packed.
    pub fn blocks(&self, id: TypeId, count: i64, each: &mut dyn FnMut(Block)) {
        let Some(datatype) = self.get(id) else { return };
        if let Some(basic) = datatype.plain {
            let (size, ..) = basic.traits();
            let elements = datatype.size * count.max(0) / i64::from(size.max(1));
            each(Block { offset: datatype.true_lower, basic, count: elements as u64 });
            return;
        }
        for index in 0..count.max(0) {
            self.one(datatype, index * datatype.extent, each);
        }
    }

    fn one(&self, datatype: &Datatype, at: i64, each: &mut dyn FnMut(Block)) {
        match &datatype.made {
            Made::Basic(basic) => each(Block { offset: at, basic: *basic, count: 1 }),
            Made::Strided { count, block, stride, of } => {
                for index in 0..*count {
                    self.several(*of, *block, at + index * stride, each);
                }
            }
            Made::Listed(pieces) => {
                for piece in pieces.iter() {
                    self.several(piece.of, piece.count, at + piece.offset, each);
                }
            }
        }
    }

    fn several(&self, of: TypeId, count: i64, at: i64, each: &mut dyn FnMut(Block)) {
        self.blocks(of, count, &mut |block| each(Block { offset: at + block.offset, ..block }));
    }
}

/// The bounds of blocks, as they are added.
#[derive(Default)]
struct Bounds {
    nominal: Option<(i64, i64)>,
    of_data: Option<(i64, i64)>,
}

impl Bounds {
    fn block(&mut self, at: i64, count: i64, of: &Datatype) {
        let last = (count - 1) * of.extent;
        let (first, last) = (at + last.min(0), at + last.max(0));
        let wider = |known: Option<(i64, i64)>, from: i64, to: i64| {
            Some(known.map_or((from, to), |(low, high)| (low.min(from), high.max(to))))
        };
        self.nominal = wider(self.nominal, first + of.lower, last + of.lower + of.extent);
        let end = of.true_lower + of.true_extent;
        self.of_data = wider(self.of_data, first + of.true_lower, last + end);
    }

    fn datatype(&self) -> Datatype {
        let (lower, upper) = self.nominal.unwrap_or((0, 0));
        let (true_lower, true_upper) = self.of_data.unwrap_or((0, 0));
        Datatype {
            made: Made::Listed(Rc::from([])),
            size: 0,
            lower,
            extent: upper - lower,
            true_lower,
            true_extent: true_upper - true_lower,
            align: 1,
            explicit: false,
            name: None,
            plain: None,
        }
    }
}
