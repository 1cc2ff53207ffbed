//! Control flow: the next op to run, and the live values.
//!
//! Regions are frames on an explicit stack, so nesting uses no machine stack. Outside loops a value is dropped after
//! its last use, which limits the memory of large programs.

use std::collections::BTreeMap;

use fuser_ir::entity::{Entity, SecondaryMap};
use fuser_ir::types::TypeKind;
use fuser_ir::{Block, Ir, Op, Value};

use crate::Options;
use crate::error::{ErrorKind, InterpError, Result};
use crate::extents::Extents;
use crate::kernel::Launch;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::ops::code::{Code, code};
use crate::site::{Site, Wanted};
use crate::team::{Shared, Team};
use crate::tensor::Tensor;
use crate::turns::Turn;

/// The meaning of an op name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    Compute(Code),
    Boundary,
    Loop,
    If,
    Devices,
    Shard,
    Collective,
    End,
    Kernel(crate::kernel::Action),
}

fn action(name: &str) -> Option<Action> {
    let (dialect, rest) = name.split_once('.')?;
    match (dialect, rest) {
        ("fusion" | "task" | "kernel", "yield") => Some(Action::End),
        (
            "fusion",
            "axis_index"
            | "all_reduce"
            | "all_gather"
            | "reduce_scatter"
            | "all_to_all"
            | "collective_permute"
            | "collective_broadcast",
        ) => Some(Action::Collective),
        ("task", "devices") => Some(Action::Devices),
        ("task", "shard") => Some(Action::Shard),
        ("fusion", op) => code(op).map(Action::Compute),
        ("task", "segment" | "sweep" | "phase" | "pattern") => Some(Action::Boundary),
        ("task", "loop") => Some(Action::Loop),
        ("task", "if") => Some(Action::If),
        ("task" | "kernel", "return") => Some(Action::End),
        ("kernel", op) => crate::kernel::action(op).map(Action::Kernel),
        _ => None,
    }
}

/// A value at run time.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Tensor(Tensor),
    /// Number of a buffer.
    Memory(usize),
}

/// A region that is being executed.
pub(crate) struct Frame {
    /// The op that it belongs to; `None` for the root.
    pub owner: Option<Op>,
    pub block: Block,
    /// The op to run next.
    next: Option<Op>,
    /// State of the loop, if the frame is one.
    pub repeat: Option<Repeat>,
    /// State of the launch, if the frame is one.
    pub launch: Option<Launch>,
    /// State of the program of a loop, if the frame is one.
    pub turn: Option<Turn>,
}

/// The state of a loop.
pub(crate) struct Repeat {
    pub index: i64,
    pub upper: i64,
    pub step: i64,
    pub shared: Shared,
}

/// The source of extents that the caller gives, for messages.
const GIVEN: &str = "the caller";

/// One run.
pub(crate) struct Engine<'a> {
    pub ir: &'a Ir,
    pub machine: Machine<'a>,
    pub extents: Extents,
    /// Extents as the caller gives them.
    given: &'a BTreeMap<String, i64>,
    pub memory: Memory,
    pub team: Team,
    /// The number of iterations that reached each `kernel.last`, by the number of its count.
    pub counts: BTreeMap<(Op, i64), i64>,
    values: Vec<Option<Slot>>,
    uses: SecondaryMap<Value, usize>,
    names: SecondaryMap<fuser_ir::ir::OpName, Option<Action>>,
    pub stack: Vec<Frame>,
    loops: usize,
    /// The values that ended the root region.
    returned: Vec<Tensor>,
    /// The collective at which the engine has stopped.
    waiting: Option<Op>,
}

impl<'a> Engine<'a> {
    pub fn new(ir: &'a Ir, options: &'a Options) -> Self {
        Self {
            ir,
            machine: Machine::new(options),
            extents: Extents::default(),
            given: &options.extents,
            memory: Memory::default(),
            team: Team::new(options.races),
            counts: BTreeMap::default(),
            values: vec![None; ir.value_slots()],
            uses: SecondaryMap::default(),
            names: SecondaryMap::default(),
            stack: Vec::new(),
            loops: 0,
            returned: Vec::new(),
            waiting: None,
        }
    }

    /// Executes a block as the root; the values that it ends with.
    pub fn run(&mut self, block: Block) -> Result<Vec<Tensor>> {
        self.enter(None, block, None);
        self.finish_run()?;
        Ok(self.take_returned())
    }
    /// Executes what has begun; other devices come to no collective.
    fn finish_run(&mut self) -> Result<()> {
        while let Some(op) = self.go_on()? {
            self.alone(op).map_err(|e| e.at(op))?;
        }
        Ok(())
    }
    /// Continues execution to the next collective, whose results the caller must supply; `None` at the end.
    pub fn go_on(&mut self) -> Result<Option<Op>> {
        while let Some(frame) = self.stack.last_mut() {
            match frame.next {
                Some(op) => {
                    frame.next = self.ir.next_op(op);
                    self.step(op).map_err(|e| e.at(op))?;
                    if let Some(op) = self.waiting.take() {
                        return Ok(Some(op));
                    }
                }
                None => self.leave(Vec::new())?,
            }
        }
        Ok(None)
    }
    /// The values that ended the root.
    pub fn take_returned(&mut self) -> Vec<Tensor> {
        std::mem::take(&mut self.returned)
    }

