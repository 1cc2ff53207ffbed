//! Statements: arithmetic, vectors, loops, branches; memory accesses are in `memory`.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_dialects::kernel::build::{KernelBuilder, Loop};
use fuser_dialects::kernel::{self, ops::COMBINERS, scan::SCANNED};
use fuser_ir::def::{ClauseKind, DTypes, OpDef, Traits};
use fuser_ir::{Block, DType, Value};

use super::scope::{Built, Form, Scope, Walk};
use crate::generate::fusion::{facts, shapes};

/// Lanes of a vector: usual ones and odd ones.
pub const LANES: &[u64] = &[4, 1, 2, 3, 8, 5, 16];
/// Loops and branches in each other at most.
const DEPTH: u64 = 3;
/// Statements in a loop or a branch at most.
const FEW: u64 = 4;
/// Iterations of a sequential loop at most.
const TURNS: i64 = 5;

/// The position of a statement.
#[derive(Clone, Copy)]
struct Here {
    block: Block,
    walk: Walk,
    depth: u64,
    /// The number of the thread loop's iteration.
    own: Option<Value>,
}

impl Scope<'_, '_> {
    /// The whole kernel: a grid loop over the rows, or the one row of a kernel without.
    pub fn kernel(
        &mut self,
        entry: Block,
        rows: Option<Value>,
        count: u64,
        statements: u64,
    ) -> Built<()> {
        self.entry = Some(entry);
        let (zero, one) = (self.index(entry, 0)?, self.index(entry, 1)?);
        if count == 1 && rows.is_none() && self.source.chance(1, 2) {
            return self.row(entry, zero, statements);
        }
        let upper = match rows {
            Some(rows) => rows,
            None => self.index(entry, count as i64)?,
        };
        let index = self.ir.scalar(DType::Index);
        let (region, block) = self.at(entry).region(&[index]);
        let row = self.ir.args(block)[0];
        self.know(row, (0, count.saturating_sub(1) as i64));
        self.row(block, row, statements)?;
        self.at(block).op(&kernel::YIELD, &[], &[])?;
        let map = self.at(entry).word("map", "grid");
        self.at(entry)
            .build(&kernel::FOR, &[zero, upper, one], &[map], &[region], None)?;
        Ok(())
    }
    fn row(&mut self, block: Block, row: Value, statements: u64) -> Built<()> {
        for (_, _, columns) in self.targets.clone() {
            let columns = self.index(block, columns as i64)?;
            let base = self.at(block).mul(row, columns)?;
            self.rows.push(base);
        }
        self.fill(block)?;
        let here = Here {
            block,
            walk: Walk::Row,
            depth: 0,
            own: None,
        };
        for _ in 0..1 + self.source.below(statements) {
            self.statement(here)?;
        }
        for _ in 0..2 * self.targets.len() {
            self.store_row(block, Walk::Row, None)?;
        }
        Ok(())
    }
    /// Every element of the row is stored once at least.
    fn fill(&mut self, block: Block) -> Built<()> {
        for (number, (memory, dtype, columns)) in self.targets.clone().into_iter().enumerate() {
            let value = self.get(block, Form::Scalar, dtype)?;
            let base = self.rows[number];
            let (lower, step) = (self.index(block, 0)?, self.index(block, 1)?);
            let upper = self.index(block, columns as i64)?;
            let map = self.source.one(&["seq", "thread"]);
            let spec = Loop {
                lower,
                upper,
                step,
                init: &[],
                map,
                combine: &[],
            };
            self.at(block).for_loop(spec, |b, args| {
                let index = b.add(base, args[0])?;
                b.store(value, memory, index)?;
                Ok(Vec::new())
            })?;
        }
        Ok(())
    }
    fn statement(&mut self, here: Here) -> Built<()> {
        let nests = here.depth < DEPTH;
        match self.source.below(18) {
            0 | 1 => self.load(here.block),
            2 => self.load_within(here.block),
            3 => self.vector(here.block),
            4 => self.lane(here.block),
            5 => self.table(here.block),
            6 if here.walk == Walk::Row => self.alloc(here.block),
            7 if here.walk != Walk::Threads => self.store_scratch(here.block),
            8 => self.store_row(here.block, here.walk, here.own),
            9 if nests && here.walk != Walk::Threads => self.turns(here),
            10 if nests && here.walk == Walk::Row => self.threads(here),
            11 if nests => self.branch(here),
            12 if here.walk == Walk::Row => self.at(here.block).barrier().map(|_| ()),
            13 => self.prefetch(here.block),
            14 => self.square(here.block),
            _ => self.arithmetic(here.block),
        }
    }
    fn statements(&mut self, here: Here) -> Built<()> {
        for _ in 0..1 + self.source.below(FEW) {
            self.statement(here)?;
        }
        Ok(())
    }

