//! Keys: unsigned integers that order as the elements of a tensor do.
//!
//! ```text
//! f32   negative      all bits inverted       -1.0 0xbf800000 => 0x407fffff
//!       positive      the sign bit set         1.0 0x3f800000 => 0xbf800000
//!       zero          as +0; NaN: all bits set
//! i32   the sign bit inverted;  ui32, i1   as they are
//! an index of an axis   as it is; one out of range: all bits set
//! ```

use fuser_analysis::cost::NAMED_BITS;
use fuser_dialects::fusion;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{AttrKind, DType, Value};

use crate::lower::build::KernelBuilder;

/// The order of keys.
#[derive(Clone, Debug)]
enum Order {
    /// Keys order as elements do.
    Elements { descending: bool },
    /// Keys are the indices of an axis of so many elements.
    Places(ExtentExpr),
}

/// The keys of the elements of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// The type of an element.
    pub(super) element: DType,
    /// Bits of a key.
    pub(super) bits: u32,
    order: Order,
}

impl Key {
    /// Keys by which elements are sorted.
    pub(super) const fn of_elements(element: DType, descending: bool) -> Self {
        Self {
            element,
            bits: element.bits(),
            order: Order::Elements { descending },
        }
    }
    /// Keys of the indices, of type `element`, of an axis of `extent` elements.
    pub(super) fn of_places(element: DType, extent: ExtentExpr) -> Self {
        let most = extent.as_constant().and_then(|n| u64::try_from(n).ok());
        // The greatest key is that of no place.
        let bits = most.map_or(NAMED_BITS, |n| u64::BITS - n.leading_zeros());
        Self {
            element,
            bits: bits.clamp(1, element.bits()),
            order: Order::Places(extent),
        }
    }
    /// The extent that keys depend on.
    pub(super) const fn extent(&self) -> Option<&ExtentExpr> {
        match &self.order {
            Order::Places(extent) => Some(extent),
            Order::Elements { .. } => None,
        }
    }
    /// The type in which keys are computed.
    pub(super) const fn wide(&self) -> DType {
        match self.bits {
            33.. => DType::U64,
            _ => DType::U32,
        }
    }
    /// The type in which keys are stored.
    pub(super) const fn stored(&self) -> DType {
        unsigned(self.bits)
    }
    /// The key of an element, in the wide type: smaller keys come first; `None` if an extent has no value.
    pub(super) fn of(&self, k: &mut KernelBuilder<'_>, element: Value) -> Option<Value> {
        match &self.order {
            Order::Elements { descending } => Some(self.of_element(k, element, *descending)),
            Order::Places(extent) => {
                let extent = k.extent(extent)?;
                let extent = k.index(extent);
                let place = k.cast(element, DType::Index);
                let zero = k.int_constant(0, DType::Index);
                let below = k.compare("lt", place, extent);
                let from = k.compare("ge", place, zero);
                let inside = k.binary(&fusion::AND, below, from);
                let none = k.int_constant(self.greatest(), self.wide());
                let key = k.cast(place, self.wide());
                Some(k.select(inside, key, none))
            }
        }
    }
    /// The greatest key: all bits set, as of an index that is out of range.
    pub(super) const fn greatest(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.bits)
    }
    fn of_element(&self, k: &mut KernelBuilder<'_>, element: Value, descending: bool) -> Value {
        let (dtype, wide, all) = (self.element, self.wide(), self.greatest());
        let number = |k: &mut KernelBuilder<'_>, n: u64| k.int_constant(n, wide);
        let raw = match dtype {
            DType::I1 => k.cast(element, wide),
            DType::Index => {
                let signed = k.cast(element, DType::I64);
                cast_bits(k, signed, wide)
            }
            _ => {
                let bits = cast_bits(k, element, unsigned(self.bits));
                k.cast(bits, wide)
            }
        };
        let sign = (all >> 1) + 1;
        let ordered = if dtype.is_float() {
            let (every, top) = (number(k, all), number(k, sign));
            let magnitude = number(k, sign - 1);
            let magnitude = k.binary(&fusion::AND, raw, magnitude);
            let infinity = number(k, sign - (1 << fraction(dtype)));
            let nan = k.compare("gt", magnitude, infinity);
            let none = number(k, 0);
            let zero = k.compare("eq", magnitude, none);
            let negative = k.compare("ge", raw, top);
            let inverted = k.binary(&fusion::XOR, raw, every);
            let raised = k.binary(&fusion::OR, raw, top);
            let sided = k.select(negative, inverted, raised);
            let number = k.select(zero, top, sided);
            k.select(nan, every, number)
        } else if dtype.is_signed() {
            let top = number(k, sign);
            k.binary(&fusion::XOR, raw, top)
        } else {
            raw
        };
        if !descending {
            return ordered;
        }
        let every = number(k, all);
        k.binary(&fusion::XOR, ordered, every)
    }
}

/// The shortest unsigned type of so many bits.
const fn unsigned(bits: u32) -> DType {
    match bits {
        33.. => DType::U64,
        17.. => DType::U32,
        9.. => DType::U16,
        _ => DType::U8,
    }
}

/// Stored bits of the fraction of a float.
const fn fraction(dtype: DType) -> u32 {
    match dtype {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        _ => 7,
    }
}

fn cast_bits(k: &mut KernelBuilder<'_>, value: Value, dtype: DType) -> Value {
    if k.ir.value_kind(value).dtype() == Some(dtype) {
        return value;
    }
    let ty = k.ir.scalar(dtype);
    let to = k.ir.attr(AttrKind::Type(ty));
    k.value(&fusion::BITCAST, &[value], &[("to", to)], ty)
}