    /// Executes one op, regions and all, outside any block; its results.
    pub fn run_op(&mut self, op: Op) -> Result<Vec<Tensor>> {
        for &result in self.ir.results(op) {
            self.uses[result] = 1;
        }
        self.step(op).map_err(|e| e.at(op))?;
        if let Some(op) = self.waiting.take() {
            self.alone(op).map_err(|e| e.at(op))?;
        }
        self.finish_run()?;
        self.ir
            .results(op)
            .iter()
            .map(|r| self.tensor(*r))
            .collect()
    }

    /// Begins a region.
    pub fn enter(&mut self, owner: Option<Op>, block: Block, repeat: Option<Repeat>) {
        self.loops += usize::from(repeat.is_some());
        self.stack.push(Frame {
            owner,
            block,
            next: self.ir.first_op(block),
            repeat,
            launch: None,
            turn: None,
        });
    }

    fn action(&mut self, op: Op) -> Result<Action> {
        let name = self.ir.name_id(op);
        if let Some(action) = self.names[name] {
            return Ok(action);
        }
        let unknown = || InterpError::new(ErrorKind::UnknownOp(self.ir.name(op).into()));
        let action = action(self.ir.name(op)).ok_or_else(unknown)?;
        self.names[name] = Some(action);
        Ok(action)
    }

    fn step(&mut self, op: Op) -> Result<()> {
        match self.action(op)? {
            Action::Compute(code) => self.compute(op, code),
            Action::Boundary => {
                let body = self.body(op, 0)?;
                self.enter(Some(op), body, None);
                Ok(())
            }
            Action::Loop => self.begin_loop(op),
            Action::If => self.begin_branch(op),
            Action::Devices => self.run_devices(op),
            Action::Shard => self.pass_on(op),
            Action::Collective => {
                self.waiting = Some(op);
                Ok(())
            }
            Action::End => {
                let ir = self.ir;
                let values = ir
                    .operands(op)
                    .map(|v| self.take(v))
                    .collect::<Result<_>>()?;
                self.leave(values)
            }
            Action::Kernel(action) => self.kernel(op, action),
        }
    }

    /// The entry block of a region.
    pub fn body(&self, op: Op, index: usize) -> Result<Block> {
        let missing = || InterpError::invalid("a region has no block");
        self.ir.body(op, index).ok_or_else(missing)
    }

    fn compute(&mut self, op: Op, code: Code) -> Result<()> {
        let ir = self.ir;
        let operands = ir
            .operands(op)
            .map(|v| self.take(v))
            .collect::<Result<Vec<_>>>()?;
        let extents = std::mem::take(&mut self.extents);
        let site = Site {
            ir,
            op,
            extents: &extents,
        };
        let results = crate::execute::execute(&mut self.machine, site, code, &operands);
        self.extents = extents;
        drop(operands);
        self.bind_results(op, results?)
    }

    /// Gives an op's results their values, each checked against its type.
    pub fn bind_results(&mut self, op: Op, values: Vec<Tensor>) -> Result<()> {
        let results = self.ir.results(op);
        if results.len() != values.len() {
            let text = format!(
                "{} results are wanted, {} are there",
                results.len(),
                values.len()
            );
            return Err(InterpError::invalid(text));
        }
        for (&result, value) in results.iter().zip(values) {
            self.bind(result, value)?;
        }
        Ok(())
    }

    /// Gives a value its tensor, checked against its type.
    pub fn bind(&mut self, value: Value, tensor: Tensor) -> Result<()> {
        let wanted = Wanted::of(self.ir, &self.extents, self.ir.value_type(value))?;
        if !wanted.accepts(&tensor) {
            return Err(InterpError::new(ErrorKind::ResultType {
                expected: wanted.describe(),
                computed: tensor.describe(),
            }));
        }
        self.set(value, Slot::Tensor(tensor));
        Ok(())
    }

    /// Gives a value its slot, if anything uses it.
    pub fn set(&mut self, value: Value, slot: Slot) {
        let uses = self.uses[value].max(self.ir.uses(value).count());
        self.uses[value] = uses;
        if let Some(place) = self.values.get_mut(value.index()).filter(|_| uses > 0) {
            *place = Some(slot);
        }
    }

    /// A value, without using it up.
    pub fn slot(&self, value: Value) -> Result<&Slot> {
        let missing = || InterpError::invalid("a value is used before it is defined");
        self.values
            .get(value.index())
            .and_then(Option::as_ref)
            .ok_or_else(missing)
    }
    fn tensor(&self, value: Value) -> Result<Tensor> {
        match self.slot(value)? {
            Slot::Tensor(tensor) => Ok(tensor.clone()),
            Slot::Memory(_) => Err(InterpError::invalid("a buffer is no operand here")),
        }
    }
    /// A value for one of its uses; after the last one it goes.
    pub fn take(&mut self, value: Value) -> Result<Tensor> {
        let tensor = self.tensor(value)?;
        if self.loops == 0 {
            let uses = &mut self.uses[value];
            *uses = uses.saturating_sub(1);
            if *uses == 0 {
                self.values[value.index()] = None;
            }
        }
        Ok(tensor)
    }

