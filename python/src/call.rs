//! A call in progress: the addresses of its arguments and results, and the memory of copies.
//!
//! A result shares memory with an argument only if it overwrites that argument. If arrays overlap otherwise, or two
//! results do, the result is computed elsewhere and copied at the end. The interpreter's lock is held while elements
//! are copied. It is released while the program runs, unless the run is shorter than a release.
//!
//! A program for a GPU runs on a stream, and nobody waits for it unless arrays of the host take part: these are sent to
//! the GPU, and results for them are fetched.

use std::ops::Range;
use std::time::Instant;

use fuser::program::{CudaGraph, DeviceMemory, Gpu, Heap, Raw, RuntimeError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::array::{Array, INPUT, Place, Shapes, copy};
use crate::error::{raised, refused};
use crate::plan::{Access, Plan};

/// A call of a plan.
pub struct Call<'c, 'py> {
    py: Python<'py>,
    plan: &'c Plan,
    arrays: &'c [Array<'py>],
    shapes: &'c Shapes,
    /// The stream of a GPU that it runs on.
    stream: u64,
    inputs: SmallVec<[*const u8; 8]>,
    outputs: SmallVec<[*mut u8; 8]>,
    /// Memory of copies: of the host, and of the GPU.
    copies: SmallVec<[Raw; 2]>,
    on_gpu: Vec<DeviceMemory>,
    /// Results that are copied at the end.
    back: SmallVec<[Back; 2]>,
    /// The results that have been copied.
    copied_back: SmallVec<[usize; 2]>,
    /// The memory of results that are written where they stay.
    taken: SmallVec<[Range<usize>; 4]>,
}

/// A result that is copied to where it belongs.
struct Back {
    output: usize,
    /// The number of the GPU's memory that has it; none where it lies in host memory.
    on_gpu: Option<usize>,
    from_strides: SmallVec<[i64; 8]>,
    to: *mut u8,
    to_strides: SmallVec<[i64; 8]>,
}

/// Addresses that another thread may use while this one waits.
struct Addresses<'a>(&'a [*const u8], &'a [*mut u8]);
// SAFETY: an address by itself does nothing; the objects that own the memory live as long as the call.
unsafe impl Send for Addresses<'_> {}
// SAFETY: likewise.
unsafe impl Sync for Addresses<'_> {}

