//! The bytes of a load that a kernel's results depend on.
//!
//! LLVM loads whole words and vectors and discards parts of them. For three elements at a multiple of 16 bytes it loads
//! four. For rows of two bytes in four, it loads a word and extracts two bytes by `prmt`. Hardware permits that: the
//! other bytes hold arbitrary data, and nothing depends on them. The simulator therefore checks only demanded bytes for
//! races and for uninitialized memory.
//!
//! ```text
//! ld.shared.b32 %r1, [%rd1];
//! prmt.b32 %r2, %r1, 0, 0x7770U;   // byte 0 of %r1
//! st.global.b8 [%rd2], %r2;        // so of the load, byte 0
//! ```
//!
//! Demand propagates backward through [`Reads`] of each instruction, from addresses, branches, predicates, stores and
//! exchanges. A bit is demanded if any step of the kernel demands it, in any order of execution.

use crate::decode::{Action, Given, Register, Step};

/// The bits of its operands that bits of a result depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// All of them.
    All,
    /// From each operand, the bits of the same part; a part has this many bits.
    Parts(u32),
    /// From each operand, the same bit, unless the other operand is known to have a zero there.
    And,
    /// From the first two operands, the same bit; from the third, its lowest bit.
    Select,
    /// From the first two operands, the same bit, selected by the same bit of the third.
    Mix,
    /// The same bit and those below it: sums and products.
    Carry,
    /// A lower bit, at the distance given by the second operand, in a result of this many bits.
    Left(u32),
    /// A higher bit, at the distance given by the second operand, of this many bits. If signed, the sign bit replaces
    /// bits beyond the last one.
    Right(u32, bool),
    /// Bits from one on and as many as the second and the third operand say, of so many bits; with a sign, as above.
    Field(u32, bool),
    /// Two words, the second above the first, shifted up or down by the third operand.
    Funnel(bool),
    /// Bytes of two words that the third operand numbers.
    Permute,
    /// This many low bits; if signed, the sign bit replaces bits beyond the last one.
    Extend(u32, bool),
    /// So many bits from the one on that the second operand says.
    Part(u32),
    /// This many bits of the first operand, shifted up by the second operand, and the same bit of the third.
    Join(u32),
}

impl Reads {
    /// Those of an instruction of the table: `add.rn`, `f32`.
    pub fn of(root: &str, kind: &str) -> Reads {
        let bits = kind.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let bits: Option<u32> = bits.parse().ok();
        let signed = kind.starts_with('s');
        let integer = signed || kind.starts_with('u');
        let (first, rest) = root.split_once('.').unwrap_or((root, ""));
        match (first, bits) {
            ("setp" | "testp", _) => Reads::All,
            // Of integers. Registers for bytes have 16 bits, to which a signed one is extended.
            ("cvt", Some(from)) if integer => match rest.get(1..).map(str::parse) {
                Some(Ok(to)) if to < from => Reads::Extend(to, rest == "s8"),
                Some(Ok(_)) => Reads::Extend(from, signed),
                _ => Reads::All,
            },
            ("cvt", _) => Reads::All,
            ("mov" | "not" | "or" | "xor", _) => Reads::Parts(1),
            ("and", _) => Reads::And,
            ("selp", _) => Reads::Select,
            ("shl", Some(bits)) => Reads::Left(bits),
            ("shr", Some(bits)) => Reads::Right(bits, signed),
            ("bfe", Some(bits)) => Reads::Field(bits, signed),
            ("shf", _) => Reads::Funnel(root.starts_with("shf.l")),
            ("prmt", _) if kind == "b32" => Reads::Permute,
            ("neg" | "abs", _) if kind.contains('f') => Reads::Parts(1),
            ("add" | "sub" | "neg", Some(_)) if integer => Reads::Carry,
            ("mul" | "mad", Some(_)) if integer && root.ends_with(".lo") => Reads::Carry,
            (_, None) if kind == "f32x2" => Reads::Parts(32),
            (_, None) if kind.ends_with("16x2") => Reads::Parts(16),
            _ => Reads::All,
        }
    }

