//! Checks an artifact, so that a runtime may follow every number in it.
//!
//! Checked are: the version; that names are there and unique; that every position lies in its list and every size is
//! well formed; that an input and its buffer name each other; that tensors and buffers agree in their element type;
//! that code suits the target; that the axes of a call fit its loops; that a mesh has devices and cuts the tensors that
//! are there; that a communication fits it; that versions are versions of one program; that a temporary is used only
//! while it lives; that an output lives where an input is overwritten.
//!
//! Not checked here, since it depends on the extents' values: that sizes are not negative and fit, that a tensor fits
//! its buffer, that a copy or fill stays inside its buffers (a runtime checks these when it plans a run). Not
//! checkable: the effects of machine code.

use std::collections::BTreeSet;

use crate::artifact::{
    Artifact, BufferKind, BufferSpec, Code, Collective, Combine, Factor, GpuProduct, KernelCode,
    Routine, SegmentInfo, Step, Target, TensorSpec, Window,
};
use crate::dtype::DType;
use crate::error::{ArtifactError, Entry, Problem};
use crate::json::check_version;
use crate::limits::{MAX_BLOCK, MAX_DEVICES, MAX_RANK, MAX_VERSIONS, MAX_WINDOWS};
use crate::mesh::{Mesh, Sharding};
use crate::size::SizeExpr;

impl Artifact {
    /// Refuses an artifact that contradicts itself.
    pub fn validate(&self) -> Result<(), ArtifactError> {
        for (number, version) in self.versions().enumerate() {
            let fits = match number {
                MAX_VERSIONS.. => Err(Problem::TooManyVersions),
                _ => self.check_alike(version),
            };
            at(Entry::Version(number), fits)?;
            version.validate_alone()?;
        }
        Ok(())
    }

    /// Checks that `other` has the same program, extents, target, inputs, outputs and updates.
    fn check_alike(&self, other: &Artifact) -> Result<(), Problem> {
        let face = |artifact: &Artifact| {
            let tensors = artifact.inputs.iter().chain(&artifact.outputs).cloned();
            // Versions may place outputs in different buffers.
            let tensors: Vec<TensorSpec> = tensors.map(|t| TensorSpec { buffer: 0, ..t }).collect();
            (tensors, artifact.inputs.len(), artifact.updates.clone())
        };
        let alike = self.program == other.program
            && self.extents == other.extents
            && self.target == other.target
            && self.mesh == other.mesh
            && face(self) == face(other);
        alike.then_some(()).ok_or(Problem::OtherProgram)
    }

    fn validate_alone(&self) -> Result<(), ArtifactError> {
        check_version(self.version)?;
        self.check_names()?;
        if let Some(mesh) = &self.mesh {
            at(Entry::Mesh, self.check_mesh(mesh))?;
        }
        let check_input = |(i, t)| at(Entry::Input(i), self.check_input(i, t));
        self.inputs.iter().enumerate().try_for_each(check_input)?;
        let check_output = |(i, t)| at(Entry::Output(i), self.check_output(t));
        self.outputs.iter().enumerate().try_for_each(check_output)?;
        let check_buffer = |(i, b)| at(Entry::Buffer(i), self.check_buffer(i, b));
        self.buffers.iter().enumerate().try_for_each(check_buffer)?;
        let check_kernel = |(i, k)| at(Entry::Kernel(i), self.check_kernel(k));
        self.kernels.iter().enumerate().try_for_each(check_kernel)?;
        let check_step = |(i, s)| at(Entry::Step(i), self.check_step(i, s));
        self.steps.iter().enumerate().try_for_each(check_step)?;
        self.check_jumps()?;
        let check_segment = |(i, s)| at(Entry::Segment(i), self.check_segment(s));
        self.segments
            .iter()
            .enumerate()
            .try_for_each(check_segment)?;
        for (index, bound) in self.requires.iter().enumerate() {
            let known = lookup(&self.kernels, "kernels", bound.kernel).map(|_| ());
            let sound = known.and_then(|()| self.check_size(&bound.amount));
            at(Entry::Bound(index), sound)?;
        }
        for (index, multiple) in self.multiples.iter().enumerate() {
            let known = lookup(&self.extents, "extents", multiple.extent).map(|_| ());
            at(Entry::Multiple(index), known)?;
        }
        let homes: BTreeSet<u32> = self.outputs.iter().map(|output| output.buffer).collect();
        let check_update =
            |(i, u): (usize, &u32)| at(Entry::Update(i), self.check_update(*u, &homes));
        self.updates.iter().enumerate().try_for_each(check_update)
    }

    fn check_update(&self, input: u32, homes: &BTreeSet<u32>) -> Result<(), Problem> {
        let buffer = lookup(&self.inputs, "inputs", input)?.buffer;
        let there = homes.contains(&buffer);
        there.then_some(()).ok_or(Problem::NoUpdate { buffer })
    }

    fn check_names(&self) -> Result<(), ArtifactError> {
        unique(&self.extents, |name| name, Entry::Extent)?;
        unique(&self.inputs, |tensor| &tensor.name, Entry::Input)?;
        unique(&self.outputs, |tensor| &tensor.name, Entry::Output)?;
        unique(&self.kernels, |kernel| &kernel.symbol, Entry::Kernel)
    }

    fn check_input(&self, index: usize, tensor: &TensorSpec) -> Result<(), Problem> {
        self.check_tensor(tensor)?;
        let buffer = self.buffer(tensor.buffer)?;
        match buffer.kind {
            BufferKind::Input(input) if input as usize == index => Ok(()),
            _ => Err(Problem::NotItsBuffer {
                buffer: tensor.buffer,
            }),
        }
    }

    fn check_output(&self, tensor: &TensorSpec) -> Result<(), Problem> {
        self.check_tensor(tensor)?;
        match self.buffer(tensor.buffer)?.kind {
            BufferKind::Temp { .. } => Err(Problem::TempOutput {
                buffer: tensor.buffer,
            }),
            BufferKind::Part { .. } | BufferKind::Counts => Err(Problem::NotItsBuffer {
                buffer: tensor.buffer,
            }),
            BufferKind::Input(_) | BufferKind::Output(_) => Ok(()),
        }
    }

    fn check_tensor(&self, tensor: &TensorSpec) -> Result<(), Problem> {
        let rank = tensor.dims.len();
        if rank > MAX_RANK {
            return Err(Problem::Rank { rank });
        }
        let mut order = tensor.order.clone();
        order.sort_unstable();
        if !order.is_empty() && !order.into_iter().eq(0..rank as u32) {
            return Err(Problem::Order { rank });
        }
        tensor
            .dims
            .iter()
            .try_for_each(|dim| self.check_size(&dim.extent))?;
        let buffer = self.buffer(tensor.buffer)?;
        same_dtype(tensor.dtype.in_buffer().name(), buffer.dtype.name())
    }