impl<'c, 'py> Call<'c, 'py> {
    pub fn new(
        py: Python<'py>,
        plan: &'c Plan,
        arrays: &'c [Array<'py>],
        shapes: &'c Shapes,
        stream: u64,
    ) -> Self {
        Self {
            py,
            plan,
            arrays,
            shapes,
            stream,
            on_gpu: Vec::new(),
            inputs: SmallVec::new(),
            outputs: SmallVec::new(),
            copies: SmallVec::new(),
            back: SmallVec::new(),
            copied_back: SmallVec::new(),
            taken: SmallVec::new(),
        }
    }

    /// The memory of the program.
    pub fn heap(&self) -> &'c Heap {
        self.plan.program.session().runtime().heap()
    }

    fn gpu(&self) -> Option<&'c Gpu> {
        self.plan.program.gpu()
    }

    /// Host memory sent to the GPU; returns the address there.
    fn sent(&mut self, gpu: &Gpu, data: *const u8, bytes: usize) -> PyResult<*const u8> {
        let send = || -> Result<DeviceMemory, fuser::Error> {
            let mut memory = gpu.allocate(bytes)?;
            if bytes > 0 {
                // SAFETY: the plan's word is that the array has these bytes there.
                memory.upload(unsafe { std::slice::from_raw_parts(data, bytes) })?;
            }
            Ok(memory)
        };
        let memory = send().map_err(|error| raised(self.py, &error))?;
        let address = memory.address();
        self.on_gpu.push(memory);
        Ok(std::ptr::without_provenance(address as usize))
    }

    /// Memory for a result that is copied at the end, and its number on a GPU.
    fn aside(&mut self, bytes: usize) -> PyResult<(*mut u8, Option<usize>)> {
        let Some(gpu) = self.gpu() else {
            return Ok((self.temporary(bytes)?, None));
        };
        let memory = gpu.allocate(bytes);
        let memory = memory.map_err(|error| raised(self.py, &error))?;
        let address = std::ptr::without_provenance_mut(memory.address() as usize);
        self.on_gpu.push(memory);
        Ok((address, Some(self.on_gpu.len() - 1)))
    }

    fn temporary(&mut self, bytes: usize) -> PyResult<*mut u8> {
        let memory = self.heap().allocate_unwritten(bytes);
        let memory = memory
            .map_err(|error| raised(self.py, &fuser::Error::from(RuntimeError::Memory(error))))?;
        let address = memory.address();
        self.copies.push(memory);
        Ok(address)
    }

    /// Finds the arguments' addresses, and makes the planned copies.
    pub fn read(&mut self) -> PyResult<()> {
        for (array, access) in self.arrays.iter().zip(&self.plan.inputs) {
            let gpu = self.gpu();
            let address = match (access, &array.number) {
                (_, Some(number)) => match gpu {
                    Some(gpu) => self.sent(gpu, number.0.as_ptr(), array.dtype.bytes())?,
                    None => number.0.as_ptr(),
                },
                (Access::Here, None) => array.data.cast_const(),
                (Access::Sent(bytes), None) => match gpu {
                    Some(gpu) => self.sent(gpu, array.data, *bytes)?,
                    None => array.data.cast_const(),
                },
                (Access::Copied { strides, bytes, .. }, None) => {
                    let data = self.temporary(*bytes)?;
                    let from = Place {
                        data: array.data,
                        strides: array.strides(self.shapes),
                    };
                    // SAFETY: the array has these elements; the copy has those that are stored, at the strides of the
                    // program's type, and an element that is stored once is written several times.
                    unsafe {
                        copy(
                            array.shape(self.shapes),
                            array.dtype.bytes(),
                            from,
                            Place { data, strides },
                        );
                    }
                    match gpu {
                        Some(gpu) => self.sent(gpu, data, *bytes)?,
                        None => data.cast_const(),
                    }
                }
            };
            self.inputs.push(address);
        }
        Ok(())
    }

    /// The next result goes to new memory.
    pub fn write_to(&mut self, data: *mut u8) {
        self.outputs.push(data);
    }

    /// Directs the next result, number `output`, to an existing array; `direct` if the program may write to it
    /// directly.
    pub fn write_into(&mut self, output: usize, array: &Array<'py>, direct: bool) -> PyResult<()> {
        let Some(ty) = self.plan.types.get(output) else {
            return Ok(());
        };
        let span = array.span(self.shapes);
        let overlaps = |other: &Range<usize>| span.start < other.end && other.start < span.end;
        let same = |number: usize, input: &Array<'_>| {
            ty.overwrites == Some(number) && input.data == array.data
        };
        let mut read = self.arrays.iter().zip(&self.plan.inputs).enumerate();
        let crosses = read.any(|(number, (input, access))| {
            matches!(access, Access::Here)
                && input.number.is_none()
                && !same(number, input)
                && overlaps(&input.span(self.shapes))
        });
        if direct && !crosses && !self.taken.iter().any(overlaps) {
            self.taken.push(span);
            self.outputs.push(array.data);
            return Ok(());
        }
        self.fetch(output, array.data, array.strides(self.shapes))
    }

    /// The next result, number `output`, is computed elsewhere and copied to host memory with these strides.
    pub fn fetch(&mut self, output: usize, to: *mut u8, to_strides: &[i64]) -> PyResult<()> {
        let Some(ty) = self.plan.types.get(output) else {
            return Ok(());
        };
        let (data, on_gpu) = self.aside(ty.bytes)?;
        self.outputs.push(data);
        self.back.push(Back {
            output,
            on_gpu,
            from_strides: ty.strides().iter().map(|&step| step as i64).collect(),
            to,
            to_strides: SmallVec::from_slice(to_strides),
        });
        Ok(())
    }

    /// Runs the program, and copies results to where they belong.
    pub fn run(&mut self) -> PyResult<()> {
        let (plan, stream) = (self.plan, self.stream);
        let addresses = Addresses(&self.inputs, &self.outputs);
        let done = match plan.is_quick() {
            true => plan.run(&addresses, stream),
            false => self.py.detach(|| plan.run(&addresses, stream)),
        };
        let waited = match self.on_gpu.is_empty() {
            true => Ok(()),
            false => self.wait(),
        };
        done.map_err(|error| raised(self.py, &error))?;
        waited?;
        let mut back = std::mem::take(&mut self.back);
        for back in back.drain(..) {
            let (Some(ty), Some(&data)) = (
                self.plan.types.get(back.output),
                self.outputs.get(back.output),
            ) else {
                continue;
            };
            let data = match back.on_gpu {
                None => data,
                Some(_) if ty.bytes == 0 => continue,
                Some(number) => {
                    let data = self.temporary(ty.bytes)?;
                    // SAFETY: the temporary has these bytes, and nobody else knows it.
                    let bytes = unsafe { std::slice::from_raw_parts_mut(data, ty.bytes) };
                    let memory = self.on_gpu.get(number);
                    let fetched = memory.map_or(Ok(()), |memory| memory.download(bytes));
                    fetched.map_err(|error| raised(self.py, &error.into()))?;
                    data
                }
            };
            self.copied_back.push(back.output);
            let shape: SmallVec<[i64; 8]> = ty.axes.iter().map(|axis| axis.extent as i64).collect();
            let from = Place {
                data,
                strides: &back.from_strides,
            };
            let to = Place {
                data: back.to,
                strides: &back.to_strides,
            };
            // SAFETY: the result has these elements, and the array too, as the plan has compared them; nobody else
            // holds the result.
            unsafe { copy(&shape, ty.dtype.bytes(), from, to) }
        }
        Ok(())
    }

    /// Records the run in place of running it. Returns the graph and the memory on the GPU that it reads.
    pub fn record(self) -> PyResult<(CudaGraph, Vec<DeviceMemory>)> {
        if let Some(back) = self.back.first() {
            let name = self.plan.types.get(back.output).map_or("", |ty| &ty.name);
            let message = format!("result `{name}` is fetched from the GPU, which is not recorded");
            let hint = "give arrays on the GPU: `fuser.to_device(x)`";
            return Err(refused(self.py, INPUT, message, hint));
        }
        let (plan, stream) = (self.plan, self.stream);
        let addresses = Addresses(&self.inputs, &self.outputs);
        let recorded = self.py.detach(|| plan.record(&addresses, stream));
        let graph = recorded.map_err(|error| raised(self.py, &error))?;
        Ok((graph, self.on_gpu))
    }

    /// Waits for the stream of the GPU.
    pub fn wait(&self) -> PyResult<()> {
        let Some(gpu) = self.gpu() else {
            return Ok(());
        };
        let stream = self.stream;
        // SAFETY: the caller's word is that it is a stream of this GPU.
        let done = self.py.detach(|| unsafe { gpu.device().wait_for(stream) });
        done.map_err(|error| raised(self.py, &error.into()))
    }

    /// The names of the arguments and results that were copied.
    pub fn copied(&self) -> impl Iterator<Item = &'c str> {
        let specs = &self.plan.program.signature().inputs;
        let inputs = self.plan.inputs.iter().zip(specs);
        let inputs = inputs.filter(|(access, _)| !matches!(access, Access::Here));
        let outputs = self.copied_back.iter();
        let outputs = outputs.filter_map(|&output| self.plan.types.get(output));
        let inputs = inputs.map(|(_, spec)| spec.name.as_str());
        inputs.chain(outputs.map(|ty| ty.name.as_str()))
    }
}