    /// An elementwise op of the table that is exact.
    fn arithmetic(&mut self, block: Block) -> Built<()> {
        let ops = fusion::real_ops();
        let ops: Vec<&'static OpDef> = ops
            .filter(|def| def.traits.contains(Traits::ELEMENTWISE))
            .collect();
        let def = self.source.one(&ops);
        let data = def.operands.iter().filter(|o| o.ty.dtypes != DTypes::BOOL);
        let sets: Vec<DTypes> = data.map(|o| o.ty.dtypes).collect();
        let all = DType::REAL
            .into_iter()
            .filter(|d| DTypes::KERNEL.contains(*d) && sets.iter().all(|s| s.contains(*d)));
        let all: Vec<DType> = all.collect();
        let Some(&dtype) = self.source.pick(&all) else {
            return Ok(());
        };
        // Of no value anything is known.
        if !facts::admits(def, dtype, &vec![None; def.operands.len()]) {
            return Ok(());
        }
        let form = self.any_form();
        let mut operands = Vec::new();
        for operand in def.operands {
            let of = match operand.ty.dtypes == DTypes::BOOL {
                true => DType::I1,
                false => dtype,
            };
            operands.push(self.get(block, form, of)?);
        }
        let mut clauses = Vec::new();
        for clause in def.clauses {
            clauses.push(match clause.kind {
                ClauseKind::Keyword(words) => {
                    let word = self.source.one(words);
                    (clause.name, self.ir.string_attr(word))
                }
                ClauseKind::DType => {
                    let same = |d: &DType| d.bits() == dtype.bits() && *d != DType::I1;
                    let bits: Vec<DType> = DType::REAL.into_iter().filter(same).collect();
                    let to = match std::ptr::eq(def, &fusion::BITCAST) {
                        true => self.source.pick(&bits).copied().unwrap_or(dtype),
                        false => shapes::dtype(self.source),
                    };
                    self.at(block).dtype(clause.name, to)
                }
                _ => return Ok(()),
            });
        }
        // An op that the table refuses for these types leaves no trace.
        if let Ok(value) = self.at(block).value(def, &operands, &clauses) {
            self.keep(value);
        }
        Ok(())
    }
    fn any_form(&mut self) -> Form {
        match self.source.chance(1, 2) {
            true => Form::Vector(self.source.one(LANES)),
            false => Form::Scalar,
        }
    }
    /// A vector of equal lanes, or of lane numbers.
    fn vector(&mut self, block: Block) -> Built<()> {
        let lanes = self.source.one(LANES);
        let value = match self.source.chance(1, 2) {
            true => {
                let dtype = shapes::dtype(self.source);
                let scalar = self.get(block, Form::Scalar, dtype)?;
                self.at(block).splat(scalar, lanes)?
            }
            false => {
                let ty = self.ir.vector(lanes, DType::Index);
                self.at(block).typed(&kernel::IOTA, &[], &[], ty)?
            }
        };
        self.keep(value);
        Ok(())
    }
    /// A square of vectors, transposed.
    fn square(&mut self, block: Block) -> Built<()> {
        let (lanes, dtype) = (self.source.one(LANES), shapes::dtype(self.source));
        if !lanes.is_power_of_two() {
            return Ok(());
        }
        let rows = (0..lanes).map(|_| self.get(block, Form::Vector(lanes), dtype));
        let rows = rows.collect::<Built<Vec<Value>>>()?;
        let op = self.at(block).op(&kernel::TRANSPOSE_LANES, &rows, &[])?;
        for column in self.ir.results(op).to_vec() {
            self.keep(column);
        }
        Ok(())
    }
    /// One lane, or all of them reduced, at once or step by step.
    fn lane(&mut self, block: Block) -> Built<()> {
        let (lanes, dtype) = (self.source.one(LANES), shapes::dtype(self.source));
        let vector = self.get(block, Form::Vector(lanes), dtype)?;
        let value = match self.source.chance(1, 2) {
            true => {
                let lane = self.source.below(lanes) as i64;
                let lane = self.at(block).int("lane", lane);
                self.at(block).value(&kernel::EXTRACT, &[vector], &[lane])
            }
            false => {
                let combine = self.source.one(COMBINERS);
                let before = match self.source.chance(1, 3) {
                    true => Some(self.get(block, Form::Scalar, dtype)?),
                    false => None,
                };
                let combine = self.at(block).word("combine", combine);
                match before {
                    Some(before) => {
                        let operands = [vector, before];
                        self.at(block).value(&kernel::SCAN, &operands, &[combine])
                    }
                    None => self.at(block).value(&kernel::REDUCE, &[vector], &[combine]),
                }
            }
        };
        if let Ok(value) = value {
            self.keep(value);
        }
        Ok(())
    }
    /// A sequential loop with values that go from turn to turn.
    fn turns(&mut self, here: Here) -> Built<()> {
        let (low, step) = (self.source.range(-1, 1), self.source.range(1, 3));
        let high = low + self.source.range(-1, TURNS);
        let (lower, upper) = (self.index(here.block, low)?, self.index(here.block, high)?);
        let step = self.index(here.block, step)?;
        let mut init = Vec::new();
        for _ in 0..self.source.below(3) {
            let (form, dtype) = (self.any_form(), shapes::dtype(self.source));
            init.push(self.get(here.block, form, dtype)?);
        }
        let mut types = vec![self.ir.scalar(DType::Index)];
        types.extend(init.iter().map(|v| self.ir.value_type(*v)));
        let (region, block) = self.at(here.block).region(&types);
        self.inner(|scope| {
            let args = scope.ir.args(block).to_vec();
            scope.know(args[0], (low, high.max(low)));
            scope.values.extend(&args[1..]);
            scope.statements(Here {
                block,
                walk: Walk::Inner,
                depth: here.depth + 1,
                ..here
            })?;
            let mut next = Vec::new();
            for value in &init {
                next.push(scope.like(block, *value)?);
            }
            scope.at(block).op(&kernel::YIELD, &next, &[])
        })?;
        let operands = [vec![lower, upper, step], init].concat();
        let op = self
            .at(here.block)
            .build(&kernel::FOR, &operands, &[], &[region], None)?;
        let results = self.ir.results(op).to_vec();
        self.values.extend(results);
        Ok(())
    }
    /// A value of the form and type of another.
    fn like(&mut self, block: Block, value: Value) -> Built<Value> {
        match self.form(value) {
            Some((form, dtype)) => self.get(block, form, dtype),
            None => Ok(value),
        }
    }
    /// A loop that threads share, with values that they combine in any order.
    fn threads(&mut self, here: Here) -> Built<()> {
        let high = self.source.range(0, 9);
        let (lower, upper) = (self.index(here.block, 0)?, self.index(here.block, high)?);
        let step = self.index(here.block, 1)?;
        let (mut init, mut combine) = (Vec::new(), Vec::new());
        for _ in 0..self.source.below(3) {
            let dtype = shapes::dtype(self.source);
            // Sums and products of floats depend on the order; truth values have no maximum.
            let how = match (self.source.chance(1, 4), dtype.is_float()) {
                (true, _) => SCANNED,
                (false, true) => self.source.one(&COMBINERS[2..]),
                (false, false) => self.source.one(COMBINERS),
            };
            if dtype == DType::I1 || dtype.is_storage() {
                continue;
            }
            init.push(self.get(here.block, Form::Scalar, dtype)?);
            combine.push(how);
        }
        let mut types = vec![self.ir.scalar(DType::Index)];
        types.extend(init.iter().map(|v| self.ir.value_type(*v)));
        let (region, block) = self.at(here.block).region(&types);
        self.inner(|scope| {
            let args = scope.ir.args(block).to_vec();
            scope.know(args[0], (0, (high - 1).max(0)));
            // Combined values are not available to statements.
            scope.statements(Here {
                block,
                walk: Walk::Threads,
                depth: here.depth + 1,
                own: Some(args[0]),
            })?;
            let mut next = Vec::new();
            for (sum, how) in args[1..].iter().zip(&combine) {
                let value = scope.like(block, *sum)?;
                next.push(scope.combined(block, how, *sum, value)?);
            }
            scope.at(block).op(&kernel::YIELD, &next, &[])
        })?;
        let operands = [vec![lower, upper, step], init].concat();
        let mut clauses = vec![self.at(here.block).word("map", "thread")];
        if !combine.is_empty() {
            clauses.push(self.at(here.block).words("combine", &combine));
        }
        let op = self
            .at(here.block)
            .build(&kernel::FOR, &operands, &clauses, &[region], None)?;
        let results = self.ir.results(op).to_vec();
        self.values.extend(results);
        Ok(())
    }
    /// A branch, with results or without.
    fn branch(&mut self, here: Here) -> Built<()> {
        let condition = self.get(here.block, Form::Scalar, DType::I1)?;
        let mut wanted = Vec::new();
        for _ in 0..self.source.below(3) {
            wanted.push((self.any_form(), shapes::dtype(self.source)));
        }
        let branches = if wanted.is_empty() && self.source.chance(1, 2) {
            1
        } else {
            2
        };
        let mut regions = Vec::new();
        for _ in 0..branches {
            let (region, block) = self.at(here.block).region(&[]);
            self.inner(|scope| {
                let walk = match here.walk {
                    Walk::Threads => Walk::Threads,
                    _ => Walk::Inner,
                };
                scope.statements(Here {
                    block,
                    walk,
                    depth: here.depth + 1,
                    ..here
                })?;
                let mut values = Vec::new();
                for (form, dtype) in &wanted {
                    values.push(scope.get(block, *form, *dtype)?);
                }
                scope.at(block).op(&kernel::YIELD, &values, &[])
            })?;
            regions.push(region);
        }
        let op = self
            .at(here.block)
            .build(&kernel::IF, &[condition], &[], &regions, None)?;
        let results = self.ir.results(op).to_vec();
        self.values.extend(results);
        Ok(())
    }
    /// `sum` and `value`, combined by the combiner `how`.
    fn combined(&mut self, block: Block, how: &str, sum: Value, value: Value) -> Built<Value> {
        if how == SCANNED {
            let combine = self.source.one(COMBINERS);
            let combine = self.at(block).word("combine", combine);
            return self
                .at(block)
                .value(&kernel::SCAN, &[value, sum], &[combine]);
        }
        let float = self.form(sum).is_some_and(|(_, dtype)| dtype.is_float());
        let def = match (how, float) {
            ("add", _) => &fusion::ADD,
            ("mul", _) => &fusion::MUL,
            ("max_num", true) => &fusion::FMAX,
            ("min_num", true) => &fusion::FMIN,
            ("max" | "max_num", _) => &fusion::MAXIMUM,
            _ => &fusion::MINIMUM,
        };
        self.at(block).value(def, &[sum, value], &[])
    }
}