    fn check_buffer(&self, index: usize, buffer: &BufferSpec) -> Result<(), Problem> {
        self.check_size(&buffer.elements)?;
        match buffer.kind {
            BufferKind::Input(tensor) => is_home(&self.inputs, "inputs", tensor, index),
            BufferKind::Output(tensor) => is_home(&self.outputs, "outputs", tensor, index),
            BufferKind::Temp { first, last } => {
                let steps = self.steps.len();
                let lives = first <= last && (last as usize) < steps;
                lives
                    .then_some(())
                    .ok_or(Problem::Lifetime { first, last, steps })
            }
            BufferKind::Part { of, .. } => {
                let whole = self.buffer(of)?;
                same_dtype(buffer.dtype.name(), whole.dtype.name())?;
                match whole.kind {
                    BufferKind::Temp { .. } | BufferKind::Output(_) => Ok(()),
                    _ => Err(Problem::NoParts { buffer: of }),
                }
            }
            BufferKind::Counts => match self.target.is_cpu() {
                false => Ok(()),
                true => Err(Problem::CodeForOtherTarget),
            },
        }
    }

    fn check_kernel(&self, kernel: &KernelCode) -> Result<(), Problem> {
        let suits = match &self.target {
            Target::Cpu { .. } => {
                matches!(kernel.code, Code::Object(_)) && kernel.any_address.is_none()
            }
            Target::Cuda { .. } => {
                let mut codes = [&kernel.code].into_iter().chain(&kernel.any_address);
                codes.all(|code| matches!(code, Code::Ptx(_)))
            }
            Target::Hip { .. } => {
                let mut codes = [&kernel.code].into_iter().chain(&kernel.any_address);
                codes.all(|code| matches!(code, Code::Object(_)))
            }
        };
        suits.then_some(()).ok_or(Problem::CodeForOtherTarget)
    }

    fn check_step(&self, index: usize, step: &Step) -> Result<(), Problem> {
        lookup(&self.segments, "segments", step.segment())?;
        for buffer in step.buffers() {
            self.check_alive(index, buffer)?;
        }
        match step {
            Step::Launch {
                kernel,
                extents,
                grid,
                scratch_bytes,
                block,
                buffers,
                product,
                ..
            } => {
                if let Some(product) = product {
                    self.check_launched(product, buffers)?;
                }
                lookup(&self.kernels, "kernels", *kernel)?;
                let sizes = extents.iter().chain([grid, scratch_bytes]);
                sizes
                    .into_iter()
                    .try_for_each(|size| self.check_size(size))?;
                let threads = *block;
                let possible = (1..=MAX_BLOCK).contains(&threads);
                possible.then_some(()).ok_or(Problem::Block { threads })
            }
            Step::Copy {
                from, to, elements, ..
            } => {
                self.check_size(elements)?;
                self.check_written(*to)?;
                let (source, target) = (self.buffer(*from)?, self.buffer(*to)?);
                if from == to {
                    return Err(Problem::SelfCopy { buffer: *from });
                }
                same_dtype(source.dtype.name(), target.dtype.name())
            }
            Step::Fill {
                buffer, elements, ..
            } => {
                self.check_written(*buffer)?;
                self.check_size(elements)
            }
            Step::Product {
                tensors,
                added,
                windows,
                ..
            } => {
                let here = self.target.is_cpu();
                here.then_some(()).ok_or(Problem::NoCall)?;
                self.check_product(tensors, windows)?;
                match added {
                    Some(added) => self.check_added(added, &tensors[2], windows),
                    None => Ok(()),
                }
            }
            Step::Attention { tensors, sums, .. } => self.check_attention(tensors, sums.as_deref()),
            Step::Scatter {
                combine, tensors, ..
            } => self.check_scatter(*combine, tensors),
            Step::Sort {
                values, tensors, ..
            } => self.check_sort(*values, tensors),
            Step::Routine {
                routine, tensors, ..
            } => self.check_routine(*routine, tensors),
            Step::Collective {
                op, over, from, to, ..
            } => self.check_collective(op, over, from.as_deref(), to),
            Step::Turn {
                turns,
                condition,
                end,
                ..
            } => self.check_turn(index, turns.as_ref(), *condition, *end),
            // The step that begins a turn or a side knows the jump at its end.
            Step::Jump { .. } => Ok(()),
        }
    }

    /// Checks a product that a launch computes: its tensors are those of the kernel.
    fn check_launched(&self, product: &GpuProduct, buffers: &[u32]) -> Result<(), Problem> {
        let here = !self.target.is_cpu();
        let own: BTreeSet<u32> = product.tensors().map(|f| f.tensor.buffer).collect();
        let same = own
            .iter()
            .eq(&buffers.iter().copied().collect::<BTreeSet<u32>>());
        (here && same).then_some(()).ok_or(Problem::NoCall)?;
        self.check_product(&product.factors, &[])?;
        let Some(bias) = &product.bias else {
            return Ok(());
        };
        self.check_tensor(&bias.tensor)?;
        let [left, right, result] = &product.factors;
        let typed = bias.tensor.dtype == right.tensor.dtype;
        let apart = bias.tensor.buffer != result.tensor.buffer;
        (typed && apart).then_some(()).ok_or(Problem::NoCall)?;
        // The columns are one axis, the last one.
        let last = (result.loops.len() as u32).checked_sub(1);
        let own = bias.loops.first().copied();
        let fits = own == last
            && bias.loops.len() == 1
            && bias.tensor.dims.len() == 1
            && right.loops.len() == 2
            && own.is_some_and(|own| right.loops.contains(&own) && !left.loops.contains(&own));
        fits.then_some(()).ok_or(Problem::Loops)
    }

    fn check_product(&self, tensors: &[Factor; 3], windows: &[Window]) -> Result<(), Problem> {
        let [left, right, result] = tensors;
        let factors = [left, right];
        for factor in tensors {
            self.check_tensor(&factor.tensor)?;
        }
        self.check_written(result.tensor.buffer)?;
        let (from, to) = (left.tensor.dtype, result.tensor.dtype);
        let typed = right.tensor.dtype == from && is_product_of(from, to);
        let apart = factors
            .iter()
            .all(|f| f.tensor.buffer != result.tensor.buffer);
        (typed && apart).then_some(()).ok_or(Problem::NoCall)?;
        let rank = result.loops.len();
        let whole = |factor: &Factor| {
            let mut loops = factor.loops.clone();
            loops.sort_unstable();
            loops.dedup();
            let known = loops.iter().all(|&l| l as usize <= rank + windows.len());
            known && loops.len() == factor.tensor.dims.len() && loops.len() == factor.loops.len()
        };
        let both = |l: u32| factors.iter().all(|f| f.loops.contains(&l));
        let either = |l: u32| factors.iter().any(|f| f.loops.contains(&l));
        let fits = tensors.iter().all(whole)
            && result.loops.iter().copied().eq(0..rank as u32)
            && (0..rank as u32).all(either)
            && both(rank as u32)
            && windows.len() <= MAX_WINDOWS
            && windows.iter().enumerate().all(|(at, own)| {
                let place = (rank + 1 + at) as u32;
                own.place == place
                    && right.loops.contains(&place)
                    && !left.loops.contains(&place)
                    && (left.loops.get(own.axis as usize)).is_some_and(|&l| (l as usize) < rank)
                    && windows[..at].iter().all(|other| other.axis != own.axis)
                    && own.stride.min(own.dilation).min(own.base_dilation) >= 1
            });
        fits.then_some(()).ok_or(Problem::Loops)
    }

