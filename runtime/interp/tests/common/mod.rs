//! Building small programs and tensors for tests.
#![allow(dead_code)]

use fuser_dialects::{registry, task};
use fuser_interp::{Axis, Data, Options, Outputs, Tensor, interpret};
use fuser_ir::attr::AttrKind;
use fuser_ir::build::{Builder, Clause};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{DType, Ir, Op, TypeId, TypeKind, Value};
use half::{bf16, f16};

/// A program that is built and run.
pub struct Program {
    pub ir: Ir,
    pub op: Op,
}

/// A program of parameters `types`; `body` gives its results.
pub fn program(
    types: impl FnOnce(&mut Ir) -> Vec<TypeId>,
    body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Vec<Value>,
) -> Program {
    let mut ir = Ir::new(registry());
    let types = types(&mut ir);
    let region = ir.new_region();
    let block = ir.append_block(region);
    let args: Vec<Value> = types
        .iter()
        .map(|t| ir.append_arg(block, *t, None))
        .collect();
    let mut b = Builder::at_end(&mut ir, block);
    let results = body(&mut b, &args);
    let end = b.op(&task::RETURN, &results, &[]).unwrap();
    assert!(ir.operands(end).len() == results.len());
    let result_types = results.iter().map(|v| ir.value_type(*v)).collect();
    let function = ir.function_type(types, result_types);
    let function = ir.attr(AttrKind::Type(function));
    let name = ir.string_attr("main");
    let attrs = [("function_type", function), ("sym_name", name)];
    let attrs = attrs.map(|(k, v)| (ir.sym(k), v)).into_iter().collect();
    let new = fuser_ir::NewOp {
        attrs,
        regions: [region].into_iter().collect(),
        ..Default::default()
    };
    let op = ir.create_op(&task::PROGRAM, new);
    Program { ir, op }
}

impl Program {
    pub fn run(&self, inputs: &[Tensor], options: &Options) -> fuser_interp::Result<Outputs> {
        interpret(&self.ir, self.op, inputs, options)
    }
}

/// The type of a tensor, extents static.
pub fn type_of(ir: &mut Ir, t: &Tensor) -> TypeId {
    let dims = t.axes().iter().map(|a| Dim {
        extent: Extent::Static(a.extent as u64),
        broadcast: a.broadcast,
    });
    let dims = dims.collect();
    ir.tensor(dims, t.dtype())
}

/// A clause for [`apply`].
pub enum C<'a> {
    Ints(&'a str, &'a [i64]),
    Int(&'a str, i64),
    Word(&'a str, &'a str),
    Shape(&'a str, &'a [u64]),
    Dims(&'a str, &'a [Dim]),
    DType(&'a str, DType),
    Flag(&'a str),
}

pub fn clause<'n>(b: &mut Builder<'_>, c: &C<'n>) -> Clause<'n> {
    match c {
        C::Ints(n, v) => b.ints(n, v),
        C::Int(n, v) => b.int(n, *v),
        C::Word(n, v) => b.word(n, v),
        C::Shape(n, v) => {
            let dims: Vec<Dim> = v.iter().map(|e| Dim::fixed(*e)).collect();
            b.shape(n, &dims)
        }
        C::Dims(n, v) => b.shape(n, v),
        C::DType(n, v) => b.dtype(n, *v),
        C::Flag(n) => b.flag(n),
    }
}

/// One op as a program.
pub fn single(op: &str, clauses: &[C<'_>], inputs: &[Tensor]) -> Program {
    program(
        |ir| inputs.iter().map(|t| type_of(ir, t)).collect(),
        |b, args| {
            let clauses: Vec<Clause<'_>> = clauses.iter().map(|c| clause(b, c)).collect();
            let def =
                b.ir.registry
                    .op(&format!("fusion.{op}"))
                    .unwrap_or_else(|| panic!("no op {op}"));
            let made = b.op(def, args, &clauses);
            let made = made.unwrap_or_else(|e| panic!("{op}: {}", e.message));
            b.ir.results(made).to_vec()
        },
    )
}

/// One op, run exactly.
pub fn apply(op: &str, clauses: &[C<'_>], inputs: &[Tensor]) -> Vec<Tensor> {
    single(op, clauses, inputs)
        .run(inputs, &Options::default())
        .unwrap()
        .values
}

/// One op, run as reference.
pub fn refer(op: &str, clauses: &[C<'_>], inputs: &[Tensor]) -> Vec<Tensor> {
    single(op, clauses, inputs)
        .run(inputs, &reference())
        .unwrap()
        .values
}

pub fn reference() -> Options {
    Options {
        reference: true,
        ..Options::default()
    }
}

pub fn f32s(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::dense(DType::F32, shape, Data::F32(values.to_vec())).unwrap()
}

pub fn i32s(shape: &[usize], values: &[i32]) -> Tensor {
    Tensor::dense(DType::I32, shape, Data::I32(values.to_vec())).unwrap()
}

/// A tensor of `dtype` from numbers that it holds.
pub fn tensor(dtype: DType, shape: &[usize], values: &[f64]) -> Tensor {
    let v = values.iter();
    let data = match dtype {
        DType::F64 => Data::F64(v.copied().collect()),
        DType::F32 => Data::F32(v.map(|x| *x as f32).collect()),
        DType::F16 => Data::F16(v.map(|x| f16::from_f64(*x)).collect()),
        DType::BF16 => Data::BF16(v.map(|x| bf16::from_f64(*x)).collect()),
        DType::F8E4M3FN => {
            Data::F8E4M3FN(v.map(|x| fuser_interp::F8E4M3FN::from_f64(*x)).collect())
        }
        DType::F8E5M2 => Data::F8E5M2(v.map(|x| fuser_interp::F8E5M2::from_f64(*x)).collect()),
        DType::F8E8M0FNU => {
            Data::F8E8M0FNU(v.map(|x| fuser_interp::F8E8M0FNU::from_f64(*x)).collect())
        }
        DType::F4E2M1FN => {
            Data::F4E2M1FN(v.map(|x| fuser_interp::F4E2M1FN::from_f64(*x)).collect())
        }
        DType::I64 | DType::Index => Data::I64(v.map(|x| *x as i64).collect()),
        DType::I32 => Data::I32(v.map(|x| *x as i32).collect()),
        DType::I8 => Data::I8(v.map(|x| *x as i8).collect()),
        DType::I16 => Data::I16(v.map(|x| *x as i16).collect()),
        DType::U64 => Data::U64(v.map(|x| *x as u64).collect()),
        DType::U32 => Data::U32(v.map(|x| *x as u32).collect()),
        DType::U16 => Data::U16(v.map(|x| *x as u16).collect()),
        DType::U8 => Data::U8(v.map(|x| *x as u8).collect()),
        DType::I1 => Data::I1(v.map(|x| *x != 0.0).collect()),
        DType::C64 | DType::C128 => panic!("made of two parts"),
    };
    Tensor::dense(dtype, shape, data).unwrap()
}

/// Stored elements as f64.
pub fn values(t: &Tensor) -> Vec<f64> {
    (0..t.stored_len()).map(|i| t.data().float(i)).collect()
}

/// `4xb8`, without the element type.
pub fn axes(list: &[(usize, bool)]) -> Vec<Axis> {
    list.iter()
        .map(|&(extent, broadcast)| Axis { extent, broadcast })
        .collect()
}

/// A scalar type.
pub fn scalar(ir: &mut Ir, dtype: DType) -> TypeId {
    ir.type_id(TypeKind::Scalar(dtype))
}
