//! Op tables: an operation is declared once, as data, and parser, printer, verifier, docs and tests follow from it.
//!
//! An [`OpDef`] is a plain `static`. A [`DialectDef`] lists the ops of a dialect; a [`Registry`] lists the dialects
//! that a context knows. There is no hidden registration. Passes query the table of an op: its maps, class and traits,
//! and the function that it [`Computes`].

use smallvec::SmallVec;

use crate::attr::AttrId;
use crate::diag::CodeDef;
use crate::intern::Sym;
use crate::ir::{Ir, Op, Region, Value};
use crate::maps::MapsDef;
use crate::types::{DType, Kind, TypeId};

bitflags::bitflags! {
    /// Properties that generic code relies on.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Traits: u32 {
        /// No effect but its results: may be removed when unused, merged with an equal op, moved.
        const PURE = 1 << 0;
        /// Ends a block.
        const TERMINATOR = 1 << 1;
        /// Regions see nothing of the outside.
        const ISOLATED = 1 << 2;
        /// Declares a symbol (`sym_name`).
        const SYMBOL = 1 << 3;
        /// Its region's direct children may be symbols.
        const SYMBOL_TABLE = 1 << 4;
        /// Each region has at most one block.
        const SINGLE_BLOCK = 1 << 5;
        /// Blocks need no terminator.
        const NO_TERMINATOR = 1 << 6;
        /// Operands 0 and 1 may be swapped.
        const COMMUTATIVE = 1 << 7;
        /// Works element by element on tensors, vectors and scalars alike; the result has the common shape.
        const ELEMENTWISE = 1 << 8;
        /// `f(f(x)) == f(x)`.
        const IDEMPOTENT = 1 << 9;
        /// A boundary between segments, stated by the user: no op that uses its result is in its segment.
        const BARRIER = 1 << 11;
        /// The region may read values in any order (graph region): dominance is not checked inside.
        const GRAPH_REGION = 1 << 12;
        /// A float result is NaN if an operand is NaN, or for reductions, if a combined element is.
        const PROPAGATES_NAN = 1 << 13;
        /// A float result is defined within a bound and not to the bit.
        const APPROXIMATE = 1 << 14;
    }
}

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DTypes(pub u32);

impl DTypes {
    /// The set of the listed types.
    pub const fn of(list: &[DType]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= 1 << list[i] as u32;
            i += 1;
        }
        Self(bits)
    }
    /// The set of all types of a kind.
    const fn of_kind(kind: Kind) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < DType::ALL.len() {
            if DType::ALL[i].kind() as u8 == kind as u8 {
                bits |= 1 << DType::ALL[i] as u32;
            }
            i += 1;
        }
        Self(bits)
    }
    /// The set less one type.
    pub const fn without(self, dtype: DType) -> Self {
        Self(self.0 & !(1 << dtype as u32))
    }
    /// The union with another set.
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
    /// The difference to another set.
    const fn less(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
    /// All element types.
    pub const ANY: Self = Self::of(&DType::ALL);
    /// Floats of 8 bits and of 4, which have no arithmetic and no order.
    pub const STORAGE: Self = Self::of(&[
        DType::F8E4M3FN,
        DType::F8E5M2,
        DType::F8E8M0FNU,
        DType::F4E2M1FN,
    ]);
    /// Pairs of floats, which have arithmetic and no order.
    pub const COMPLEX: Self = Self::of_kind(Kind::Complex);
    /// All but pairs of floats.
    pub const REAL: Self = Self::ANY.less(Self::COMPLEX);
    /// All that kernels know: complex values are pairs of reals there, floats of 4 bits their codes in bytes.
    pub const KERNEL: Self = Self::REAL.without(DType::F4E2M1FN);
    /// All real types that ops compare and compute with.
    pub const COMPUTED: Self = Self::REAL.less(Self::STORAGE);
    /// f64, f32, f16, bf16.
    pub const FLOAT: Self = Self::of_kind(Kind::Float).less(Self::STORAGE);
    /// Integers, `i1` and `index`.
    pub const INTEGRAL: Self = Self::REAL.less(Self::of_kind(Kind::Float));
    /// Integers without `i1` and `index`.
    pub const INT: Self = Self::INTEGRAL.without(DType::I1).without(DType::Index);
    /// The real types that can be added and multiplied: [`Self::COMPUTED`] without `i1`.
    pub const NUMERIC: Self = Self::COMPUTED.without(DType::I1);
    /// Everything that adds and multiplies.
    pub const FIELD: Self = Self::NUMERIC.with(Self::COMPLEX);
    /// Floats and complex numbers.
    pub const ANALYTIC: Self = Self::FLOAT.with(Self::COMPLEX);
    /// `i1` only.
    pub const BOOL: Self = Self::of(&[DType::I1]);
    /// `index` only.
    pub const INDEX: Self = Self::of(&[DType::Index]);
    /// True if `dtype` is an element of the set.
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 & (1 << dtype as u32) != 0
    }
}

