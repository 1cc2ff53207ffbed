//! The simulated device: its limits, its memory, its modules, and the launches that run on it. The driver's entry
//! points are a thin layer over it.
//!
//! A call has completed when it returns, which is one of the orders that a stream permits. An error in a kernel appears
//! as with a real driver: the launch succeeds, and every later call fails until the process ends. A stream under
//! capture does nothing until the graph is launched.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use fuser_target::{Kind, Target};
use serde_json::{Value, json};

use crate::count::Counts;
use crate::cublaslt::Multiply;
use crate::decode::{self, Kernel, Variables};
use crate::error::{PtxError, PtxFault};
use crate::execute::{self, Launch};
use crate::finding::Code;
use crate::memory::Global;
use crate::order::Order;
use crate::text;

/// The device's memory, which the host must have as well.
pub const MEMORY: u64 = 1 << 30;

/// The options of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The device that is played.
    pub target: Target,
    /// The order of blocks and warps.
    pub order: Order,
    /// The seed of a random order.
    pub seed: u64,
    /// The number of devices.
    pub devices: u32,
    /// Nothing runs on the device: calls are checked and counted.
    pub count: bool,
    /// Races and shared memory that nobody wrote are no findings.
    pub unchecked: bool,
    /// cuBLASLt is there.
    pub cublaslt: bool,
    /// The device has no pools of memory.
    pub no_pools: bool,
}

/// Most devices of a process.
const MOST_DEVICES: u32 = 16;

impl Default for Options {
    fn default() -> Self {
        Self {
            target: fuser_target::A100,
            order: Order::default(),
            seed: 0,
            devices: 1,
            count: false,
            unchecked: false,
            cublaslt: false,
            no_pools: false,
        }
    }
}

/// A word of the options that is not understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownOption(pub String);

impl fmt::Display for UnknownOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let orders = Order::ALL.map(Order::name).join("|");
        write!(
            f,
            "'{}' is no option of the simulator (expected sm_80, sm_90, ..., order={orders}, seed=N, devices=N, count, unchecked, cublaslt, no-pools)",
            self.0
        )
    }
}

impl Options {
    /// Reads options: `sm_90,order=random,seed=3`.
    pub fn read(text: &str) -> Result<Options, UnknownOption> {
        let mut options = Options::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let unknown = || UnknownOption(word.to_owned());
            match word.split_once('=') {
                None if word == "count" => options.count = true,
                None if word == "unchecked" => options.unchecked = true,
                None if word == "cublaslt" => options.cublaslt = true,
                None if word == "no-pools" => options.no_pools = true,
                None => {
                    let found = Target::by_name(&format!("cuda:{word}"));
                    let found = found.or_else(|_| Target::by_name(word)).ok();
                    let found = found.filter(|target| target.kind == Kind::Cuda);
                    options.target = found.ok_or_else(unknown)?;
                }
                Some(("order", name)) => {
                    let found = Order::ALL.into_iter().find(|order| order.name() == name);
                    options.order = found.ok_or_else(unknown)?;
                }
                Some(("devices", number)) => {
                    let number = number.parse().ok();
                    let number = number.filter(|n| (1..=MOST_DEVICES).contains(n));
                    options.devices = number.ok_or_else(unknown)?;
                }
                Some(("seed", number)) => options.seed = number.parse().map_err(|_| unknown())?,
                Some(_) => return Err(unknown()),
            }
        }
        Ok(options)
    }
}

/// A module that is loaded.
struct Module {
    lines: Vec<String>,
    constants: Vec<u8>,
    /// Addresses of its variables in global memory.
    globals: Vec<u64>,
    kernels: BTreeMap<String, Arc<Kernel>>,
}

impl Module {
    /// Reads and decodes PTX for a device with this memory.
    fn load(ptx: &str, target: &Target, memory: &mut Global) -> Result<Module, PtxError> {
        let read = text::read(ptx)?;
        if u64::from(read.target) > target.capability {
            let (target, device) = (read.target, target.capability as u32);
            return Err(PtxFault::Newer { target, device }.at(1));
        }
        let mut globals = Vec::new();
        let variables = Variables::of(&read, &mut |bytes| {
            let address = memory.allocate(bytes.len())?;
            globals.push(address);
            memory.slice(address, bytes.len())?.copy_from_slice(bytes);
            Some(address)
        })?;
        let entries = read.functions.iter().filter(|function| function.entry);
        let kernels = entries.map(|function| {
            let kernel = decode::decode(&read, &variables, function)?;
            Ok((kernel.name.clone(), Arc::new(kernel)))
        });
        let kernels = kernels.collect::<Result<_, PtxError>>()?;
        Ok(Module {
            lines: ptx.lines().map(str::to_owned).collect(),
            constants: variables.constants,
            globals,
            kernels,
        })
    }
}