    /// Checks what is added to a product: a tensor of the result's type and loops. In the result's memory it has the
    /// same axes.
    fn check_added(
        &self,
        added: &Factor,
        result: &Factor,
        windows: &[Window],
    ) -> Result<(), Problem> {
        self.check_tensor(&added.tensor)?;
        let (own, made) = (&added.tensor, &result.tensor);
        let typed = own.dtype == made.dtype && matches!(own.dtype, DType::F32 | DType::F64);
        let same = own.buffer != made.buffer || own.dims == made.dims && own.order == made.order;
        (typed && windows.is_empty() && same)
            .then_some(())
            .ok_or(Problem::NoCall)?;
        let fits = added.loops == result.loops && own.dims.len() == added.loops.len();
        fits.then_some(()).ok_or(Problem::Loops)
    }

    /// Checks that the tensors of a call exist, and that exactly the last one, the result, is written.
    fn check_call(&self, tensors: &[Factor]) -> Result<(), Problem> {
        for factor in tensors {
            self.check_tensor(&factor.tensor)?;
        }
        let Some((result, others)) = tensors.split_last() else {
            return Err(Problem::NoCall);
        };
        self.check_written(result.tensor.buffer)?;
        let apart = |f: &Factor| f.tensor.buffer != result.tensor.buffer;
        let here = self.target.is_cpu();
        let own = result
            .loops
            .iter()
            .copied()
            .eq(0..result.loops.len() as u32);
        let fits = |f: &Factor| f.loops.len() == f.tensor.dims.len();
        match here && others.iter().all(apart) {
            false => Err(Problem::NoCall),
            true if own && tensors.iter().all(fits) => Ok(()),
            true => Err(Problem::Loops),
        }
    }

    fn check_attention(&self, tensors: &[Factor], sums: Option<&Factor>) -> Result<(), Problem> {
        self.check_call(tensors)?;
        if let Some(sums) = sums {
            self.check_tensor(&sums.tensor)?;
            self.check_written(sums.tensor.buffer)?;
            let apart = |f: &Factor| f.tensor.buffer != sums.tensor.buffer;
            (sums.tensor.dtype == DType::F32 && tensors.iter().all(apart))
                .then_some(())
                .ok_or(Problem::NoCall)?;
        }
        let (operands, bias, result) = match tensors {
            [q, k, v, result] => ([q, k, v], None, result),
            [q, k, v, bias, result] => ([q, k, v], Some(bias), result),
            _ => return Err(Problem::NoCall),
        };
        let dtype = result.tensor.dtype;
        let float = matches!(dtype, DType::F32 | DType::F16 | DType::Bf16);
        let same = operands.iter().all(|f| f.tensor.dtype == dtype);
        let added = bias.is_none_or(|f| f.tensor.dtype == dtype || f.tensor.dtype == DType::I1);
        (float && same && added)
            .then_some(())
            .ok_or(Problem::NoCall)?;
        let rank = result.loops.len() as u32;
        let batch = rank.checked_sub(2).ok_or(Problem::Loops)?;
        let ends = |f: &Factor, from: u32, last: &[u32]| {
            let last = last.iter().copied();
            f.loops.iter().copied().eq((from..batch).chain(last))
        };
        let (s, e, t, d) = (batch, batch + 1, rank, rank + 1);
        let fits = ends(operands[0], 0, &[s, d])
            && ends(operands[1], 0, &[t, d])
            && ends(operands[2], 0, &[t, e])
            && bias.is_none_or(|f| ends(f, 0, &[s, t]) || ends(f, batch, &[s, t]))
            && result.tensor.dims.iter().all(|dim| !dim.broadcast)
            && sums.is_none_or(|f| {
                ends(f, 0, &[s])
                    && f.loops.len() == f.tensor.dims.len()
                    && f.tensor.dims.iter().all(|dim| !dim.broadcast)
            });
        fits.then_some(()).ok_or(Problem::Loops)
    }

    fn check_scatter(&self, combine: Combine, tensors: &[Factor; 4]) -> Result<(), Problem> {
        let [dest, indices, updates, result] = tensors;
        let laid = |f: &Factor| {
            (
                f.tensor.dims.clone(),
                f.tensor.order.clone(),
                f.loops.clone(),
            )
        };
        // A result in the memory of `dest` has its layout.
        match dest.tensor.buffer == result.tensor.buffer && laid(dest) == laid(result) {
            true => self
                .check_tensor(&dest.tensor)
                .and(self.check_call(&tensors[1..])),
            false => self.check_call(tensors),
        }?;
        let dtype = result.tensor.dtype;
        let indexed = matches!(indices.tensor.dtype, DType::I64 | DType::I32);
        let same = dest.tensor.dtype == dtype && updates.tensor.dtype == dtype;
        let combined = match combine {
            Combine::Set => true,
            Combine::Max | Combine::Min => !dtype.is_storage(),
            Combine::Add | Combine::Mul => {
                !matches!(dtype, DType::F16 | DType::Bf16 | DType::I1) && !dtype.is_storage()
            }
        };
        (indexed && same && combined)
            .then_some(())
            .ok_or(Problem::NoCall)?;
        let rank = result.loops.len() as u32;
        let one = indices.loops == [rank];
        let fits = dest.loops == result.loops
            && is_turned(&updates.loops, rank)
            && (one || indices.loops == updates.loops);
        fits.then_some(()).ok_or(Problem::Loops)
    }

    fn check_sort(&self, values: bool, tensors: &[Factor; 2]) -> Result<(), Problem> {
        self.check_call(tensors)?;
        let [from, to] = tensors;
        let typed = match values {
            true => from.tensor.dtype == to.tensor.dtype,
            false => matches!(to.tensor.dtype, DType::I64 | DType::I32),
        };
        let ordered = !from.tensor.dtype.is_storage();
        (typed && ordered).then_some(()).ok_or(Problem::NoCall)?;
        let turned = is_turned(&from.loops, to.loops.len() as u32);
        turned.then_some(()).ok_or(Problem::Loops)
    }

