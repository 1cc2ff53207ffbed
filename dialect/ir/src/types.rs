//! Types: scalars, tensors with named and broadcast extents, vectors, memory references.
//!
//! Types are interned: a `TypeId` is equal exactly when the type is. Extents are canonical polynomials over names, so
//! `[B]*[S]` and `[S]*[B]` are one extent.

use smallvec::{SmallVec, smallvec};

use crate::attr::AttrId;
use crate::intern::Sym;

crate::entities! {
    /// An interned type.
    TypeId,
    /// An interned symbolic extent.
    ExtentExprId,
}

/// The kind of the elements of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Floating-point numbers.
    Float,
    /// Integers in two's complement.
    Signed,
    /// Integers from zero on.
    Unsigned,
    /// Pairs of floating-point numbers: the real part, the imaginary part.
    Complex,
}

/// Declares the element types from one table: variant, spelling, kind, bits.
macro_rules! dtypes {
    ($($variant:ident $name:literal $kind:ident $bits:literal)*) => {
        /// Element types, in the order of the tables.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum DType {
            $($variant,)*
        }

        impl DType {
            /// All element types.
            pub const ALL: [DType; [$($bits),*].len()] = [$(DType::$variant,)*];

            /// The element types of real numbers: all but the complex ones, which are the last two.
            pub const REAL: [DType; DType::ALL.len() - 2] = {
                let mut real = [DType::F64; DType::ALL.len() - 2];
                let mut i = 0;
                while i < real.len() {
                    real[i] = DType::ALL[i];
                    i += 1;
                }
                real
            };

            /// The spelling in text.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DType::$variant => $name,)*
                }
            }
            /// The kind of the elements.
            pub const fn kind(self) -> Kind {
                match self {
                    $(DType::$variant => Kind::$kind,)*
                }
            }
            /// Bits of an integer type, or of a stored element of another type.
            pub const fn bits(self) -> u32 {
                match self {
                    $(DType::$variant => $bits,)*
                }
            }
        }
    };
}

dtypes! {
    F64   "f64"   Float    64
    F32   "f32"   Float    32
    F16   "f16"   Float    16
    BF16  "bf16"  Float    16
    F8E4M3FN  "f8E4M3FN"  Float 8
    F8E5M2    "f8E5M2"    Float 8
    F8E8M0FNU "f8E8M0FNU" Float 8
    F4E2M1FN  "f4E2M1FN"  Float 4
    I64   "i64"   Signed   64
    I32   "i32"   Signed   32
    I16   "i16"   Signed   16
    I8    "i8"    Signed   8
    U64   "ui64"  Unsigned 64
    U32   "ui32"  Unsigned 32
    U16   "ui16"  Unsigned 16
    U8    "ui8"   Unsigned 8
    I1    "i1"    Unsigned 1
    Index "index" Signed   64
    C64   "complex<f32>" Complex 64
    C128  "complex<f64>" Complex 128
}

impl DType {
    /// The element type of a spelling; `u8` is accepted for `ui8`, and so on.
    pub fn from_name(name: &str) -> Option<DType> {
        let short = |d: &DType| {
            name.strip_prefix('u')
                .is_some_and(|n| d.name().strip_prefix("ui") == Some(n))
        };
        DType::ALL
            .into_iter()
            .find(|d| d.name() == name || short(d))
    }
    /// Bytes of one stored element; `i1` takes a byte, `index` eight. Two elements of 4 bits share a byte where callers
    /// of a program see them, and take one each everywhere else.
    pub const fn bytes(self) -> u64 {
        self.bits().div_ceil(8) as u64
    }
    /// True if it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }
    /// True if elements are only stored, moved and cast: floats of fewer than 16 bits have no arithmetic and no order.
    pub const fn is_storage(self) -> bool {
        self.is_float() && self.bits() < 16
    }
    /// True if it is a float with arithmetic.
    pub const fn is_computed_float(self) -> bool {
        self.is_float() && !self.is_storage()
    }
    /// True if it is an integer type (`i1` and `index` included).
    pub const fn is_int(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }
    /// True if elements are pairs of a real and an imaginary part.
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }
    /// The type of the real and the imaginary part of a complex type; other types are returned unchanged.
    pub const fn part(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            _ => self,
        }
    }
    /// The complex type whose parts have this type.
    pub const fn complex(self) -> Option<DType> {
        match self {
            DType::F32 => Some(DType::C64),
            DType::F64 => Some(DType::C128),
            _ => None,
        }
    }
    /// True if values are read as signed (`ui8` and `i1` are not).
    pub const fn is_signed(self) -> bool {
        !matches!(self.kind(), Kind::Unsigned)
    }
    /// The least and greatest value of an integer type (of `i1`: 0 and 1); of another as of a signed type of its bits,
    /// at most 64.
    pub const fn int_range(self) -> (i128, i128) {
        if self.is_complex() {
            return (i64::MIN as i128, i64::MAX as i128);
        }
        match self.is_signed() {
            true => (-(1 << (self.bits() - 1)), (1 << (self.bits() - 1)) - 1),
            false => (0, (1 << self.bits()) - 1),
        }
    }
    /// The type in which arithmetic on this storage type happens: f32 for narrow floats, itself otherwise.
    pub const fn compute(self) -> DType {
        match self.is_float() && self.bits() < 32 {
            true => DType::F32,
            false => self,
        }
    }
    /// The type in which reductions accumulate: f32 for narrow floats, i64 for integers, itself for f64, ui64 and
    /// complex types.
    pub const fn accumulate(self) -> DType {
        match self {
            DType::F64 | DType::U64 | DType::C64 | DType::C128 => self,
            _ if self.is_float() => DType::F32,
            _ => DType::I64,
        }
    }
}

