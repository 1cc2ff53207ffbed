//! Analyses: facts computed from the IR, kept between passes as long as every pass in between says that they still hold.
//!
//! A cached analysis is a shared pointer, so a pass may hold it while it edits; whether it is still true is then the pass's
//! affair. After a pass, everything about the op it ran on, and about what lies inside or around it, is forgotten, except
//! what the pass preserved by type.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::rc::Rc;

use fuser_ir::{Ir, Op};

/// A fact about an op and what it holds, a function of the IR alone.
pub trait Analysis: 'static {
    /// Name in timing reports.
    const NAME: &'static str;
    /// Computes it.
    fn compute(ir: &Ir, op: Op) -> Self;
}

/// The cache.
#[derive(Default)]
pub struct Analyses {
    entries: BTreeMap<(Op, TypeId), Rc<dyn Any>>,
    preserved: Vec<TypeId>,
    all_preserved: bool,
    computed: u64,
}

impl Analyses {
    /// The analysis `A` of `op`, cached or computed.
    pub fn get<A: Analysis>(&mut self, ir: &Ir, op: Op) -> Rc<A> {
        if let Some(found) = self.cached::<A>(op) {
            return found;
        }
        let made = Rc::new(A::compute(ir, op));
        self.computed += 1;
        self.entries.insert((op, TypeId::of::<A>()), made.clone());
        made
    }
    /// The analysis `A` of `op`, if it was computed and still holds.
    pub fn cached<A: Analysis>(&self, op: Op) -> Option<Rc<A>> {
        let entry = self.entries.get(&(op, TypeId::of::<A>()))?;
        entry.clone().downcast().ok()
    }
    /// The running pass keeps `A` true.
    pub fn preserve<A: Analysis>(&mut self) {
        self.preserved.push(TypeId::of::<A>());
    }
    /// The running pass changed nothing.
    pub fn preserve_all(&mut self) {
        self.all_preserved = true;
    }
    /// The number of analyses computed so far.
    pub fn computed(&self) -> u64 {
        self.computed
    }
    /// Called after a pass ran on `op`.
    pub(crate) fn invalidate(&mut self, ir: &Ir, op: Op) {
        let preserved = std::mem::take(&mut self.preserved);
        if std::mem::take(&mut self.all_preserved) {
            return;
        }
        self.entries.retain(|(about, ty), _| {
            let related = ir.is_inside(*about, op) || ir.is_inside(op, *about);
            !ir.is_erased(*about) && (!related || preserved.contains(ty))
        });
    }
}
