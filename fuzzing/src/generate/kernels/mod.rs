//! Random kernels: a program of one or two launches, and the kernels that they run.
//!
//! A kernel is made of statements: arithmetic on scalars and vectors by the op tables, loads and stores within bounds,
//! scratch memory that is filled before it is read, tables, loops of all mappings and branches, nested. The range of
//! every index is known while the kernel is made ([`scope`]), so no access leaves its buffer.
//!
//! Each iteration of a grid loop stores into its own row, each iteration of a thread loop into its own element, and
//! results that a thread loop combines do not depend on an order: every schedule of a kernel gives the same bits. Only
//! exact ops occur, so results are compared bit for bit, for any inputs.
//!
//! | module | what |
//! |---|---|
//! | [`scope`] | the values that can be used at a place, and what is known of them |
//! | `statements` | one statement |

mod memory;
pub mod scope;
mod statements;

use std::collections::BTreeMap;

use fuser_dialects::kernel::{self, build::function};
use fuser_dialects::{builtin, task};
use fuser_ir::types::{Dim, Extent, MemSpace, TypeKind};
use fuser_ir::{AttrKind, Block, Builder, DType, Ir, Op, TypeId, Value};

use super::case::{Case, Input, Tier};
use super::fusion::maker::region_op;
use super::fusion::shapes::{self, Axis};
use super::inputs::{self, InputRecipe};
use crate::Source;
use scope::{Buffer, Scope};

/// Rows of an output: the indices of a grid loop.
const ROWS: [u64; 5] = [3, 1, 2, 7, 0];
/// Columns of an output.
const COLUMNS: [u64; 5] = [5, 1, 8, 17, 4];
/// Lengths of an input.
const LENGTHS: [u64; 6] = [33, 1, 5, 16, 64, 0];
/// Statements of a row.
const STATEMENTS: u64 = 10;

/// A tensor of the program that a kernel reads.
struct Given {
    value: Value,
    dtype: DType,
    /// Elements.
    length: u64,
}

/// An output buffer of a kernel: its element type and columns.
#[derive(Clone, Copy)]
struct Output {
    dtype: DType,
    columns: u64,
}

/// A program being made.
struct Maker<'s> {
    source: &'s mut Source,
    ir: Ir,
    top: Block,
    body: Block,
    given: Vec<Given>,
    inputs: Vec<Input>,
    /// Rows of all outputs, and the extent with this length.
    rows: u64,
    extent: Extent,
}

/// A program of launches.
///
/// # Panics
/// A statement that does not fit its table is a mistake here: oracles report it as one.
pub fn generate(source: &mut Source) -> Case {
    let mut ir = Ir::new(fuser_dialects::registry());
    let (module, top) = region_op(&mut ir, &builtin::MODULE, &[]);
    let name = ir.string_attr("f");
    let (program, body) = region_op(&mut ir, &task::PROGRAM, &[("sym_name", name)]);
    ir.append_op(top, program);
    let rows = source.one(&ROWS);
    let named = source.chance(1, 3);
    let extent = match named {
        true => ir.named_extent("R"),
        false => Extent::Static(rows),
    };
    let mut maker = Maker {
        source,
        ir,
        top,
        body,
        given: Vec::new(),
        inputs: Vec::new(),
        rows,
        extent,
    };
    if named {
        maker.input(Dim::new(extent), rows, DType::I8);
    }
    for _ in 0..1 + maker.source.below(3) {
        let (length, dtype) = (maker.source.one(&LENGTHS), shapes::dtype(maker.source));
        maker.input(Dim::fixed(length), length, dtype);
    }
    let mut results = maker.launch(0);
    if maker.source.chance(1, 3) {
        results.extend(maker.launch(1));
    }
    maker.finish(module, program, &results, named)
}

