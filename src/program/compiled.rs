//! A program with code for this machine or a GPU of it: called on the caller's memory, from any number of threads.
//!
//! A call with extents seen before takes an idle bound program, runs it and puts it back. Concurrent calls, and calls
//! on different streams of a GPU, use separate ones, each with its own memory for temporaries.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fuser_artifact::{DType, TensorSpec};
use fuser_ir::source::SourceMap;
use fuser_runtime::bind::{self, BindError, Given};
#[cfg(feature = "cuda")]
use fuser_runtime::cuda::CudaProgram;
use fuser_runtime::{Axis, BoundProgram, Explicit, RuntimeError};

#[cfg(feature = "cuda")]
use super::Gpu;
use super::layout::{self, Layout};
use super::{Error, Options, Result, Tensor};
use crate::session::{self, Loaded, Session, SessionError, Signature};

/// The maximum number of extents for which idle executables are kept; beyond it, those of the least extents are
/// dropped.
const MOST_AT_REST: usize = 64;

/// The maximum number of layout combinations for which a program is compiled; arrays with further layouts are copied.
const MOST_LAYOUTS: usize = 16;

/// Layouts of the inputs, and storage orders of the outputs; `None` stands for the layout of the program's type.
pub type Layouts = (Vec<Option<Layout>>, Vec<Option<Vec<u32>>>);

/// A program with code for the CPU or for a GPU.
pub struct Compiled {
    session: Arc<Session>,
    loaded: Arc<Loaded>,
    sources: SourceMap,
    code: Code,
    options: Options,
    at_rest: Mutex<BTreeMap<Vec<i64>, Vec<Bound>>>,
    laid_out: Mutex<BTreeMap<Layouts, Option<Arc<Compiled>>>>,
}

/// The code of a program, by the device that runs it.
enum Code {
    Cpu(session::Program),
    #[cfg(feature = "cuda")]
    Cuda(session::Program<CudaProgram>),
}

/// A program bound to extents: the code, the memory of temporaries, the types of the outputs.
pub struct Bound {
    extents: Vec<i64>,
    /// The stream of a GPU that its runs are on.
    stream: u64,
    program: Box<dyn BoundProgram>,
    outputs: Arc<[OutputType]>,
}

/// Type and shape of an output under given extents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputType {
    /// Its name.
    pub name: String,
    /// The type of the elements.
    pub dtype: DType,
    /// Its axes; a broadcast axis is stored once.
    pub axes: Vec<Axis>,
    /// The axes from the outermost to the innermost in memory; empty for row-major.
    pub order: Vec<u32>,
    /// Its bytes.
    pub bytes: usize,
    /// The input that it overwrites: the two may be the same memory.
    pub overwrites: Option<usize>,
    /// The multiple at which its memory begins, in bytes.
    pub align: usize,
}

impl Compiled {
    pub(super) fn new(
        session: Arc<Session>,
        loaded: Arc<Loaded>,
        sources: SourceMap,
        options: &Options,
    ) -> Result<Self> {
        let code = Code::of(&session, &loaded, options);
        let compiled = Self {
            code: code.map_err(|error| Error::of(error.diagnostics(&loaded.ir), &sources))?,
            session,
            loaded,
            sources,
            options: options.clone(),
            at_rest: Mutex::default(),
            laid_out: Mutex::default(),
        };
        let names = compiled.signature().extents.iter();
        let given = names.map(|name| i64::try_from(*options.compile.shapes.get(name)?).ok());
        if let Some(extents) = given.collect::<Option<Vec<i64>>>() {
            let bound = compiled.bind(&extents, compiled.own_stream())?;
            compiled.release(bound);
        }
        Ok(compiled)
    }

    /// Named extents, inputs and names of outputs.
    pub fn signature(&self) -> &Signature {
        &self.loaded.signature
    }

    /// The GPU that runs the program; `None` for the CPU.
    #[cfg(feature = "cuda")]
    pub fn gpu(&self) -> Option<&Gpu> {
        self.options.gpu.as_ref()
    }

    /// The stream of the GPU that runs are on unless their caller has one; 0 for a CPU.
    pub fn own_stream(&self) -> u64 {
        #[cfg(feature = "cuda")]
        if let Some(gpu) = self.gpu() {
            return gpu.device().stream();
        }
        0
    }

