//! The kernel dialect to machine code and PTX.
//!
//! [`compile_kernels`] takes the kernels of a plan through every stage: check, lower, verify, optimize, emit.
//! [`emit`] stops at a given stage and returns text for people and tests. Every kernel is an LLVM module of its own.
//!
//! Reading order: `legal` (the accepted kernels), `func` (control flow, memory), `arith` (elementwise ops), `reduce`
//! (reductions).
//!
//! The contract: for a kernel that passes the check, code generation returns code or an internal error. It never passes
//! LLVM an input that would abort the process. Equal IR, target and options give equal bytes.

pub mod arith;
pub mod codes;
mod func;
mod gcd;
pub mod legal;
mod parallel;
pub(crate) mod reduce;
mod remainder;
mod shared_lines;
mod streaming;
pub mod types;

use std::sync::atomic::{AtomicUsize, Ordering};

use fuser_artifact::{Code, KernelCode};
use fuser_dialects::kernel;
use fuser_dialects::kernel::product::Product;
use fuser_dialects::kernel::rounds::literal;
use fuser_dialects::kernel::scan;
use fuser_ir::def::{At, Computes};
use fuser_ir::diag::{CodeDef, Diagnostic, Diagnostics};
use fuser_ir::{DType, Ir, Op, Place};
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::targets::TargetMachine;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::FunctionValue;

pub use streaming::{BufferBytes, buffer_bytes};

use crate::cache::{self, Cache};
use crate::error::CodegenError;
use crate::expr::{Elem, Emit};
use crate::gpu::{GLOBAL_SPACE, Gpu, product};
use crate::llvm::errors;
use crate::target::{self, Target};

/// Options of code generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// True if no two buffers of a launch overlap: the GPU may then use its read-only cache and hoist loads above
    /// stores. An in-place launch, which passes a buffer twice, needs `false`.
    pub noalias: bool,
    /// For GPUs: true if tensors may start at any multiple of their element size; false if they start at multiples of
    /// [`BUFFER_ALIGN`](fuser_artifact::limits::BUFFER_ALIGN).
    pub any_address: bool,
    /// Runs LLVM's optimizer.
    pub optimize: bool,
    /// Results of more bytes are stored past the caches of a CPU.
    pub stream_beyond: u64,
    /// Software prefetch distance in bytes; 0 disables prefetching.
    pub ask_ahead: u64,
    /// Elementary functions and quotients of f32 are approximations of a GPU.
    pub approximate: bool,
    /// A product and a sum or difference with it are rounded once.
    pub contract: bool,
    /// The multiprocessor of a GPU, whose room blocks share.
    pub multiprocessor: Multiprocessor,
}

/// The resources of a GPU's multiprocessor that limit the number of resident blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multiprocessor {
    /// The number of them on the GPU; 0 where that is not known.
    pub number: u64,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
    /// Bytes of them that each block takes for itself.
    pub reserved_bytes: u64,
    /// 32-bit registers.
    pub registers: u64,
    /// The most resident threads.
    pub threads: u64,
}

/// Registers of a thread beyond which no kernel of ours gains.
const ENOUGH_REGISTERS: u64 = 128;

impl Multiprocessor {
    /// The number of resident blocks requested from the assembler, if shared memory or a small grid limits occupancy:
    /// the blocks that fit, with at most [`ENOUGH_REGISTERS`] for each thread. The assembler knows neither the shared
    /// memory of a launch nor the grid. Without the request it would save registers, and spill, for blocks that cannot
    /// be resident or do not exist.
    fn blocks(&self, scratch_bytes: Option<u64>, threads: u64, grid: Option<u64>) -> Option<u64> {
        let each = scratch_bytes.and_then(|bytes| bytes.checked_add(self.reserved_bytes));
        let room = each.and_then(|each| self.shared_bytes.checked_div(each));
        let share = grid.filter(|_| self.number > 0);
        let share = share.map(|blocks| blocks.div_ceil(self.number));
        let room = room.into_iter().chain(share).min()?.max(1);
        let with_registers = self
            .registers
            .checked_div(threads.checked_mul(ENOUGH_REGISTERS)?)?;
        let few = room.checked_mul(threads)? < self.threads;
        few.then_some(room.min(with_registers))
            .filter(|&blocks| blocks > 0)
    }
    /// The number of resident blocks in kernels whose threads scan together: threads keep loaded values for all turns,
    /// in half of [`ENOUGH_REGISTERS`].
    fn scanning_blocks(&self, threads: u64) -> Option<u64> {
        let blocks = self
            .registers
            .checked_div(threads.checked_mul(ENOUGH_REGISTERS / 2)?);
        blocks.filter(|&blocks| blocks > 0)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            noalias: true,
            any_address: false,
            optimize: true,
            stream_beyond: u64::MAX,
            ask_ahead: 0,
            approximate: false,
            contract: false,
            multiprocessor: Multiprocessor::default(),
        }
    }
}

