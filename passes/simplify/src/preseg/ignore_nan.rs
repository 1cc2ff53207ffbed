//! Weakens a maximum or minimum that need not propagate NaN, because a reduction beside it does.
//!
//! ```text
//! %m = fusion.max %x dims [1]                          %m = fusion.max_num %x dims [1]
//! %b = fusion.broadcast %m dims [0] shape [4, 8]       ...
//! %d = fusion.sub %x, %b                         =>    ...
//! %e = fusion.exp %d                                   ...
//! %s = fusion.sum %e dims [1]     // NaN wherever x's row has a NaN, whatever %m is
//! ```
//!
//! The two forms differ in rows of x that hold a NaN, and in no other. So the weaker form is as good if everything that is
//! computed from it is, in those rows, NaN either way before it leaves the program or meets an op that this pass does not
//! know. Followed from `x` and the reduction on, in program order, each value has
//! - the axes of x that its axes are;
//! - *differs*: whether it may change in rows of x with a NaN (never elsewhere);
//! - *carries*: if given, a set C of reduced axes: the value is NaN, in both forms, at every position for which x holds a NaN
//!   that stands at the same place along the kept axes and those of C. x carries all reduced axes; a sum over one of them
//!   takes it out of C. Once C is empty the whole row is NaN, and nothing differs.
//!
//! | op | differs | carries |
//! |---|---|---|
//! | ops with the trait "NaN gives NaN" | any operand | the smallest set among the operands |
//! | other elementwise ops | any operand | nothing; `where`: what both choices carry |
//! | reductions with that trait | the operand | its set without the reduced axes |
//! | other reductions | the operand | nothing |
//! | shape ops but slice, pad, cat and reshape | the operand | its set |
//! | all others, and `task.return` | must not | nothing |
//!
//! Axes must meet themselves: where a tensor meets its own transposition, or a kept axis is reduced, what differs counts as
//! having left. A reduction over axes that may be empty carries nothing, as the sum of nothing is 0.
//!
//! Stops after [`REACH`] ops per reduction, so the work is linear in the program. Each reduction is decided with those before it
//! as they have become: of a maximum and a minimum that repair each other one stays. Never touches ops with hints, other
//! element types than floats, or reductions of no axis. Changes no bit but that another NaN may be met first.

use std::collections::BTreeMap;

