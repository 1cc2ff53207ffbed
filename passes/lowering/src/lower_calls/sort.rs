//! A sort by digits of its keys, from the last digit to the first, as launches of kernels.
//!
//! ```text
//! for each digit of 4 bits:                     a line of n elements, cut into parts
//!   count   hist[digit, part]                   each part's elements with each digit
//!   offset  offs = exclusive sums of hist       where the elements of (digit, part) go
//!   place   part by part, in tiles: rank the elements of a tile by their digits, then store them at offs
//! ```
//!
//! Each pass keeps the order of elements with equal digits, so that the last pass leaves all of them in order (Knuth,
//! The Art of Computer Programming, volume 3, section 5.2.5). Threads count digits in columns of their own, and ranks are
//! sums of these counts: no result depends on the order of threads. A line of at most one tile is sorted by one block,
//! which ranks its elements by all digits in shared memory: one launch, which reads and writes each element once.
//!
//! `fusion.sort` moves the elements; `fusion.argsort` moves keys and indices.

use fuser_analysis::cost::{DIGIT_BITS, LONGEST_TILE};
use fuser_dialects::{fusion, kernel};
use fuser_ir::types::ExtentExpr;
use fuser_ir::{AttrKind, DType, Dim, Ir, Op, Sym, TypeId, Value};

use super::counters::Counters;
use super::key::Key;
use super::places::Lines;
use super::{Kernels, scanned, signature, walk};
use crate::lower::build::{Idx, KernelBuilder, Map};

/// Bits of a digit.
const DIGIT: u32 = DIGIT_BITS;
/// The digits.
pub(super) const DIGITS: i64 = 1 << DIGIT;
/// Elements that a thread ranks in a tile; odd, so that the threads of a warp read different banks.
const EACH: i64 = 17;
/// Threads of a block.
const THREADS: i64 = 128;
/// Elements of a tile.
const TILE: i64 = THREADS * EACH;
const _: () = assert!(TILE.unsigned_abs() == LONGEST_TILE);
/// A power of two above the number of every element of a tile.
const NUMBERS: i64 = 1 << 12;
/// Threads that add up the counts of all parts.
const ADDERS: i64 = 256;
/// Tiles of a part, at least, where a line has so many: each part has counters that the offsets are computed from.
const TILES: u64 = 4;
/// Parts for each multiprocessor.
const PARTS: u64 = 4;

/// One end of a pass: what it reads, or what it writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The operand or the result of the op.
    Op,
    /// Memory between two passes.
    Between,
}

/// The results of a sort.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The elements.
    Elements,
    /// Their indices, of this type.
    Indices(DType),
    /// Their keys and their indices, each a tensor of all lines.
    Both,
}

/// A pass over a digit.
#[derive(Clone, Copy)]
struct Pass {
    from: End,
    to: End,
    /// The parts of a line.
    parts: i64,
    /// The first bit of the digit.
    shift: u64,
}

/// A sort, as kernels see it.
pub(super) struct Sort {
    op: Op,
    /// The tensor whose lines are sorted.
    input: Value,
    pub(super) key: Key,
    wanted: Wanted,
    lines: ExtentExpr,
    length: ExtentExpr,
    kept: ExtentExpr,
    from: Lines,
    to: Lines,
    between: Lines,
}