impl Maker<'_> {
    fn input(&mut self, dim: Dim, length: u64, dtype: DType) {
        let axes = [Axis { dim, length }];
        let plan = InputRecipe::draw(self.source, Tier::Exact, &axes, dtype);
        let ty = self.ir.tensor(vec![dim], dtype);
        let name = self.ir.sym(&format!("x{}", self.inputs.len()));
        let value = self.ir.append_arg(self.body, ty, Some(name));
        self.inputs.push(inputs::fill(&plan, self.source));
        self.given.push(Given {
            value,
            dtype,
            length,
        });
    }
    /// A kernel and its launch; its results.
    fn launch(&mut self, number: usize) -> Vec<Value> {
        let outputs: Vec<Output> = (0..1 + self.source.below(2))
            .map(|_| Output {
                dtype: shapes::dtype(self.source),
                columns: self.source.one(&COLUMNS),
            })
            .collect();
        let name = format!("k{number}");
        self.kernel(&name, &outputs);
        let types: Vec<TypeId> = outputs
            .iter()
            .map(|o| {
                let dims = vec![Dim::new(self.extent), Dim::fixed(o.columns)];
                self.ir.tensor(dims, o.dtype)
            })
            .collect();
        let callee = self.ir.sym(&name);
        let mut clauses = vec![("callee", self.ir.attr(AttrKind::SymbolRef(vec![callee])))];
        if matches!(self.extent, Extent::Symbolic(_)) {
            let extents = AttrKind::Extents(vec![Dim::new(self.extent)]);
            clauses.push(("extents", self.ir.attr(extents)));
        }
        let operands: Vec<Value> = self.given.iter().map(|g| g.value).collect();
        let mut builder = Builder::at_end(&mut self.ir, self.body);
        let launch = builder.build(&kernel::LAUNCH, &operands, &clauses, &[], Some(&types));
        let Ok(launch) = launch else {
            return Vec::new();
        };
        let results = self.ir.results(launch).to_vec();
        for (value, output) in results.iter().zip(&outputs) {
            self.given.push(Given {
                value: *value,
                dtype: output.dtype,
                length: self.rows * output.columns,
            });
        }
        results
    }
    fn buffer_type(&mut self, dtype: DType) -> TypeId {
        let (dims, space) = (vec![Extent::Unknown], MemSpace::Global);
        self.ir.type_id(TypeKind::MemRef { dims, dtype, space })
    }
    fn kernel(&mut self, name: &str, outputs: &[Output]) {
        let dtypes: Vec<DType> = self.given.iter().map(|g| g.dtype).collect();
        let dtypes = dtypes.into_iter().chain(outputs.iter().map(|o| o.dtype));
        let mut types: Vec<TypeId> = dtypes.map(|d| self.buffer_type(d)).collect();
        let named = matches!(self.extent, Extent::Symbolic(_));
        if named {
            types.push(self.ir.scalar(DType::Index));
        }
        let (func, entry) = function(&mut self.ir, self.top, name, &types);
        if self.source.chance(1, 2) {
            let threads = self.source.one(&[32, 1, 4, 128]);
            let threads = self.ir.int_attr(threads);
            self.ir.set_attr(func, "threads", threads);
        }
        let args = self.ir.args(entry).to_vec();
        let lengths = self.given.iter().map(|g| (g.dtype, g.length));
        let buffers = args
            .iter()
            .zip(lengths)
            .map(|(value, (dtype, length))| Buffer {
                value: *value,
                dtype,
                length,
            });
        let buffers = buffers.collect();
        let targets = args[self.given.len()..].iter().zip(outputs);
        let targets = targets.map(|(value, output)| (*value, output.dtype, output.columns));
        let targets = targets.collect();
        let mut scope = Scope::new(&mut self.ir, self.source, buffers, targets);
        if let (true, Some(rows)) = (named, args.last()) {
            scope.know(*rows, (self.rows as i64, self.rows as i64));
        }
        let rows = named.then(|| args.last().copied()).flatten();
        if let Err(error) = scope.kernel(entry, rows, self.rows, STATEMENTS) {
            panic!("a statement was made wrongly: {}", error.message);
        }
        let _ = Builder::at_end(&mut self.ir, entry).op(&kernel::RETURN, &[], &[]);
    }
    fn finish(mut self, module: Op, program: Op, results: &[Value], named: bool) -> Case {
        let _ = Builder::at_end(&mut self.ir, self.body).op(&task::RETURN, results, &[]);
        let types = |ir: &Ir, list: &[Value]| list.iter().map(|v| ir.value_type(*v)).collect();
        let arguments = self.ir.args(self.body).to_vec();
        let (inputs, outputs) = (types(&self.ir, &arguments), types(&self.ir, results));
        let signature = self.ir.function_type(inputs, outputs);
        let signature = self.ir.attr(AttrKind::Type(signature));
        self.ir.set_attr(program, "function_type", signature);
        let extents = named.then(|| ("R".to_owned(), self.rows));
        Case {
            ir: self.ir,
            module,
            program,
            inputs: self.inputs,
            extents: extents.into_iter().collect::<BTreeMap<_, _>>(),
            tier: Tier::Exact,
        }
    }
}