/// The shape part of a type constraint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Any type at all.
    Any,
    /// A ranked tensor.
    Tensor,
    /// A ranked tensor or a scalar (which counts as rank 0).
    TensorOrScalar,
    /// Tensor, vector or scalar.
    Elementwise,
    /// A scalar.
    Scalar,
    /// A vector.
    Vector,
    /// Vector or scalar.
    VectorOrScalar,
    /// A memory buffer.
    MemRef,
    /// A function type.
    Function,
}

/// A constraint on a value's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeConstraint {
    /// Shape part.
    pub shape: Shape,
    /// Element type part (ignored for `Shape::Any` and `Shape::Function`).
    pub dtypes: DTypes,
}

impl TypeConstraint {
    /// A constraint.
    pub const fn new(shape: Shape, dtypes: DTypes) -> Self {
        Self { shape, dtypes }
    }
    /// Any type.
    pub const ANY: Self = Self::new(Shape::Any, DTypes::ANY);
}

/// The memory that a value must lie in so that a scheduler can take the op. Segmentation reads it from here only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Anywhere: a register will do.
    Any,
    /// In global memory: an operand must be an input of the segment, a result an output of it.
    Memory,
}

/// An operand in an op table.
#[derive(Clone, Copy, Debug)]
pub struct OperandDef {
    /// Name in docs and diagnostics.
    pub name: &'static str,
    /// Its type.
    pub ty: TypeConstraint,
    /// Zero or more; only the last operand may be.
    pub variadic: bool,
    /// The memory that the operand must lie in.
    pub placement: Placement,
    /// One sentence.
    pub doc: &'static str,
}

/// A result in an op table.
#[derive(Clone, Copy, Debug)]
pub struct ResultDef {
    /// Name in docs and diagnostics.
    pub name: &'static str,
    /// Its type.
    pub ty: TypeConstraint,
    /// Zero or more; only the last result may be.
    pub variadic: bool,
    /// The memory that the result must lie in.
    pub placement: Placement,
    /// One sentence.
    pub doc: &'static str,
}

/// The kind of a clause's value, which decides its syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClauseKind {
    /// `dims [0, 2]`: `array<i64: 0, 2>`.
    I64Array,
    /// `shape [[B], 1024]`: `extents<...>`.
    Extents,
    /// `starts [0, [M]]`: `extents<...>` where an entry has a name, `array<i64: ...>` where none has.
    Amounts,
    /// `to bf16`: an element type, as a type attribute.
    DType,
    /// Any type.
    Type,
    /// `correction 1`: an `i64`.
    Int,
    /// `value 1.5` or `value 3`: a number; its type follows from inference or is written `1.5 : f32`.
    Number,
    /// `scheduler "row"`.
    String,
    /// One of the listed words, stored as a string: `predicate lt`.
    Keyword(&'static [&'static str]),
    /// `keepdim`: no value.
    Unit,
    /// `callee @f`.
    Symbol,
    /// `roles ["grid", "tile"]`: an array of strings.
    StringArray,
    /// Anything that is an attribute.
    Any,
}