impl Sort {
    /// The sort that `op` is; `None` if it has unknown extents.
    pub(super) fn of(ir: &Ir, op: Op) -> Option<Self> {
        let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
        let (input, result) = (ir.operand(op, 0), ir.result(op, 0));
        let (mut from, mut to) = (
            Lines::of(ir, input, input, dim)?,
            Lines::of(ir, result, input, dim)?,
        );
        from.join(&mut to)?;
        let (lines, length) = (from.count()?, axis(ir, input, dim)?);
        let descending = ir.get_attr(op, "descending").is_some();
        let wanted = match ir.get_attr(op, "of").is_some() {
            true => Wanted::Indices(ir.value_kind(result).dtype()?),
            false => Wanted::Elements,
        };
        Some(Self {
            op,
            input,
            key: Key::of_elements(ir.value_kind(input).dtype()?, descending),
            wanted,
            between: Lines::flat(&lines, &length),
            kept: axis(ir, result, dim)?,
            lines,
            length,
            from,
            to,
        })
    }
    /// A sort of indices of an axis of `extent` elements, for the op `op`: `lines` are those of `input`, along axis `dim`.
    pub(super) fn of_places(
        ir: &Ir,
        op: Op,
        (input, dim): (Value, usize),
        from: Lines,
        extent: &ExtentExpr,
    ) -> Option<Self> {
        let (lines, length) = (from.count()?, axis(ir, input, dim)?);
        let between = Lines::flat(&lines, &length);
        Some(Self {
            op,
            input,
            key: Key::of_places(ir.value_kind(input).dtype()?, extent.clone()),
            wanted: Wanted::Both,
            to: between.clone(),
            between,
            kept: length.clone(),
            lines,
            length,
            from,
        })
    }
    /// Inserts the launches before the op; the values that are wanted.
    pub(super) fn lower(&self, ir: &mut Ir, kernels: &mut Kernels<'_>) -> Option<Vec<Value>> {
        let elements = self.lines.mul(&self.length)?;
        let elements = Dim::new(ir.extent(elements)?);
        let moved = ir.tensor(vec![elements], self.moved());
        let indices = ir.tensor(vec![elements], self.index_type());
        let results = match self.wanted {
            Wanted::Both => vec![moved, indices],
            _ => vec![ir.value_type(ir.result(self.op, 0))],
        };
        match self.length.as_constant() {
            Some(length) if length <= TILE => self.in_a_block(ir, kernels, length, &results),
            _ => self.by_passes(ir, kernels, [moved, indices], &results),
        }
    }
    /// The passes over digits.
    const fn passes(&self) -> u32 {
        self.key.bits.div_ceil(DIGIT)
    }
    /// The type that moves: that of elements, or that of keys.
    const fn moved(&self) -> DType {
        match self.wanted {
            Wanted::Elements => self.key.element,
            _ => self.key.stored(),
        }
    }
    /// The type of indices between passes.
    fn index_type(&self) -> DType {
        let length = self.length.as_constant();
        match length.is_some_and(|length| i32::try_from(length).is_ok()) {
            true => DType::I32,
            false => DType::I64,
        }
    }
    /// The element or key that moves for an element of the operand.
    fn carried(&self, k: &mut KernelBuilder<'_>, element: Value) -> Option<Value> {
        if self.wanted == Wanted::Elements {
            return Some(element);
        }
        let key = self.key.of(k, element)?;
        Some(k.cast(key, self.moved()))
    }
    /// The key of an element or key that moves.
    fn key_of(&self, k: &mut KernelBuilder<'_>, moved: Value) -> Option<Value> {
        match self.wanted {
            Wanted::Elements => self.key.of(k, moved),
            _ => Some(k.cast(moved, self.key.wide())),
        }
    }
    /// The digit of a key from bit `shift` on.
    fn digit(&self, k: &mut KernelBuilder<'_>, key: Value, shift: Value) -> Idx {
        let low = k.binary(&fusion::LSHR, key, shift);
        let mask = k.int_constant(DIGITS - 1, self.key.wide());
        let digit = k.binary(&fusion::AND, low, mask);
        Idx::Value(k.cast(digit, DType::Index))
    }

    // --- one block for a line --------------------------------------------------------------------------------------