/// A function of a loaded module.
#[derive(Clone)]
struct Function {
    module: Arc<Module>,
    kernel: Arc<Kernel>,
    /// Shared memory beyond the kernel's own that a launch may ask for.
    dynamic: u64,
}

/// An error with its description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// The description; empty where the code says it all.
    pub text: String,
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Failure {
            code,
            text: String::new(),
        }
    }
}

/// Result of everything here.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A number that stands for a module, a function, a stream, an event or a graph.
pub type Handle = u64;

/// The handles of the streams that every context has: the default stream and the per-thread stream.
const DEFAULT_STREAMS: [Handle; 3] = [0, 1, 2];

/// Work that a stream does in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Runs a kernel.
    Launch {
        function: Handle,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u64,
        /// The bytes of each parameter.
        parameters: Vec<Vec<u8>>,
    },
    /// Copies on the device.
    Copy { to: u64, from: u64, size: usize },
    /// Writes a pattern `width` times in each of `height` rows, whose starts are `pitch` bytes apart.
    Set {
        to: u64,
        pitch: usize,
        pattern: Vec<u8>,
        width: usize,
        height: usize,
    },
    /// Computes a product as cuBLASLt does.
    Multiply(Box<Multiply>),
}

/// A pool of memory.
#[derive(Default)]
pub struct Pool {
    /// The bytes of each piece of it that somebody has, by address.
    given: BTreeMap<u64, u64>,
    /// Bytes that were given back and that it keeps.
    pub kept: u64,
    /// The most bytes that it keeps.
    pub threshold: u64,
}

impl Pool {
    /// Bytes of it that somebody has.
    pub fn used(&self) -> u64 {
        self.given.values().sum()
    }
}

/// The device.
#[derive(Default)]
pub struct Device {
    options: Options,
    memory: Global,
    modules: BTreeMap<Handle, Arc<Module>>,
    functions: BTreeMap<Handle, Function>,
    events: BTreeMap<Handle, Option<Instant>>,
    streams: Vec<Handle>,
    pools: BTreeMap<Handle, Pool>,
    /// Streams that are recorded, each with its work so far.
    captures: BTreeMap<Handle, Vec<Work>>,
    graphs: BTreeMap<Handle, Vec<Work>>,
    /// Graphs that can be launched.
    executables: BTreeMap<Handle, Vec<Work>>,
    handles: Handle,
    stamp: u64,
    counts: BTreeMap<String, Counts>,
    /// The error of a kernel, which all later calls give.
    broken: Option<Failure>,
}

/// The maximum number of blocks along each grid axis, and of threads along each block axis, on all devices.
const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const BLOCK: [u32; 3] = [1024, 1024, 64];

/// The maximum number of resident threads and blocks of a multiprocessor, from this compute capability on (the table of
/// technical specifications in NVIDIA's CUDA C++ Programming Guide).
const RESIDENT: [(u64, u64, u64); 6] = [
    (80, 2048, 32),
    (86, 1536, 16),
    (89, 1536, 24),
    (90, 2048, 32),
    (110, 1536, 24),
    (120, 1536, 24),
];

/// The shared memory that the system reserves for each block, and the allocation unit of a block's own.
const RESERVED_SHARED: u64 = 1 << 10;
const SHARED_UNIT: u64 = 128;