/// The form of the emitted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// LLVM IR; before the optimizer where that is off.
    LlvmIr,
    /// The target's assembly; PTX on a GPU.
    Assembly,
}

/// The kernels of a plan, in its order: functions, then products that are kernels themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kernels<'a> {
    /// Functions of the module.
    pub funcs: &'a [Op],
    pub products: &'a [Product],
}

impl<'a> Kernels<'a> {
    /// Functions alone.
    pub const fn of(funcs: &'a [Op]) -> Self {
        Self {
            funcs,
            products: &[],
        }
    }
}

/// Compiles kernels, in order. Compilation uses all of the machine's threads, and the code does not depend on their
/// number. Code found in `cache` is not compiled again. `buffers` gives the sizes of buffers.
pub fn compile_kernels(
    ir: &Ir,
    Kernels { funcs, products }: Kernels<'_>,
    target: &Target,
    options: Options,
    buffers: &BufferBytes,
    around: Around<'_>,
) -> Result<Vec<KernelCode>, Diagnostics> {
    let cache = around.cache;
    let names = names(ir, funcs, products);
    let symbols = symbols(&names);
    check(ir, funcs, target)?;
    let compile = |index: usize| {
        let symbol = symbols[index].as_str();
        let mut lines = true;
        let (code, shared_bytes) = match funcs.get(index) {
            Some(&func) => {
                let far = streaming::far(ir, func, target, options, buffers);
                lines = target.gpu().is_some() || streaming::stores_lines(ir, func, &far);
                let kernel = Kernel {
                    func,
                    symbol,
                    far: &far,
                };
                let key = || cache::key(ir, func, symbol, &far, target, options);
                cached(cache, key, || kernel_code(ir, kernel, target, options))?
            }
            None => {
                let product = &products[index - funcs.len()];
                let key = || cache::product_key(product, symbol, target, options);
                cached(cache, key, || {
                    product_code(product, symbol, target, options)
                })?
            }
        };
        Ok(KernelCode {
            name: names[index].to_string(),
            symbol: symbol.to_string(),
            code,
            shared_bytes,
            any_address: None,
            lines,
        })
    };
    let all = names.len();
    let done = AtomicUsize::new(0);
    around.tell(0, all);
    let kernels = parallel::map(all, |index| {
        let code = compile(index);
        around.tell(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        code
    });
    kernels.into_iter().collect()
}

/// The surroundings of a compilation; by default none.
#[derive(Clone, Copy, Default)]
pub struct Around<'a> {
    /// Kernels that were compiled before.
    pub cache: Option<&'a dyn Cache>,
    /// Is told how many kernels are done, of how many; from several threads.
    pub told: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

impl Around<'_> {
    fn tell(&self, done: usize, all: usize) {
        if let Some(told) = self.told {
            told(done, all);
        }
    }
}

/// A kernel that is compiled.
#[derive(Clone, Copy)]
struct Kernel<'a> {
    func: Op,
    /// Its name in the object code.
    symbol: &'a str,
    /// The parameters that it streams to, by number.
    far: &'a [usize],
}

/// The code in the cache under a key, or the code from `make`, which is then stored in the cache.
fn cached(
    cache: Option<&dyn Cache>,
    key: impl FnOnce() -> Option<String>,
    make: impl FnOnce() -> Result<(Code, u64), Diagnostics>,
) -> Result<(Code, u64), Diagnostics> {
    let key = cache.and_then(|_| key());
    let Some((cache, key)) = cache.zip(key) else {
        return make();
    };
    if let Some(known) = cache.get(&key).and_then(|kept| cache::decode(&kept)) {
        return Ok(known);
    }
    let (code, shared_bytes) = make()?;
    cache.put(&key, &cache::encode(&code, shared_bytes));
    Ok((code, shared_bytes))
}