    /// One launch, whose blocks sort a line of `length` elements each.
    fn in_a_block(
        &self,
        ir: &mut Ir,
        kernels: &mut Kernels<'_>,
        length: i64,
        results: &[TypeId],
    ) -> Option<Vec<Value>> {
        let threads = [32, 64]
            .into_iter()
            .find(|threads| length <= threads * EACH);
        let threads = threads.unwrap_or(THREADS);
        // An odd number of elements for each thread.
        let each = ((length + threads - 1) / threads) | 1;
        let items = Idx::Const(threads * each);
        let func = kernels.open(
            ir,
            signature("sort", 0, self.names(), threads),
            &[self.input],
            results,
        );
        let (&x, stored) = func.memory.split_first()?;
        let stored = stored.to_vec();
        let k = &mut func.k(ir, self.op);
        let keys = k.alloc(&[items], self.key.wide());
        // The order after an even number of passes, and behind it the one after an odd number.
        let orders = k.alloc(&[items, Idx::Const(2)], DType::I32);
        let counters = Counters::new(k, threads);
        let (lines, n) = (k.extent(&self.lines)?, k.extent(&self.length)?);
        let kept = k.extent(&self.kept)?;
        let grid = k.open_loop([Idx::ZERO, lines, Idx::Const(1)], &[]);
        let line = Idx::Value(grid.iv);
        let start = self.from.start(k, line)?;
        walk(k, [Idx::ZERO, n], Map::Thread, |k, i| {
            let at = self.from.at(k, start, i)?;
            let element = k.load(x, at, None);
            let own = self.key.of(k, element)?;
            k.store(own, keys, i);
            let index = narrow(k, i);
            k.store(index, orders, i);
            Some(())
        })?;
        let passes = i64::from(self.passes());
        walk(k, [Idx::ZERO, Idx::Const(passes)], Map::Seq, |k, pass| {
            let shift = k.mul(pass, Idx::Const(DIGIT.into()));
            let shift = k.index(shift);
            let shift = k.cast(shift, self.key.wide());
            let odd = k.rem(pass, Idx::Const(2));
            let read = k.mul(odd, items);
            let written = k.sub(items, read);
            let digit = |k: &mut KernelBuilder<'_>, i: Idx| {
                let at = k.add(read, i);
                let from = k.load(orders, at, None);
                let at = Idx::Value(k.cast(from, DType::Index));
                let own = k.load(keys, at, None);
                (from, self.digit(k, own, shift))
            };
            counters.count(k, n, each, |k, i| digit(k, i).1)?;
            counters.scan(k);
            counters.rank(k, n, each, |k, i, own| {
                let (from, of) = digit(k, i);
                let place = own(k, of);
                let place = k.add(written, place);
                k.store(from, orders, place);
            })
        })?;
        let target = self.to.start(k, line)?;
        walk(k, [Idx::ZERO, kept], Map::Thread, |k, i| {
            let last = k.mul(Idx::Const(passes % 2), items);
            let at = k.add(last, i);
            let from = k.load(orders, at, None);
            let place = Idx::Value(k.cast(from, DType::Index));
            let values = match self.wanted {
                Wanted::Indices(of) => vec![k.cast(from, of)],
                Wanted::Elements => {
                    let at = self.from.at(k, start, place)?;
                    vec![k.load(x, at, None)]
                }
                Wanted::Both => {
                    let key = k.load(keys, place, None);
                    vec![k.cast(key, self.moved()), k.cast(from, self.index_type())]
                }
            };
            let at = self.to.at(k, target, i)?;
            for (value, &memory) in values.into_iter().zip(&stored) {
                k.store(value, memory, at);
            }
            Some(())
        })?;
        k.close_loop(grid, &[], Map::Grid, &[]);
        let launch = func.launch(ir, self.op, &[]);
        Some(ir.results(launch).to_vec())
    }

    // --- passes over memory ----------------------------------------------------------------------------------------

    /// The launches of all passes.
    fn by_passes(
        &self,
        ir: &mut Ir,
        kernels: &mut Kernels<'_>,
        [moved, indices]: [TypeId; 2],
        results: &[TypeId],
    ) -> Option<Vec<Value>> {
        let parts = self.parts(kernels);
        let counts = ExtentExpr::constant(parts.checked_mul(DIGITS)?);
        let counts = self.lines.mul(&counts)?;
        let counts = Dim::new(ir.extent(counts)?);
        let counts = ir.tensor(vec![counts], DType::I64);
        let between = match self.wanted {
            Wanted::Elements => vec![moved],
            _ => vec![moved, indices],
        };
        let mut read = vec![self.input];
        for pass in 0..self.passes() {
            let from = if pass == 0 { End::Op } else { End::Between };
            let (to, written) = match pass + 1 == self.passes() {
                true => (End::Op, results),
                false => (End::Between, &between[..]),
            };
            let pass = Pass {
                from,
                to,
                parts,
                shift: u64::from(pass * DIGIT),
            };
            let hist = self.count(ir, kernels, pass, read[0], counts)?;
            let offsets = self.offset(ir, kernels, parts, hist, counts)?;
            read.push(offsets);
            read = self.place(ir, kernels, pass, &read, written)?;
        }
        Some(read)
    }
    /// The parts of a line: so many that all multiprocessors have work, and each part some tiles.
    fn parts(&self, kernels: &Kernels<'_>) -> i64 {
        let extent = |expr: &ExtentExpr| kernels.bindings.eval(expr).max(1);
        let (lines, length) = (extent(&self.lines), extent(&self.length));
        let enough = (kernels.target.workers * PARTS).div_ceil(lines);
        let long = length.div_ceil(TILE.unsigned_abs() * TILES);
        i64::try_from(enough.min(long)).unwrap_or(1).max(1)
    }
    /// The loop over all parts of all lines.
    fn grid(
        &self,
        k: &mut KernelBuilder<'_>,
        parts: i64,
        body: impl FnOnce(&mut KernelBuilder<'_>, Part) -> Option<()>,
    ) -> Option<()> {
        let (lines, n) = (k.extent(&self.lines)?, k.extent(&self.length)?);
        let parts = Idx::Const(parts);
        let blocks = k.mul(lines, parts);
        let tiles = k.ceil_div(n, Idx::Const(TILE));
        let each = k.ceil_div(tiles, parts);
        let each = k.mul(each, Idx::Const(TILE));
        walk(k, [Idx::ZERO, blocks], Map::Grid, |k, block| {
            let (line, part) = (k.div(block, parts), k.rem(block, parts));
            let from = k.mul(part, each);
            let from = k.min(from, n);
            let to = k.add(from, each);
            let to = k.min(to, n);
            // Counts lie digit by digit, those of all parts beside each other.
            let counts = k.mul(line, Idx::Const(DIGITS));
            let counts = k.mul(counts, parts);
            let counts = k.add(counts, part);
            body(
                k,
                Part {
                    line,
                    from,
                    to,
                    counts,
                },
            )
        })
    }
    /// The launch that counts the digits of each part.
    fn count(
        &self,
        ir: &mut Ir,
        kernels: &mut Kernels<'_>,
        Pass {
            from, parts, shift, ..
        }: Pass,
        read: Value,
        counts: TypeId,
    ) -> Option<Value> {
        let func = kernels.open(
            ir,
            signature("count", 1, self.names(), THREADS),
            &[read],
            &[counts],
        );
        let [x, hist] = func.memory[..] else {
            return None;
        };
        let shift_by = *func.open.sizes.first()?;
        let k = &mut func.k(ir, self.op);
        let counters = Counters::new(k, THREADS);
        let shift_by = k.cast(shift_by, self.key.wide());
        self.grid(k, parts, |k, part| {
            let lines = self.lines_of(from);
            let start = lines.start(k, part.line)?;
            walk(
                k,
                [Idx::ZERO, Idx::Const(THREADS)],
                Map::Thread,
                |k, thread| {
                    counters.clear(k, thread);
                    let first = k.add(part.from, thread);
                    let own = k.open_loop([first, part.to, Idx::Const(THREADS)], &[]);
                    let at = lines.at(k, start, Idx::Value(own.iv))?;
                    let mut moved = k.load(x, at, None);
                    if from == End::Op {
                        moved = self.carried(k, moved)?;
                    }
                    let key = self.key_of(k, moved)?;
                    let digit = self.digit(k, key, shift_by);
                    counters.add(k, digit, thread);
                    k.close_loop(own, &[], Map::Seq, &[]);
                    Some(())
                },
            )?;
            let groups = Map::Group(DIGITS);
            walk(k, [Idx::ZERO, Idx::Const(DIGITS)], groups, |k, digit| {
                let zero = k.int_constant(0, DType::I64);
                let all = k.open_loop([Idx::ZERO, Idx::Const(THREADS), Idx::Const(1)], &[zero]);
                let at = counters.at(k, digit, Idx::Value(all.iv));
                let count = k.load(counters.memory, at, None);
                let count = k.cast(count, DType::I64);
                let next = k.binary(&fusion::ADD, all.args[0], count);
                let sum = k.close_loop(all, &[next], Map::Thread, &["add"])[0];
                let at = k.mul(digit, Idx::Const(parts));
                let at = k.add(part.counts, at);
                store_once(k, sum, hist, at);
                Some(())
            })
        })?;
        let launch = func.launch(ir, self.op, &[shift]);
        Some(ir.result(launch, 0))
    }
    /// The launch that turns counts into offsets: exclusive sums over all parts with smaller digits, and over earlier
    /// parts with the same digit.
    fn offset(
        &self,
        ir: &mut Ir,
        kernels: &mut Kernels<'_>,
        parts: i64,
        hist: Value,
        counts: TypeId,
    ) -> Option<Value> {
        let func = kernels.open(
            ir,
            signature("offset", 0, names_of(&self.lines), ADDERS),
            &[hist],
            &[counts],
        );
        let [hist, offsets] = func.memory[..] else {
            return None;
        };
        let k = &mut func.k(ir, self.op);
        let lines = k.extent(&self.lines)?;
        let each = Idx::Const(parts * DIGITS);
        walk(k, [Idx::ZERO, lines], Map::Grid, |k, line| {
            let start = k.mul(line, each);
            let zero = k.int_constant(0, DType::I64);
            let all = k.open_loop([Idx::ZERO, each, Idx::Const(1)], &[zero]);
            let at = k.add(start, Idx::Value(all.iv));
            let count = k.load(hist, at, None);
            let sum = scanned(k, count, all.args[0]);
            let before = k.binary(&fusion::SUB, sum, count);
            k.store(before, offsets, at);
            k.close_loop(all, &[sum], Map::Thread, &["scan"]);
            Some(())
        })?;
        let launch = func.launch(ir, self.op, &[]);
        Some(ir.result(launch, 0))
    }
    /// The launch that moves elements to their places.
    fn place(
        &self,
        ir: &mut Ir,
        kernels: &mut Kernels<'_>,
        Pass {
            from,
            to,
            parts,
            shift,
        }: Pass,
        operands: &[Value],
        written: &[TypeId],
    ) -> Option<Vec<Value>> {
        let func = kernels.open(
            ir,
            signature("place", 1, self.names(), THREADS),
            operands,
            written,
        );
        let (read, rest) = func.memory.split_at(operands.len() - 1);
        let (offsets, stored) = rest.split_first()?;
        let (read, offsets, stored) = (read.to_vec(), *offsets, stored.to_vec());
        let shift_by = *func.open.sizes.first()?;
        let k = &mut func.k(ir, self.op);
        let tile = k.alloc(&[Idx::Const(TILE)], self.moved());
        // The first pass knows the index of an element by its place.
        let indices = read
            .get(1)
            .map(|&memory| (memory, k.alloc(&[Idx::Const(TILE)], self.index_type())));
        let digits = k.alloc(&[Idx::Const(TILE)], DType::U8);
        // The element at each place, and above its number its digit.
        let order = k.alloc(&[Idx::Const(TILE)], DType::I32);
        let bases = k.alloc(&[Idx::Const(DIGITS)], DType::I64);
        let counters = Counters::new(k, THREADS);
        let shift_by = k.cast(shift_by, self.key.wide());
        let kept = k.extent(&self.kept)?;
        let whole = self.kept == self.length;
        self.grid(k, parts, |k, part| {
            let [source, target] = [from, to].map(|end| self.lines_of(end));
            let target = if to == End::Op { &self.to } else { target };
            let start = source.start(k, part.line)?;
            let target_start = target.start(k, part.line)?;
            walk(
                k,
                [Idx::ZERO, Idx::Const(DIGITS)],
                Map::Thread,
                |k, digit| {
                    let at = k.mul(digit, Idx::Const(parts));
                    let at = k.add(part.counts, at);
                    let offset = k.load(offsets, at, None);
                    k.store(offset, bases, digit);
                    Some(())
                },
            )?;
            let tiles = k.open_loop([part.from, part.to, Idx::Const(TILE)], &[]);
            let first = Idx::Value(tiles.iv);
            let count = k.sub(part.to, first);
            let count = k.min(count, Idx::Const(TILE));
            walk(k, [Idx::ZERO, count], Map::Thread, |k, i| {
                let number = k.add(first, i);
                let at = source.at(k, start, number)?;
                let mut moved = k.load(read[0], at, None);
                if from == End::Op {
                    moved = self.carried(k, moved)?;
                }
                k.store(moved, tile, i);
                let own = self.key_of(k, moved)?;
                let digit = self.digit(k, own, shift_by);
                let digit = k.index(digit);
                let digit = k.cast(digit, DType::U8);
                k.store(digit, digits, i);
                if let Some((memory, indices)) = indices {
                    let index = k.load(memory, at, None);
                    k.store(index, indices, i);
                }
                Some(())
            })?;
            let digit = |k: &mut KernelBuilder<'_>, i: Idx| {
                let digit = k.load(digits, i, None);
                Idx::Value(k.cast(digit, DType::Index))
            };
            counters.count(k, count, EACH, digit)?;
            counters.scan(k);
            // Elements before those with a digit: what is left of an offset is where the first of them goes.
            walk(k, [Idx::ZERO, Idx::Const(DIGITS)], Map::Thread, |k, of| {
                let before = counters.before(k, of);
                let base = k.load(bases, of, None);
                let base = k.binary(&fusion::SUB, base, before);
                k.store(base, bases, of);
                Some(())
            })?;
            counters.rank(k, count, EACH, |k, i, own| {
                let of = digit(k, i);
                let place = own(k, of);
                let above = k.mul(of, Idx::Const(NUMBERS));
                let both = k.add(above, i);
                let both = narrow(k, both);
                k.store(both, order, place);
            })?;
            walk(k, [Idx::ZERO, count], Map::Thread, |k, i| {
                let both = k.load(order, i, None);
                let number = k.int_constant(NUMBERS.ilog2(), DType::I32);
                let of = k.binary(&fusion::LSHR, both, number);
                let number = k.int_constant(NUMBERS - 1, DType::I32);
                let from = k.binary(&fusion::AND, both, number);
                let [of, from] = [of, from].map(|part| Idx::Value(k.cast(part, DType::Index)));
                let moved = k.load(tile, from, None);
                let base = k.load(bases, of, None);
                let base = Idx::Value(k.cast(base, DType::Index));
                let place = k.add(base, i);
                let index = match (self.wanted, indices) {
                    (Wanted::Elements, _) => None,
                    (_, Some((_, indices))) => Some(k.load(indices, from, None)),
                    (_, None) => {
                        let index = k.add(first, from);
                        let index = k.index(index);
                        Some(k.cast(index, self.index_type()))
                    }
                };
                let values = match (to, self.wanted, index) {
                    (End::Op, Wanted::Indices(of), Some(index)) => vec![k.cast(index, of)],
                    (_, _, index) => [moved].into_iter().chain(index).collect(),
                };
                let condition = (to == End::Op && !whole).then(|| {
                    let [place, kept] = [place, kept].map(|idx| k.index(idx));
                    k.compare("lt", place, kept)
                });
                let open = condition.map(|condition| (k.open_if(), condition));
                let at = target.at(k, target_start, place)?;
                for (value, &memory) in values.into_iter().zip(&stored) {
                    store_once(k, value, memory, at);
                }
                if let Some((open, condition)) = open {
                    k.close_if(open, condition);
                }
                Some(())
            })?;
            // The counters now hold how many elements stand up to those with a digit.
            walk(k, [Idx::ZERO, Idx::Const(DIGITS)], Map::Thread, |k, of| {
                let up_to = counters.up_to(k, of);
                let base = k.load(bases, of, None);
                let base = k.binary(&fusion::ADD, base, up_to);
                k.store(base, bases, of);
                Some(())
            })?;
            k.close_loop(tiles, &[], Map::Seq, &[]);
            Some(())
        })?;
        let launch = func.launch(ir, self.op, &[shift]);
        Some(ir.results(launch).to_vec())
    }
    const fn lines_of(&self, end: End) -> &Lines {
        match end {
            End::Op => &self.from,
            End::Between => &self.between,
        }
    }
    /// The names of extents that kernels compute with, in order.
    fn names(&self) -> Vec<Sym> {
        let mut names = Vec::new();
        let all = [&self.lines, &self.length, &self.kept];
        names.extend(all.into_iter().chain(self.key.extent()).flat_map(names_of));
        for lines in [&self.from, &self.to, &self.between] {
            lines.names(&mut names);
        }
        names
    }
}

