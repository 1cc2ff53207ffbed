//! Support for unit tests: a small dialect and a builder, for analyses that read op tables only, random numbers, random programs, and
//! NVIDIA's assembler.
//!
//! Used by tests alone.
#![forbid(unsafe_code)]

mod programs;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

pub use fuser_random::SplitMix as Random;
pub use programs::{Kind, Squares, Step};

use fuser_dialects::fusion::maps;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::{
    DialectDef, OpClass, OpDef, OperandDef, Placement, Registry, ResultDef, Traits, TypeConstraint,
};
use fuser_ir::types::{DType, Dim, Extent};
use fuser_ir::{Block, Ir, NewOp, Op, TypeId, Value, parse};

macro_rules! ops {
    ($($ident:ident $name:literal $maps:expr, $class:ident $traits:expr;)*) => {
        $(pub static $ident: OpDef = OpDef {
            name: concat!("test.", $name),
            maps: $maps,
            class: OpClass::$class,
            traits: $traits,
            flops: 1,
            ..OpDef::EMPTY
        };)*
        static DIALECT: DialectDef = DialectDef { name: "test", doc: "", ops: &[$(&$ident,)* &LOOKUP, &KEPT], discardable: &[] };
    };
}

ops! {
    PW "pw" Some(&maps::POINTWISE), Elementwise Traits::PURE;
    SUM "sum" Some(&maps::REDUCE), Reduction Traits::PURE;
    BROADCAST "broadcast" Some(&maps::BROADCAST), Shape Traits::PURE;
    PERMUTE "permute" Some(&maps::PERMUTE), Shape Traits::PURE;
    RESHAPE "reshape" Some(&maps::RESHAPE), Shape Traits::PURE;
    SQUEEZE "squeeze" Some(&maps::SQUEEZE), Shape Traits::PURE;
    EXPAND "expand" Some(&maps::EXPAND), Shape Traits::PURE;
    FULL "full" Some(&maps::CREATE), Creation Traits::PURE;
    OPAQUE "opaque" None, Structure Traits::PURE;
    SET "set" Some(&maps::POINTWISE), Shape Traits::PURE.union(Traits::BARRIER);
    RETURN "return" None, Structure Traits::TERMINATOR;
}

/// Elementwise, but that its table row wants what it reads in memory.
pub static LOOKUP: OpDef = OpDef {
    name: "test.lookup",
    operands: &[OperandDef {
        name: "x",
        ty: TypeConstraint::ANY,
        variadic: false,
        placement: Placement::Memory,
        doc: "",
    }],
    ..PW
};
/// Elementwise, but that its table row wants what it makes in memory.
pub static KEPT: OpDef = OpDef {
    name: "test.kept",
    results: &[ResultDef {
        name: "y",
        ty: TypeConstraint::ANY,
        variadic: false,
        placement: Placement::Memory,
        doc: "",
    }],
    ..PW
};

/// A block under construction.
pub struct Builder {
    pub ir: Ir,
    pub block: Block,
    pub ops: Vec<Op>,
}

impl Default for Builder {
    fn default() -> Self {
        let mut ir = Ir::new(Arc::new(Registry::new(&[
            &DIALECT,
            &fuser_dialects::task::DIALECT,
        ])));
        let region = ir.new_region();
        let block = ir.append_block(region);
        let ops = Vec::new();
        Self { ir, block, ops }
    }
}