/// The length of an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extent {
    /// Known when compiling.
    Static(u64),
    /// A polynomial over named extents, `[B]` or `[B*S]`; equal expressions are equal extents.
    Symbolic(ExtentExprId),
    /// `?`: an extent without a name. It equals no other extent, not even another `?`.
    Unknown,
}

/// The names of a term, ascending; a power repeats its name.
pub type Names = SmallVec<[Sym; 2]>;

/// A polynomial over named extents: a sum of `coefficient * product of names`. Canonical: terms are sorted by their
/// names, names within a term too, no coefficient is zero, no two terms have the same names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ExtentExpr {
    /// The terms; the constant term has no names.
    pub terms: SmallVec<[(Names, i64); 1]>,
}

impl ExtentExpr {
    /// The constant `value`.
    pub fn constant(value: i64) -> Self {
        let term = (value != 0).then(|| (Names::new(), value));
        Self {
            terms: term.into_iter().collect(),
        }
    }
    /// The extent called `name`.
    pub fn name(name: Sym) -> Self {
        Self {
            terms: smallvec![(smallvec![name], 1)],
        }
    }
    /// The value if no name occurs.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(names, c)] if names.is_empty() => Some(*c),
            _ => None,
        }
    }
    /// The name if the expression is one name alone.
    pub fn as_name(&self) -> Option<Sym> {
        match self.terms.as_slice() {
            [(names, 1)] if names.len() == 1 => Some(names[0]),
            _ => None,
        }
    }
    /// The sum, or `None` where a coefficient overflows.
    pub fn add(&self, other: &Self) -> Option<Self> {
        if let (Some(a), Some(b)) = (self.as_constant(), other.as_constant()) {
            return a.checked_add(b).map(Self::constant);
        }
        Self::collect(self.terms.iter().chain(&other.terms).cloned())
    }
    /// The product, or `None` where a coefficient overflows or the result has more than 64 terms.
    pub fn mul(&self, other: &Self) -> Option<Self> {
        if let (Some(a), Some(b)) = (self.as_constant(), other.as_constant()) {
            return a.checked_mul(b).map(Self::constant);
        }
        if self.terms.len() * other.terms.len() > 64 {
            return None;
        }
        let mut products = Vec::new();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut names = a.clone();
                names.extend_from_slice(b);
                names.sort();
                products.push((names, x.checked_mul(*y)?));
            }
        }
        Self::collect(products.into_iter())
    }
    /// The exact quotient by a single term, or `None` where it does not divide.
    pub fn div_exact(&self, divisor: &Self) -> Option<Self> {
        let [(names, coefficient)] = divisor.terms.as_slice() else {
            return None;
        };
        if let (Some(whole), true) = (self.as_constant(), names.is_empty()) {
            let exact = whole.checked_rem(*coefficient)? == 0;
            return exact.then(|| Self::constant(whole / coefficient));
        }
        let mut terms = Vec::new();
        for (n, c) in &self.terms {
            let mut rest = n.clone();
            for name in names {
                let at = rest.iter().position(|r| r == name)?;
                rest.remove(at);
            }
            if c % coefficient != 0 {
                return None;
            }
            terms.push((rest, c / coefficient));
        }
        Self::collect(terms.into_iter())
    }
    fn collect(terms: impl Iterator<Item = (Names, i64)>) -> Option<Self> {
        let mut map = std::collections::BTreeMap::<Names, i64>::new();
        for (names, c) in terms {
            let entry = map.entry(names).or_default();
            *entry = entry.checked_add(c)?;
        }
        Some(Self {
            terms: map.into_iter().filter(|(_, c)| *c != 0).collect(),
        })
    }
}

