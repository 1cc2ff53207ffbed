//! Loops of programs: turn by turn, with the values that one turn passes to the next. A branch is one turn of the
//! program that its condition chooses.
//!
//! In reference mode, error bounds may leave the condition of a loop or a branch undecided. It then follows the
//! reference's own value, and its results are undecided. Samples run the turns and sides that their errors imply.

use fuser_ir::attr::AttrKind;
use fuser_ir::{Block, Op};

use crate::engine::Engine;
use crate::error::{InterpError, Result};
use crate::number::Int;
use crate::tensor::Tensor;

/// A program of a loop that is being executed.
pub(crate) struct Turn {
    /// The values that the condition is asked about; none for the body.
    asked: Option<Vec<Tensor>>,
    /// The turns that are left, this one included, where their number is known.
    left: Option<i64>,
    /// True once bounds have left open whether there is another turn.
    unsure: bool,
}

impl Engine<'_> {
    /// Begins a loop.
    pub(crate) fn begin_loop(&mut self, op: Op) -> Result<()> {
        let ir = self.ir;
        let values = ir.operands(op).map(|value| self.take(value));
        let values = values.collect::<Result<Vec<_>>>()?;
        let turn = Turn {
            asked: None,
            left: ir.int_of(op, "turns"),
            unsure: false,
        };
        self.turn(op, turn, values)
    }
    /// Begins the program of a branch that the condition, the first operand, chooses.
    pub(crate) fn begin_branch(&mut self, op: Op) -> Result<()> {
        let ir = self.ir;
        let mut values = ir.operands(op).map(|value| self.take(value));
        let condition = values
            .next()
            .ok_or_else(|| InterpError::invalid("a branch has no condition"))??;
        let values = values.collect::<Result<Vec<_>>>()?;
        let said = truth(&condition)?;
        let turn = Turn {
            asked: None,
            left: Some(1),
            unsure: said.unsure,
        };
        let clause = match said.v != 0 {
            true => "then",
            false => "else",
        };
        self.call(op, clause, turn, values)
    }
    /// Begins the next turn, or asks whether there is one.
    fn turn(&mut self, op: Op, mut turn: Turn, values: Vec<Tensor>) -> Result<()> {
        let clause = match turn.left {
            Some(left) if left <= 0 => return self.end_loop(op, &turn, values),
            Some(_) => "body",
            None => "condition",
        };
        turn.asked = turn.left.is_none().then(|| values.clone());
        self.call(op, clause, turn, values)
    }
    fn end_loop(&mut self, op: Op, turn: &Turn, values: Vec<Tensor>) -> Result<()> {
        let values = match turn.unsure {
            true => values
                .iter()
                .map(|value| self.machine.unknown(value))
                .collect::<Result<_>>()?,
            false => values,
        };
        self.bind_results(op, values)
    }
    fn call(&mut self, op: Op, clause: &str, turn: Turn, values: Vec<Tensor>) -> Result<()> {
        self.machine.next_turn()?;
        let body = self.program(op, clause)?;
        let parameters = self.ir.args(body);
        if parameters.len() != values.len() {
            return Err(InterpError::invalid(
                "a program takes another number of values",
            ));
        }
        for (&parameter, value) in parameters.iter().zip(values) {
            self.bind(parameter, value)?;
        }
        self.enter(Some(op), body, None);
        if let Some(frame) = self.stack.last_mut() {
            frame.turn = Some(turn);
        }
        Ok(())
    }
    /// Ends the program that `turn` is about, with its results.
    pub(crate) fn end_turn(&mut self, op: Op, mut turn: Turn, values: Vec<Tensor>) -> Result<()> {
        let Some(asked) = turn.asked.take() else {
            turn.left = turn.left.map(|left| left - 1);
            return self.turn(op, turn, values);
        };
        let none = || InterpError::invalid("a condition gives no truth value");
        let said = truth(values.first().ok_or_else(none)?)?;
        turn.unsure |= said.unsure;
        match said.v != 0 {
            true => self.call(op, "body", turn, asked),
            false => self.end_loop(op, &turn, asked),
        }
    }
    /// The body of the program that a clause names, in the enclosing module.
    pub(crate) fn program(&self, op: Op, clause: &str) -> Result<Block> {
        let ir = self.ir;
        let missing = || InterpError::invalid("there is no such program in the module");
        let Some(AttrKind::SymbolRef(path)) = ir.attr_of(op, clause) else {
            return Err(missing());
        };
        let name = path.last().map(|sym| ir.str(*sym)).ok_or_else(missing)?;
        let module = std::iter::successors(Some(op), |o| ir.parent_op(*o)).last();
        let found = ir.children(module.ok_or_else(missing)?).into_iter();
        let mut programs = found.filter(|p| ir.name(*p) == "task.program");
        let program = programs.find(|p| ir.symbol_name(*p) == Some(name));
        let program = program.ok_or_else(missing)?;
        // A program that runs itself would end nowhere.
        if self
            .stack
            .iter()
            .any(|frame| Some(frame.block) == ir.body(program, 0))
        {
            return Err(InterpError::invalid("a program runs itself"));
        }
        self.body(program, 0)
    }
}

/// The truth value of a condition.
fn truth(value: &Tensor) -> Result<Int> {
    let none = || InterpError::invalid("a condition gives no truth value");
    value.int(0).ok_or_else(none)
}
