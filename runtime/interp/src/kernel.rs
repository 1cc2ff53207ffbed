//! The ops of the `kernel` dialect, executed sequentially: loops run in order. `team` records which thread would run
//! each iteration.

use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{AttrKind, Block, DType, Ir, Op, Value, layout};

use crate::engine::{Engine, Repeat, Slot};
use crate::error::{InterpError, Result};
use crate::number::math::Binary;
use crate::tensor::{Axis, Tensor};

/// The meaning of a `kernel` op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Launch,
    For,
    If,
    Last,
    Alloc,
    Table,
    Load,
    LoadWithin,
    Store,
    Barrier,
    /// An op without a meaning.
    Hint,
    Splat,
    Iota,
    Extract,
    Transpose,
    Reduce,
    Scan,
}

/// The op called `kernel.{name}`.
pub(crate) fn action(name: &str) -> Option<Action> {
    Some(match name {
        "launch" => Action::Launch,
        "for" => Action::For,
        "if" => Action::If,
        "last" => Action::Last,
        "alloc" => Action::Alloc,
        "table" => Action::Table,
        "load" => Action::Load,
        "load_within" => Action::LoadWithin,
        "store" => Action::Store,
        "barrier" => Action::Barrier,
        "prefetch" => Action::Hint,
        "splat" => Action::Splat,
        "iota" => Action::Iota,
        "extract" => Action::Extract,
        "transpose_lanes" => Action::Transpose,
        "reduce" => Action::Reduce,
        "scan" => Action::Scan,
        _ => return None,
    })
}

/// The axes of a value outermost in memory first, where that is not their own order: kernels count elements as they lie.
fn order(ir: &Ir, value: Value) -> Option<Vec<usize>> {
    let tensor = ir.value_kind(value).as_tensor()?;
    (!layout::is_row_major(ir, tensor)).then(|| layout::order(ir, tensor).to_vec())
}

/// A kernel that a program launched.
pub(crate) struct Launch {
    /// Number of its first buffer.
    pub first: usize,
    /// Number of the buffer of its first result.
    pub outputs: usize,
}