/// One axis of a tensor type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dim {
    /// Its logical length.
    pub extent: Extent,
    /// `b1024`: every index along the axis reads the same element, which is stored once (stride 0). Types and
    /// attributes never have `b1`, which is `1`.
    pub broadcast: bool,
}

impl Dim {
    /// An ordinary axis.
    pub const fn new(extent: Extent) -> Self {
        Self {
            extent,
            broadcast: false,
        }
    }
    /// An ordinary axis of static length.
    pub const fn fixed(extent: u64) -> Self {
        Self::new(Extent::Static(extent))
    }
    /// A broadcast axis: logical length `extent`, stored once.
    pub const fn broadcast(extent: Extent) -> Self {
        Self {
            extent,
            broadcast: true,
        }
    }
    /// Makes `b1` a `1`: the two are one type.
    pub(crate) fn normalize(&mut self) {
        self.broadcast &= self.extent != Extent::Static(1);
    }
}

/// A ranked tensor: `tensor<[B]xb1024xf32, #layout>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TensorType {
    /// The axes, outermost first.
    pub dims: Vec<Dim>,
    /// The element type.
    pub dtype: DType,
    /// The layout, where the type states one: [`layout`](crate::layout) reads it.
    pub encoding: Option<AttrId>,
}

/// The memory space of a memref.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemSpace {
    /// Slow memory, shared by all workers.
    Global,
    /// Fast memory of one worker: shared memory of a thread block, the first-level cache of a CPU.
    Tile,
    /// Registers or stack of one thread.
    Local,
    /// Registers of the threads of a block: each element is held by the thread whose iteration accesses it.
    Register,
}

impl MemSpace {
    /// All spaces.
    pub const ALL: [MemSpace; 4] = [
        MemSpace::Global,
        MemSpace::Tile,
        MemSpace::Local,
        MemSpace::Register,
    ];
    /// The spelling in text.
    pub const fn name(self) -> &'static str {
        match self {
            MemSpace::Global => "global",
            MemSpace::Tile => "tile",
            MemSpace::Local => "local",
            MemSpace::Register => "register",
        }
    }
}

/// The kind and parameters of a type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TypeKind {
    /// `none`
    None,
    /// One element: `f32`, `index`.
    Scalar(DType),
    /// An integer type that is no element type (`i4`, `si32`): carried, not computed with.
    Integer {
        /// Width in bits.
        width: u32,
        /// `Some(true)` for `si`, `Some(false)` for `ui`, `None` for signless.
        signed: Option<bool>,
    },
    /// A tensor value.
    Tensor(TensorType),
    /// `tensor<*xf32>`
    UnrankedTensor(DType),
    /// `vector<16xf32>`: lanes of a register.
    Vector {
        /// Lanes per axis.
        shape: Vec<u64>,
        /// Element type.
        dtype: DType,
    },
    /// A memory buffer, dense row-major: `memref<?xf32, tile>`.
    MemRef {
        /// Extents.
        dims: Vec<Extent>,
        /// Element type.
        dtype: DType,
        /// Memory space.
        space: MemSpace,
    },
    /// `(T, T) -> T`
    Function {
        /// Parameter types.
        inputs: Vec<TypeId>,
        /// Result types.
        results: Vec<TypeId>,
    },
    /// `tuple<T, T>`
    Tuple(Vec<TypeId>),
    /// A type that is carried but not looked into, kept as text: `!dialect.body`, `complex<i32>`, `tensor<4xi4>`.
    Opaque {
        /// Everything, with the leading `!` where there was one.
        text: Sym,
    },
}

impl TypeKind {
    /// The tensor type, if it is one.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            TypeKind::Tensor(t) => Some(t),
            _ => None,
        }
    }
    /// The element type of a tensor, vector, memref or scalar.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            TypeKind::Scalar(d) | TypeKind::UnrankedTensor(d) => Some(*d),
            TypeKind::Tensor(t) => Some(t.dtype),
            TypeKind::Vector { dtype, .. } | TypeKind::MemRef { dtype, .. } => Some(*dtype),
            _ => None,
        }
    }
}

impl crate::intern::Item for TypeKind {}

impl crate::intern::Item for ExtentExpr {}