impl Device {
    /// A device with these options.
    pub fn new(options: Options) -> Device {
        Device::numbered(options, 0)
    }
    /// The device with this number; different devices share neither handles nor addresses.
    pub fn numbered(options: Options, ordinal: u32) -> Device {
        Device {
            options,
            memory: Global::of_device(ordinal),
            handles: u64::from(ordinal) << 32,
            ..Device::default()
        }
    }
    /// True if calls are counted and nothing runs.
    pub fn counts_only(&self) -> bool {
        self.options.count
    }
    /// The name of the device.
    pub fn name(&self) -> String {
        let target = &self.options.target;
        format!(
            "Fuser's simulator of sm_{} ({})",
            target.capability, target.name
        )
    }
    /// An attribute by its number in `CUdevice_attribute`.
    pub fn attribute(&self, number: i32) -> Result<i32> {
        let target = &self.options.target;
        let value = match number {
            1 => target.block_threads,
            2..=4 => BLOCK[(number - 2) as usize].into(),
            5..=7 => GRID[(number - 5) as usize].into(),
            8 => target.shared_per_block,
            10 => 32,
            16 => target.workers,
            38 => target.l2_bytes,
            39 => self.resident().0,
            75 => target.capability / 10,
            76 => target.capability % 10,
            81 => target.shared_per_sm,
            82 => target.registers,
            97 => target.shared_per_block_optin,
            106 => self.resident().1,
            111 => RESERVED_SHARED,
            // Memory pools.
            115 => (!self.options.no_pools).into(),
            _ => return Err(Code::InvalidValue.into()),
        };
        i32::try_from(value).map_err(|_| Code::InvalidValue.into())
    }
    /// Threads and blocks that a multiprocessor has at a time, at most.
    fn resident(&self) -> (u64, u64) {
        let capability = self.options.target.capability;
        let row = RESIDENT.iter().rev().find(|row| row.0 <= capability);
        row.map_or((1024, 16), |row| (row.1, row.2))
    }
    /// Gives the error of a kernel that ran before.
    pub fn synchronize(&self) -> Result<()> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    fn handle(&mut self) -> Handle {
        self.handles += 16;
        self.handles
    }
    /// A new pool of memory.
    pub fn create_pool(&mut self) -> Result<Handle> {
        self.synchronize()?;
        if self.options.no_pools {
            return Err(Code::NotSupported.into());
        }
        let pool = self.handle();
        self.pools.insert(pool, Pool::default());
        Ok(pool)
    }
    /// A pool.
    pub fn pool(&mut self, pool: Handle) -> Result<&mut Pool> {
        let pool = self.pools.get_mut(&pool);
        pool.ok_or(Code::InvalidHandle.into())
    }
    /// Ends a pool.
    pub fn destroy_pool(&mut self, pool: Handle) -> Result<()> {
        let ended = self.pools.remove(&pool);
        ended.map(|_| ()).ok_or(Code::InvalidHandle.into())
    }
    /// Allocates memory of a pool: of what it keeps first.
    pub fn allocate_of(&mut self, pool: Handle, bytes: usize) -> Result<u64> {
        let kept = self.pool(pool)?.kept;
        self.pool(pool)?.kept = kept.saturating_sub(bytes as u64);
        let allocated = self.allocate(bytes);
        let pool = self.pool(pool)?;
        match &allocated {
            Ok(address) => _ = pool.given.insert(*address, bytes as u64),
            Err(_) => pool.kept = kept,
        }
        allocated
    }
    /// A new stream.
    pub fn create_stream(&mut self) -> Result<Handle> {
        self.synchronize()?;
        let stream = self.handle();
        self.streams.push(stream);
        Ok(stream)
    }
    /// Ends a stream.
    pub fn destroy_stream(&mut self, stream: Handle) -> Result<()> {
        let at = self.streams.iter().position(|known| *known == stream);
        self.streams.remove(at.ok_or(Code::InvalidHandle)?);
        Ok(())
    }
    fn known(&self, stream: Handle) -> Result<()> {
        let known = DEFAULT_STREAMS.contains(&stream) || self.streams.contains(&stream);
        known.then_some(()).ok_or(Code::InvalidHandle.into())
    }
    /// Checks a stream, for a call that no graph can hold.
    pub fn stream(&self, stream: Handle) -> Result<()> {
        self.known(stream)?;
        match self.captures.contains_key(&stream) {
            true => Err(Code::CaptureUnsupported.into()),
            false => self.synchronize(),
        }
    }
    /// Submits work to a stream: it runs now, or whenever the graph is launched if the stream is under capture.
    pub fn submit(&mut self, stream: Handle, work: Work) -> Result<()> {
        self.known(stream)?;
        match self.captures.get_mut(&stream) {
            Some(recorded) => {
                recorded.push(work);
                Ok(())
            }
            None => self.perform(&work),
        }
    }
    fn perform(&mut self, work: &Work) -> Result<()> {
        self.synchronize()?;
        match work {
            Work::Launch {
                function,
                grid,
                block,
                shared_bytes,
                parameters,
            } => self.launch(*function, *grid, *block, *shared_bytes, parameters),
            _ if self.options.count => Ok(()),
            Work::Copy { to, from, size } => {
                let copied = self.bytes(*from, *size)?.to_vec();
                self.bytes(*to, *size)?.copy_from_slice(&copied);
                Ok(())
            }
            Work::Set {
                to,
                pitch,
                pattern,
                width,
                height,
            } => {
                let row = pattern.repeat(*width);
                for at in 0..*height as u64 {
                    let start = to.wrapping_add(at.wrapping_mul(*pitch as u64));
                    self.bytes(start, row.len())?.copy_from_slice(&row);
                }
                Ok(())
            }
            Work::Multiply(multiply) => {
                let done = multiply.run(self);
                self.broken = done.err().map(|_| Failure {
                    code: Code::IllegalAddress,
                    text: "a product of cuBLASLt goes over the end of an allocation".to_owned(),
                });
                Ok(())
            }
        }
    }
    /// Begins to record a stream.
    pub fn begin_capture(&mut self, stream: Handle) -> Result<()> {
        self.stream(stream)?;
        if DEFAULT_STREAMS.contains(&stream) {
            return Err(Code::CaptureUnsupported.into());
        }
        self.captures.insert(stream, Vec::new());
        Ok(())
    }
    /// Ends the record of a stream: a graph.
    pub fn end_capture(&mut self, stream: Handle) -> Result<Handle> {
        let work = self.captures.remove(&stream).ok_or(Code::IllegalState)?;
        let graph = self.handle();
        self.graphs.insert(graph, work);
        Ok(graph)
    }
    /// A graph that can be launched.
    pub fn instantiate(&mut self, graph: Handle) -> Result<Handle> {
        let work = self.graphs.get(&graph).ok_or(Code::InvalidHandle)?.clone();
        let executable = self.handle();
        self.executables.insert(executable, work);
        Ok(executable)
    }
    /// Lets a stream do the work of a graph.
    pub fn launch_graph(&mut self, executable: Handle, stream: Handle) -> Result<()> {
        self.stream(stream)?;
        let work = self.executables.get(&executable);
        let work = work.ok_or(Code::InvalidHandle)?.clone();
        work.iter().try_for_each(|work| self.perform(work))
    }
    /// Ends a graph.
    pub fn destroy_graph(&mut self, graph: Handle) -> Result<()> {
        let graph = self.graphs.remove(&graph);
        graph.map(|_| ()).ok_or(Code::InvalidHandle.into())
    }
    /// Ends a graph that can be launched.
    pub fn destroy_executable(&mut self, executable: Handle) -> Result<()> {
        let executable = self.executables.remove(&executable);
        executable.map(|_| ()).ok_or(Code::InvalidHandle.into())
    }
    /// A new event.
    pub fn create_event(&mut self) -> Result<Handle> {
        self.synchronize()?;
        let event = self.handle();
        self.events.insert(event, None);
        Ok(event)
    }
    /// Ends an event.
    pub fn destroy_event(&mut self, event: Handle) -> Result<()> {
        self.events
            .remove(&event)
            .map(|_| ())
            .ok_or(Code::InvalidHandle.into())
    }
    /// Records an event now.
    pub fn record(&mut self, event: Handle) -> Result<()> {
        self.synchronize()?;
        *self.events.get_mut(&event).ok_or(Code::InvalidHandle)? = Some(Instant::now());
        Ok(())
    }
    /// Milliseconds between two events: those of the simulation, not of any GPU.
    pub fn elapsed(&self, from: Handle, to: Handle) -> Result<f32> {
        self.synchronize()?;
        let time = |event| self.events.get(event).copied().flatten();
        match (time(&from), time(&to)) {
            (Some(from), Some(to)) => Ok(to.saturating_duration_since(from).as_secs_f32() * 1e3),
            _ => Err(Code::InvalidHandle.into()),
        }
    }