    /// The bits of three operands that determine the bits `result` of a result, given the known values of some
    /// operands.
    fn demanded(self, result: u64, known: [Option<u64>; 3]) -> [u64; 3] {
        if result == 0 {
            return [0; 3];
        }
        // What is known by number depends on no register.
        let all = u64::MAX;
        match self {
            Reads::All => [all; 3],
            Reads::Parts(bits) => [parts(result, bits); 3],
            Reads::And => {
                let beside = |n: usize| result & known[n].unwrap_or(all);
                [beside(1), beside(0), all]
            }
            Reads::Select => [result, result, 1],
            Reads::Mix => {
                let chosen = known[2];
                [
                    result & chosen.unwrap_or(all),
                    result & !chosen.unwrap_or(0),
                    result,
                ]
            }
            Reads::Carry => [low(64 - result.leading_zeros()); 3],
            // Distances have eight bits, or are beyond any type.
            Reads::Left(bits) => match known[1].filter(|by| *by < 256) {
                Some(by) => [down(result & low(bits), by), all, all],
                None => [all; 3],
            },
            Reads::Right(bits, signed) => match known[1].filter(|by| *by < 256) {
                Some(by) => [of_field(result, by, bits, signed), all, all],
                None => [all; 3],
            },
            Reads::Field(bits, signed) => match (known[1], known[2]) {
                (Some(at), Some(length)) => {
                    let (at, length) = (at & 255, (length & 255) as u32);
                    let last = (at.min(64) as u32).saturating_add(length).min(bits);
                    let within = if signed { result } else { result & low(length) };
                    [of_field(within, at, last, signed), all, all]
                }
                _ => [all; 3],
            },
            Reads::Funnel(left) => match known[2].filter(|by| *by < 32) {
                // Of both words together, the first of which is the low one.
                Some(by) => {
                    let by = if left { 32 - by } else { by };
                    let both = (result & low(32)) << by;
                    [both & low(32), both >> 32, all]
                }
                None => [all; 3],
            },
            Reads::Permute => match known[2] {
                Some(choice) => permuted(result, choice),
                None => [all; 3],
            },
            Reads::Extend(bits, signed) => [of_field(result, 0, bits, signed), all, all],
            Reads::Part(bits) => match known[1] {
                Some(at) => [up(result & low(bits), at), all, all],
                None => [all; 3],
            },
            Reads::Join(bits) => match known[1] {
                Some(at) => [down(result, at) & low(bits), all, result],
                None => [all; 3],
            },
        }
    }
}

/// So many low bits.
fn low(bits: u32) -> u64 {
    u64::MAX
        .checked_shr(64_u32.saturating_sub(bits))
        .unwrap_or(0)
}
fn up(bits: u64, by: u64) -> u64 {
    let by = u32::try_from(by).ok();
    by.and_then(|by| bits.checked_shl(by)).unwrap_or(0)
}
fn down(bits: u64, by: u64) -> u64 {
    let by = u32::try_from(by).ok();
    by.and_then(|by| bits.checked_shr(by)).unwrap_or(0)
}

/// All bits of parts that have a bit of `bits`, each of `size` bits.
fn parts(bits: u64, size: u32) -> u64 {
    (0..64)
        .step_by(size as usize)
        .map(|at| low(size) << at)
        .filter(|part| bits & part != 0)
        .fold(0, |all, part| all | part)
}

/// The demanded bits of a value of `bits` bits, given those of `result` after a right shift by `by`. If `signed`, the
/// sign bit supplies all bits beyond the last one.
fn of_field(result: u64, by: u64, bits: u32, signed: bool) -> u64 {
    let inside = up(result, by) & low(bits);
    let kept = u64::from(bits).saturating_sub(by) as u32;
    match signed && result & !low(kept) != 0 && bits > 0 {
        true => inside | 1 << (bits - 1),
        false => inside,
    }
}

/// The bytes of two words that `choice` selects for demanded bits of a result. Each byte has a four-bit selector, whose
/// highest bit requests replication of the sign.
fn permuted(result: u64, choice: u64) -> [u64; 3] {
    let mut both = 0;
    for n in 0..4 {
        let wanted = result >> (8 * n) & 255;
        let chosen = choice >> (4 * n);
        let bits = match chosen & 8 {
            0 => wanted,
            _ if wanted != 0 => 128,
            _ => 0,
        };
        both |= bits << (8 * (chosen & 7));
    }
    [both & low(32), both >> 32, u64::MAX]
}

