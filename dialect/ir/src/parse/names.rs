//! Value names while parsing: scopes, forward references, poison.
//!
//! A region sees the names around it unless it is isolated. A name used before its definition gets a placeholder. The
//! definition replaces it, in the same region, or, once the inner region is closed, in an enclosing one. Names of
//! failed definitions are poison: their users are not reported again.
//!
//! Leaving a scope costs as much as the bindings in it. Nothing here depends on the depth of nesting.

use rustc_hash::FxHashMap;

use crate::ir::Value;
use crate::span::Span;

/// One use of a name that has no definition yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlyUse {
    /// The result number, `1` in `%r#1`.
    pub number: Option<u32>,
    /// The placeholder of the value until its definition is read.
    pub placeholder: Value,
    /// Source range of the use.
    pub span: Span,
}

/// A name that was used and is not defined yet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Forward {
    /// Its uses.
    pub uses: Vec<EarlyUse>,
    /// Ops that would need its type.
    pub untyped: Vec<Span>,
}

/// The binding of a name: its values, or the reason that it has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Results that were defined together; mostly one.
    Values {
        /// First element in the list of all.
        first: u32,
        /// Number of values.
        count: u32,
    },
    /// Its definition failed.
    Poison,
    /// It is not defined yet.
    Forward(Box<Forward>),
}

/// A binding with its place and scope.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The values, or the state, that the name is bound to.
    pub bound: Bound,
    /// Source range of the definition or the first use.
    pub span: Span,
    epoch: u32,
    depth: u32,
}

struct Scope {
    undo: usize,
    values: usize,
    epoch: u32,
    blind: bool,
}

/// All names of a file.
#[derive(Default)]
pub struct Names<'i> {
    ids: FxHashMap<&'i str, u32>,
    texts: Vec<&'i str>,
    slots: Vec<Option<Binding>>,
    /// For each name its last definition in a region that was closed, and the epoch of that.
    closed: Vec<Option<(Span, u32)>>,
    undo: Vec<(u32, Option<Binding>)>,
    scopes: Vec<Scope>,
    values: Vec<Value>,
    epochs: u32,
    /// Forward references that are open.
    pub pending: usize,
}

/// The result of binding a name that may be bound already.
#[derive(Debug)]
pub enum Rebound {
    /// It was free.
    Fresh,
    /// It was used before; the uses are to be pointed at the definition.
    Resolved(Box<Forward>),
    /// It was defined before, there.
    Clash(Span),
}