impl Builder {
    /// The block of a program, with its ops but for what ends it.
    pub fn of(text: &str) -> Self {
        let (ir, module) = parsed(text);
        let program = ir.children(module)[0];
        let block = ir.body(program, 0).expect("a program has a body");
        let mut ops: Vec<Op> = ir.block_ops(block).collect();
        ops.pop();
        Self { ir, block, ops }
    }
    /// A type from text: `[B]x1024xb4xf32`, or `f32` for a scalar.
    pub fn ty(&mut self, text: &str) -> TypeId {
        let parts: Vec<&str> = text.split('x').collect();
        let (dims, dtype) = parts.split_at(parts.len() - 1);
        let dtype = DType::from_name(dtype[0]).expect("element type");
        let dims: Vec<Dim> = dims.iter().map(|d| self.dim(d)).collect();
        self.ir.tensor(dims, dtype)
    }
    fn dim(&mut self, text: &str) -> Dim {
        let (broadcast, text) = match text.strip_prefix('b') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let extent = match text.strip_prefix('[') {
            Some(names) => self.product(names.trim_end_matches(']')),
            None if text == "?" => Extent::Unknown,
            None => Extent::Static(text.parse().expect("extent")),
        };
        Dim { extent, broadcast }
    }
    fn product(&mut self, names: &str) -> Extent {
        let mut all = fuser_ir::types::ExtentExpr::constant(1);
        for name in names.split('*') {
            let extent = match name.parse() {
                Ok(number) => Extent::Static(number),
                Err(_) => self.ir.named_extent(name),
            };
            let expr = self.ir.extent_as_expr(extent).expect("known");
            all = all.mul(&expr).expect("small");
        }
        self.ir.extent(all).expect("positive")
    }
    pub fn input(&mut self, name: &str, ty: &str) -> Value {
        let ty = self.ty(ty);
        let name = self.ir.sym(name);
        self.ir.append_arg(self.block, ty, Some(name))
    }
    pub fn op(
        &mut self,
        def: &'static OpDef,
        name: &str,
        inputs: &[Value],
        dims: &[i64],
        ty: &str,
    ) -> Value {
        let ty = self.ty(ty);
        let name = self.ir.sym(name);
        let key = self.ir.sym("dims");
        let dims = self.ir.attr(AttrKind::I64Array(dims.to_vec()));
        let new = NewOp {
            operands: inputs.iter().copied().collect(),
            results: [(ty, Some(name))].into_iter().collect(),
            attrs: [(key, dims)].into_iter().collect(),
            ..NewOp::default()
        };
        let op = self.ir.create_op(def, new);
        self.ir.append_op(self.block, op);
        self.ops.push(op);
        self.ir.result(op, 0)
    }
    pub fn pw(&mut self, name: &str, inputs: &[Value], ty: &str) -> Value {
        self.op(&PW, name, inputs, &[], ty)
    }
    /// Uses `values` outside of the group.
    pub fn ret(&mut self, values: &[Value]) {
        let operands = values.iter().copied().collect();
        let new = NewOp {
            operands,
            ..NewOp::default()
        };
        let op = self.ir.create_op(&RETURN, new);
        self.ir.append_op(self.block, op);
    }
    pub fn hint(&mut self, hint: &str) {
        let hint = self.ir.string_attr(hint);
        let last = *self.ops.last().expect("an op");
        self.ir.set_attr(last, "fusion.hint", hint);
    }
    pub fn keepdim(&mut self) {
        let unit = self.ir.attr(AttrKind::Unit);
        let last = *self.ops.last().expect("an op");
        self.ir.set_attr(last, "keepdim", unit);
    }
}

/// The module that a text holds.
pub fn parsed(source: &str) -> (Ir, Op) {
    let mut ir = Ir::new(fuser_dialects::registry());
    let result = parse::parse_str(&mut ir, source);
    let errors: Vec<&str> = result
        .diagnostics
        .items
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    let module = result.module.unwrap_or_else(|| panic!("{errors:?}"));
    (ir, module)
}

/// NVIDIA's assembler, if there is one that runs: the one that is named, as `$PTXAS` does, what the test set-up fetched, or one on the path.
pub fn ptxas(named: Option<OsString>) -> Option<OsString> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/ptxas/ptxas");
    let tools = [
        named.unwrap_or_default(),
        fetched.into_os_string(),
        "ptxas".into(),
    ];
    let works = |tool: &OsString| {
        let told = Command::new(tool).arg("--version").output();
        told.is_ok_and(|output| output.status.success())
    };
    tools.into_iter().find(works)
}