/// A clause: a keyword and its attribute. The attribute has the keyword's name.
#[derive(Clone, Copy, Debug)]
pub struct ClauseDef {
    /// Keyword and attribute name.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: ClauseKind,
    /// True if the clause must be present.
    pub required: bool,
    /// One sentence.
    pub doc: &'static str,
}

/// A region in an op table.
#[derive(Clone, Copy, Debug)]
pub struct RegionDef {
    /// Name in docs and diagnostics.
    pub name: &'static str,
    /// True if the custom form may omit the region (an `else`).
    pub optional: bool,
    /// One sentence.
    pub doc: &'static str,
}

/// Parts of the custom form that are not operands or clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Syntax {
    /// `@name` directly after the op name, kept as `sym_name`.
    pub symbol: bool,
    /// `(%x: T, ...) -> (T, ...)` after the symbol, kept as `function_type`; its parameters are the arguments of the
    /// entry block of region 0.
    pub signature: bool,
    /// The op that ends each block of its regions. Custom form may leave it out if it would have no operands: the
    /// parser adds it.
    pub terminator: Option<&'static str>,
}

/// The story an op belongs to, for passes that treat whole groups alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpClass {
    /// One result element from one element of each operand.
    Elementwise,
    /// Axes are reduced.
    Reduction,
    /// An axis is folded in order, and every step is kept.
    Scan,
    /// Two operands are multiplied along an axis that they share, and summed along it.
    Contraction,
    /// Windows of a tensor are multiplied by a kernel, and summed.
    Convolution,
    /// Values are weighted by a softmax of products.
    Attention,
    /// Elements are written at indices that are data.
    Scatter,
    /// Elements along an axis are put in order.
    Sort,
    /// A library computes a function of whole matrices or lines.
    Routine,
    /// Devices hand parts of tensors to each other.
    Collective,
    /// Other programs run, many times or perhaps.
    Control,
    /// Several steps, which are of no other class together.
    Composite,
    /// Only the shape or the layout changes: no arithmetic.
    Shape,
    /// Makes a tensor from nothing.
    Creation,
    /// Regions, functions, modules, terminators.
    Structure,
    /// Memory access and synchronisation in kernels.
    Memory,
}

/// The function that an op computes on elements, for analyses of values: extents and memory offsets, reductions of
/// partial results, constants. For a reduction or a scan it is the combiner. Most ops state none: only the interpreter
/// and code generation know their function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Computes {
    /// The value of the clause `value`.
    Constant,
    /// The one operand, everywhere.
    Full,
    /// The index along axis `dim`.
    Index,
    /// The product of the extents of `shape`.
    Size,
    /// The sum.
    Add,
    /// The first less the second.
    Sub,
    /// The product.
    Mul,
    /// The quotient; of integers, toward zero.
    Div,
    /// The remainder of the quotient.
    Rem,
    /// The greatest; a NaN wins.
    Max,
    /// The smallest; a NaN wins.
    Min,
    /// The greatest that is no NaN.
    MaxNum,
    /// The smallest that is no NaN.
    MinNum,
    /// The later one.
    Last,
    /// The bits that both have.
    And,
    /// The second operand where the first holds, else the third.
    Choice,
    /// The operand as a value of type `to`.
    Cast,
    /// Several functions at once; decomposed before kernels are made.
    Composite,
}

/// A mistake that an op's own rules found. The caller adds place and code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpError {
    /// The message, without the op's name.
    pub message: String,
    /// The operand, clause or result at fault.
    pub at: At,
    /// Advice on the correction, if there is one.
    pub help: Option<String>,
    /// The text that belongs where the mistake is, if it is known.
    pub fix: Option<String>,
    /// The diagnostic code; without one the verifier uses `FIR0215`.
    pub code: Option<&'static CodeDef>,
}

/// The part of an op at fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// The op as a whole.
    Op,
    /// An operand.
    Operand(usize),
    /// A result.
    Result(usize),
    /// A clause (attribute).
    Clause(&'static str),
    /// A region.
    Region(usize),
    /// An op in one of its regions.
    Inside(Op),
}

