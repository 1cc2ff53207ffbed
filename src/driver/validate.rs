//! `--validate`: the reference interpreter runs each program before the first pass and after each pass, on the same
//! inputs. A difference is an error that names the pass. A pass that changes neither the text of a program nor that of
//! its kernels causes no execution.
//!
//! The reference computes in f64 with a derived bound for each element (zero for exact results), so a pass may reorder
//! a sum but not lose an element. Even-numbered runs use small integers as inputs, on which nearly everything is exact;
//! odd-numbered runs use reals. Named extents are bound to small odd numbers. Programs too large to interpret are
//! reported and skipped.

use std::collections::BTreeMap;
use std::rc::Rc;

use fuser_dialects::task::{calls, packed};
use fuser_interp::{Axis, Data, ErrorKind, InterpError, Options, Tensor, compare, interpret};
use fuser_ir::types::{DType, Dim, Extent, TypeKind};
use fuser_ir::{Diagnostic, Ir, Op, TypeId};
use fuser_pass::{Instrument, PassRun, Pipeline, place_of};
use fuser_random::SplitMix;

use super::{codes, text};
use crate::compile::PLACE_BARRIERS;
use crate::tool::files;

/// The maximum number of element operations in one run: a second or two. Larger programs are for `fuser-run --check`.
const FUEL: u64 = 1 << 26;
/// Elements of all inputs of one run.
const ELEMENTS: usize = 1 << 24;
/// The values of named extents, assigned cyclically. They are odd, so that no vector width divides them. An extent that
/// is even in every call gets the next even number.
const EXTENTS: [i64; 6] = [5, 3, 7, 9, 17, 33];
/// The length of an axis that nobody named.
const UNKNOWN: usize = 3;

/// One set of inputs of one program and what they must give.
struct Case {
    inputs: Vec<Tensor>,
    expected: Vec<Tensor>,
}

/// All that a result depends on but the inputs.
#[derive(PartialEq, Eq)]
struct Executed {
    program: String,
    /// The text beside programs: the kernels that they launch.
    kernels: Rc<str>,
    /// True if threads that touch an element in no order are a mistake.
    races: bool,
}

/// The instrument.
pub struct Validator {
    count: u32,
    /// True if barriers have been placed in the kernels.
    placed: bool,
    /// Cases by the symbol of the program.
    cases: BTreeMap<String, Vec<Case>>,
    /// The last execution with correct results, by the symbol of the program. An equal execution gives equal results
    /// and is skipped.
    agreed: BTreeMap<String, Executed>,
}

impl Validator {
    /// Validates on `count` inputs.
    pub fn new(count: u32) -> Self {
        Self {
            count,
            placed: false,
            cases: BTreeMap::new(),
            agreed: BTreeMap::new(),
        }
    }
    fn prepare(&mut self, ir: &Ir, program: Op) {
        let name = symbol(ir, program);
        let made = (0..self.count).map(|number| case(ir, program, number));
        match made.collect::<Result<Vec<Case>, String>>() {
            Ok(cases) => {
                self.agreed.remove(&name);
                self.cases.insert(name, cases);
            }
            Err(why) => files::say(&format!("note: --validate leaves @{name} out: {why}\n")),
        }
    }
    fn check(
        &mut self,
        ir: &Ir,
        (program, kernels): (Op, &Rc<str>),
        pass: &str,
    ) -> Option<Diagnostic> {
        let name = symbol(ir, program);
        let arguments = ir.body(program, 0).map_or(0, |body| ir.args(body).len());
        let known = self.cases.get(&name)?;
        if known.iter().any(|case| case.inputs.len() != arguments) && is_called(ir, program) {
            // The programs that run it give it other values now: they are compared.
            self.prepare(ir, program);
            return None;
        }
        let cases = self.cases.get(&name)?;
        let executed = Executed {
            program: text::exact(ir, program),
            kernels: Rc::clone(kernels),
            races: self.placed,
        };
        if self.agreed.get(&name) == Some(&executed) {
            return None;
        }
        let mut cases = cases.iter().enumerate();
        let why = cases.find_map(|(number, case)| differs(ir, program, number, case, self.placed));
        let Some(why) = why else {
            self.agreed.insert(name, executed);
            return None;
        };
        let message = format!("pass '{pass}' changed the result of @{name}: {why}");
        let mut error = Diagnostic::error(&codes::VALIDATE, place_of(ir, program), message);
        error.pass = Some(pass.to_owned());
        Some(error)
    }
}