/// The code of a kernel, and the bytes of its shared memory.
fn kernel_code(
    ir: &Ir,
    kernel: Kernel<'_>,
    target: &Target,
    options: Options,
) -> Result<(Code, u64), Diagnostics> {
    with_module(ir, kernel, target, options, |emit, machine| {
        code(emit, machine, target)
    })
}

/// The same of a product.
fn product_code(
    product: &Product,
    symbol: &str,
    target: &Target,
    options: Options,
) -> Result<(Code, u64), Diagnostics> {
    with_product(product, symbol, target, options, |emit, machine| {
        code(emit, machine, target)
    })
}

fn code(
    emit: &Emit<'_>,
    machine: &TargetMachine,
    target: &Target,
) -> Result<(Code, u64), CodegenError> {
    let shared_bytes = reduce::shared_bytes(emit, machine);
    let code = match target {
        Target::Cuda { .. } => Code::Ptx(target::emit_assembly(&emit.module, machine)?),
        Target::Cpu { .. } | Target::Hip { .. } => {
            Code::Object(target::emit_object(&emit.module, machine)?)
        }
    };
    Ok((code, shared_bytes))
}

/// Kernels of `module` as text, one after the other.
pub fn emit(
    ir: &Ir,
    module: Op,
    Kernels { funcs, products }: Kernels<'_>,
    target: &Target,
    options: Options,
    what: Emission,
) -> Result<String, Diagnostics> {
    let symbols = symbols(&names(ir, funcs, products));
    check(ir, funcs, target)?;
    let buffers = streaming::buffer_bytes(ir, module, |_| None);
    let written = |emit: &Emit<'_>, machine: &TargetMachine| match what {
        Emission::LlvmIr => Ok(emit.module.print_to_string().to_string()),
        Emission::Assembly => target::emit_assembly(&emit.module, machine),
    };
    let mut text = String::new();
    for (index, symbol) in symbols.iter().enumerate() {
        let kernel = match funcs.get(index) {
            Some(&func) => {
                let far = streaming::far(ir, func, target, options, &buffers);
                let kernel = Kernel {
                    func,
                    symbol,
                    far: &far,
                };
                with_module(ir, kernel, target, options, written)?
            }
            None => {
                let product = &products[index - funcs.len()];
                with_product(product, symbol, target, options, written)?
            }
        };
        let ptx = matches!(target, Target::Cuda { .. }) && what == Emission::Assembly;
        let follows = ptx && !text.is_empty();
        text += if follows {
            without_header(&kernel)
        } else {
            &kernel
        };
    }
    Ok(text)
}

/// A PTX module without its version and target, for appending to another one in a file.
fn without_header(ptx: &str) -> &str {
    const LAST: &str = ".address_size 64\n";
    ptx.find(LAST).map_or(ptx, |at| &ptx[at + LAST.len()..])
}

/// The functions of `module`, or the single one that it is.
pub fn functions(ir: &Ir, module: Op) -> Vec<Op> {
    if ir.is(module, &kernel::FUNC) {
        return vec![module];
    }
    ir.children(module)
        .into_iter()
        .filter(|&op| ir.is(op, &kernel::FUNC))
        .collect()
}

/// The names of kernels for people.
fn names<'a>(ir: &'a Ir, funcs: &[Op], products: &'a [Product]) -> Vec<&'a str> {
    let funcs = funcs
        .iter()
        .map(|&func| ir.symbol_name(func).unwrap_or_default());
    let products = products.iter().map(|product| product.name.as_str());
    funcs.chain(products).collect()
}

/// An entry name for each kernel: its own name, restricted to characters that PTX and object files accept, with its
/// number appended if it is not unique.
fn symbols(names: &[&str]) -> Vec<String> {
    let mut taken = std::collections::BTreeSet::new();
    let name = |(index, own): (usize, &&str)| {
        let legal: String = own
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        // A prefix keeps kernels apart from the C library and from words that PTX reserves.
        let mut symbol = format!("fuser_{legal}");
        if !taken.insert(symbol.clone()) {
            symbol = format!("fuser_{legal}_{index}");
            taken.insert(symbol.clone());
        }
        symbol
    };
    names.iter().enumerate().map(name).collect()
}