impl OpError {
    /// A mistake of the op as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: At::Op,
            help: None,
            fix: None,
            code: None,
        }
    }
    /// A mistake at one part.
    pub fn at(at: At, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at,
            help: None,
            fix: None,
            code: None,
        }
    }
    /// Sets the code.
    pub fn code(mut self, code: &'static CodeDef) -> Self {
        self.code = Some(code);
        self
    }
    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
    /// Adds the text that belongs where the mistake is.
    pub fn fix(mut self, text: impl Into<String>) -> Self {
        self.fix = Some(text.into());
        self
    }
}

/// An op before it exists, as type inference sees it.
#[derive(Clone, Copy)]
pub struct OpParts<'a> {
    /// Operands, all defined.
    pub operands: &'a [Value],
    /// Attributes, sorted by key text.
    pub attrs: &'a [(Sym, AttrId)],
    /// Regions, already filled.
    pub regions: &'a [Region],
    /// Result types stated in the text, if any: inference may read types that it cannot infer (a constant's type).
    pub stated: Option<&'a [TypeId]>,
}

impl OpParts<'_> {
    /// The attribute `name`.
    pub fn attr(&self, ir: &Ir, name: &str) -> Option<AttrId> {
        let sym = ir.strings.lookup(name)?;
        self.attrs
            .iter()
            .find(|(key, _)| *key == sym)
            .map(|(_, a)| *a)
    }
}

/// Types of results.
pub type ResultTypes = SmallVec<[TypeId; 2]>;
/// Computes the result types, or an error. They depend only on the types of operands, inherent attributes, regions and
/// stated types. So two ops without regions that agree in these have equal result types, whatever values they read.
pub type InferFn = fn(&mut Ir, OpParts<'_>) -> Result<ResultTypes, OpError>;
/// Checks rules beyond the table; pushes every mistake. Runs after the generic checks of this op passed.
pub type VerifyFn = fn(&Ir, Op, &mut Vec<OpError>);

/// The result of a fold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Folded {
    /// The results are these existing values.
    Values(SmallVec<[Value; 2]>),
    /// The one result is this constant (of the result's type).
    Constant(AttrId),
}

/// Finds a simpler form without making ops. Must not change a bit of any result.
pub type FoldFn = fn(&mut Ir, Op) -> Option<Folded>;

/// An operation's declaration.
#[derive(Debug)]
pub struct OpDef {
    /// `dialect.name`.
    pub name: &'static str,
    /// A few words.
    pub summary: &'static str,
    /// The definition, which the interpreter implements: shapes, dtypes, edge cases. Markdown.
    pub doc: &'static str,
    /// A complete example of the custom form, parsed by the tests: either ops that may use `%x`, `%y`... declared as
    /// parameters in its first line comment, or a whole module.
    pub example: &'static str,
    /// Class.
    pub class: OpClass,
    /// The indexing maps between operands and results; `None` for ops that are no tensor computation.
    pub maps: Option<&'static MapsDef>,
    /// Operands.
    pub operands: &'static [OperandDef],
    /// Clauses, in the order in which they print.
    pub clauses: &'static [ClauseDef],
    /// Regions.
    pub regions: &'static [RegionDef],
    /// Results.
    pub results: &'static [ResultDef],
    /// Custom form extras.
    pub syntax: Syntax,
    /// The function computed on elements, for ops that analyses of values look into.
    pub computes: Option<Computes>,
    /// Traits.
    pub traits: Traits,
    /// Arithmetic per result element (per reduced element for reductions), in simple operations; exp counts as 10.
    pub flops: u32,
    /// The ops in whose regions it may be directly; empty: any op.
    pub parents: &'static [&'static str],
    /// Type inference; `None` if the text must state the types. It may read stated types that nothing else determines
    /// (a constant, a vector load). Text may omit types only if inference without them gives the same types.
    pub infer: Option<InferFn>,
    /// Extra checks.
    pub verify: Option<VerifyFn>,
    /// Folding.
    pub fold: Option<FoldFn>,
}

