//! Builds small kernels, compiles them for the host and runs them.
#![allow(dead_code)]

use fuser_codegen::{
    Around, BufferBytes, Kernels, Library, Options, Target, compile_kernels, functions,
};
use fuser_dialects::kernel::build::{KernelBuilder, Loop, function};
use fuser_dialects::{builtin, fusion, kernel};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{DType, Ir, NewOp, Op, OpDef, TypeId, Value};
use fusion::build::FusionBuilder;

/// The target of tests: this machine, or the processor that `$FUSER_TEST_CPU` names.
pub fn machine() -> Target {
    let name = std::env::var("FUSER_TEST_CPU");
    Target::cpu(name.as_deref().unwrap_or("native")).unwrap()
}

/// The processors that this machine can be.
pub fn processors() -> Vec<Target> {
    let all = fuser_target::processors::of(fuser_target::Kind::Cpu)
        .into_iter()
        .map(|name| Target::cpu(name).unwrap());
    all.filter(|target| target.missing_on_host().unwrap().is_empty())
        .collect()
}

/// A program with an empty module.
pub struct Program {
    pub ir: Ir,
    pub module: Op,
}

/// A parameter of a kernel.
#[derive(Clone, Copy)]
pub enum Param {
    Buffer(DType),
    Extent,
}

impl Program {
    pub fn new() -> Self {
        let mut ir = Ir::new(fuser_dialects::registry());
        let region = ir.new_region();
        ir.append_block(region);
        let regions = [region].into_iter().collect();
        let module = ir.create_op(
            &builtin::MODULE,
            NewOp {
                regions,
                ..NewOp::default()
            },
        );
        Program { ir, module }
    }

    /// Adds a kernel; `body` gets its parameters.
    pub fn kernel(
        &mut self,
        name: &str,
        params: &[Param],
        body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<(), OpError>,
    ) -> Op {
        let types: Vec<TypeId> = params.iter().map(|p| self.param_type(*p)).collect();
        let module = self.ir.body(self.module, 0).unwrap();
        let (func, block) = function(&mut self.ir, module, name, &types);
        let args = self.ir.args(block).to_vec();
        let mut builder = Builder::at_end(&mut self.ir, block);
        body(&mut builder, &args).unwrap();
        builder.op(&kernel::RETURN, &[], &[]).unwrap();
        func
    }

    fn param_type(&mut self, param: Param) -> TypeId {
        match param {
            Param::Extent => self.ir.scalar(DType::Index),
            Param::Buffer(dtype) => {
                let (dims, space) = (vec![Extent::Unknown], MemSpace::Global);
                self.ir.type_id(TypeKind::MemRef { dims, dtype, space })
            }
        }
    }

    /// Its kernels.
    pub fn funcs(&self) -> Vec<Op> {
        functions(&self.ir, self.module)
    }

    /// Compiles and links for [`machine`].
    pub fn library(&self) -> (Library, Vec<String>) {
        self.library_for(&machine())
    }

    pub fn library_for(&self, target: &Target) -> (Library, Vec<String>) {
        let (options, results) = (Options::default(), BufferBytes::default());
        let compiled = compile_kernels(
            &self.ir,
            Kernels::of(&self.funcs()),
            target,
            options,
            &results,
            Around::default(),
        );
        let kernels = match compiled {
            Ok(kernels) => kernels,
            Err(found) => panic!("{:#?}", found.items),
        };
        let symbols = kernels.iter().map(|k| k.symbol.clone()).collect();
        (Library::load(&kernels).unwrap(), symbols)
    }

    /// Runs the one kernel over grid iterations `0..grid`.
    pub fn run(&self, buffers: &mut [&mut [u8]], extents: &[i64], grid: i64) {
        let (library, symbols) = self.library();
        call(&library, &symbols[0], buffers, extents, 0, grid);
    }
}