impl Engine<'_> {
    pub(crate) fn kernel(&mut self, op: Op, action: Action) -> Result<()> {
        self.machine.budget.burn(1)?;
        match action {
            Action::Launch => self.launch(op),
            Action::For => self.start_loop(op),
            Action::If => self.branch(op),
            Action::Last => self.last(op),
            Action::Alloc => self.alloc(op),
            Action::Table => self.table(op),
            Action::Load => self.load(op),
            Action::LoadWithin => self.load_within(op),
            Action::Store => self.store(op),
            Action::Barrier => self.team.barrier(),
            Action::Hint => Ok(()),
            Action::Splat | Action::Iota => self.lanes(op, action),
            Action::Extract => self.extract(op),
            Action::Transpose => self.transpose(op),
            Action::Reduce => self.reduce_lanes(op),
            Action::Scan => self.scan_lanes(op),
        }
    }

    fn operand(&mut self, op: Op, index: usize) -> Result<Tensor> {
        let ir = self.ir;
        let value = ir.operands(op).nth(index);
        let value = value.ok_or_else(|| InterpError::invalid("an operand is missing"))?;
        self.take(value)
    }
    fn index_operand(&mut self, op: Op, index: usize) -> Result<i64> {
        let value = self.operand(op, index)?;
        let int = value.as_int().filter(|_| value.bounds().is_none());
        int.ok_or_else(|| {
            InterpError::invalid("an index is not known: it hangs on an undecided comparison")
        })
    }
    fn memory_operand(&self, op: Op, index: usize) -> Result<usize> {
        let value = self.ir.operands(op).nth(index);
        let value = value.ok_or_else(|| InterpError::invalid("an operand is missing"))?;
        match self.slot(value)? {
            Slot::Memory(number) => Ok(*number),
            Slot::Tensor(_) => Err(InterpError::invalid("the operand is no buffer")),
        }
    }

    /// Enters the kernel with buffers for operands and results, and the extents.
    fn launch(&mut self, op: Op) -> Result<()> {
        let ir = self.ir;
        if self.stack.iter().any(|frame| frame.launch.is_some()) {
            return Err(InterpError::invalid("a kernel launches a kernel"));
        }
        let callee = self.callee(op)?;
        let body = self.body(callee, 0)?;
        self.counts.clear();
        self.team.begin(ir, callee);
        let first = self.memory.next();
        for index in 0..ir.operand_count(op) {
            let mut input = self.operand(op, index)?;
            if let Some(order) = order(ir, ir.operand(op, index)) {
                input = self.machine.permute(&input, &order)?;
            }
            let memory = &mut self.memory;
            let number = memory.adopt(&mut self.machine, input.dtype(), &input, "")?;
            self.team.share(number, input.stored_len(), false);
        }
        let outputs = self.memory.next();
        let extents = std::mem::take(&mut self.extents);
        let site = crate::site::Site {
            ir,
            op,
            extents: &extents,
        };
        let made = self.result_buffers(site);
        let given = if site.flag("extents") {
            site.shape("extents", |_| None)
        } else {
            Ok(Vec::new())
        };
        self.extents = extents;
        made?;
        self.bind_kernel(body, first, &given?)?;
        self.enter(Some(op), body, None);
        if let Some(frame) = self.stack.last_mut() {
            frame.launch = Some(Launch { first, outputs });
        }
        Ok(())
    }
    fn result_buffers(&mut self, site: crate::site::Site<'_>) -> Result<()> {
        for index in 0..site.ir.results(site.op).len() {
            let (dtype, axes) = site.result(index)?;
            let length = crate::tensor::product(axes.iter().map(|a| a.stored()));
            let length =
                length.ok_or_else(|| InterpError::invalid("the number of elements overflows"))?;
            let number = self.memory.allocate(&mut self.machine, dtype, length)?;
            self.team.share(number, length, false);
        }
        Ok(())
    }
    /// The kernel that a launch names, in the module around it.
    fn callee(&self, op: Op) -> Result<Op> {
        let ir = self.ir;
        let missing = || InterpError::invalid("the launch names no kernel of the module");
        let Some(AttrKind::SymbolRef(path)) = ir.attr_of(op, "callee") else {
            return Err(missing());
        };
        let name = path.last().map(|sym| ir.str(*sym)).ok_or_else(missing)?;
        let module = std::iter::successors(Some(op), |o| ir.parent_op(*o)).last();
        let found = ir.children(module.ok_or_else(missing)?).into_iter();
        let mut kernels = found.filter(|k| ir.name(*k) == "kernel.func");
        kernels
            .find(|k| ir.symbol_name(*k) == Some(name))
            .ok_or_else(missing)
    }
    /// Gives a kernel's parameters their buffers, by number from `first` on, and then the extents.
    fn bind_kernel(&mut self, body: Block, first: usize, extents: &[usize]) -> Result<()> {
        let ir = self.ir;
        let buffers = first..self.memory.next();
        let parameters = ir.args(body);
        if parameters.len() != buffers.len() + extents.len() {
            let text = "the launch does not give the kernel as many buffers and extents as it has";
            return Err(InterpError::invalid(text));
        }
        for (&parameter, number) in parameters.iter().zip(buffers.clone()) {
            self.set(parameter, Slot::Memory(number));
        }
        for (&parameter, &extent) in parameters.iter().skip(buffers.len()).zip(extents) {
            self.bind(parameter, Tensor::index(extent as i64))?;
        }
        Ok(())
    }
    /// Ends a launch: the results are what the kernel stored.
    pub(crate) fn finish_launch(&mut self, op: Op, launch: &Launch) -> Result<()> {
        let ir = self.ir;
        let mut values = Vec::new();
        for index in 0..ir.results(op).len() {
            let site = crate::site::Site {
                ir,
                op,
                extents: &self.extents,
            };
            let (_, axes) = site.result(index)?;
            let number = launch.outputs + index;
            let Some(order) = order(ir, ir.result(op, index)) else {
                values.push(self.memory.remove(number, Some(axes))?);
                continue;
            };
            let stored = order.iter().filter_map(|&axis| axes.get(axis)).copied();
            let stored = self.memory.remove(number, Some(stored.collect()))?;
            let mut back = vec![0; order.len()];
            for (place, &axis) in order.iter().enumerate() {
                back[axis] = place;
            }
            values.push(self.machine.permute(&stored, &back)?);
        }
        self.memory.free_from(launch.first);
        self.team.free_from(launch.first);
        self.bind_results(op, values)
    }

    fn start_loop(&mut self, op: Op) -> Result<()> {
        let lower = self.index_operand(op, 0)?;
        let upper = self.index_operand(op, 1)?;
        let step = self.index_operand(op, 2)?;
        let count = self.ir.operand_count(op);
        let carried = (3..count)
            .map(|i| self.operand(op, i))
            .collect::<Result<Vec<_>>>()?;
        let iterations = match lower < upper && step > 0 {
            true => (upper.abs_diff(lower) - 1) / step.unsigned_abs() + 1,
            false => 0,
        };
        let shared = self.team.meets(self.ir, op, iterations);
        if iterations == 0 {
            self.team.end(&shared)?;
            return self.bind_results(op, carried);
        }
        let body = self.body(op, 0)?;
        let repeat = Repeat {
            index: lower,
            upper,
            step,
            shared,
        };
        self.enter(Some(op), body, Some(repeat));
        match self.stack.pop() {
            Some(frame) => self.repeat(frame, carried),
            None => Ok(()),
        }
    }

    fn branch(&mut self, op: Op) -> Result<()> {
        let holds = self.index_operand(op, 0)? != 0;
        let region = usize::from(!holds);
        if self.ir.op_regions(op).len() <= region {
            return self.bind_results(op, Vec::new());
        }
        let body = self.body(op, region)?;
        self.enter(Some(op), body, None);
        Ok(())
    }

    /// Counts, and enters the body of the last one.
    fn last(&mut self, op: Op) -> Result<()> {
        let [at, places, count] = [0, 1, 2].map(|index| self.index_operand(op, index));
        let (at, places, count) = (at?, places?, count?);
        if !(0..places).contains(&at) {
            return Err(InterpError::invalid("there is no such count"));
        }
        self.team.count(op, at)?;
        let counted = self.counts.entry((op, at)).or_default();
        *counted += 1;
        if *counted < count {
            return Ok(());
        }
        *counted = 0;
        self.team.begin_last(op, at);
        let body = self.body(op, 0)?;
        self.enter(Some(op), body, None);
        Ok(())
    }

    fn alloc(&mut self, op: Op) -> Result<()> {
        let ir = self.ir;
        let missing = || InterpError::invalid("the allocation has no buffer type");
        let &result = ir.results(op).first().ok_or_else(missing)?;
        let TypeKind::MemRef { dims, dtype, space } = ir.value_kind(result) else {
            return Err(missing());
        };
        let length = match dims.as_slice() {
            [Extent::Unknown] => self.index_operand(op, 0)?.max(0),
            [extent] => self.extents.length(ir, *extent)?.unwrap_or(0) as i64,
            _ => return Err(missing()),
        };
        let length = crate::machine::extent(length)?;
        // Memory of a worker is allocated once, however often a loop comes by.
        let old = match self.slot(result) {
            Ok(Slot::Memory(number)) if self.memory.has(*number, length) => Some(*number),
            _ => None,
        };
        let number = match old {
            Some(number) => number,
            None => self.memory.allocate(&mut self.machine, *dtype, length)?,
        };
        if old.is_none() && *space == MemSpace::Tile {
            self.team.share(number, length, true);
        }
        self.set(result, Slot::Memory(number));
        Ok(())
    }

    fn table(&mut self, op: Op) -> Result<()> {
        let elements = self.operand(op, 0)?;
        let missing = || InterpError::invalid("the table has no buffer");
        let &result = self.ir.results(op).first().ok_or_else(missing)?;
        let dtype = elements.dtype();
        let number = self.memory.adopt(&mut self.machine, dtype, &elements, "")?;
        self.set(result, Slot::Memory(number));
        Ok(())
    }

    fn load(&mut self, op: Op) -> Result<()> {
        let memory = self.memory_operand(op, 0)?;
        let index = self.index_operand(op, 1)?;
        let lanes = self.result_lanes(op);
        self.machine.budget.burn(lanes.unwrap_or(1))?;
        let value = match (self.stride(op), lanes) {
            (1, _) | (_, None) => self.memory.load(memory, index, lanes)?,
            (stride, Some(lanes)) => {
                let mut parts = Vec::with_capacity(lanes);
                for lane in 0..lanes {
                    let at = lane_address(index, lane, stride)?;
                    parts.push(self.memory.load(memory, at, Some(1))?);
                }
                self.machine.cat(&parts.iter().collect::<Vec<_>>(), 0)?
            }
        };
        // What lies between lanes may be read.
        let last = lane_address(index, lanes.unwrap_or(1).saturating_sub(1), self.stride(op))?;
        self.touch(
            op,
            memory,
            (index, last.abs_diff(index) as usize + 1),
            false,
        )?;
        self.bind_results(op, vec![value])
    }

    /// Notes an access of the thread that runs.
    fn touch(&mut self, op: Op, memory: usize, range: (i64, usize), writes: bool) -> Result<()> {
        let budget = &mut self.machine.budget;
        self.team.touch(budget, (memory, op), range, writes)
    }

    /// Elements from one lane of an access to the next.
    fn stride(&self, op: Op) -> i64 {
        self.ir.int_of(op, "stride").unwrap_or(1)
    }

    /// Lane by lane: an element in the range, or the fill.
    fn load_within(&mut self, op: Op) -> Result<()> {
        let memory = self.memory_operand(op, 0)?;
        let index = self.index_operand(op, 1)?;
        let fill = self.operand(op, 2)?;
        let (first, end) = (self.index_operand(op, 3)?, self.index_operand(op, 4)?);
        let lanes = self.result_lanes(op);
        let width = lanes.unwrap_or(1);
        self.machine.budget.burn(width)?;
        let fill = fill.with_axes(vec![Axis::plain(width)]);
        let fill = fill.ok_or_else(|| InterpError::invalid("the fill has other lanes"))?;
        let mut parts = Vec::with_capacity(width);
        for lane in 0..width {
            let number = lane as i64;
            let part = if first <= number && number < end {
                let at = index.checked_add(number);
                let at = at.ok_or_else(|| InterpError::invalid("an address overflows"))?;
                let element = self.memory.load(memory, at, Some(1))?;
                self.touch(op, memory, (at, 1), false)?;
                element
            } else {
                self.machine.slice(&fill, &[lane], &[1], &[1])?
            };
            parts.push(part);
        }
        let all = self.machine.cat(&parts.iter().collect::<Vec<_>>(), 0)?;
        let value = match lanes {
            Some(_) => all,
            None => all
                .with_axes(Vec::new())
                .ok_or_else(|| InterpError::invalid("the result has no lane"))?,
        };
        self.bind_results(op, vec![value])
    }

    fn store(&mut self, op: Op) -> Result<()> {
        let value = self.operand(op, 0)?;
        let memory = self.memory_operand(op, 1)?;
        let index = self.index_operand(op, 2)?;
        self.machine.budget.burn(value.stored_len())?;
        if self.ir.operand_count(op) > 3 {
            let some = usize::try_from(self.index_operand(op, 3)?.max(0)).unwrap_or(usize::MAX);
            let count = some.min(value.stored_len());
            let value = self.machine.slice(&value, &[0], &[count], &[1])?;
            if count > 0 {
                self.memory.store(memory, index, &value)?;
                self.touch(op, memory, (index, count), true)?;
            }
            return Ok(());
        }
        match self.stride(op) {
            1 => {
                self.memory.store(memory, index, &value)?;
                self.touch(op, memory, (index, value.stored_len()), true)
            }
            stride => {
                for lane in 0..value.stored_len() {
                    let at = lane_address(index, lane, stride)?;
                    let part = self.machine.slice(&value, &[lane], &[1], &[1])?;
                    self.memory.store(memory, at, &part)?;
                    self.touch(op, memory, (at, 1), true)?;
                }
                Ok(())
            }
        }
    }

    /// Lanes of the result's vector type; none for a scalar.
    fn result_lanes(&self, op: Op) -> Option<usize> {
        let &result = self.ir.results(op).first()?;
        match self.ir.value_kind(result) {
            TypeKind::Vector { shape, .. } => usize::try_from(*shape.first()?).ok(),
            _ => None,
        }
    }

    fn lanes(&mut self, op: Op, action: Action) -> Result<()> {
        let lanes = self.result_lanes(op);
        let lanes = lanes.ok_or_else(|| InterpError::invalid("the result is no vector"))?;
        let axes = vec![Axis::plain(lanes)];
        let vector = match action {
            Action::Splat => {
                let value = self.operand(op, 0)?;
                self.machine.full(&value, axes)?
            }
            _ => self.machine.iota(DType::Index, axes, 0)?,
        };
        self.bind_results(op, vec![vector])
    }

    fn extract(&mut self, op: Op) -> Result<()> {
        let vector = self.operand(op, 0)?;
        let lane = self.ir.int_of(op, "lane").unwrap_or(-1);
        let lane = crate::machine::extent(lane)?;
        let one = self.machine.slice(&vector, &[lane], &[1], &[1])?;
        let scalar = one.with_axes(Vec::new());
        let scalar = scalar.ok_or_else(|| InterpError::invalid("there is no such lane"))?;
        self.bind_results(op, vec![scalar])
    }

    /// One lane of every row makes a column.
    fn transpose(&mut self, op: Op) -> Result<()> {
        let count = self.ir.operand_count(op);
        let rows: Result<Vec<Tensor>> = (0..count).map(|i| self.operand(op, i)).collect();
        let rows = rows?;
        let all = self.machine.cat(&rows.iter().collect::<Vec<_>>(), 0)?;
        let columns = (0..count).map(|j| self.machine.slice(&all, &[j], &[count], &[count]));
        let columns: Result<Vec<Tensor>> = columns.collect();
        self.bind_results(op, columns?)
    }

    /// The function by which lanes are put together, and its name.
    fn combine(&self, op: Op) -> Result<(Binary, &'static str)> {
        match self.ir.str_of(op, "combine") {
            Some("add") => Ok((Binary::Add, "add")),
            Some("mul") => Ok((Binary::Mul, "mul")),
            Some("max") => Ok((Binary::Maximum, "maximum")),
            Some("min") => Ok((Binary::Minimum, "minimum")),
            Some("max_num") => Ok((Binary::Fmax, "fmax")),
            Some("min_num") => Ok((Binary::Fmin, "fmin")),
            _ => Err(InterpError::invalid("unknown way to combine lanes")),
        }
    }

    /// Records the exchange of a scan across threads, if the scan starts from a value that a shared loop carries.
    fn hand_on_totals(&mut self, op: Op) -> Result<()> {
        let frame = self.stack.last();
        let carried = frame.map_or(&[][..], |frame| self.ir.args(frame.block));
        let goes_on = carried.contains(&self.ir.operand(op, 1));
        let shared = frame.and_then(|frame| Some(frame.repeat.as_ref()?.shared));
        match shared.filter(|_| goes_on) {
            Some(shared) => self.team.scan(op, &shared),
            None => Ok(()),
        }
    }

    /// Combines each lane with the result of the earlier lanes; a scalar is one lane.
    fn scan_lanes(&mut self, op: Op) -> Result<()> {
        let (combine, name) = self.combine(op)?;
        let lanes = self.operand(op, 0)?;
        let before = self.operand(op, 1)?;
        self.hand_on_totals(op)?;
        if self.result_lanes(op).is_none() {
            let step = self.machine.binary(combine, name, &before, &lanes)?;
            return self.bind_results(op, vec![step]);
        }
        let one = vec![Axis::plain(1)];
        let mut steps = vec![self.machine.full(&before, one)?];
        for lane in 0..lanes.stored_len() {
            let next = self.machine.slice(&lanes, &[lane], &[1], &[1])?;
            steps.push(self.machine.binary(combine, name, &steps[lane], &next)?);
        }
        let steps: Vec<&Tensor> = steps[1..].iter().collect();
        let vector = self.machine.cat(&steps, 0)?;
        self.bind_results(op, vec![vector])
    }

    /// Halves are combined lane by lane; with an odd count the middle lane joins the lower half.
    fn reduce_lanes(&mut self, op: Op) -> Result<()> {
        let combine = self.combine(op)?;
        let mut lanes = self.operand(op, 0)?;
        while lanes.stored_len() > 1 {
            let count = lanes.stored_len();
            let half = count / 2;
            let low = self.machine.slice(&lanes, &[0], &[half], &[1])?;
            let high = self.machine.slice(&lanes, &[count - half], &[half], &[1])?;
            let reduced = self.machine.binary(combine.0, combine.1, &low, &high)?;
            lanes = match count % 2 {
                0 => reduced,
                _ => {
                    let middle = self.machine.slice(&lanes, &[half], &[1], &[1])?;
                    self.machine.cat(&[&reduced, &middle], 0)?
                }
            };
        }
        let scalar = lanes.with_axes(Vec::new());
        let scalar = scalar.ok_or_else(|| InterpError::invalid("the vector has no lanes"))?;
        self.bind_results(op, vec![scalar])
    }
}

/// The element of a lane of an access that begins at `index`.
fn lane_address(index: i64, lane: usize, stride: i64) -> Result<i64> {
    let overflow = || InterpError::invalid("an address overflows");
    let distance = i64::try_from(lane).ok().and_then(|l| l.checked_mul(stride));
    let at = distance.and_then(|distance| index.checked_add(distance));
    at.ok_or_else(overflow)
}