/// An operand that may lie anywhere.
pub const fn operand(name: &'static str, ty: TypeConstraint, doc: &'static str) -> OperandDef {
    OperandDef {
        name,
        ty,
        variadic: false,
        placement: Placement::Any,
        doc,
    }
}

/// Zero or more operands.
pub const fn operands(name: &'static str, ty: TypeConstraint, doc: &'static str) -> OperandDef {
    OperandDef {
        variadic: true,
        ..operand(name, ty, doc)
    }
}

/// A result that may lie anywhere.
pub const fn result(name: &'static str, ty: TypeConstraint, doc: &'static str) -> ResultDef {
    ResultDef {
        name,
        ty,
        variadic: false,
        placement: Placement::Any,
        doc,
    }
}

/// Zero or more results.
pub const fn results(name: &'static str, ty: TypeConstraint, doc: &'static str) -> ResultDef {
    ResultDef {
        variadic: true,
        ..result(name, ty, doc)
    }
}

/// A clause that must be there.
pub const fn clause(name: &'static str, kind: ClauseKind, doc: &'static str) -> ClauseDef {
    ClauseDef {
        name,
        kind,
        required: true,
        doc,
    }
}

/// A clause that may be left out.
pub const fn optional(name: &'static str, kind: ClauseKind, doc: &'static str) -> ClauseDef {
    ClauseDef {
        required: false,
        ..clause(name, kind, doc)
    }
}

/// A region that must be there.
pub const fn region(name: &'static str, doc: &'static str) -> RegionDef {
    RegionDef {
        name,
        optional: false,
        doc,
    }
}

impl OpDef {
    /// One op of the example, without results and types: `fusion.add %x, %y`; `None` if it has a region.
    pub fn form(&self) -> Option<&'static str> {
        let line = self.example.lines().last()?;
        let op = line.find(self.name).map(|at| &line[at..])?;
        let op = op.split_once(" : ").map_or(op, |(op, _)| op);
        (!op.contains(['{', '}'])).then_some(op)
    }
    /// An op with nothing but a name: `OpDef { name: ..., ..OpDef::EMPTY }`.
    pub const EMPTY: OpDef = OpDef {
        name: "",
        summary: "",
        doc: "",
        example: "",
        class: OpClass::Structure,
        maps: None,
        operands: &[],
        clauses: &[],
        regions: &[],
        results: &[],
        syntax: Syntax {
            symbol: false,
            signature: false,
            terminator: None,
        },
        computes: None,
        traits: Traits::empty(),
        flops: 0,
        parents: &[],
        infer: None,
        verify: None,
        fold: None,
    };

    /// The clause called `name`.
    pub fn clause(&self, name: &str) -> Option<&ClauseDef> {
        self.clauses.iter().find(|c| c.name == name)
    }
    /// The definition of operand `index`; the variadic last one serves all further indices.
    pub fn operand(&self, index: usize) -> Option<&OperandDef> {
        let last = self.operands.last().filter(|o| o.variadic);
        self.operands.get(index).or(last)
    }
    /// The part of the name before the dot.
    pub fn dialect(&self) -> &'static str {
        self.name.split('.').next().unwrap_or("")
    }
}

/// The letters of a name, without case and underscores.
fn spelling(name: &str) -> impl Iterator<Item = char> + '_ {
    let letters = name.chars().filter(|c| *c != '_');
    letters.map(|c| c.to_ascii_lowercase())
}

/// A dialect: a name, its definition, its ops.
#[derive(Debug)]
pub struct DialectDef {
    /// `fusion`.
    pub name: &'static str,
    /// Purpose of the dialect. Markdown.
    pub doc: &'static str,
    /// Its ops, in the order of the docs.
    pub ops: &'static [&'static OpDef],
    /// Names of attributes that its passes put on any op and that do not belong to the op's identity: ops are compared
    /// without them, and a pass that does not know them may drop them.
    pub discardable: &'static [&'static str],
}