fn check(ir: &Ir, funcs: &[Op], target: &Target) -> Result<(), Diagnostics> {
    let items: Vec<_> = funcs
        .iter()
        .flat_map(|&func| legal::check(ir, func, target))
        .collect();
    if items.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics { items })
    }
}

/// Lowers one kernel and hands the module, optimized if wanted, to `finish`.
fn with_module<R>(
    ir: &Ir,
    kernel: Kernel<'_>,
    target: &Target,
    options: Options,
    finish: impl FnOnce(&Emit<'_>, &TargetMachine) -> Result<R, CodegenError>,
) -> Result<R, Diagnostics> {
    let Kernel { func, symbol, far } = kernel;
    let build = |emit: &Emit<'_>| {
        let function = signature(ir, emit, func, symbol, target, options);
        let args = ir.body(func, 0).map_or(&[][..], |body| ir.args(body));
        let far = far.iter().map(|&number| args[number]).collect();
        let lowering = func::Lowering::new(ir, emit, func, function, options, far);
        let scratch = lowering.run()?;
        let cluster = func::cluster_of(ir, func);
        let threads = u64::from(func::threads_of(ir, func) / cluster);
        let blocks = |op| {
            let most = ir.int_of(op, "blocks");
            literal(ir, ir.operand(op, 1)).into_iter().chain(most).min()
        };
        let grid = kernel::grid_loop(ir, func).and_then(blocks);
        let grid = grid.and_then(|blocks| u64::try_from(blocks.checked_mul(cluster.into())?).ok());
        let multiprocessor = options.multiprocessor;
        let scans = || ir.walk(func).into_iter().any(|op| scan::scans(ir, op));
        let scanning = || multiprocessor.scanning_blocks(threads).filter(|_| scans());
        let room = multiprocessor
            .blocks(scratch, threads, grid)
            .or_else(scanning);
        if let Some(blocks) = room {
            (emit.gpu.iter()).for_each(|gpu| gpu.resident_blocks(emit, function, blocks));
        }
        Ok(())
    };
    let multiplies = |op: Op| {
        let dtype = || ir.value_kind(ir.result(op, 0)).dtype();
        ir.computes(op) == Some(Computes::Mul) && matches!(dtype(), Some(DType::F32 | DType::F64))
    };
    let options = Options {
        contract: options.contract && ir.walk(func).into_iter().any(multiplies),
        ..options
    };
    in_module(symbol, target, options, build, finish).map_err(|error| failure(ir, func, &error))
}

