//! Lanes of [`Val`]: taking vectors apart and putting them together.

use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValueEnum;

use super::{Elem, Val};

impl<'e, 'ctx> Val<'e, 'ctx> {
    /// An `i1`: whether any lane of this condition holds.
    pub fn any(self) -> Self {
        match self.lanes() {
            None => self,
            Some(_) => self.reduce_with("llvm.vector.reduce.or"),
        }
    }

    /// Reduces the lanes of a vector with a reduction intrinsic of one operand.
    pub fn reduce_with(self, name: &str) -> Self {
        let result = self.emit.intrinsic(name, &[self.raw.get_type()], &[self]);
        Val {
            emit: self.emit,
            raw: result.unwrap_or(self.raw),
        }
    }

    /// One lane of a vector; a scalar is its own only lane.
    pub fn lane(self, index: u32) -> Self {
        let BasicValueEnum::VectorValue(vector) = self.raw else {
            return self;
        };
        let at = self
            .emit
            .context
            .i32_type()
            .const_int(u64::from(index), false);
        self.emit.built(
            self.emit.builder.build_extract_element(vector, at, ""),
            self.raw,
        )
    }

    /// This vector with one lane replaced; a scalar is replaced whole.
    pub fn with_lane(self, index: u32, value: Val<'e, 'ctx>) -> Self {
        let BasicValueEnum::VectorValue(vector) = self.raw else {
            return value;
        };
        let at = self
            .emit
            .context
            .i32_type()
            .const_int(u64::from(index), false);
        let result = self
            .emit
            .builder
            .build_insert_element(vector, value.raw, at, "")
            .map(Into::into);
        self.emit.built(result, self.raw)
    }

    /// `count` consecutive lanes of a vector, as a vector.
    pub fn slice(self, from: u32, count: u32) -> Self {
        self.shuffle((from..from + count).collect())
    }

    /// This vector with one more lane at its end.
    pub fn append(self, value: Val<'e, 'ctx>) -> Self {
        let count = self.lanes().unwrap_or(1);
        // Lanes from `count` on come from the second operand of the shuffle, which is poison: written right after.
        self.shuffle((0..=count).collect()).with_lane(count, value)
    }

    /// A vector of these lanes.
    pub fn shuffle(self, lanes: Vec<u32>) -> Self {
        let BasicValueEnum::VectorValue(vector) = self.raw else {
            return self;
        };
        let word = self.emit.context.i32_type();
        let lanes: Vec<_> = lanes
            .into_iter()
            .map(|lane| word.const_int(u64::from(lane), false))
            .collect();
        let mask = inkwell::types::VectorType::const_vector(&lanes);
        let poison = vector.get_type().get_poison();
        let result = self
            .emit
            .builder
            .build_shuffle_vector(vector, poison, mask, "")
            .map(Into::into);
        self.emit.built(result, self.raw)
    }

    /// The float that every lane is known to hold while code is generated.
    pub fn constant(self) -> Option<f64> {
        match self.raw {
            BasicValueEnum::FloatValue(v) if v.is_const() && !v.is_undef() => {
                v.get_constant().map(|(value, _)| value)
            }
            // Taking a lane out of a constant folds: nothing is built.
            BasicValueEnum::VectorValue(v) if v.is_const() => {
                let first = self.lane(0).constant()?;
                let same = |lane| self.lane(lane).constant().map(f64::to_bits);
                let lanes = 1..v.get_type().get_size();
                let all = lanes.into_iter().all(|l| same(l) == Some(first.to_bits()));
                all.then_some(first)
            }
            _ => None,
        }
    }

    /// This scalar in every lane.
    pub fn splat(self, lanes: Option<u32>) -> Self {
        let Some(count) = lanes else { return self };
        let poison = match self.emit.shaped_type(self.elem(), lanes) {
            BasicTypeEnum::VectorType(ty) => self.emit.val(ty.get_poison()),
            _ => return self,
        };
        let first = poison.with_lane(0, self);
        let (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) =
            (first.raw, poison.raw)
        else {
            return self;
        };
        let mask = self.emit.context.i32_type().vec_type(count).const_zero();
        let result = self
            .emit
            .builder
            .build_shuffle_vector(a, b, mask, "")
            .map(Into::into);
        self.emit.built(result, self.raw)
    }

    /// Widens 16-bit lanes to the upper halves of 32-bit lanes, on a GPU. Each register holds a pair of lanes, which a
    /// shift and a mask split. `None` for an odd number of lanes.
    pub fn pairs_to_upper_halves(self) -> Option<Self> {
        let pairs = self
            .lanes()
            .filter(|n| self.emit.has_threads() && n % 2 == 0)?
            / 2;
        let words = self.reinterpret(self.emit.shaped_type(Elem::Int(32), Some(pairs)));
        let wide = self.emit.undefined(Elem::Int(32), Some(2 * pairs));
        Some((0..pairs).fold(wide, |wide, pair| {
            let word = words.lane(pair);
            let (low, high) = (word.shift_left(16), word.and(0xffff_0000));
            wide.with_lane(2 * pair, low).with_lane(2 * pair + 1, high)
        }))
    }

    /// Applies a scalar function to the pairs of lanes of two values of one shape.
    pub fn zip_lanes(
        self,
        other: Val<'e, 'ctx>,
        function: impl Fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>,
    ) -> Self {
        let Some(lanes) = self.lanes() else {
            return function(self, other);
        };
        (0..lanes).fold(self, |result, index| {
            result.with_lane(index, function(self.lane(index), other.lane(index)))
        })
    }

    /// Applies a scalar function to every lane.
    pub fn per_lane(self, function: impl Fn(Val<'e, 'ctx>) -> Val<'e, 'ctx>) -> Self {
        let Some(lanes) = self.lanes() else {
            return function(self);
        };
        let mut result: Option<Val<'e, 'ctx>> = None;
        for index in 0..lanes {
            let value = function(self.lane(index));
            let into = result.unwrap_or_else(|| value.emit.undefined(value.elem(), Some(lanes)));
            result = Some(into.with_lane(index, value));
        }
        result.unwrap_or(self)
    }
}
