//! The form of an op: its contents without the names of values. Equal layers of a program have equal forms.
//!
//! Two ops have the same form if their ops, operands, attributes, types and regions are equal, in order. Values from
//! outside are identified by their first use and their type. An op that jumps to blocks shares its form with no other
//! op. Linear in the number of ops; does not recurse.

use fuser_dialects::task::{labels, positions};
use fuser_ir::attr::AttrId;
use fuser_ir::intern::Sym;
use fuser_ir::ir::OpName;
use fuser_ir::{Block, Ir, Op, Region, TypeId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The parts of an op in program order.
pub type Form = Vec<Item>;

/// A part of an op.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    Op(OpName),
    /// An operand, as the number of its definition or of its first use.
    Operand(usize),
    Attr(Sym, AttrId),
    /// The type of a result, a block argument, or a value from outside.
    Type(TypeId),
    Block,
    /// The end of a region.
    End,
    /// An op that jumps to blocks.
    Jump(Op),
}

/// A step of the walk, which keeps its own stack.
enum Step {
    Enter(Region),
    Block(Block),
    Visit(Op),
    Leave,
}

/// The attributes that record the origin of an op. They have no influence on its meaning.
pub const ORIGINS: [&str; 3] = ["sym_name", positions::POSITION, labels::LABEL];

/// The form of `root`, without the attributes that are called `without`.
pub fn form(ir: &Ir, root: Op, without: &[&str]) -> Form {
    form_and_inputs(ir, root, without).0
}

/// The form of `root`, and the values that it uses from outside, in the order of first use. Ops of equal form have
/// corresponding inputs at equal positions.
pub fn form_and_inputs(ir: &Ir, root: Op, without: &[&str]) -> (Form, Vec<Value>) {
    let (mut form, mut inputs) = (Form::new(), Vec::new());
    let mut numbers = Numbers::default();
    let mut stack = vec![Step::Visit(root)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Visit(op) => {
                let next = (op != root).then(|| ir.next_op(op)).flatten();
                stack.extend(next.map(Step::Visit));
                let regions = ir.op_regions(op).iter().rev();
                stack.extend(regions.map(|&region| Step::Enter(region)));
                inputs.extend(add_op(ir, op, without, &mut numbers, &mut form));
            }
            Step::Enter(region) => {
                stack.push(Step::Leave);
                let blocks: Vec<Block> = ir.region_blocks(region).collect();
                stack.extend(blocks.into_iter().rev().map(Step::Block));
            }
            Step::Block(block) => {
                form.push(Item::Block);
                define(ir, ir.args(block), &mut numbers, &mut form);
                stack.extend(ir.first_op(block).map(Step::Visit));
            }
            Step::Leave => form.push(Item::End),
        }
    }
    (form, inputs)
}

/// Values in the order in which they appear.
type Numbers = FxHashMap<Value, usize>;

/// Adds an op; returns the outside values whose first use it is.
fn add_op(
    ir: &Ir,
    op: Op,
    without: &[&str],
    numbers: &mut Numbers,
    form: &mut Form,
) -> SmallVec<[Value; 2]> {
    let mut inputs = SmallVec::new();
    form.push(Item::Op(ir.name_id(op)));
    if ir.successor_count(op) > 0 {
        form.push(Item::Jump(op));
    }
    for value in ir.operands(op) {
        let next = numbers.len();
        let number = *numbers.entry(value).or_insert(next);
        form.push(Item::Operand(number));
        if number == next {
            form.push(Item::Type(ir.value_type(value)));
            inputs.push(value);
        }
    }
    let attrs = ir.attrs(op).iter();
    let attrs = attrs.filter(|(key, _)| !without.contains(&ir.str(*key)));
    form.extend(attrs.map(|&(key, attr)| Item::Attr(key, attr)));
    define(ir, ir.results(op), numbers, form);
    inputs
}

fn define(ir: &Ir, values: &[Value], numbers: &mut Numbers, form: &mut Form) {
    for &value in values {
        numbers.insert(value, numbers.len());
        form.push(Item::Type(ir.value_type(value)));
    }
}