    /// Threads and memory.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The program for arrays with layouts other than those of its types. `None` if types cannot express them, or if
    /// too many layouts have been compiled already. A result that overwrites an input has that input's layout.
    pub fn laid_out(&self, layouts: &Layouts) -> Option<Arc<Self>> {
        let known = || self.laid_out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(layouts) {
            return found.clone();
        }
        if known().len() >= MOST_LAYOUTS {
            return None;
        }
        let loaded = layout::with(&self.loaded, &layouts.0, &layouts.1);
        let made = loaded.and_then(|loaded| {
            let (session, loaded) = (Arc::clone(&self.session), Arc::new(loaded));
            Self::new(session, loaded, self.sources.clone(), &self.options).ok()
        });
        let mut known = known();
        known
            .entry(layouts.clone())
            .or_insert(made.map(Arc::new))
            .clone()
    }

    /// The values of the named extents, in the order of the signature, for inputs of these types and shapes.
    ///
    /// # Errors
    /// Inputs that do not match the program.
    pub fn extents(&self, inputs: &[(DType, &[Axis])]) -> Result<Vec<i64>> {
        let given = inputs.iter().map(|&(dtype, axes)| {
            let origin = None;
            Some(Given {
                dtype,
                axes,
                origin,
            })
        });
        let given: Vec<_> = given.collect();
        let Signature {
            extents, inputs, ..
        } = self.signature();
        let mut explicit = BTreeMap::new();
        let mut bound = bind::bind(extents, inputs, &given, &explicit);
        // An extent that no input has is as long as the options say.
        while let Err(BindError::Missing { extent, .. }) = &bound {
            let length = self.options.compile.shapes.get(extent);
            let Some(length) = length.and_then(|&n| i64::try_from(n).ok()) else {
                break;
            };
            if explicit.insert(extent.clone(), length).is_some() {
                break;
            }
            bound = bind::bind(extents, inputs, &given, &explicit);
        }
        bound.map_err(|error| Error::from(RuntimeError::Bind(error)))
    }

    /// The program bound to these extents, for runs on a stream of the GPU (0 for a CPU): an idle one, or a new one,
    /// compiled if necessary.
    ///
    /// # Errors
    /// Extents for which nothing can be compiled; too little memory.
    pub fn bind(&self, extents: &[i64], stream: u64) -> Result<Bound> {
        let mut at_rest = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(idle) = at_rest.get_mut(extents)
            && let Some(found) = idle.iter().rposition(|bound| bound.stream == stream)
        {
            return Ok(idle.swap_remove(found));
        }
        drop(at_rest);
        let names = self.signature().extents.iter().cloned();
        let named = names.zip(extents.iter().copied()).collect();
        let program = self.told(self.code.bind(&self.session, &named))?;
        let artifact = program.artifact();
        let bytes = program.output_bytes();
        let outputs = artifact.outputs.iter().zip(bytes).enumerate();
        let outputs = outputs.map(|(number, (spec, &bytes))| {
            let axes = bind::axes(spec, &artifact.extents, extents);
            Ok(OutputType {
                name: spec.name.clone(),
                dtype: spec.dtype,
                axes: axes.map_err(|error| Error::from(RuntimeError::Bind(error)))?,
                order: spec.order.clone(),
                bytes,
                overwrites: program.overwrites().get(number).copied().flatten(),
                align: program.output_align(number),
            })
        });
        let outputs: Result<Vec<_>> = outputs.collect();
        Ok(Bound {
            extents: extents.to_vec(),
            stream,
            outputs: outputs?.into(),
            program,
        })
    }

    /// Keeps a bound program for the next call with its extents.
    pub fn release(&self, bound: Bound) {
        let mut at_rest = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        if at_rest.len() >= MOST_AT_REST && !at_rest.contains_key(&bound.extents) {
            at_rest.pop_first();
        }
        match at_rest.get_mut(&bound.extents) {
            Some(others) => others.push(bound),
            None => {
                at_rest.insert(bound.extents.clone(), vec![bound]);
            }
        }
    }