/// A part of a line.
struct Part {
    line: Idx,
    /// Its first element.
    from: Idx,
    /// The element behind its last one.
    to: Idx,
    /// The place of its count of the first digit.
    counts: Idx,
}

/// The extent of an axis of a tensor.
pub(super) fn axis(ir: &Ir, value: Value, dim: usize) -> Option<ExtentExpr> {
    let dims = &ir.value_kind(value).as_tensor()?.dims;
    ir.extent_as_expr(dims.get(dim)?.extent)
}

/// The names in an extent.
pub(super) fn names_of(expr: &ExtentExpr) -> Vec<Sym> {
    let names = expr.terms.iter().flat_map(|(own, _)| own.iter().copied());
    names.collect()
}

/// An index of a tile as a shorter number.
fn narrow(k: &mut KernelBuilder<'_>, index: Idx) -> Value {
    let index = k.index(index);
    k.cast(index, DType::I32)
}

/// Stores an element that no other thread stores.
fn store_once(k: &mut KernelBuilder<'_>, value: Value, memory: Value, at: Idx) {
    let once = k.ir.attr(AttrKind::Unit);
    let at = k.index(at);
    k.op(
        &kernel::STORE,
        &[value, memory, at],
        &[(kernel::ONCE, once)],
        &[],
    );
}
