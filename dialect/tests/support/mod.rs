//! Small programs made by hand, without the parser.
#![allow(dead_code)]

use fuser_dialects::{builtin, fusion, task};
use fuser_ir::attr::AttrKind;
use fuser_ir::{Block, Builder, DType, Dim, Ir, NewOp, Op, OpDef, TypeId, Value};
use smallvec::SmallVec;

/// A module with one program.
pub struct Program {
    pub ir: Ir,
    pub module: Op,
    pub program: Op,
    pub body: Block,
}

impl Program {
    /// A program `@f` with parameters of these types and no results yet (see [`Program::ret`]).
    pub fn new(params: &[TypeText]) -> Self {
        let mut ir = Ir::new(fuser_dialects::registry());
        let types: Vec<TypeId> = params.iter().map(|p| p.id(&mut ir)).collect();
        let region = ir.new_region();
        let top = ir.append_block(region);
        let module = ir.create_op(
            &builtin::MODULE,
            NewOp {
                regions: SmallVec::from_elem(region, 1),
                ..NewOp::default()
            },
        );
        let (program, body) = program(&mut ir, top, "f", &types);
        Self {
            ir,
            module,
            program,
            body,
        }
    }
    pub fn arg(&self, index: usize) -> Value {
        self.ir.args(self.body)[index]
    }
    pub fn build(&mut self) -> Builder<'_> {
        Builder::at_end(&mut self.ir, self.body)
    }
    /// Appends an op and gives its first result.
    pub fn op(&mut self, def: &'static OpDef, operands: &[Value]) -> Value {
        self.build().value(def, operands, &[]).unwrap()
    }
    pub fn exp(&mut self, x: Value) -> Value {
        self.op(&fusion::EXP, &[x])
    }
    /// Ends the program: returns `values` and says so in the signature.
    pub fn ret(&mut self, values: &[Value]) {
        self.build().op(&task::RETURN, values, &[]).unwrap();
        let inputs = self.ir.args(self.body).to_vec();
        let types = |ir: &Ir, list: &[Value]| list.iter().map(|v| ir.value_type(*v)).collect();
        let (inputs, results) = (types(&self.ir, &inputs), types(&self.ir, values));
        let signature = self.ir.function_type(inputs, results);
        let signature = self.ir.attr(AttrKind::Type(signature));
        self.ir.set_attr(self.program, "function_type", signature);
    }
    /// Codes of what the verifier finds.
    pub fn codes(&mut self) -> Vec<&'static str> {
        let found = fuser_ir::verify(&mut self.ir, self.module);
        found.items.iter().map(|d| d.code).collect()
    }
    pub fn messages(&mut self) -> Vec<String> {
        let found = fuser_ir::verify(&mut self.ir, self.module);
        found.items.into_iter().map(|d| d.message).collect()
    }
}

/// Makes an empty program at the end of `top`.
pub fn program(ir: &mut Ir, top: Block, name: &str, types: &[TypeId]) -> (Op, Block) {
    let region = ir.new_region();
    let body = ir.append_block(region);
    for ty in types {
        ir.append_arg(body, *ty, None);
    }
    let name = ir.string_attr(name);
    let signature = ir.function_type(types.to_vec(), vec![]);
    let signature = ir.attr(AttrKind::Type(signature));
    let attrs = [("sym_name", name), ("function_type", signature)];
    let attrs = attrs.map(|(k, v)| (ir.sym(k), v)).into_iter().collect();
    let new = NewOp {
        attrs,
        regions: SmallVec::from_elem(region, 1),
        ..NewOp::default()
    };
    let op = ir.create_op(&task::PROGRAM, new);
    ir.append_op(top, op);
    (op, body)
}

/// A type in tests: dims as text, `?`, `4`, `N`, `b4`, `bN`; `None` for a scalar.
#[derive(Clone, Copy)]
pub struct TypeText(pub Option<&'static [&'static str]>, pub DType);

pub const fn t(dims: &'static [&'static str], dtype: DType) -> TypeText {
    TypeText(Some(dims), dtype)
}
pub const fn s(dtype: DType) -> TypeText {
    TypeText(None, dtype)
}

impl TypeText {
    pub fn id(self, ir: &mut Ir) -> TypeId {
        match self.0 {
            None => ir.scalar(self.1),
            Some(list) => {
                let dims = dims(ir, list);
                ir.tensor(dims, self.1)
            }
        }
    }
}

/// A shape from text; a name is everything that is no number, so `b` alone cannot be one.
pub fn dims(ir: &mut Ir, list: &[&str]) -> Vec<Dim> {
    list.iter().map(|text| dim(ir, text)).collect()
}

fn dim(ir: &mut Ir, text: &str) -> Dim {
    let (broadcast, text) = match text.strip_prefix('b') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let extent = match (text, text.parse()) {
        ("?", _) => fuser_ir::Extent::Unknown,
        (_, Ok(n)) => fuser_ir::Extent::Static(n),
        (product, _) if product.contains('*') => product_extent(ir, product),
        (name, _) => ir.named_extent(name),
    };
    Dim { extent, broadcast }
}

fn product_extent(ir: &mut Ir, text: &str) -> fuser_ir::Extent {
    let one = fuser_ir::types::ExtentExpr::constant(1);
    let product = text.split('*').fold(one, |product, factor| {
        let extent = dim(ir, factor).extent;
        let factor = ir.extent_as_expr(extent).unwrap();
        product.mul(&factor).unwrap()
    });
    ir.extent(product).unwrap()
}

/// An op with nothing checked.
pub fn raw(ir: &mut Ir, name: &str, operands: &[Value], results: &[TypeId]) -> Op {
    let name = ir.op_name(name);
    let new = NewOp {
        operands: SmallVec::from_slice(operands),
        results: results.iter().map(|t| (*t, None)).collect(),
        ..NewOp::default()
    };
    ir.create(name, new)
}