/// Names in other systems with their counterparts here: for hints to users who know an op or a clause by them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Foreign {
    /// Ops.
    pub names: Names,
    /// One op there, several here, in words.
    pub composed: Names,
    /// Ops without a counterpart, with advice.
    pub absent: Names,
    /// Clauses.
    pub clauses: Names,
    /// Ops with one result here and two results elsewhere, and the op that gives the second one.
    pub second: Names,
}

/// Pairs of names, or of a name and words.
pub type Names = &'static [(&'static str, &'static str)];

/// An op of another system, as it is said here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elsewhere {
    /// An op.
    Op(&'static str),
    /// Several, in words.
    Composed(&'static str),
    /// There is no counterpart; the advice.
    Absent(&'static str),
}

/// The dialects that a context knows.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    dialects: Vec<&'static DialectDef>,
    by_name: std::collections::BTreeMap<&'static str, &'static OpDef>,
    foreign: Foreign,
}

impl Registry {
    /// A registry of `dialects`.
    pub fn new(dialects: &[&'static DialectDef]) -> Self {
        let by_name = dialects
            .iter()
            .flat_map(|d| d.ops)
            .map(|op| (op.name, *op))
            .collect();
        Self {
            dialects: dialects.to_vec(),
            by_name,
            foreign: Foreign::default(),
        }
    }
    /// This registry, with names elsewhere.
    pub fn with_foreign(mut self, foreign: Foreign) -> Self {
        self.foreign = foreign;
        self
    }
    /// The counterpart of an op called `name` elsewhere: by its whole name, or by a part of it between dots, the last
    /// one that is known (`torch.aten.add.Tensor`). An op of ours with the name of that part counts too, except ops of
    /// kernels.
    pub fn foreign(&self, name: &str) -> Option<Elsewhere> {
        let parts = name.rsplit('.').filter(|_| name.contains('.'));
        std::iter::once(name)
            .chain(parts)
            .find_map(|part| self.row(part))
    }
    fn row(&self, name: &str) -> Option<Elsewhere> {
        let same = |other: &str| spelling(other).eq(spelling(name));
        let find = |rows: Names| {
            let mut rows = rows.iter();
            rows.find(|(there, _)| same(there)).map(|(_, here)| *here)
        };
        let own = |op: &&'static OpDef| {
            let short = op.name.split_once('.').map_or("", |(_, short)| short);
            same(short) && op.dialect() != "kernel"
        };
        let named = find(self.foreign.names).or_else(|| self.ops().find(own).map(|op| op.name));
        let composed = || find(self.foreign.composed).map(Elsewhere::Composed);
        let absent = || find(self.foreign.absent).map(Elsewhere::Absent);
        named.map(Elsewhere::Op).or_else(composed).or_else(absent)
    }
    /// The source of the second result that the op called `name` has elsewhere.
    pub fn second_result(&self, name: &str) -> Option<&'static str> {
        let mut rows = self.foreign.second.iter();
        rows.find(|(op, _)| *op == name).map(|(_, text)| *text)
    }
    /// The clause of `def` that is called `name` elsewhere.
    pub fn foreign_clause(&self, def: &OpDef, name: &str) -> Option<&'static str> {
        let called = self.foreign.clauses.iter();
        let mut called = called.filter(|(there, _)| *there == name);
        let found = called.find(|(_, here)| def.clause(here).is_some());
        found.map(|(_, here)| *here)
    }
    /// The op called `name`.
    pub fn op(&self, name: &str) -> Option<&'static OpDef> {
        self.by_name.get(name).copied()
    }
    /// All ops, by name.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + '_ {
        self.by_name.values().copied()
    }
    /// True if a dialect declares the attribute `name` as discardable.
    pub fn is_discardable(&self, name: &str) -> bool {
        name.contains('.') && self.dialects.iter().any(|d| d.discardable.contains(&name))
    }
    /// All dialects, in the given order.
    pub fn dialects(&self) -> &[&'static DialectDef] {
        &self.dialects
    }
}