    /// Bytes that are free.
    pub fn free_bytes(&self) -> u64 {
        let kept: u64 = self.pools.values().map(|pool| pool.kept).sum();
        MEMORY.saturating_sub(self.memory.used + kept)
    }
    /// Allocates memory.
    pub fn allocate(&mut self, bytes: usize) -> Result<u64> {
        self.synchronize()?;
        if !self.captures.is_empty() {
            return Err(Code::CaptureUnsupported.into());
        }
        let fits = bytes as u64 <= self.free_bytes() && bytes > 0;
        let code = if bytes > 0 {
            Code::OutOfMemory
        } else {
            Code::InvalidValue
        };
        let allocated = fits.then(|| self.memory.allocate(bytes)).flatten();
        allocated.ok_or(code.into())
    }
    /// Frees memory.
    pub fn free(&mut self, address: u64) -> Result<()> {
        let freed = self.memory.free(address);
        for pool in self.pools.values_mut() {
            let bytes = pool.given.remove(&address).unwrap_or(0);
            pool.kept = (pool.kept + bytes).min(pool.threshold);
        }
        freed.ok_or(Code::InvalidValue.into())
    }
    /// Bytes of the device's memory, for a copy.
    pub fn bytes(&mut self, address: u64, size: usize) -> Result<&mut [u8]> {
        self.synchronize()?;
        self.memory
            .slice(address, size)
            .ok_or(Code::InvalidValue.into())
    }