    /// Operands are of one type, f32 or f64, results are written, to buffers of their own, and all have the loops of
    /// one batch.
    fn check_routine(&self, routine: Routine, tensors: &[Factor]) -> Result<(), Problem> {
        let (taken, made) = routine.axes();
        let here = self.target.is_cpu();
        let counted = here && tensors.len() == taken.len() + made.len();
        counted.then_some(()).ok_or(Problem::NoCall)?;
        let (operands, results) = tensors.split_at(taken.len());
        let dtype = operands.first().map(|factor| factor.tensor.dtype);
        let typed = matches!(dtype, Some(DType::F32 | DType::F64));
        let same = |factor: &Factor| Some(factor.tensor.dtype) == dtype;
        let mut outcomes = results.iter().enumerate();
        let typed = typed
            && operands.iter().all(same)
            && outcomes.all(|(index, factor)| match routine.indexes(index) {
                true => factor.tensor.dtype == DType::I32,
                false => same(factor),
            });
        typed.then_some(()).ok_or(Problem::NoCall)?;
        for factor in tensors {
            self.check_tensor(&factor.tensor)?;
        }
        for (index, result) in results.iter().enumerate() {
            self.check_written(result.tensor.buffer)?;
            let others = operands.iter().chain(&results[..index]);
            let apart = |other: &Factor| other.tensor.buffer != result.tensor.buffer;
            let stored = result.tensor.dims.iter().all(|dim| !dim.broadcast);
            let alone = stored && others.into_iter().all(apart);
            alone.then_some(()).ok_or(Problem::NoCall)?;
        }
        let batch = |(factor, own): (&Factor, &usize)| {
            let mut loops = factor.loops.clone();
            loops.sort_unstable();
            let whole = loops.iter().copied().eq(0..factor.tensor.dims.len() as u32);
            loops.len().checked_sub(*own).filter(|_| whole)
        };
        let mut batches = tensors.iter().zip(taken.iter().chain(made)).map(batch);
        let first = batches.next().flatten();
        let fits = first.is_some() && batches.all(|own| own == first);
        fits.then_some(()).ok_or(Problem::Loops)
    }

    fn check_mesh(&self, mesh: &Mesh) -> Result<(), Problem> {
        let names: BTreeSet<&String> = mesh.axes.iter().map(|axis| &axis.name).collect();
        if mesh.axes.iter().any(|axis| axis.name.is_empty()) {
            return Err(Problem::EmptyName);
        }
        let mut sizes = mesh.axes.iter().map(|axis| axis.size as usize);
        let devices = sizes.try_fold(1usize, usize::checked_mul);
        devices
            .filter(|devices| (1..=MAX_DEVICES).contains(devices))
            .ok_or(Problem::Devices)?;
        let cuts = |(own, tensor): (&Sharding, &TensorSpec)| {
            let axes: Vec<u32> = own.dims.iter().flatten().copied().collect();
            own.dims.len() == tensor.dims.len() && are_axes(mesh, &axes)
        };
        let all = |own: &[Sharding], tensors: &[TensorSpec]| {
            own.len() == tensors.len() && own.iter().zip(tensors).all(cuts)
        };
        let fits = names.len() == mesh.axes.len()
            && all(&mesh.inputs, &self.inputs)
            && all(&mesh.outputs, &self.outputs);
        fits.then_some(()).ok_or(Problem::Sharding)
    }

    /// Checks a communication of a group of the mesh. Operand and result have one type and one rank, in separate
    /// buffers.
    fn check_collective(
        &self,
        op: &Collective,
        over: &[u32],
        from: Option<&TensorSpec>,
        to: &TensorSpec,
    ) -> Result<(), Problem> {
        self.check_tensor(to)?;
        self.check_written(to.buffer)?;
        let mesh = self.mesh.as_ref().filter(|mesh| are_axes(mesh, over));
        let devices = mesh.ok_or(Problem::Group)?.group_size(over);
        let Some(from) = from else {
            let index = to.dtype == DType::I32 && to.dims.is_empty();
            return (*op == Collective::AxisIndex && index)
                .then_some(())
                .ok_or(Problem::NoCall);
        };
        self.check_tensor(from)?;
        let apart = from.buffer != to.buffer && from.dims.len() == to.dims.len();
        let whole = from.dtype == to.dtype && from.dtype.in_buffer() == from.dtype;
        let is_axis = |dim: u32| (dim as usize) < to.dims.len();
        let fits = match op {
            Collective::AxisIndex => false,
            Collective::AllReduce(combine) => *combine != Combine::Set,
            Collective::AllGather { dim } => is_axis(*dim),
            Collective::ReduceScatter { combine, dim } => *combine != Combine::Set && is_axis(*dim),
            Collective::AllToAll { split, concat } => is_axis(*split) && is_axis(*concat),
            Collective::Permute { .. } | Collective::Broadcast { .. } => true,
        };
        (apart && whole && fits)
            .then_some(())
            .ok_or(Problem::NoCall)?;
        let is_device = |device: u32| (device as usize) < devices;
        let there = match op {
            Collective::Permute { pairs } => [0, 1].into_iter().all(|end| {
                let ends: BTreeSet<u32> = pairs.iter().map(|pair| pair[end]).collect();
                ends.len() == pairs.len() && ends.into_iter().all(is_device)
            }),
            Collective::Broadcast { root } => is_device(*root),
            _ => true,
        };
        there.then_some(()).ok_or(Problem::Group)
    }

    fn check_alive(&self, step: usize, index: u32) -> Result<(), Problem> {
        match self.buffer(index)?.kind {
            BufferKind::Temp { first, last } if step < first as usize || step > last as usize => {
                Err(Problem::Dead {
                    buffer: index,
                    first,
                    last,
                })
            }
            // Parts have no parts: `check_buffer`.
            BufferKind::Part { of, .. } if of != index => self.check_alive(step, of),
            _ => Ok(()),
        }
    }

    fn check_written(&self, index: u32) -> Result<(), Problem> {
        match self.buffer(index)?.kind {
            BufferKind::Input(_) if !self.updates_buffer(index) => {
                Err(Problem::WritesInput { buffer: index })
            }
            _ => Ok(()),
        }
    }

    fn check_segment(&self, segment: &SegmentInfo) -> Result<(), Problem> {
        let values = segment.values.iter().map(|value| &value.bytes);
        let sizes = values.chain([&segment.read_bytes, &segment.write_bytes]);
        sizes.into_iter().try_for_each(|size| self.check_size(size))
    }

    pub(crate) fn check_size(&self, size: &SizeExpr) -> Result<(), Problem> {
        size.check(self.extents.len()).map_err(Problem::Size)
    }

