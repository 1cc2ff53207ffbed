//! x86-64: levels, features, and sequences for processors whose vectors have 32 bytes.
//!
//! Widening bf16 crosses the halves of a register: LLVM uses one lane-crossing move and one shift for eight elements.
//! Instead, a load can broadcast sixteen bytes to both halves at the cost of an ordinary load. One byte shuffle then
//! moves each element into place with zeros below it. Loads to be widened are therefore split into parts of eight
//! elements.
//!
//! AVX-512 multiplies by a power of two in one instruction. It also rounds to bf16 in one instruction, whose handling
//! of subnormals needs a guard.

use fuser_target::processors::{NATIVE, X86_LEVELS};
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, InstructionOpcode, InstructionValue};

use super::{Processor, has, turned_on};
use crate::expr::{Elem, Emit, Val};
use crate::target::Target;

/// The features of an x86 processor that select code sequences; LLVM itself uses all features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct X86 {
    /// Minimum and maximum of 32-bit integer vectors, and the other additions of x86-64-v2.
    pub sse41: bool,
    /// The widest vectors have 32 bytes: AVX2 and no more.
    pub avx2: bool,
    /// Conversions between f16 and f32.
    pub f16c: bool,
    /// AVX-512 with vectors of 16, 32 and 64 bytes, and the other additions of x86-64-v4.
    pub avx512: bool,
    /// Rounding of f32 to bf16, beside `avx512`. The instruction takes subnormals for zeros.
    pub avx512bf16: bool,
}

/// The first part of its triples.
pub const NAME: &str = "x86_64";

impl X86 {
    /// The features that an LLVM feature string turns on.
    pub fn of(features: &str) -> Self {
        X86 {
            sse41: has(features, "sse4.1"),
            avx2: vector_bytes(features) == 32,
            f16c: has(features, "f16c"),
            avx512: avx512(features),
            avx512bf16: avx512(features) && has(features, "avx512bf16"),
        }
    }
}

/// True if an LLVM feature string has all AVX-512 features of x86-64-v4 that select code sequences.
fn avx512(features: &str) -> bool {
    let needed = ["avx512f", "avx512vl", "avx512dq"];
    needed.iter().all(|feature| has(features, feature))
}

/// The widest vector registers, in bytes.
pub fn vector_bytes(features: &str) -> u32 {
    match features {
        _ if has(features, "avx512f") && has(features, "avx512vl") => 64,
        _ if has(features, "avx2") => 32,
        _ => 16,
    }
}

/// A processor of a level, counted from 0; the highest level for higher numbers.
pub fn level(level: usize) -> Target {
    let levels = &X86_LEVELS[..=level.min(X86_LEVELS.len() - 1)];
    Target::Cpu {
        triple: "x86_64-unknown-linux-gnu".into(),
        cpu: levels.last().map_or(NATIVE, |(name, _)| name).into(),
        features: turned_on(levels.iter().flat_map(|(_, added)| *added)),
    }
}

/// The processor `cpu` in LLVM's terms. Its name is that of a level: LLVM parses the feature list in each function,
/// missing features included, at a cost proportional to its length.
pub fn processor<'a>(cpu: &'a str, features: &str) -> Processor<'a> {
    let reached = X86_LEVELS
        .iter()
        .take_while(|(_, added)| added.iter().all(|feature| has(features, feature)));
    let reached: Vec<_> = reached.collect();
    let Some((level, _)) = reached.last() else {
        return (cpu, features.to_owned(), cpu);
    };
    let of_level = |feature: &str| reached.iter().any(|(_, added)| added.contains(&feature));
    let beyond = features.split(',').filter(|item| {
        let feature = item.strip_prefix('+');
        feature.is_some_and(|feature| !of_level(feature))
    });
    (level, beyond.collect::<Vec<_>>().join(","), cpu)
}

/// Makes streamed stores visible to other processors.
pub fn store_fence(emit: &Emit<'_>) {
    emit.intrinsic("llvm.x86.sse.sfence", &[], &[]);
}

/// Elements of a part: sixteen bytes of them.
pub const PART: u32 = 8;