    /// Loads PTX; the error's text is the log.
    pub fn load(&mut self, ptx: &str) -> Result<Handle> {
        self.synchronize()?;
        let loaded = Module::load(ptx, &self.options.target, &mut self.memory);
        let module = loaded.map_err(|error| Failure {
            code: Code::InvalidPtx,
            text: error.to_string(),
        })?;
        let handle = self.handle();
        self.modules.insert(handle, Arc::new(module));
        Ok(handle)
    }
    /// Unloads a module.
    pub fn unload(&mut self, module: Handle) -> Result<()> {
        let module = self.modules.remove(&module).ok_or(Code::InvalidHandle)?;
        self.functions
            .retain(|_, function| !Arc::ptr_eq(&function.module, &module));
        module
            .globals
            .iter()
            .try_for_each(|address| self.free(*address))
    }
    /// A kernel of a module.
    pub fn function(&mut self, module: Handle, name: &str) -> Result<Handle> {
        self.synchronize()?;
        let module = self
            .modules
            .get(&module)
            .ok_or(Code::InvalidHandle)?
            .clone();
        let kernel = module.kernels.get(name).ok_or(Code::NotFound)?.clone();
        let allowed = self.options.target.shared_per_block;
        let dynamic = allowed.saturating_sub(kernel.shared_bytes);
        let handle = self.handle();
        let function = Function {
            module,
            kernel,
            dynamic,
        };
        self.functions.insert(handle, function);
        Ok(handle)
    }
    /// Lets launches of a function ask for so much shared memory.
    pub fn allow_shared(&mut self, function: Handle, bytes: i32) -> Result<()> {
        self.synchronize()?;
        let limit = self.options.target.shared_per_block_optin;
        let function = self
            .functions
            .get_mut(&function)
            .ok_or(Code::InvalidHandle)?;
        let own = function.kernel.shared_bytes;
        let asked = u64::try_from(bytes).map_err(|_| Code::InvalidValue)?;
        if asked + own > limit {
            return Err(Failure {
                code: Code::InvalidValue,
                text: format!(
                    "kernel '{}' asks for {asked} bytes of shared memory beside {own} of its own, the device has {limit} for a block",
                    function.kernel.name
                ),
            });
        }
        function.dynamic = asked;
        Ok(())
    }
    /// An attribute of a function by its number in `CUfunction_attribute`. The number of registers is 0, since PTX has
    /// no hardware registers.
    pub fn function_attribute(&self, function: Handle, number: i32) -> Result<i32> {
        let function = self.functions.get(&function).ok_or(Code::InvalidHandle)?;
        let value = match number {
            0 => self.options.target.block_threads,
            1 => function.kernel.shared_bytes,
            3 | 4 => 0,
            8 => function.dynamic,
            _ => return Err(Code::InvalidValue.into()),
        };
        i32::try_from(value).map_err(|_| Code::InvalidValue.into())
    }
    /// The number of resident blocks of a multiprocessor, for `block` threads and `shared_bytes` bytes of dynamic
    /// shared memory for each block. Registers are no limit here.
    pub fn occupancy(&self, function: Handle, block: i32, shared_bytes: usize) -> Result<i32> {
        let function = self.functions.get(&function).ok_or(Code::InvalidHandle)?;
        let block = u64::try_from(block).ok().filter(|block| *block > 0);
        let warps = block.ok_or(Code::InvalidValue)?.div_ceil(32);
        let shared = function.kernel.shared_bytes + shared_bytes as u64 + RESERVED_SHARED;
        let (threads, blocks) = self.resident();
        let by_shared = self.options.target.shared_per_sm / shared.next_multiple_of(SHARED_UNIT);
        let found = blocks.min(threads / 32 / warps).min(by_shared);
        i32::try_from(found).map_err(|_| Code::InvalidValue.into())
    }
    /// The bytes of each parameter of a function.
    pub fn parameters(&self, function: Handle) -> Result<Vec<usize>> {
        let function = self.functions.get(&function).ok_or(Code::InvalidHandle)?;
        Ok(function.kernel.parameters.clone())
    }