impl Plan {
    fn record(&self, addresses: &Addresses<'_>, stream: u64) -> Result<CudaGraph, fuser::Error> {
        let program = self.program.bind(&self.extents, stream)?.into_program();
        // SAFETY: the plan has compared the arrays with the types; the recorded run keeps them alive.
        Ok(unsafe { program.record(addresses.0, addresses.1) }?)
    }

    fn run(&self, addresses: &Addresses<'_>, stream: u64) -> Result<(), fuser::Error> {
        let mut bound = self.program.bind(&self.extents, stream)?;
        let begin = self.is_timed().then(Instant::now);
        // SAFETY: the plan has compared shapes and strides of the arrays with the types, whose bytes the executable
        // expects; their objects live as long as the call, and libraries let nobody write meanwhile who does not ask
        // for it. Results overlap nothing (`write_into`).
        // Work on a GPU goes on afterwards, in the order of the stream: so does whatever frees or reuses this memory.
        let done = unsafe { bound.program().start(addresses.0, addresses.1, stream) };
        if let Some(begin) = begin {
            self.note(begin.elapsed().as_nanos());
        }
        self.program.release(bound);
        Ok(done?)
    }
}

/// Starts a recorded run on a stream, and waits for it on the GPU that is given.
pub fn launch(graph: &mut CudaGraph, stream: u64, wait: Option<&Gpu>) -> Result<(), fuser::Error> {
    // SAFETY: whoever has the graph keeps its arrays alive; the stream is the caller's word.
    unsafe { graph.launch(stream) }?;
    match wait {
        // SAFETY: likewise.
        Some(gpu) => Ok(unsafe { gpu.device().wait_for(stream) }?),
        None => Ok(()),
    }
}