impl Emit<'_> {
    /// Bits of the widest vector registers.
    pub fn register_bits(&self) -> u32 {
        match self.x86 {
            Some(x86) if x86.avx512 => 512,
            Some(x86) if x86.avx2 => 256,
            _ => 128,
        }
    }

    /// True if the module is for an x86 processor whose widest vectors have 32 bytes.
    pub fn has_avx2(&self) -> bool {
        self.x86.is_some_and(|x86| x86.avx2)
    }
}

impl<'e, 'ctx> Val<'e, 'ctx> {
    /// True if [`Val::scalef`] has a result for values of this shape.
    pub fn has_scalef(self) -> bool {
        let bits = |lanes| lanes * self.elem().bits();
        let fills = |lanes: u32| lanes.is_power_of_two() && bits(lanes) >= 128;
        self.emit.x86.is_some_and(|x86| x86.avx512) && self.lanes().is_some_and(fills)
    }

    /// `self * 2^n` with one rounding, for an integral `n` in the type of `self`; `None` unless the processor has
    /// AVX-512 and the lanes fill its registers.
    pub fn scalef(self, n: Val<'e, 'ctx>) -> Option<Self> {
        const CURRENT_ROUNDING: i64 = 4;
        let (emit, bits, lanes) = (self.emit, self.elem().bits(), self.lanes()?);
        if !self.has_scalef() {
            return None;
        }
        if lanes * bits > 512 {
            let half = lanes / 2;
            let [low, high] = [0, half].map(|from| (self.slice(from, half), n.slice(from, half)));
            return Some(low.0.scalef(low.1)?.concat(high.0.scalef(high.1)?));
        }
        let suffix = if bits == 64 { "pd" } else { "ps" };
        let name = format!("llvm.x86.avx512.mask.scalef.{suffix}.{}", lanes * bits);
        let mask = emit.constant_int(if lanes == 16 { 16 } else { 8 }, None, -1);
        let rounding = emit.constant_int(32, None, CURRENT_ROUNDING);
        let result = match lanes * bits {
            512 => emit.intrinsic(&name, &[], &[self, n, self, mask, rounding]),
            128 | 256 => emit.intrinsic(&name, &[], &[self, n, self, mask]),
            _ => None,
        };
        result.map(|raw| emit.val(raw))
    }

    /// A condition that holds in some lane if any lane contains a subnormal f32, by one instruction for each register.
    /// `None` unless the processor rounds such lanes to bf16 by one instruction.
    pub fn subnormals_beside_bf16(self) -> Option<Self> {
        const SUBNORMAL: i64 = 0x20;
        let emit = self.emit;
        if !emit.x86.is_some_and(|x86| x86.avx512bf16) || self.elem() != Elem::F32 {
            return None;
        }
        let lanes = self.lanes()?;
        if lanes > 16 && lanes.is_multiple_of(2) {
            let half = lanes / 2;
            let [low, high] = [0, half].map(|from| self.slice(from, half));
            return Some(
                low.subnormals_beside_bf16()?
                    .or(high.subnormals_beside_bf16()?),
            );
        }
        if ![4, 8, 16].contains(&lanes) {
            return None;
        }
        let name = format!("llvm.x86.avx512.fpclass.ps.{}", lanes * 32);
        let class = emit.constant_int(32, None, SUBNORMAL);
        let result = emit.intrinsic(&name, &[], &[self, class])?;
        Some(emit.val(result))
    }

    /// The nearest bf16 of 32 f32 lanes, as bits, by the instruction that takes two registers; the caller handles
    /// subnormals.
    pub fn two_registers_to_bf16(self) -> Option<Self> {
        let emit = self.emit;
        if !emit.x86.is_some_and(|x86| x86.avx512bf16) || self.lanes() != Some(32) {
            return None;
        }
        let [low, high] = [0, 16].map(|from| self.slice(from, 16));
        let name = "llvm.x86.avx512bf16.cvtne2ps2bf16.512";
        Some(emit.val(emit.intrinsic(name, &[], &[high, low])?).to_bits())
    }