    /// Runs a kernel. An error concerns the launch itself; errors inside the kernel are reported by later calls.
    pub fn launch(
        &mut self,
        function: Handle,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u64,
        parameters: &[Vec<u8>],
    ) -> Result<()> {
        self.synchronize()?;
        let function = self
            .functions
            .get(&function)
            .ok_or(Code::InvalidHandle)?
            .clone();
        let kernel = &function.kernel;
        self.check_launch(&function, grid, block, shared_bytes)?;
        if self.options.count {
            return Ok(());
        }
        let launch = Launch {
            kernel,
            constants: &function.module.constants,
            grid,
            block,
            shared_bytes,
            parameters,
            order: self.options.order,
            seed: self.options.seed ^ self.stamp,
            unchecked: self.options.unchecked,
        };
        let counts = self.counts.entry(kernel.name.clone()).or_default();
        let run = execute::run(&launch, &mut self.memory, counts, &mut self.stamp);
        self.broken = run.err().map(|finding| {
            let at = (finding.line as usize).saturating_sub(1);
            let line = function.module.lines.get(at).map_or("", |line| line.trim());
            Failure {
                code: finding.kind.code(),
                text: format!("{finding}: {line}"),
            }
        });
        Ok(())
    }

    fn check_launch(
        &self,
        function: &Function,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u64,
    ) -> Result<()> {
        let refused = |what: String| {
            Err(Failure {
                code: Code::InvalidValue,
                text: format!("kernel '{}' {what}", function.kernel.name),
            })
        };
        let within = |sizes: [u32; 3], limits: [u32; 3]| {
            sizes
                .into_iter()
                .zip(limits)
                .all(|(size, limit)| (1..=limit).contains(&size))
        };
        if !within(grid, GRID) {
            return refused(format!(
                "is launched with a grid of {grid:?}, at most {GRID:?} blocks run"
            ));
        }
        let cluster = function.kernel.cluster;
        if !grid[0].is_multiple_of(cluster) {
            return refused(format!(
                "is launched with a grid of {grid:?}, no whole clusters of {cluster} blocks"
            ));
        }
        let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
        let most = self.options.target.block_threads;
        let most = function
            .kernel
            .max_threads
            .map_or(most, |own| most.min(own.into()));
        if !within(block, BLOCK) || threads > most {
            return refused(format!(
                "is launched with blocks of {block:?} threads, at most {most} run"
            ));
        }
        if shared > function.dynamic {
            let allowed = function.dynamic;
            return refused(format!(
                "is launched with {shared} bytes of shared memory, it may have {allowed}"
            ));
        }
        Ok(())
    }

    /// The counts of all kernels by name.
    pub fn counts(&self) -> &BTreeMap<String, Counts> {
        &self.counts
    }
    /// The device and the counts of all kernels.
    pub fn report(&self) -> Value {
        json!({
            "device": self.name(),
            "order": self.options.order.name(),
            "seed": self.options.seed,
            "kernels": self.counts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_words() {
        let options = Options::read("sm_90,order=random,seed=7").unwrap();
        assert_eq!(
            (options.target.capability, options.order, options.seed),
            (90, Order::Random, 7)
        );
        assert_eq!(Options::read("").unwrap().target.capability, 80);
        assert_eq!(Options::read("b200").unwrap().target.capability, 100);
        let mut plain = Device::new(Options::read("no-pools").unwrap());
        assert_eq!(plain.attribute(115).ok(), Some(0));
        assert!(plain.create_pool().is_err());
        let options = Options::read("sm_90,devices=2,count").unwrap();
        assert_eq!(
            (options.devices, options.count, options.cublaslt),
            (2, true, false)
        );
        assert!(Options::read("cublaslt").unwrap().cublaslt);
        for text in [
            "devices=0",
            "devices=17",
            "sm_9",
            "cpu",
            "generic",
            "order=up",
            "seed=x",
            "sm_90,fast",
        ] {
            let word = text.rsplit(',').next().unwrap().to_owned();
            assert_eq!(Options::read(text).unwrap_err(), UnknownOption(word));
        }
    }
}