/// The same for a product.
fn with_product<R>(
    product: &Product,
    symbol: &str,
    target: &Target,
    options: Options,
    finish: impl FnOnce(&Emit<'_>, &TargetMachine) -> Result<R, CodegenError>,
) -> Result<R, Diagnostics> {
    let build = |emit: &Emit<'_>| product::build(emit, product, symbol, options);
    in_module(symbol, target, options, build, finish).map_err(|error| {
        let (code, help) = told(&error);
        let found = Diagnostic::error(code, Place::Unknown, error.to_string());
        Diagnostics {
            items: vec![found.help(help)],
        }
    })
}

/// Builds a module and hands it, optimized if wanted, to `finish`.
fn in_module<R>(
    symbol: &str,
    target: &Target,
    options: Options,
    build: impl FnOnce(&Emit<'_>) -> Result<(), CodegenError>,
    finish: impl FnOnce(&Emit<'_>, &TargetMachine) -> Result<R, CodegenError>,
) -> Result<R, CodegenError> {
    let machine = target.machine()?;
    let context = Context::create();
    let mut emit = Emit::new(&context, symbol, target);
    emit.approximate = options.approximate && emit.gpu.is_some();
    emit.contract = options.contract;
    emit.module.set_triple(&machine.get_triple());
    emit.module
        .set_data_layout(&machine.get_target_data().get_data_layout());
    build(&emit)?;
    errors::caught(&context, || {
        if options.optimize {
            target.optimize(&emit.module, &machine)?;
        } else {
            emit.module.verify().map_err(CodegenError::internal)?;
        }
        finish(&emit, &machine)
    })
}

/// The code and the help of a failure.
fn told(error: &CodegenError) -> (&'static CodeDef, &'static str) {
    let bug = "report this with the kernel, unless the message names the machine";
    error.code().unwrap_or((&codes::FAILED, bug))
}

fn failure(ir: &Ir, func: Op, error: &CodegenError) -> Diagnostics {
    let (code, help) = told(error);
    let finding = legal::finding(ir, func, code, At::Op, error.to_string(), help);
    Diagnostics {
        items: vec![finding],
    }
}

fn signature<'ctx>(
    ir: &Ir,
    emit: &Emit<'ctx>,
    func: Op,
    symbol: &str,
    target: &Target,
    options: Options,
) -> FunctionValue<'ctx> {
    let function = match emit.gpu {
        Some(gpu) => gpu_function(ir, emit, gpu, func, symbol, options),
        None => cpu_function(emit, symbol),
    };
    function.add_attribute(AttributeLoc::Function, flag(emit, "nounwind"));
    target.mark(emit.context, function);
    function
}

/// `(buffers, extents, begin, end, scratch)`: see `fuser_artifact::abi`.
fn cpu_function<'ctx>(emit: &Emit<'ctx>, symbol: &str) -> FunctionValue<'ctx> {
    let context = emit.context;
    let (pointer, word) = (
        context.ptr_type(AddressSpace::default()).into(),
        context.i64_type().into(),
    );
    let ty = context
        .void_type()
        .fn_type(&[pointer, pointer, word, word, pointer], false);
    let function = emit.module.add_function(symbol, ty, None);
    // The two tables and the scratch memory are the caller's own; buffers are reached only through the first table.
    for (index, name) in [
        (0, "noalias"),
        (0, "readonly"),
        (1, "noalias"),
        (1, "readonly"),
        (4, "noalias"),
    ] {
        function.add_attribute(AttributeLoc::Param(index), flag(emit, name));
    }
    function
}

/// `.entry symbol(pointer..., extent...)`.
fn gpu_function<'ctx>(
    ir: &Ir,
    emit: &Emit<'ctx>,
    gpu: &dyn Gpu,
    func: Op,
    symbol: &str,
    options: Options,
) -> FunctionValue<'ctx> {
    let context = emit.context;
    let args = ir
        .body(func, 0)
        .map(|body| ir.args(body).to_vec())
        .unwrap_or_default();
    let pointer: BasicMetadataTypeEnum<'ctx> =
        context.ptr_type(AddressSpace::from(GLOBAL_SPACE)).into();
    let is_buffer = |&arg: &fuser_ir::Value| types::shape(ir, arg).is_none();
    let counts = !kernel::counting(ir, func).is_empty();
    let buffers = args.iter().filter(|arg| is_buffer(arg)).count();
    let extents = args.len() - buffers;
    let mut params = vec![pointer; buffers + usize::from(counts)];
    let extent: BasicMetadataTypeEnum<'ctx> = emit.scalar_type(Elem::Int(64)).into();
    params.extend(std::iter::repeat_n(extent, extents));
    let function =
        emit.module
            .add_function(symbol, context.void_type().fn_type(&params, false), None);
    function.set_call_conventions(gpu.convention());
    for (index, &arg) in (0u32..).zip(&args).filter(|(_, arg)| is_buffer(arg)) {
        let place = AttributeLoc::Param(index);
        if !options.any_address {
            let align = fuser_artifact::limits::BUFFER_ALIGN as u64;
            function.add_attribute(place, sized(emit, "align", align));
        }
        let stored = ir.users(arg).any(|user| ir.is(user, &kernel::STORE));
        let loaded = ir.users(arg).any(|user| !ir.is(user, &kernel::STORE));
        // What blocks hand on to the last one changes while it runs.
        let handed_on = counts && stored && loaded;
        if options.noalias && !handed_on {
            function.add_attribute(place, flag(emit, "noalias"));
        }
        if !stored {
            function.add_attribute(place, flag(emit, "readonly"));
        }
    }
    let cluster = func::cluster_of(ir, func);
    let threads = func::threads_of(ir, func) / cluster;
    gpu.launch_bounds(emit, function, threads, cluster);
    function
}

pub(crate) fn flag(emit: &Emit<'_>, name: &str) -> Attribute {
    sized(emit, name, 0)
}

pub(crate) fn sized(emit: &Emit<'_>, name: &str, value: u64) -> Attribute {
    emit.context
        .create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
}