/// Calls a kernel for a range of grid iterations, with scratch memory that holds noise.
pub fn call(
    library: &Library,
    symbol: &str,
    buffers: &mut [&mut [u8]],
    extents: &[i64],
    begin: i64,
    end: i64,
) {
    let entry = library.entry(symbol).unwrap();
    let mut scratch = vec![0xa5u8; (1 << 20) + 64];
    let offset = scratch.as_ptr().align_offset(64);
    // The kernels' alignment promises hold for copies that begin at a cache line.
    let mut copies: Vec<Aligned> = buffers.iter().map(|b| Aligned::copy(b)).collect();
    let pointers: Vec<*mut u8> = copies.iter_mut().map(Aligned::pointer).collect();
    // SAFETY: the buffers and extents are those of the kernel under test, and scratch is far beyond its needs.
    unsafe {
        entry(
            pointers.as_ptr(),
            extents.as_ptr(),
            begin,
            end,
            scratch.as_mut_ptr().add(offset),
        )
    };
    for (buffer, copy) in buffers.iter_mut().zip(&copies) {
        buffer.copy_from_slice(copy.bytes());
    }
}

/// Bytes at a 64-byte boundary, with a guard behind them that must survive.
struct Aligned {
    room: Vec<u8>,
    offset: usize,
    length: usize,
}

const GUARD: [u8; 64] = [0xcd; 64];

impl Aligned {
    fn copy(bytes: &[u8]) -> Self {
        let room = vec![0; bytes.len() + 192];
        let offset = room.as_ptr().align_offset(64);
        let mut aligned = Aligned {
            room,
            offset,
            length: bytes.len(),
        };
        aligned.room[offset..offset + bytes.len()].copy_from_slice(bytes);
        aligned.room[offset + bytes.len()..][..64].copy_from_slice(&GUARD);
        aligned
    }

    fn pointer(&mut self) -> *mut u8 {
        self.room[self.offset..].as_mut_ptr()
    }

    fn bytes(&self) -> &[u8] {
        assert_eq!(
            &self.room[self.offset + self.length..][..64],
            GUARD,
            "written beyond the end"
        );
        &self.room[self.offset..][..self.length]
    }
}

/// Numbers as the bytes of a buffer, and back.
pub trait Element: Copy {
    fn put(self, bytes: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            fn put(self, bytes: &mut Vec<u8>) { bytes.extend(self.to_le_bytes()); }
            fn get(bytes: &[u8]) -> Self { <$ty>::from_le_bytes(bytes.try_into().unwrap()) }
        }
    )*};
}
element!(f32, f64, i64, i32, i8, u8, u16);

pub fn bytes_of<T: Element>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![];
    values.iter().for_each(|v| v.put(&mut bytes));
    bytes
}

pub fn values_of<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::get).collect()
}

/// Applies one op to arrays: `out[i] = op(in0[i], in1[i], ...)`, `lanes` elements at a time.
pub fn elementwise(
    def: &'static OpDef,
    clauses: &dyn Fn(&mut Builder<'_>) -> Vec<(&'static str, fuser_ir::AttrId)>,
    inputs: &[(DType, Vec<u8>)],
    output: DType,
    lanes: u64,
) -> Vec<u8> {
    let count = inputs[0].1.len() as u64 / inputs[0].0.bytes();
    assert!(count.is_multiple_of(lanes), "{count} elements");
    let mut program = Program::new();
    let mut params: Vec<Param> = inputs
        .iter()
        .map(|(dtype, _)| Param::Buffer(*dtype))
        .collect();
    params.push(Param::Buffer(output));
    program.kernel("elementwise", &params, |b, args| {
        let [lower, upper, step] =
            [0, count as i64, lanes as i64].map(|v| b.constant_index(v).unwrap());
        let spec = Loop {
            lower,
            upper,
            step,
            init: &[],
            map: "seq",
            combine: &[],
        };
        b.for_loop(spec, |b, inner| {
            let mut operands = vec![];
            for &memory in &args[..inputs.len()] {
                operands.push(if lanes == 1 {
                    b.load(memory, inner[0])?
                } else {
                    b.load_vector(memory, inner[0], lanes)?
                });
            }
            let clauses = clauses(b);
            let result = b.value(def, &operands, &clauses)?;
            b.store(result, args[inputs.len()], inner[0])?;
            Ok(vec![])
        })?;
        Ok(())
    });
    let mut buffers: Vec<Vec<u8>> = inputs.iter().map(|(_, bytes)| bytes.clone()).collect();
    buffers.push(vec![0; (count * output.bytes()) as usize]);
    let mut views: Vec<&mut [u8]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
    program.run(&mut views, &[], 1);
    buffers.pop().unwrap()
}