impl Instrument for Validator {
    fn before_pipeline(&mut self, ir: &Ir, root: Op, _: &Pipeline) {
        for program in programs(ir, root) {
            self.prepare(ir, program);
        }
    }
    fn after_pass(&mut self, ir: &Ir, run: PassRun<'_>) -> Vec<Diagnostic> {
        let pass = run.step.pass.name;
        self.placed |= pass == PLACE_BARRIERS.name;
        let kernels: Rc<str> = beside_programs(ir, run.root).into();
        let programs = programs(ir, run.op).into_iter();
        programs
            .filter_map(|program| self.check(ir, (program, &kernels), pass))
            .collect()
    }
}

/// The programs that are, hold or lie directly inside `op`.
fn programs(ir: &Ir, op: Op) -> Vec<Op> {
    let is_program = |op: &Op| ir.is(*op, &fuser_dialects::task::PROGRAM);
    let around = std::iter::successors(Some(op), |&o| ir.parent_op(o)).find(is_program);
    match around {
        Some(program) => vec![program],
        None => ir.children(op).into_iter().filter(is_program).collect(),
    }
}

/// True if another program of the module runs this one.
fn is_called(ir: &Ir, program: Op) -> bool {
    let module = ir.parent_op(program);
    module.is_some_and(|module| calls::is_run_as(ir, module, program, &calls::CALLEES))
}

/// The text of all that lies directly inside `root` and is no program.
fn beside_programs(ir: &Ir, root: Op) -> String {
    let others = ir.children(root).into_iter();
    let others = others.filter(|op| !ir.is(*op, &fuser_dialects::task::PROGRAM));
    others.map(|op| text::exact(ir, op)).collect()
}

fn symbol(ir: &Ir, op: Op) -> String {
    ir.symbol_name(op).unwrap_or_default().to_owned()
}

fn options(reference: bool, races: bool) -> Options {
    Options {
        reference,
        races,
        fuel: FUEL,
        ..Options::default()
    }
}

/// The first output that is beyond its bound, as text.
fn differs(ir: &Ir, program: Op, number: usize, case: &Case, races: bool) -> Option<String> {
    let outputs = match interpret(ir, program, &case.inputs, &options(false, races)) {
        Ok(outputs) => outputs.values,
        Err(error) if is_limit(&error) => return None,
        Err(error) => return Some(format!("it cannot be interpreted any more: {error}")),
    };
    let before = case.expected.len();
    if outputs.len() != before {
        let now = outputs.len();
        return Some(format!("it has {now} results, had {before}"));
    }
    let reports = outputs.iter().zip(&case.expected);
    let reports: Vec<compare::Report> = reports
        .map(|(actual, expected)| compare::compare(actual, expected))
        .collect();
    let failed = reports
        .iter()
        .enumerate()
        .find(|(_, report)| report.failed());
    failed.map(|(index, report)| format!("on input set {number}, result {index}{}", told(report)))
}

fn told(report: &compare::Report) -> String {
    match (&report.mismatch, &report.worst) {
        (Some(mismatch), _) => format!(" {mismatch}"),
        (None, Some(worst)) => format!(
            " at {:?} is {}, should be {} within {:e}",
            worst.index, worst.actual, worst.expected, worst.allowed
        ),
        (None, None) => String::new(),
    }
}

fn is_limit(error: &InterpError) -> bool {
    matches!(
        error.kind,
        ErrorKind::OutOfFuel(_) | ErrorKind::OutOfMemory { .. }
    )
}

fn case(ir: &Ir, program: Op, number: u32) -> Result<Case, String> {
    let inputs = inputs(ir, program, number)?;
    // Running out of fuel takes as long as using it up, so what is clearly too much is not tried.
    let largest = inputs.iter().map(Tensor::stored_len).max().unwrap_or(0) as u64;
    if largest.saturating_mul(ir.walk(program).len() as u64) > FUEL {
        return Err("it is too large to be interpreted".into());
    }
    let outputs =
        interpret(ir, program, &inputs, &options(true, false)).map_err(|e| e.to_string())?;
    Ok(Case {
        inputs,
        expected: outputs.values,
    })
}

