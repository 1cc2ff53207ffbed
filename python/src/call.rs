//! A call in progress: the addresses of its arguments and results, and the memory of copies.
//!
//! A result shares memory with an argument only if it overwrites that argument. If arrays overlap otherwise, or two
//! results do, the result is computed elsewhere and copied at the end. The interpreter's lock is held while elements
//! are copied. It is released while the program runs, unless the run is shorter than a release.

use std::ops::Range;
use std::time::Instant;

use fuser::program::{Heap, Raw, RuntimeError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::array::{Array, Place, Shapes, copy};
use crate::error::raised;
use crate::plan::{Access, Plan};

/// A call of a plan.
pub struct Call<'c, 'py> {
    py: Python<'py>,
    plan: &'c Plan,
    arrays: &'c [Array<'py>],
    shapes: &'c Shapes,
    inputs: SmallVec<[*const u8; 8]>,
    outputs: SmallVec<[*mut u8; 8]>,
    /// Memory of copies.
    copies: SmallVec<[Raw; 2]>,
    /// Results that are copied at the end.
    back: SmallVec<[Back; 2]>,
    /// The memory of results that are written where they stay.
    taken: SmallVec<[Range<usize>; 4]>,
}

/// A result that is copied to where it belongs.
struct Back {
    output: usize,
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
    ) -> Self {
        Self {
            py,
            plan,
            arrays,
            shapes,
            inputs: SmallVec::new(),
            outputs: SmallVec::new(),
            copies: SmallVec::new(),
            back: SmallVec::new(),
            taken: SmallVec::new(),
        }
    }

    /// The memory of the program.
    pub fn heap(&self) -> &'c Heap {
        self.plan.program.session().runtime().heap()
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
            let address = match (access, &array.number) {
                (_, Some(number)) => number.0.as_ptr(),
                (Access::Here, None) => array.data.cast_const(),
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
                    data.cast_const()
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
        let data = self.temporary(ty.bytes)?;
        self.outputs.push(data);
        self.back.push(Back {
            output,
            from_strides: ty.strides().iter().map(|&step| step as i64).collect(),
            to: array.data,
            to_strides: SmallVec::from_slice(array.strides(self.shapes)),
        });
        Ok(())
    }

    /// Runs the program, and copies results to where they belong.
    pub fn run(&self) -> PyResult<()> {
        let done = match self.plan.is_quick() {
            true => self.plan.run(&Addresses(&self.inputs, &self.outputs)),
            false => {
                let (plan, addresses) = (self.plan, Addresses(&self.inputs, &self.outputs));
                self.py.detach(|| plan.run(&addresses))
            }
        };
        done.map_err(|error| raised(self.py, &error))?;
        for back in &self.back {
            let (Some(ty), Some(&data)) = (
                self.plan.types.get(back.output),
                self.outputs.get(back.output),
            ) else {
                continue;
            };
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

    /// The names of the arguments and results that were copied.
    pub fn copied(&self) -> impl Iterator<Item = &'c str> {
        let specs = &self.plan.program.signature().inputs;
        let inputs = self.plan.inputs.iter().zip(specs);
        let inputs = inputs.filter(|(access, _)| matches!(access, Access::Copied { .. }));
        let outputs = self
            .back
            .iter()
            .filter_map(|back| self.plan.types.get(back.output));
        let inputs = inputs.map(|(_, spec)| spec.name.as_str());
        inputs.chain(outputs.map(|ty| ty.name.as_str()))
    }
}

impl Plan {
    fn run(&self, addresses: &Addresses<'_>) -> Result<(), fuser::Error> {
        let mut bound = self.program.bind(&self.extents)?;
        let begin = self.is_timed().then(Instant::now);
        let executable = bound.executable();
        // SAFETY: the plan has compared shapes and strides of the arrays with the types, whose bytes the executable
        // expects; their objects live as long as the call, and libraries let nobody write meanwhile who does not ask
        // for it. Results overlap nothing (`write_into`).
        let done = unsafe { executable.run_at(addresses.0, addresses.1) };
        if let Some(begin) = begin {
            self.note(begin.elapsed().as_nanos());
        }
        self.program.release(bound);
        done.map_err(|error| fuser::Error::from(RuntimeError::Call(error)))
    }
}