/// Finds for each load of shared or global memory which of its bytes are demanded.
pub fn find(steps: &mut [Step], given: &[(Register, Given)], registers: usize) {
    let known = constants(steps, given, registers);
    let demanded = demanded(steps, &known, registers);
    for step in steps {
        if let Action::Load {
            to,
            size,
            signed,
            demanded: bytes,
            ..
        } = &mut step.action
        {
            let elements = to.iter().enumerate();
            *bytes = elements.fold(0, |all, (n, (register, mask))| {
                let bits = demanded[*register as usize] & mask;
                let bits = of_field(bits, 0, 8 * *size as u32, *signed);
                let of_element = (0..*size).filter(|byte| bits >> (8 * byte) & 255 != 0);
                of_element.fold(all, |all, byte| all | 1 << (n * *size + byte))
            });
        }
    }
}

/// The bits of each register that some step demands.
fn demanded(steps: &[Step], known: &[Option<u64>], registers: usize) -> Vec<u64> {
    let mut demanded = vec![0; registers];
    loop {
        let mut grown = false;
        let mut demand = |register: Register, bits: u64, demanded: &mut Vec<u64>| {
            let all = &mut demanded[register as usize];
            grown |= bits & !*all != 0;
            *all |= bits;
        };
        for step in steps.iter().rev() {
            if let Some((guard, _)) = step.guard {
                demand(guard, 1, &mut demanded);
            }
            if let Action::Compute { row, to, from } = &step.action {
                let of = from.map(|register| known[register as usize]);
                let bits = row.reads.demanded(demanded[*to as usize], of);
                let used = from.iter().zip(bits).take(row.operands);
                used.for_each(|(register, bits)| demand(*register, bits, &mut demanded));
                continue;
            }
            let shuffled = match &step.action {
                Action::Shuffle { to, .. } => demanded[*to as usize],
                _ => 0,
            };
            reads(&step.action, shuffled, &mut |register, bits| {
                demand(register, bits, &mut demanded);
            });
        }
        if !grown {
            return demanded;
        }
    }
}

/// Tells the registers that an action other than a computation reads, with the bits. Of what is shuffled, `shuffled` is demanded.
fn reads(action: &Action, shuffled: u64, tell: &mut dyn FnMut(Register, u64)) {
    let mut all = |registers: &[Register]| registers.iter().for_each(|&r| tell(r, u64::MAX));
    match action {
        Action::Compute { .. } | Action::Branch(_) | Action::Barrier { .. } | Action::Exit => {}
        Action::Load { base, .. } | Action::LoadMatrix { base, .. } => all(&[*base]),
        Action::Store {
            from, base, size, ..
        } => {
            all(&[*base]);
            from.iter()
                .for_each(|&register| tell(register, low(8 * *size as u32)));
        }
        Action::Shuffle {
            from,
            by,
            clamp,
            members,
            ..
        } => {
            all(&[*by, *clamp, *members]);
            tell(*from, shuffled);
        }
        Action::Reduce { from, members, .. } => all(&[*from, *members]),
        Action::Multiply {
            left,
            right,
            addend,
            ..
        } => {
            all(left);
            all(right);
            all(addend);
        }
        Action::Count { base, limit, .. } => all(&[*base, *limit]),
    }
}

/// The values of registers that are known before a kernel runs: constants, and what is computed of them at one place.
fn constants(steps: &[Step], given: &[(Register, Given)], registers: usize) -> Vec<Option<u64>> {
    let mut known = vec![None; registers];
    for (register, given) in given {
        if let Given::Constant(bits) = given {
            known[*register as usize] = Some(*bits);
        }
    }
    let mut writers = vec![0_u32; registers];
    for step in steps {
        written(&step.action, &mut |register| {
            writers[register as usize] += 1
        });
    }
    for step in steps.iter().filter(|step| step.guard.is_none()) {
        let Action::Compute { row, to, from } = &step.action else {
            continue;
        };
        let operands = from.map(|register| known[register as usize]);
        if let ([Some(a), Some(b), Some(c)], 1) = (operands, writers[*to as usize]) {
            known[*to as usize] = Some((row.compute)(a, b, c));
        }
    }
    known
}