impl<'i> Names<'i> {
    /// The number of a name.
    pub fn id(&mut self, text: &'i str) -> u32 {
        let next = self.texts.len() as u32;
        let id = *self.ids.entry(text).or_insert(next);
        if id == next {
            self.texts.push(text);
            self.slots.push(None);
            self.closed.push(None);
        }
        id
    }
    /// The text of a name.
    pub fn text(&self, id: u32) -> &'i str {
        self.texts[id as usize]
    }
    fn epoch(&self) -> u32 {
        self.scopes.last().map_or(0, |s| s.epoch)
    }
    fn depth(&self) -> u32 {
        self.scopes.len() as u32
    }

    /// Enters a region.
    pub fn enter(&mut self, isolated: bool) {
        let blind = !isolated && self.scopes.last().is_some_and(|s| s.blind);
        self.epochs += u32::from(isolated);
        let epoch = if isolated { self.epochs } else { self.epoch() };
        let undo = self.undo.len();
        let values = self.values.len();
        self.scopes.push(Scope {
            undo,
            values,
            epoch,
            blind,
        });
    }
    /// From here on unknown names are not reported in this scope: their definitions could not be read.
    pub fn blind(&mut self) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.blind = true;
        }
    }
    /// True if uses of unknown names are ignored.
    pub fn is_blind(&self) -> bool {
        self.scopes.last().is_some_and(|s| s.blind)
    }

    /// The current binding of the name `id`.
    pub fn lookup(&self, id: u32) -> Option<&Binding> {
        let epoch = self.epoch();
        self.slots[id as usize]
            .as_ref()
            .filter(|b| b.epoch == epoch)
    }
    /// As [`Names::lookup`], to change it.
    pub fn lookup_mut(&mut self, id: u32) -> Option<&mut Binding> {
        let epoch = self.epoch();
        self.slots[id as usize]
            .as_mut()
            .filter(|b| b.epoch == epoch)
    }
    /// The values of a binding.
    pub fn values(&self, first: u32, count: u32) -> &[Value] {
        &self.values[first as usize..(first + count) as usize]
    }
    fn put(&mut self, id: u32, bound: Bound, span: Span) {
        let (epoch, depth) = (self.epoch(), self.depth());
        let binding = Binding {
            bound,
            span,
            epoch,
            depth,
        };
        let old = self.slots[id as usize].replace(binding);
        self.undo.push((id, old));
    }

    /// Defines a name.
    pub fn define(&mut self, id: u32, values: &[Value], span: Span) -> Rebound {
        let first = self.values.len() as u32;
        self.values.extend_from_slice(values);
        let count = values.len() as u32;
        self.bind(id, Bound::Values { first, count }, span)
    }
    /// Marks a name as one whose definition failed.
    pub fn poison(&mut self, id: u32, span: Span) -> Rebound {
        self.bind(id, Bound::Poison, span)
    }
    fn bind(&mut self, id: u32, bound: Bound, span: Span) -> Rebound {
        let depth = self.depth();
        let Some(old) = self.lookup_mut(id) else {
            self.put(id, bound, span);
            return Rebound::Fresh;
        };
        let same_scope = old.depth == depth;
        match &mut old.bound {
            Bound::Forward(forward) if same_scope => {
                let forward = std::mem::take(forward);
                (old.bound, old.span) = (bound, span);
                self.pending -= 1;
                Rebound::Resolved(forward)
            }
            Bound::Values { .. } => {
                let clash = old.span;
                self.put(id, bound, span);
                Rebound::Clash(clash)
            }
            _ => {
                self.put(id, bound, span);
                Rebound::Fresh
            }
        }
    }
    /// Notes an early use of a name that is not defined.
    pub fn defer(&mut self, id: u32, early: EarlyUse) {
        match self.lookup_mut(id).map(|b| &mut b.bound) {
            Some(Bound::Forward(forward)) => forward.uses.push(early),
            _ => {
                let forward = Forward {
                    uses: vec![early],
                    untyped: Vec::new(),
                };
                self.pending += 1;
                self.put(id, Bound::Forward(Box::new(forward)), early.span);
            }
        }
    }

    /// Names that the innermost scope uses and does not define. Empty if an outer scope can still define them; none can
    /// if the innermost scope is isolated or the last.
    pub fn undefined(&mut self) -> Vec<(u32, Box<Forward>)> {
        let Some(scope) = self.scopes.last() else {
            return Vec::new();
        };
        let outer = self
            .scopes
            .len()
            .checked_sub(2)
            .map(|at| self.scopes[at].epoch);
        if outer == Some(scope.epoch) {
            return Vec::new();
        }
        let ids: Vec<u32> = self.undo[scope.undo..].iter().map(|(id, _)| *id).collect();
        let mut undefined = Vec::new();
        for id in ids {
            let Some(binding) = self.lookup_mut(id) else {
                continue;
            };
            if let Bound::Forward(forward) = &mut binding.bound {
                undefined.push((id, std::mem::take(forward)));
                binding.bound = Bound::Poison;
                self.pending -= 1;
            }
        }
        undefined
    }
    /// Leaves a region: its names are forgotten; early uses wait for a definition around it.
    pub fn leave(&mut self) {
        let Some(scope) = self.scopes.pop() else {
            return;
        };
        let mut waiting = Vec::new();
        for (id, old) in self.undo.split_off(scope.undo).into_iter().rev() {
            let inner = std::mem::replace(&mut self.slots[id as usize], old);
            match inner.map(|b| (b.bound, b.span)) {
                Some((Bound::Forward(forward), _)) => waiting.push((id, forward)),
                Some((Bound::Values { .. }, span)) => {
                    self.closed[id as usize] = Some((span, scope.epoch))
                }
                _ => {}
            }
        }
        // Nothing refers any more to the values that the scope bound.
        self.values.truncate(scope.values);
        for (id, forward) in waiting.into_iter().rev() {
            self.pending -= 1;
            self.wait(id, *forward);
        }
    }
    fn wait(&mut self, id: u32, forward: Forward) {
        for early in forward.uses {
            self.defer(id, early);
        }
        let binding = self.lookup_mut(id);
        if let Some(Bound::Forward(outer)) = binding.map(|b| &mut b.bound) {
            outer.untyped.extend(forward.untyped);
        }
    }

    /// The definition of a name in a region that was closed, inside of the isolated one around here.
    pub fn closed(&self, id: u32) -> Option<Span> {
        let (span, epoch) = self.closed[id as usize]?;
        (epoch == self.epoch()).then_some(span)
    }
    /// Names that are defined here, for suggestions. At most `most` of the latest.
    pub fn visible(&self, most: usize) -> impl Iterator<Item = &'i str> + '_ {
        let defined = |id: &u32| {
            let binding = self.lookup(*id);
            matches!(binding.map(|b| &b.bound), Some(Bound::Values { .. }))
        };
        let ids = (0..self.texts.len() as u32).rev().take(most);
        ids.filter(defined).map(|id| self.texts[id as usize])
    }
}