use fuser_dialects::fusion;
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::entity::SecondaryMap;
use fuser_ir::types::Extent;
use fuser_ir::{DType, Diagnostics, Ir, NewOp, Op, OpDef, Traits, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::FxHashMap;

use super::is_free;

/// The most ops that are looked at for one reduction.
pub const REACH: usize = 256;

/// `ignore-nan`
pub static IGNORE_NAN: PassDef = PassDef {
    name: "ignore-nan",
    summary: "weakens maxima and minima whose NaN a reduction beside them repairs",
    doc: "A `max` or `min` becomes `max_num` or `min_num`, which ignore NaN, where everything computed from it is NaN anyway in \
          every row that holds a NaN: because a `sum`, say, of the same elements takes part before a result is stored. \
          One instruction serves then on every GPU.",
    anchor: &["task.program"],
    statistics: &[
        StatDef {
            name: "weakened",
            doc: "reductions replaced",
        },
        StatDef {
            name: "visited",
            doc: "ops looked at",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let (mut weakened, mut visited) = (0, 0);
    let ops = ctx.ir.children(ctx.op);
    // A new op takes the number of the one in whose place it stands.
    let mut order = SecondaryMap::default();
    for (number, &op) in ops.iter().enumerate() {
        order[op] = number;
    }
    for op in ops {
        let Some(weaker) = weaker(ctx.ir, op) else {
            continue;
        };
        let flow = Flow::from(ctx.ir, op, &order);
        if flow.is_some_and(|flow| flow.repairs(ctx.ir, &mut visited)) {
            let made = replace(ctx.ir, op, weaker);
            order[made] = order[op];
            weakened += 1;
        }
    }
    ctx.count("weakened", weakened);
    ctx.count("visited", visited);
    Ok(())
}

/// The form of a reduction that ignores NaN.
fn weaker(ir: &Ir, op: Op) -> Option<&'static OpDef> {
    let own = ir.def(op).filter(|d| d.class == OpClass::Reduction)?;
    let def = match own.computes? {
        Computes::Max => &fusion::MAX_NUM,
        Computes::Min => &fusion::MIN_NUM,
        _ => return None,
    };
    let float = ir.value_kind(ir.result(op, 0)).dtype()?.is_float();
    let reductions = ir.i64s_of(op, "dims").is_some_and(|d| !d.is_empty());
    (float && reductions && is_free(ir, op)).then_some(def)
}

/// Puts `def` in the place of `op`, with its operands, clauses, type and name.
fn replace(ir: &mut Ir, op: Op, def: &'static OpDef) -> Op {
    let result = ir.result(op, 0);
    let name = ir.value_name_sym(result);
    ir.set_value_name(result, None);
    let new = NewOp {
        operands: ir.operands(op).collect(),
        results: [(ir.value_type(result), name)].into_iter().collect(),
        attrs: ir.attrs(op).iter().copied().collect(),
        loc: Some(ir.op_loc(op)),
        ..NewOp::default()
    };
    let made = ir.create_op(def, new);
    ir.insert_before(op, made);
    ir.replace_all_uses(result, ir.result(made, 0));
    ir.erase(op);
    made
}

/// Axes of x, as bits: a rank is at most 32.
type Axes = u32;

/// The dataflow state of a value.
#[derive(Clone, Debug)]
struct State {
    /// For each axis, the corresponding axis of x; `None` for axes that x lacks.
    axes: Vec<Option<usize>>,
    differs: bool,
    carries: Option<Axes>,
}

impl State {
    /// True if each of these axes of x is an axis of the value.
    fn covers(&self, axes: Axes) -> bool {
        let mine = self.axes.iter().flatten().fold(0, |all, i| all | 1 << i);
        axes & !mine == 0
    }
    /// The axes of x that correspond to the axes of a result, given the operand axis of each.
    fn placed(&self, from: &[Option<usize>]) -> Vec<Option<usize>> {
        let axis = |place: &Option<usize>| *self.axes.get((*place)?)?;
        from.iter().map(axis).collect()
    }
    /// Removes claims that the axes do not support: a value that is NaN along an axis must have that axis. If the whole
    /// row is NaN, nothing differs any more.
    fn settled(mut self, kept: Axes) -> Option<Self> {
        self.carries = self.carries.filter(|set| self.covers(kept | set));
        self.differs &= self.carries != Some(0);
        (self.differs || self.carries.is_some()).then_some(self)
    }
}

/// A difference escapes from the flow that this pass follows.
struct Escapes;

/// The values that hang on a reduction or on its operand.
struct Flow<'a> {
    states: FxHashMap<Value, State>,
    /// Ops that use one of the values, in program order, and whether such a value differs.
    pending: BTreeMap<usize, (Op, bool)>,
    /// The number of these that read one that differs.
    differing: usize,
    /// The axes of x that the reduction keeps.
    kept: Axes,
    target: Op,
    order: &'a SecondaryMap<Op, usize>,
}

impl<'a> Flow<'a> {
    fn from(ir: &Ir, target: Op, order: &'a SecondaryMap<Op, usize>) -> Option<Self> {
        let x = ir.operand(target, 0);
        let rank = ir.value_kind(x).as_tensor()?.dims.len();
        let mut reduced = 0;
        for &dim in ir.i64s_of(target, "dims")? {
            reduced |= 1 << u32::try_from(dim).ok()?;
        }
        let mut flow = Self {
            states: FxHashMap::default(),
            pending: BTreeMap::new(),
            differing: 0,
            kept: (0..rank).fold(0, |all, i| all | 1 << i) & !reduced,
            target,
            order,
        };
        let all = State {
            axes: (0..rank).map(Some).collect(),
            differs: false,
            carries: Some(reduced),
        };
        // The result has the kept axes, in order, and with `keepdim` axes of extent 1 that are nobody's.
        let keep = ir.get_attr(target, "keepdim").is_some();
        let own = |i: usize| flow.kept >> i & 1 == 1;
        let axes = (0..rank).filter(|&i| keep || own(i));
        let result = State {
            axes: axes.map(|i| own(i).then_some(i)).collect(),
            differs: true,
            carries: None,
        };
        flow.put(ir, x, all).ok()?;
        flow.put(ir, ir.result(target, 0), result).ok()?;
        Some(flow)
    }
    fn put(&mut self, ir: &Ir, value: Value, state: State) -> Result<(), Escapes> {
        for (count, user) in ir.users(value).filter(|&u| u != self.target).enumerate() {
            // A user inside a region stands for what holds it, which no rule knows.
            let beside = ir.ancestor_beside(user, self.target).ok_or(Escapes)?;
            if count == REACH {
                return Err(Escapes);
            }
            let entry = self.pending.entry(self.order[beside]);
            let (_, differs) = entry.or_insert((beside, false));
            self.differing += usize::from(state.differs && !*differs);
            *differs |= state.differs;
        }
        self.states.insert(value, state);
        Ok(())
    }
    /// True if no value that differs leaves, as far as a walk over `REACH` ops can tell.
    fn repairs(mut self, ir: &Ir, visited: &mut u64) -> bool {
        for _ in 0..REACH {
            // What only carries might repair; nothing is left to be repaired.
            if self.differing == 0 {
                return true;
            }
            let Some((_, (op, differs))) = self.pending.pop_first() else {
                return true;
            };
            self.differing -= usize::from(differs);
            *visited += 1;
            let Ok(state) = self.step(ir, op, differs) else {
                return false;
            };
            let Some(state) = state else {
                continue;
            };
            for &result in ir.results(op) {
                if self.put(ir, result, state.clone()).is_err() {
                    return false;
                }
            }
        }
        false
    }
    /// The state of the results of an op, where it is known; `differs` is true where a value that the op reads differs,
    /// be it inside of its regions.
    fn step(&self, ir: &Ir, op: Op, differs: bool) -> Result<Option<State>, Escapes> {
        let known = self.transfer(ir, op);
        if known.is_none() && differs {
            return Err(Escapes);
        }
        let state = known.and_then(|s| s.settled(self.kept));
        match state {
            Some(s) if s.covers(self.kept) => Ok(Some(s)),
            Some(s) if s.differs => Err(Escapes),
            _ => Ok(None),
        }
    }
    fn transfer(&self, ir: &Ir, op: Op) -> Option<State> {
        let def = ir.def(op)?;
        if !ir.op_regions(op).is_empty() {
            return None;
        }
        match def.class {
            OpClass::Elementwise => self.elementwise(ir, op, def),
            OpClass::Reduction => self.reduction(ir, op, def),
            OpClass::Shape => self.moved(ir, op, def),
            _ => None,
        }
    }
    fn elementwise(&self, ir: &Ir, op: Op, def: &'static OpDef) -> Option<State> {
        let rank = ir.value_kind(ir.result(op, 0)).as_tensor();
        let mut axes = vec![None; rank.map_or(0, |t| t.dims.len())];
        let operands: Vec<Option<&State>> = ir.operands(op).map(|v| self.states.get(&v)).collect();
        for state in operands.iter().flatten().filter(|s| !s.axes.is_empty()) {
            for (mine, theirs) in axes.iter_mut().zip(&state.axes) {
                match (*mine, *theirs) {
                    (Some(a), Some(b)) if a != b => return None,
                    (None, Some(_)) => *mine = *theirs,
                    _ => {}
                }
            }
        }
        // One axis of x at two places: its row there is not the row here.
        let twice = |(i, a): (usize, &Option<usize>)| a.is_some() && axes[..i].contains(a);
        if axes.iter().enumerate().any(twice) {
            return None;
        }
        let carries = |i: usize| operands.get(i).copied().flatten().and_then(|s| s.carries);
        let float = ir.value_kind(ir.result(op, 0)).dtype();
        // The only float without NaN.
        let float = float.is_some_and(|d| d.is_float() && d != DType::F4E2M1FN);
        let propagates = float && def.traits.contains(Traits::PROPAGATES_NAN);
        let carries = if propagates {
            let sets = (0..operands.len()).filter_map(carries);
            sets.min_by_key(|set| set.count_ones())
        } else if def.computes == Some(Computes::Choice) {
            carries(1).zip(carries(2)).map(|(a, b)| a | b)
        } else {
            None
        };
        Some(State {
            axes,
            differs: operands.iter().flatten().any(|s| s.differs),
            carries,
        })
    }
    fn reduction(&self, ir: &Ir, op: Op, def: &'static OpDef) -> Option<State> {
        let operand = ir.operand(op, 0);
        let state = self.states.get(&operand)?;
        let dims = &ir.value_kind(operand).as_tensor()?.dims;
        let maps = ir.maps(op)?;
        let mut carries = state
            .carries
            .filter(|_| def.traits.contains(Traits::PROPAGATES_NAN));
        let kept = maps.operand_axes(0)?;
        let ended = (0..kept.len()).filter(|&axis| kept[axis].is_none());
        for axis in ended {
            // Where x holds a NaN, its own axes have elements. Of others it must be known.
            match *state.axes.get(axis)? {
                Some(a) => carries = carries.map(|set| set & !(1 << a)),
                None => {
                    let some = matches!(dims[axis].extent, Extent::Static(n) if n > 0);
                    carries = carries.filter(|_| some);
                }
            }
        }
        Some(State {
            axes: state.placed(&maps.result_axes(0)?),
            differs: state.differs,
            carries,
        })
    }
    /// Shape ops that keep elements where their axes say.
    fn moved(&self, ir: &Ir, op: Op, def: &'static OpDef) -> Option<State> {
        let state = self.states.get(&ir.operand(op, 0))?;
        let maps = ir.maps(op).filter(|_| !def.shifts())?;
        Some(State {
            axes: state.placed(&maps.result_axes(0)?),
            ..state.clone()
        })
    }
}