/// Tells the registers that an action writes.
fn written(action: &Action, tell: &mut dyn FnMut(Register)) {
    match action {
        Action::Compute { to, .. } | Action::Reduce { to, .. } | Action::Count { to, .. } => {
            tell(*to);
        }
        Action::Load { to, .. } => to.iter().for_each(|(register, _)| tell(*register)),
        Action::LoadMatrix { to, .. } => to.iter().for_each(|&register| tell(register)),
        Action::Multiply { to, .. } => to.iter().for_each(|&register| tell(register)),
        Action::Shuffle { to, valid, .. } => {
            tell(*to);
            tell(*valid);
        }
        Action::Store { .. } | Action::Branch(_) | Action::Barrier { .. } | Action::Exit => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute;
    use fuser_random::SplitMix;

    /// Changes to bits that are not demanded never change a demanded bit of the result, for any operand values.
    #[test]
    fn what_is_not_demanded_changes_nothing() {
        let mut random = SplitMix(7);
        let names = [
            "mov.b32",
            "not.b64",
            "and.b32",
            "or.b16",
            "xor.b64",
            "selp.b32",
            "shl.b32",
            "shl.b64",
            "shr.u32",
            "shr.s32",
            "shr.s16",
            "shr.u64",
            "bfe.u32",
            "bfe.s32",
            "bfe.u64",
            "bfe.s64",
            "shf.l.wrap.b32",
            "shf.r.wrap.b32",
            "prmt.b32",
            "add.s32",
            "sub.s16",
            "mul.lo.s64",
            "mad.lo.s32",
            "neg.s32",
            "cvt.u16.u8",
            "cvt.s32.s8",
            "cvt.u32.u16",
            "cvt.s64.s32",
            "cvt.u16.u32",
            "cvt.s16.s8",
            "cvt.rn.f32.s32",
            "add.s16x2",
            "min.u16x2",
            "max.s16x2",
            "add.rn.bf16x2",
            "neg.f16x2",
            "abs.f32",
            "add.rn.f32x2",
            "mul.rn.f32",
            "min.s32",
            "popc.b32",
            "brev.b32",
            "mul.wide.s16",
            "setp.lt.s32",
            "prmt.b32.f4e",
        ];
        let mut rows: Vec<(&str, compute::Row)> = names
            .map(|name| (name, compute::find(name).unwrap()))
            .to_vec();
        rows.extend([
            ("part", compute::PART_16),
            ("joined", compute::JOINED_16),
            ("raised", compute::RAISED),
            ("mixed", compute::MIXED),
            ("carry", compute::ADD_WITH_CARRY),
        ]);
        let mut spared = 0;
        for (name, row) in rows {
            for case in 0..2000 {
                let mut word = || random.word();
                let mut operands = [word(), word(), word()];
                // Distances and lengths that a field may have, mostly; parts are at known places.
                let at_known = matches!(row.reads, Reads::Part(_) | Reads::Join(_));
                if at_known || case % 4 != 0 && !matches!(row.reads, Reads::Permute | Reads::Mix) {
                    operands[1 + usize::from(matches!(row.reads, Reads::Funnel(_)))] &= 63;
                    if matches!(row.reads, Reads::Field(..)) {
                        operands[2] &= 31;
                    }
                }
                let wanted = word() & word() & word();
                let known = [0, 1, 2].map(|n| {
                    let is_known = word() & 1 == 0 || at_known && n == 1;
                    is_known.then_some(operands[n])
                });
                let demanded = row.reads.demanded(wanted, known);
                let mut changed = operands;
                for n in (0..3).filter(|n| known[*n].is_none()) {
                    changed[n] ^= word() & !demanded[n];
                    spared += (!demanded[n]).count_ones();
                }
                let [before, after] =
                    [operands, changed].map(|[a, b, c]| (row.compute)(a, b, c) & wanted);
                assert_eq!(
                    before, after,
                    "{name} {operands:x?} {changed:x?} {wanted:x}"
                );
            }
        }
        assert!(spared > 1_000_000);
    }

    #[test]
    fn a_byte_that_is_taken_is_one_byte() {
        let bits = |name: &str, operands: [Option<u64>; 3], result: u64| {
            compute::find(name)
                .unwrap()
                .reads
                .demanded(result, operands)[0]
        };
        let none = [None; 3];
        assert_eq!(bits("prmt.b32", [None, None, Some(0x7771)], 255), 0xFF00);
        assert_eq!(bits("bfe.u32", [None, Some(8), Some(8)], u64::MAX), 0xFF00);
        assert_eq!(
            bits("shr.u32", [None, Some(24), None], u64::MAX),
            0xFF00_0000
        );
        assert_eq!(bits("and.b32", [None, Some(255), None], u64::MAX), 255);
        assert_eq!(bits("cvt.u16.u8", none, u64::MAX), 255);
        assert_eq!(bits("cvt.s32.s8", none, 1 << 20), 128);
        assert_eq!(bits("add.s16x2", none, 1), 0xFFFF);
        assert_eq!(bits("add.s32", none, 0x80), 0xFF);
        assert_eq!(bits("setp.lt.s32", none, 1), u64::MAX);
    }
}