    pub(crate) fn buffer(&self, index: u32) -> Result<&BufferSpec, Problem> {
        lookup(&self.buffers, "buffers", index)
    }
}

pub(crate) fn at(entry: Entry, result: Result<(), Problem>) -> Result<(), ArtifactError> {
    result.map_err(|problem| ArtifactError::Invalid { entry, problem })
}

fn lookup<'a, T>(items: &'a [T], list: &'static str, index: u32) -> Result<&'a T, Problem> {
    let len = items.len();
    let item = items.get(index as usize);
    item.ok_or(Problem::Index { list, index, len })
}

fn is_home(
    tensors: &[TensorSpec],
    list: &'static str,
    tensor: u32,
    buffer: usize,
) -> Result<(), Problem> {
    let home = lookup(tensors, list, tensor)?.buffer as usize;
    let same = home == buffer;
    same.then_some(()).ok_or(Problem::NotItsTensor { tensor })
}

/// True for the loops `0..rank`, but loop `rank` in place of one of them.
fn is_turned(loops: &[u32], rank: u32) -> bool {
    let own = |(at, l): (usize, &u32)| *l == at as u32;
    let others = loops.iter().enumerate().filter(|&pair| !own(pair));
    let others: Vec<u32> = others.map(|(_, l)| *l).collect();
    loops.len() as u32 == rank && others == [rank]
}

/// True for axes of the mesh, each listed once.
fn are_axes(mesh: &Mesh, axes: &[u32]) -> bool {
    let all: BTreeSet<u32> = axes.iter().copied().collect();
    let known = |axis: &u32| (*axis as usize) < mesh.axes.len();
    all.len() == axes.len() && all.iter().all(known)
}

/// True for a float type and itself, or the type in which it accumulates.
fn is_product_of(from: DType, to: DType) -> bool {
    match from {
        DType::F64 | DType::F32 => to == from,
        DType::F16 | DType::Bf16 => to == from || to == DType::F32,
        _ => false,
    }
}

pub(crate) fn same_dtype(expected: &'static str, found: &'static str) -> Result<(), Problem> {
    let same = expected == found;
    same.then_some(()).ok_or(Problem::DType { expected, found })
}