    /// Ends the innermost region, or its loop's iteration, with `values`.
    fn leave(&mut self, values: Vec<Tensor>) -> Result<()> {
        let Some(mut frame) = self.stack.pop() else {
            return Ok(());
        };
        if let Some(repeat) = &mut frame.repeat {
            match repeat
                .index
                .checked_add(repeat.step)
                .filter(|i| *i < repeat.upper)
            {
                Some(index) => {
                    repeat.index = index;
                    repeat.shared.next();
                    return self.repeat(frame, values);
                }
                None => {
                    self.loops -= 1;
                    let ended = self.team.end(&repeat.shared);
                    ended.map_err(|e| match frame.owner {
                        Some(op) => e.at(op),
                        None => e,
                    })?;
                }
            }
        }
        match frame.owner {
            Some(op) if frame.turn.is_some() => {
                let turn = frame.turn.take();
                turn.map_or(Ok(()), |turn| self.end_turn(op, turn, values))
                    .map_err(|e| e.at(op))
            }
            Some(op) if frame.launch.is_some() => {
                let launch = frame.launch.take();
                launch
                    .map_or(Ok(()), |l| self.finish_launch(op, &l))
                    .map_err(|e| e.at(op))
            }
            Some(op) => {
                self.team.end_last(op);
                self.bind_results(op, values).map_err(|e| e.at(op))
            }
            None => {
                self.returned = values;
                Ok(())
            }
        }
    }

    /// Begins an iteration of a loop with the values carried over.
    pub fn repeat(&mut self, mut frame: Frame, values: Vec<Tensor>) -> Result<()> {
        self.machine.budget.burn(1)?;
        let index = frame.repeat.as_ref().map_or(0, |r| r.index);
        if let Some(repeat) = &frame.repeat {
            self.team.iterate(&repeat.shared);
        }
        let args = self.ir.args(frame.block);
        if args.len() != values.len() + 1 {
            return Err(InterpError::invalid(
                "a loop carries another number of values",
            ));
        }
        let all = std::iter::once(Tensor::index(index)).chain(values);
        for (&arg, value) in args.iter().zip(all) {
            self.bind(arg, value)?;
        }
        frame.next = self.ir.first_op(frame.block);
        self.stack.push(frame);
        Ok(())
    }

    /// Gives the parameters of a program their inputs, and the named extents their values.
    pub fn bind_inputs(&mut self, parameters: &[Value], inputs: &[Tensor]) -> Result<()> {
        if parameters.len() != inputs.len() {
            return Err(InterpError::new(ErrorKind::InputCount {
                expected: parameters.len(),
                given: inputs.len(),
            }));
        }
        for (name, value) in self.given {
            // A name that the program does not know binds nothing.
            if let Some(name) = self.ir.strings.lookup(name) {
                self.extents.bind_name(self.ir, name, *value, GIVEN)?;
            }
        }
        self.extents.bind_halves(self.ir)?;
        let names: Vec<String> = (0..parameters.len())
            .map(|i| self.input_name(parameters, i))
            .collect();
        for (i, (&parameter, input)) in parameters.iter().zip(inputs).enumerate() {
            if let TypeKind::Tensor(ty) = self.ir.value_kind(parameter)
                && ty.dims.len() == input.axes().len()
            {
                self.extents.bind(self.ir, &ty.dims, input, &names[i])?;
            }
        }
        self.extents.bind_halves(self.ir)?;
        for (i, (&parameter, input)) in parameters.iter().zip(inputs).enumerate() {
            self.bind_input(parameter, input, &names[i])?;
        }
        Ok(())
    }
    fn input_name(&self, parameters: &[Value], i: usize) -> String {
        match self.ir.value_name(parameters[i]) {
            Some(name) => name.to_string(),
            None => i.to_string(),
        }
    }
    fn bind_input(&mut self, parameter: Value, input: &Tensor, name: &str) -> Result<()> {
        if let TypeKind::MemRef { dtype, .. } = self.ir.value_kind(parameter) {
            let number = self.memory.adopt(&mut self.machine, *dtype, input, name)?;
            self.team.share(number, input.stored_len(), false);
            self.set(parameter, Slot::Memory(number));
            return Ok(());
        }
        let wanted = Wanted::of(self.ir, &self.extents, self.ir.value_type(parameter))?;
        if !wanted.accepts(input) {
            return Err(InterpError::new(ErrorKind::InputType {
                input: name.into(),
                expected: wanted.describe(),
                given: input.describe(),
            }));
        }
        self.set(parameter, Slot::Tensor(input.clone()));
        Ok(())
    }
}