    /// Runs the program on tensors, in the order of its inputs; a GPU works on copies of them.
    ///
    /// # Errors
    /// Inputs that do not match the program, extents for which nothing can be compiled, too little memory.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let specs = &self.signature().inputs;
        let axes: Vec<Vec<Axis>> = (inputs.iter().enumerate())
            .map(|(i, tensor)| axes_of(tensor, specs.get(i)))
            .collect();
        let types = inputs.iter().zip(&axes);
        let types: Vec<_> = types.map(|(x, axes)| (x.dtype(), &axes[..])).collect();
        let mut bound = self.bind(&self.extents(&types)?, self.own_stream())?;
        let heap = self.session.runtime().heap();
        let outputs = bound.outputs.iter().map(|output| {
            let shape: Vec<usize> = output.axes.iter().map(|axis| axis.extent).collect();
            Tensor::allocate(heap, output.dtype, &shape, output.bytes)
        });
        let mut outputs = outputs.collect::<Result<Vec<Tensor>>>()?;
        let given: Vec<&[u8]> = inputs.iter().map(Tensor::bytes).collect();
        let mut taken: Vec<&mut [u8]> = outputs.iter_mut().map(Tensor::bytes_mut).collect();
        bound.run(&given, &mut taken)?;
        let types = Arc::clone(&bound.outputs);
        self.release(bound);
        let outputs = outputs.into_iter().zip(types.iter());
        outputs
            .map(|(x, of)| x.row_major(heap, &of.strides()))
            .collect()
    }

    fn told<T>(&self, result: std::result::Result<T, SessionError>) -> Result<T> {
        result.map_err(|error| Error::of(error.diagnostics(&self.loaded.ir), &self.sources))
    }
}

impl Code {
    fn of(session: &Session, loaded: &Loaded, options: &Options) -> session::Result<Self> {
        #[cfg(feature = "cuda")]
        if let Some(gpu) = &options.gpu {
            let program = session.program_on(gpu.device(), loaded, &options.compile)?;
            return Ok(Self::Cuda(program));
        }
        Ok(Self::Cpu(session.program(loaded, &options.compile)))
    }

    fn bind(
        &self,
        session: &Session,
        extents: &Explicit,
    ) -> session::Result<Box<dyn BoundProgram>> {
        Ok(match self {
            Self::Cpu(program) => Box::new(program.bind(session, extents)?),
            #[cfg(feature = "cuda")]
            Self::Cuda(program) => Box::new(program.bind(extents)?),
        })
    }
}

impl OutputType {
    /// The stride of each axis in elements; 0 for an axis that is stored once.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![0; self.axes.len()];
        let place = |i: usize| self.order.get(i).map_or(i, |&axis| axis as usize);
        let mut step = 1;
        for axis in (0..self.axes.len()).rev().map(place) {
            if let (Some(stride), Some(of)) = (strides.get_mut(axis), self.axes.get(axis))
                && !of.broadcast
            {
                *stride = step;
                step *= of.extent.max(1);
            }
        }
        strides
    }
}

impl Bound {
    /// The outputs.
    pub fn outputs(&self) -> &Arc<[OutputType]> {
        &self.outputs
    }

    /// The bytes of each input.
    pub fn input_bytes(&self) -> &[usize] {
        self.program.input_bytes()
    }

    /// The program on its device, for calls on addresses.
    pub fn program(&mut self) -> &mut dyn BoundProgram {
        &mut *self.program
    }

    /// The program on its device, to be recorded.
    #[cfg(feature = "cuda")]
    pub fn into_program(self) -> Box<dyn BoundProgram> {
        self.program
    }

    /// Runs the program on the caller's memory; a GPU works on copies. Inputs are aligned to their element size, outputs
    /// to the `align` of their types.
    ///
    /// # Errors
    /// Memory with a wrong length or alignment; an error of the GPU.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<()> {
        Ok(self.program.run_on_host(inputs, outputs)?)
    }
}

/// The axes of a tensor; an axis that the program declares as stored once is stored once.
fn axes_of(tensor: &Tensor, spec: Option<&TensorSpec>) -> Vec<Axis> {
    let dims = spec.map_or(&[][..], |spec| &spec.dims);
    let extents = tensor.shape().iter().enumerate();
    let axes = extents.map(|(i, &extent)| Axis {
        extent,
        broadcast: dims.get(i).is_some_and(|dim| dim.broadcast),
    });
    axes.collect()
}