    /// The lanes of two vectors of one type, this one's first.
    pub fn concat(self, other: Val<'e, 'ctx>) -> Self {
        let lanes = 2 * self.lanes().unwrap_or(1);
        self.shuffle_with(other, &(0..lanes).collect::<Vec<_>>())
    }

    /// A shuffle of the lanes of two vectors of one type; lanes are counted from the first lane of `self`.
    pub fn shuffle_with(self, other: Val<'e, 'ctx>, lanes: &[u32]) -> Self {
        let (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) =
            (self.raw, other.raw)
        else {
            return self;
        };
        let mask = self.lane_numbers(lanes.iter().copied());
        let result = self.emit.builder.build_shuffle_vector(a, b, mask, "");
        self.emit.built(result.map(Into::into), self.raw)
    }

    /// Widens 16-bit elements to the upper halves of 32-bit elements, with zeros below, if they were loaded in parts.
    pub fn loaded_to_upper_halves(self) -> Option<Self> {
        let parts = self.loaded_parts()?;
        let mut widened = parts.into_iter().map(|part| part.part_to_upper_halves());
        let first = widened.next()??;
        widened.try_fold(first, |all, next| Some(all.concat(next?)))
    }

    /// The parts that this vector was loaded in, if it was.
    fn loaded_parts(self) -> Option<Vec<Self>> {
        if !self.emit.has_avx2() || self.elem() != Elem::Int(16) {
            return None;
        }
        let made_by = instruction(self.raw)?;
        if self.lanes() == Some(PART) && made_by.get_opcode() == InstructionOpcode::Load {
            return Some(vec![self]);
        }
        if self.lanes() != Some(2 * PART)
            || made_by.get_opcode() != InstructionOpcode::ShuffleVector
        {
            return None;
        }
        let part = |index| {
            let value = made_by.get_operand(index)?.value()?;
            let loaded = instruction(value)?.get_opcode() == InstructionOpcode::Load;
            let part = self.emit.val(value);
            (loaded && part.lanes() == Some(PART)).then_some(part)
        };
        Some(vec![part(0)?, part(1)?])
    }

    fn part_to_upper_halves(self) -> Option<Self> {
        let BasicValueEnum::VectorValue(part) = self.raw else {
            return None;
        };
        let twice = self.lane_numbers((0..PART).chain(0..PART));
        let poison = part.get_type().get_poison();
        let result = self
            .emit
            .builder
            .build_shuffle_vector(part, poison, twice, "");
        let both = self.emit.built(result.map(Into::into), self.raw);
        let bytes = self.emit.shaped_type(Elem::Int(8), Some(4 * PART));
        let moved = self.emit.intrinsic(
            "llvm.x86.avx2.pshuf.b",
            &[],
            &[both.reinterpret(bytes), self.emit.val(self.byte_places())],
        )?;
        let words = self.emit.shaped_type(Elem::Int(32), Some(PART));
        Some(self.emit.val(moved).reinterpret(words))
    }

    /// The shuffle that widens 2-byte elements, within each half of a register. The lower half takes elements 0 to 3,
    /// the upper half 4 to 7, each after two zero bytes.
    fn byte_places(self) -> BasicValueEnum<'ctx> {
        const ZERO: u64 = 0x80;
        let byte = self.emit.context.i8_type();
        let places: Vec<_> = (0..u64::from(PART))
            .flat_map(|element| [ZERO, ZERO, 2 * element, 2 * element + 1])
            .map(|place| byte.const_int(place, false))
            .collect();
        VectorType::const_vector(&places).into()
    }

    fn lane_numbers(self, lanes: impl Iterator<Item = u32>) -> inkwell::values::VectorValue<'ctx> {
        let word = self.emit.context.i32_type();
        let lanes: Vec<_> = lanes
            .map(|lane| word.const_int(u64::from(lane), false))
            .collect();
        VectorType::const_vector(&lanes)
    }
}

fn instruction(value: BasicValueEnum<'_>) -> Option<InstructionValue<'_>> {
    match value {
        BasicValueEnum::VectorValue(vector) => vector.as_instruction(),
        _ => None,
    }
}