fn unique<T>(
    items: &[T],
    name: impl Fn(&T) -> &String,
    entry: impl Fn(usize) -> Entry,
) -> Result<(), ArtifactError> {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let name = name(item);
        let result = match seen.insert(name) {
            _ if name.is_empty() => Err(Problem::EmptyName),
            false => Err(Problem::Duplicate { name: name.clone() }),
            true => Ok(()),
        };
        at(entry(index), result)?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::artifact::{DimSpec, Direction, SegmentKind, SegmentValue};
    use crate::dtype::DType;
    use crate::mesh::MeshAxis;

    fn tensor(name: &str, buffer: u32) -> TensorSpec {
        TensorSpec {
            name: name.to_string(),
            dtype: DType::F32,
            dims: vec![
                DimSpec::stored(SizeExpr::extent(0)),
                DimSpec::broadcast(1024),
            ],
            order: Vec::new(),
            buffer,
        }
    }

    fn buffer(name: &str, kind: BufferKind) -> BufferSpec {
        BufferSpec {
            name: name.to_string(),
            dtype: DType::F32,
            elements: SizeExpr::extent(0),
            kind,
        }
    }

    /// One of everything: fill, launch, copy; an input, a temporary, an output.
    pub(crate) fn sample() -> Artifact {
        let target = Target::Cpu {
            triple: "x86_64-unknown-linux-gnu".to_string(),
            cpu: "x86-64-v3".to_string(),
            features: String::new(),
        };
        let mut artifact = Artifact::new("sample", target);
        artifact.extents.push("B".to_string());
        artifact.inputs.push(tensor("x", 0));
        artifact.outputs.push(tensor("y", 2));
        artifact.buffers = vec![
            buffer("x", BufferKind::Input(0)),
            buffer("t", BufferKind::Temp { first: 0, last: 2 }),
            buffer("y", BufferKind::Output(0)),
        ];
        artifact.kernels.push(KernelCode {
            name: "k".to_string(),
            symbol: "sample_k".to_string(),
            code: Code::Object(vec![0x7f, 0x45]),
            shared_bytes: 0,
            any_address: None,
            lines: true,
        });
        artifact.steps = vec![
            Step::Fill {
                segment: 0,
                buffer: 1,
                elements: SizeExpr::extent(0),
                bits: 0x3f80_0000,
            },
            Step::Launch {
                kernel: 0,
                segment: 0,
                buffers: vec![0, 1],
                extents: vec![SizeExpr::extent(0)],
                grid: SizeExpr::extent(0).ceil_div(8.into()),
                scratch_bytes: 64.into(),
                block: 1,
                product: None,
            },
            Step::Copy {
                segment: 0,
                from: 1,
                to: 2,
                elements: SizeExpr::extent(0),
            },
        ];
        artifact.segments.push(SegmentInfo {
            name: "s0".to_string(),
            label: String::new(),
            kind: SegmentKind::Kernel,
            ops: 3,
            sweeps: 1,
            read_bytes: SizeExpr::extent(0) * 4.into(),
            write_bytes: SizeExpr::extent(0) * 4.into(),
            values: vec![SegmentValue {
                name: "x".to_string(),
                direction: Direction::Read,
                bytes: SizeExpr::extent(0) * 4.into(),
            }],
        });
        artifact
    }

    /// The message after one change of the sample.
    fn refused(change: impl FnOnce(&mut Artifact)) -> String {
        let mut artifact = sample();
        change(&mut artifact);
        artifact.validate().unwrap_err().to_string()
    }

    fn in_step(index: usize, change: impl FnOnce(&mut Step)) -> String {
        let text = refused(|artifact| change(&mut artifact.steps[index]));
        let prefix = format!("invalid artifact: steps[{index}]: ");
        text.strip_prefix(&prefix).unwrap().to_string()
    }

    #[test]
    fn the_sample_is_valid() {
        assert_eq!(sample().validate(), Ok(()));
    }

    #[test]
    fn names_must_be_there_and_unique() {
        let text = refused(|a| a.extents.push("B".to_string()));
        assert_eq!(text, "invalid artifact: extents[1]: second `B`");
        let text = refused(|a| a.inputs[0].name.clear());
        assert_eq!(text, "invalid artifact: inputs[0]: empty name");
        let text = refused(|a| a.outputs.push(tensor("y", 2)));
        assert_eq!(text, "invalid artifact: outputs[1]: second `y`");
        let text = refused(|a| a.kernels.push(a.kernels[0].clone()));
        assert_eq!(text, "invalid artifact: kernels[1]: second `sample_k`");
    }

    #[test]
    fn tensors_and_buffers_must_fit_together() {
        let text = refused(|a| a.inputs[0].buffer = 9);
        assert_eq!(text, "invalid artifact: inputs[0]: buffers[9] of 3");
        let text = refused(|a| a.inputs[0].buffer = 1);
        let not_its = "invalid artifact: inputs[0]: buffers[1] is not the memory of this input";
        assert_eq!(text, not_its);
        let text = refused(|a| a.outputs[0].dtype = DType::I64);
        let dtype = "invalid artifact: outputs[0]: element type f32, expected i64";
        assert_eq!(text, dtype);
        let text = refused(|a| a.inputs[0].dims = vec![DimSpec::stored(1); 33]);
        let rank = "invalid artifact: inputs[0]: 33 axes, at most 32 are possible";
        assert_eq!(text, rank);
        let text = refused(|a| a.outputs[0].dims[0].extent = SizeExpr::extent(1));
        let size = "invalid artifact: outputs[0]: size `$1` names extent 1 of 1";
        assert_eq!(text, size);
        let text = refused(|a| a.outputs[0].buffer = 1);
        let temp =
            "invalid artifact: outputs[0]: buffers[1] is a temporary, it cannot hold an output";
        assert_eq!(text, temp);
        let text = refused(|a| a.outputs[0].buffer = 0);
        let home = "invalid artifact: buffers[2]: tensor 0 of that kind lives in another buffer";
        assert_eq!(text, home);
        let text = refused(|a| a.buffers[2].kind = BufferKind::Output(7));
        assert_eq!(text, "invalid artifact: buffers[2]: outputs[7] of 1");
    }

    /// The sample with a product in the place of its copy: `[B, 4]` by `[4, B]`, summed along the 4, and added to the
    /// memory of its result.
    fn with_product(change: impl Fn(&mut [Factor; 3], &mut Factor)) -> Result<(), ArtifactError> {
        let mut artifact = sample();
        let factor = |buffer, loops: [u32; 2], extents: [SizeExpr; 2]| Factor {
            tensor: TensorSpec {
                dims: extents.map(DimSpec::stored).to_vec(),
                ..tensor("t", buffer)
            },
            loops: loops.to_vec(),
        };
        let (b, four) = (SizeExpr::extent(0), SizeExpr::constant(4));
        let mut tensors = [
            factor(0, [0, 2], [b.clone(), four.clone()]),
            factor(1, [2, 1], [four, b.clone()]),
            factor(2, [0, 1], [b.clone(), b]),
        ];
        let mut added = tensors[2].clone();
        change(&mut tensors, &mut added);
        artifact.steps[2] = Step::Product {
            segment: 0,
            tensors: Box::new(tensors),
            added: Some(Box::new(added)),
            windows: Vec::new(),
        };
        artifact.validate()
    }

    #[test]
    fn products_must_fit_their_loops() {
        assert_eq!(with_product(|_, _| {}), Ok(()));
        let refused_with = |change: &dyn Fn(&mut [Factor; 3], &mut Factor)| {
            with_product(change).unwrap_err().to_string()
        };
        let refused = |change: &dyn Fn(&mut [Factor; 3])| refused_with(&|t, _| change(t));
        let loops = "invalid artifact: steps[2]: its axes are not the loops of its call";
        assert_eq!(refused(&|t| t[0].loops[0] = 1), loops);
        assert_eq!(refused(&|t| t[0].loops[1] = 0), loops);
        assert_eq!(refused(&|t| t[1].loops[0] = 3), loops);
        assert_eq!(refused(&|t| t[1].loops.truncate(1)), loops);
        assert_eq!(refused(&|t| t[2].loops.swap(0, 1)), loops);
        let none = "invalid artifact: steps[2]: no call computes this";
        assert_eq!(refused(&|t| t[0].tensor.buffer = 2), none);
        let input = refused(&|t| t[2].tensor.buffer = 0);
        assert!(input.contains("writes to buffers[0]"), "{input}");
        // What is added has the loops of the result, and its axes where it has its memory.
        assert_eq!(refused_with(&|_, c| c.loops.swap(0, 1)), loops);
        assert_eq!(refused_with(&|_, c| c.loops.truncate(1)), loops);
        assert_eq!(refused_with(&|_, c| c.tensor.order = vec![1, 0]), none);
        let typed = refused_with(&|_, c| c.tensor.dtype = DType::I32);
        assert!(typed.contains("element type f32"), "{typed}");
        let turned = |c: &mut Factor| (c.tensor.buffer, c.tensor.order) = (1, vec![1, 0]);
        assert_eq!(with_product(|_, c| turned(c)), Ok(()));
    }

    /// The sample on a GPU, whose launch computes a product: `[B, 4]` by `[4, B]`.
    fn with_launched(change: impl Fn(&mut Vec<u32>, &mut GpuProduct)) -> Result<(), ArtifactError> {
        let mut artifact = sample();
        artifact.target = Target::Cuda { sm: 90 };
        artifact.kernels[0].code = Code::Ptx(String::new());
        let temporary = BufferKind::Temp { first: 0, last: 2 };
        artifact
            .buffers
            .extend(["o", "c"].map(|name| buffer(name, temporary)));
        let (b, four) = (SizeExpr::extent(0), SizeExpr::constant(4));
        let factor = |buffer, loops: &[u32], extents: &[&SizeExpr]| Factor {
            tensor: TensorSpec {
                dims: extents
                    .iter()
                    .map(|&e| DimSpec::stored(e.clone()))
                    .collect(),
                ..tensor("t", buffer)
            },
            loops: loops.to_vec(),
        };
        let mut own = GpuProduct {
            factors: [
                factor(0, &[0, 2], &[&b, &four]),
                factor(1, &[2, 1], &[&four, &b]),
                factor(3, &[0, 1], &[&b, &b]),
            ],
            bias: Some(factor(4, &[1], &[&b])),
        };
        if let Step::Launch {
            buffers, product, ..
        } = &mut artifact.steps[1]
        {
            *buffers = vec![1, 0, 4, 3];
            change(buffers, &mut own);
            *product = Some(Box::new(own));
        }
        artifact.validate()
    }

    #[test]
    fn the_product_of_a_launch_is_that_of_its_buffers() {
        assert_eq!(with_launched(|_, _| {}), Ok(()));
        let plain = with_launched(|buffers, product| {
            product.bias = None;
            buffers.remove(2);
        });
        assert_eq!(plain, Ok(()));
        let refused = |change: &dyn Fn(&mut Vec<u32>, &mut GpuProduct)| {
            with_launched(change).unwrap_err().to_string()
        };
        let none = "invalid artifact: steps[1]: no call computes this";
        assert_eq!(refused(&|buffers, _| buffers.truncate(3)), none);
        assert_eq!(refused(&|_, p| p.bias = None), none);
        assert_eq!(refused(&|_, p| p.factors[1].tensor.buffer = 0), none);
        let bias = |change: fn(&mut Factor)| {
            refused(&|buffers, product| {
                product.bias.iter_mut().for_each(change);
                let used = product.tensors().map(|f| f.tensor.buffer);
                *buffers = used.collect();
            })
        };
        assert_eq!(bias(|bias| bias.tensor.buffer = 3), none);
        let loops = "invalid artifact: steps[1]: its axes are not the loops of its call";
        assert_eq!(bias(|bias| bias.loops[0] = 0), loops);
        assert_eq!(bias(|bias| bias.loops.clear()), loops);
        assert_eq!(refused(&|_, p| p.factors[0].loops[0] = 1), loops);
        // On a CPU launches have none.
        let mut here = sample();
        let of = |buffer| Factor {
            tensor: tensor("t", buffer),
            loops: vec![0, 1],
        };
        if let Step::Launch { product, .. } = &mut here.steps[1] {
            let factors = [of(0), of(0), of(1)];
            *product = Some(Box::new(GpuProduct {
                factors,
                bias: None,
            }));
        }
        assert_eq!(here.validate().unwrap_err().to_string(), none);
    }

    /// The sample with a scatter in the place of its copy: rows of `[B, 4]` put into `[B, 4]`.
    fn with_scatter(change: impl Fn(&mut Combine, &mut [Factor; 4])) -> String {
        let mut artifact = sample();
        artifact.buffers.push(BufferSpec {
            dtype: DType::I64,
            ..buffer("i", BufferKind::Temp { first: 0, last: 2 })
        });
        let (b, four) = (SizeExpr::extent(0), SizeExpr::constant(4));
        let factor = |buffer: u32, loops: &[u32], extents: &[&SizeExpr]| Factor {
            tensor: TensorSpec {
                dtype: if buffer == 3 { DType::I64 } else { DType::F32 },
                dims: extents
                    .iter()
                    .map(|&e| DimSpec::stored(e.clone()))
                    .collect(),
                ..tensor("t", buffer)
            },
            loops: loops.to_vec(),
        };
        let mut tensors = [
            factor(0, &[0, 1], &[&b, &four]),
            factor(3, &[2], &[&b]),
            factor(1, &[2, 1], &[&b, &four]),
            factor(2, &[0, 1], &[&b, &four]),
        ];
        let mut combine = Combine::Add;
        change(&mut combine, &mut tensors);
        artifact.steps[2] = Step::Scatter {
            segment: 0,
            combine,
            tensors: Box::new(tensors),
        };
        artifact
            .validate()
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn scatters_must_fit_their_loops() {
        assert_eq!(with_scatter(|_, _| {}), "");
        let loops = "invalid artifact: steps[2]: its axes are not the loops of its call";
        assert_eq!(with_scatter(|_, t| t[2].loops[0] = 0), loops);
        assert_eq!(with_scatter(|_, t| t[2].loops[1] = 2), loops);
        assert_eq!(with_scatter(|_, t| t[0].loops.swap(0, 1)), loops);
        assert_eq!(with_scatter(|_, t| t[1].loops[0] = 1), loops);
        assert_eq!(with_scatter(|_, t| t[3].loops.truncate(1)), loops);
        let none = "invalid artifact: steps[2]: no call computes this";
        assert_eq!(with_scatter(|_, t| t[1] = t[2].clone()), none);
        assert_eq!(with_scatter(|_, t| t[0].tensor.buffer = 2), "");
        let turned = |t: &mut [Factor; 4]| {
            t[0].tensor.buffer = 2;
            t[0].tensor.order = vec![1, 0];
        };
        assert_eq!(with_scatter(|_, t| turned(t)), none);
        assert_eq!(with_scatter(|_, t| t[2].tensor.buffer = 2), none);
    }

    /// The sample on a mesh of 2 by 3 devices, with a sum over the second axis in the place of its copy.
    fn with_collective(change: impl Fn(&mut Artifact)) -> String {
        let mut artifact = sample();
        let axis = |(name, size): (&str, u32)| MeshAxis {
            name: name.to_string(),
            size,
        };
        let cut = |dims: [&[u32]; 2]| Sharding {
            dims: dims.map(<[u32]>::to_vec).to_vec(),
        };
        artifact.mesh = Some(Mesh {
            axes: [("data", 2), ("model", 3)].map(axis).to_vec(),
            inputs: vec![cut([&[0, 1], &[]])],
            outputs: vec![cut([&[0], &[]])],
        });
        artifact.steps[2] = Step::Collective {
            segment: 0,
            op: Collective::AllReduce(Combine::Add),
            over: vec![1],
            from: Some(Box::new(tensor("t", 1))),
            to: Box::new(tensor("y", 2)),
        };
        change(&mut artifact);
        let text = artifact.validate().err().map(|e| e.to_string());
        text.unwrap_or_default()
    }

    fn with_op(new: Collective) -> String {
        with_collective(move |artifact| {
            if let Step::Collective { op, .. } = &mut artifact.steps[2] {
                *op = new.clone();
            }
        })
    }

    #[test]
    fn meshes_have_devices_and_cut_tensors() {
        let mesh = |change: &dyn Fn(&mut Mesh)| {
            let text = with_collective(|artifact| artifact.mesh.iter_mut().for_each(change));
            let inner = text.strip_prefix("invalid artifact: mesh: ");
            inner.map_or(text.clone(), str::to_string)
        };
        assert_eq!(mesh(&|_| {}), "");
        let devices = "its axes do not have 1 to 1048576 devices in all";
        assert_eq!(mesh(&|mesh| mesh.axes[0].size = 0), devices);
        assert_eq!(mesh(&|mesh| mesh.axes[0].size = 1 << 19), devices);
        assert_eq!(mesh(&|mesh| mesh.axes[0].name.clear()), "empty name");
        let sharding = "its axes do not cut each tensor of the program, each axis at most once";
        assert_eq!(mesh(&|m| m.axes[0].name = "model".to_string()), sharding);
        assert_eq!(mesh(&|m| m.inputs[0].dims[1].push(0)), sharding);
        assert_eq!(mesh(&|m| m.inputs[0].dims[1].push(2)), sharding);
        assert_eq!(mesh(&|m| m.inputs[0].dims.truncate(1)), sharding);
        assert_eq!(mesh(&|m| m.outputs.clear()), sharding);
        let other = with_collective(|artifact| {
            let mut other = artifact.clone();
            other
                .mesh
                .iter_mut()
                .for_each(|m| m.outputs[0] = m.inputs[0].clone());
            artifact.otherwise = Some(Box::new(other));
        });
        let text = "invalid artifact: version 1: it is no version of this program";
        assert_eq!(other, text);
    }

    #[test]
    fn collectives_fit_mesh_and_tensors() {
        let refused = |change: &dyn Fn(&mut Vec<u32>, &mut TensorSpec, &mut TensorSpec)| {
            with_collective(|artifact| {
                if let Step::Collective { over, from, to, .. } = &mut artifact.steps[2]
                    && let Some(from) = from
                {
                    change(over, from, to);
                }
            })
        };
        assert_eq!(refused(&|over, _, _| over.push(0)), "");
        assert_eq!(refused(&|over, _, _| over.clear()), "");
        let group =
            "invalid artifact: steps[2]: it communicates with devices that the mesh has not";
        assert_eq!(refused(&|over, _, _| over.push(1)), group);
        assert_eq!(refused(&|over, _, _| over.push(2)), group);
        assert_eq!(with_collective(|artifact| artifact.mesh = None), group);
        let none = "invalid artifact: steps[2]: no call computes this";
        assert_eq!(refused(&|_, from, _| from.buffer = 2), none);
        assert_eq!(refused(&|_, from, _| from.dims.truncate(1)), none);
        let input = refused(&|_, _, to| to.buffer = 0);
        assert!(input.contains("writes to buffers[0]"), "{input}");
        for op in [
            Collective::AllGather { dim: 1 },
            Collective::AllToAll {
                split: 1,
                concat: 1,
            },
            Collective::Permute {
                pairs: vec![[0, 2], [2, 1]],
            },
            Collective::Broadcast { root: 2 },
        ] {
            assert_eq!(with_op(op.clone()), "", "{op:?}");
        }
        for op in [
            Collective::AxisIndex,
            Collective::AllReduce(Combine::Set),
            Collective::AllGather { dim: 2 },
            Collective::ReduceScatter {
                combine: Combine::Add,
                dim: 2,
            },
            Collective::AllToAll {
                split: 2,
                concat: 0,
            },
        ] {
            assert_eq!(with_op(op.clone()), none, "{op:?}");
        }
        for op in [
            Collective::Permute {
                pairs: vec![[0, 3]],
            },
            Collective::Permute {
                pairs: vec![[0, 1], [0, 2]],
            },
            Collective::Permute {
                pairs: vec![[0, 1], [2, 1]],
            },
            Collective::Broadcast { root: 3 },
        ] {
            assert_eq!(with_op(op.clone()), group, "{op:?}");
        }
    }

    #[test]
    fn parts_lie_in_temporaries_and_outputs() {
        let part = |of, at| refused(|a| a.buffers.push(buffer("p", BufferKind::Part { of, at })));
        let of_input = "invalid artifact: buffers[3]: buffers[0] has no parts: it is no temporary and no output";
        assert_eq!(part(0, 0), of_input);
        let of_itself = "invalid artifact: buffers[3]: buffers[3] has no parts: it is no temporary and no output";
        assert_eq!(part(3, 0), of_itself);
        assert_eq!(part(9, 0), "invalid artifact: buffers[3]: buffers[9] of 4");
        let mut whole = sample();
        whole
            .buffers
            .push(buffer("p", BufferKind::Part { of: 1, at: 4 }));
        assert_eq!(whole.validate(), Ok(()));
        // A part lives as long as its buffer.
        let dead = refused(|a| {
            a.buffers
                .push(buffer("p", BufferKind::Part { of: 1, at: 0 }));
            a.buffers[1].kind = BufferKind::Temp { first: 1, last: 2 };
            if let Step::Fill { buffer, .. } = &mut a.steps[0] {
                *buffer = 3;
            }
        });
        assert_eq!(
            dead,
            "invalid artifact: steps[0]: uses buffers[1], which lives from step 1 to 2"
        );
    }

    #[test]
    fn temporaries_must_live_while_they_are_used() {
        let lifetime =
            |first, last| refused(|a| a.buffers[1].kind = BufferKind::Temp { first, last });
        assert_eq!(
            lifetime(0, 3),
            "invalid artifact: buffers[1]: live from step 0 to 3 of 3 steps"
        );
        assert_eq!(
            lifetime(2, 1),
            "invalid artifact: buffers[1]: live from step 2 to 1 of 3 steps"
        );
        let dead = "uses buffers[1], which lives from step";
        assert_eq!(
            lifetime(1, 2),
            format!("invalid artifact: steps[0]: {dead} 1 to 2")
        );
        assert_eq!(
            lifetime(0, 1),
            format!("invalid artifact: steps[2]: {dead} 0 to 1")
        );
    }

    #[test]
    fn steps_must_name_what_exists() {
        let text = in_step(0, |step| {
            if let Step::Fill { buffer, .. } = step {
                *buffer = 0;
            }
        });
        assert_eq!(
            text,
            "writes to buffers[0], an input that no output updates"
        );
        let text = in_step(1, |step| {
            if let Step::Launch { kernel, .. } = step {
                *kernel = u32::MAX;
            }
        });
        assert_eq!(text, "kernels[4294967295] of 1");
        let text = in_step(1, |step| {
            if let Step::Launch { block, .. } = step {
                *block = 0;
            }
        });
        assert_eq!(text, "0 threads in a block, possible are 1 to 1024");
        let text = in_step(2, |step| {
            if let Step::Copy { from, .. } = step {
                *from = 2;
            }
        });
        assert_eq!(text, "copies buffers[2] to itself");
        let text = in_step(2, |step| {
            if let Step::Copy { segment, .. } = step {
                *segment = 1;
            }
        });
        assert_eq!(text, "segments[1] of 1");
    }

    #[test]
    fn what_is_overwritten_must_be_an_output() {
        let text = refused(|a| a.updates.push(7));
        assert_eq!(text, "invalid artifact: updates[0]: inputs[7] of 1");
        let text = refused(|a| a.updates.push(0));
        assert_eq!(
            text,
            "invalid artifact: updates[0]: no output lives in buffers[0]"
        );
        let mut view = sample();
        view.outputs[0].buffer = 0;
        view.buffers[2].kind = BufferKind::Temp { first: 2, last: 2 };
        assert_eq!(view.validate(), Ok(()));
        assert!(!view.updates_buffer(0));
        view.updates.push(0);
        assert_eq!(view.validate(), Ok(()));
        assert!(view.updates_buffer(0));
    }

    #[test]
    fn code_must_suit_the_target() {
        let text = refused(|a| a.kernels[0].code = Code::Ptx(String::new()));
        assert_eq!(
            text,
            "invalid artifact: kernels[0]: code for another kind of target"
        );
        let text = refused(|a| a.segments[0].values[0].bytes = SizeExpr::from_ops(Vec::new()));
        assert_eq!(
            text,
            "invalid artifact: segments[0]: size `` does not leave one value"
        );
    }
}