fn inputs(ir: &Ir, program: Op, number: u32) -> Result<Vec<Tensor>, String> {
    let body = ir.body(program, 0).ok_or("it has no body")?;
    let mut maker = Maker {
        ir,
        random: SplitMix(0x9e37_79b9 + u64::from(number)),
        number,
        extents: BTreeMap::new(),
        left: ELEMENTS,
    };
    for name in packed::even_names(ir, program) {
        let length = maker.extent(name) + 1;
        maker.extents.insert(name, length);
    }
    let args = ir.args(body).iter();
    args.map(|&arg| maker.tensor(ir.value_type(arg))).collect()
}

/// Makes random inputs.
struct Maker<'a> {
    ir: &'a Ir,
    random: SplitMix,
    number: u32,
    extents: BTreeMap<fuser_ir::Sym, i64>,
    left: usize,
}

impl Maker<'_> {
    fn tensor(&mut self, ty: TypeId) -> Result<Tensor, String> {
        let (dims, dtype): (&[Dim], DType) = match self.ir.ty(ty) {
            TypeKind::Scalar(dtype) => (&[], *dtype),
            TypeKind::Tensor(tensor) => (&tensor.dims, tensor.dtype),
            _ => return Err("an argument is neither tensor nor scalar".into()),
        };
        let axes = dims.iter().map(|d| self.axis(d));
        let mut axes = axes.collect::<Result<Vec<Axis>, String>>()?;
        // What shares a byte is even, also without a name.
        let tensor = self
            .ir
            .ty(ty)
            .as_tensor()
            .filter(|_| dtype == packed::DTYPE);
        let shared = tensor.and_then(|tensor| packed::axis(self.ir, tensor));
        if let Some(axis) = shared.and_then(|axis| axes.get_mut(axis)) {
            axis.extent += axis.extent % 2;
        }
        let stored = axes
            .iter()
            .try_fold(1_usize, |n, a| n.checked_mul(a.stored()));
        let stored = stored
            .filter(|&n| n <= self.left)
            .ok_or("its inputs are too large")?;
        self.left -= stored;
        let mut made = || {
            let data = self.data(dtype.part(), stored);
            Tensor::new(dtype.part(), axes.clone(), data)
        };
        let tensor = match dtype.is_complex() {
            true => made().zip(made()).and_then(|(a, b)| Tensor::of_parts(a, b)),
            false => made(),
        };
        tensor.ok_or_else(|| "an input cannot be made".into())
    }
    fn axis(&mut self, dim: &Dim) -> Result<Axis, String> {
        let extent = match dim.extent {
            Extent::Static(n) => usize::try_from(n).ok(),
            Extent::Unknown => Some(UNKNOWN),
            Extent::Symbolic(id) => {
                let terms = &self.ir.extent_expr(id).terms;
                let sum = terms.iter().try_fold(0_i64, |sum, (names, coefficient)| {
                    let mut factors = names.iter().map(|&name| self.extent(name));
                    let term = factors.try_fold(*coefficient, i64::checked_mul)?;
                    sum.checked_add(term)
                });
                sum.and_then(|v| usize::try_from(v).ok())
            }
        };
        Ok(Axis {
            extent: extent.ok_or("an extent is negative or too large")?,
            broadcast: dim.broadcast,
        })
    }
    fn extent(&mut self, name: fuser_ir::Sym) -> i64 {
        let next = (self.extents.len() + self.number as usize) % EXTENTS.len();
        *self.extents.entry(name).or_insert(EXTENTS[next])
    }
    fn data(&mut self, dtype: DType, count: usize) -> Data {
        let whole = self.number.is_multiple_of(2);
        let mut float = || match whole {
            true => small(&mut self.random) as f64,
            false => self.random.unit() * 4.0 - 2.0,
        };
        match dtype {
            DType::F64 => Data::F64((0..count).map(|_| float()).collect()),
            DType::F32 => Data::F32((0..count).map(|_| float() as f32).collect()),
            DType::F16 => Data::F16((0..count).map(|_| half::f16::from_f64(float())).collect()),
            DType::BF16 => Data::BF16((0..count).map(|_| half::bf16::from_f64(float())).collect()),
            DType::F8E4M3FN => Data::F8E4M3FN(
                (0..count)
                    .map(|_| fuser_interp::F8E4M3FN::from_f64(float()))
                    .collect(),
            ),
            DType::F8E5M2 => Data::F8E5M2(
                (0..count)
                    .map(|_| fuser_interp::F8E5M2::from_f64(float()))
                    .collect(),
            ),
            DType::F8E8M0FNU => Data::F8E8M0FNU(
                (0..count)
                    .map(|_| fuser_interp::F8E8M0FNU::from_f64(float().abs()))
                    .collect(),
            ),
            DType::F4E2M1FN => Data::F4E2M1FN(
                (0..count)
                    .map(|_| fuser_interp::F4E2M1FN::from_f64(float()))
                    .collect(),
            ),
            DType::I64 | DType::Index => {
                Data::I64((0..count).map(|_| small(&mut self.random)).collect())
            }
            DType::I32 => Data::I32((0..count).map(|_| small(&mut self.random) as i32).collect()),
            DType::I16 => Data::I16((0..count).map(|_| small(&mut self.random) as i16).collect()),
            DType::I8 => Data::I8((0..count).map(|_| small(&mut self.random) as i8).collect()),
            DType::U64 => Data::U64((0..count).map(|_| self.random.below(9) as u64).collect()),
            DType::U32 => Data::U32((0..count).map(|_| self.random.below(9) as u32).collect()),
            DType::U16 => Data::U16((0..count).map(|_| self.random.below(9) as u16).collect()),
            DType::U8 => Data::U8((0..count).map(|_| self.random.below(9) as u8).collect()),
            DType::I1 => Data::I1((0..count).map(|_| self.random.below(2) == 1).collect()),
            // Made of two parts by the caller.
            DType::C64 | DType::C128 => Data::I1(Vec::new()),
        }
    }
}

/// An integer from -8 to 8.
fn small(random: &mut SplitMix) -> i64 {
    random.below(17) as i64 - 8
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "module {
  task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {
    %y = task.segment @s0 kind \"kernel\" {
      %y = kernel.launch %x callee @k : tensor<8xf32>
      task.yield %y
    } : tensor<8xf32>
    task.return %y
  }
  kernel.func @k(%x: memref<?xf32>, %y: memref<?xf32>) {
    %0 = fusion.constant value 0 : index
    %8 = fusion.constant value 8 : index
    %1 = fusion.constant value 1 : index
    kernel.for %0, %8, %1 map \"grid\" {
    ^bb0(%i: index):
      %v = kernel.load %x, %i : f32
      %w = fusion.add %v, %v : f32
      kernel.store %w, %y, %i
      kernel.yield
    }
    kernel.return
  }
}";

    /// An unchanged program is not executed again, so a wrong expectation goes unnoticed. A kernel that changed next to
    /// its program is executed, and so is everything once barriers are placed.
    #[test]
    fn what_changed_is_executed_and_nothing_else() {
        let mut ir = Ir::new(fuser_dialects::registry());
        let parsed = fuser_ir::parse::parse_str(&mut ir, TEXT);
        let root = parsed.module.expect("a module");
        let program = programs(&ir, root)[0];
        let mut validator = Validator::new(1);
        validator.prepare(&ir, program);
        let check = |validator: &mut Validator, ir: &Ir| {
            let kernels: Rc<str> = beside_programs(ir, root).into();
            validator.check(ir, (program, &kernels), "a-pass").is_some()
        };
        assert!(!check(&mut validator, &ir));
        let cases = validator.cases.get_mut("f").expect("one program");
        cases[0].expected.clear();
        assert!(!check(&mut validator, &ir));
        validator.placed = true;
        assert!(check(&mut validator, &ir));
        validator.prepare(&ir, program);
        assert!(!check(&mut validator, &ir));
        let is_store = |op: &Op| ir.is(*op, &fuser_dialects::kernel::STORE);
        let store = ir.walk(root).into_iter().find(is_store).expect("a store");
        let add = ir.def_op(ir.operand(store, 0)).expect("an add");
        let loaded = ir.operand(add, 0);
        ir.set_operand(store, 0, loaded);
        assert!(check(&mut validator, &ir));
    }
}
