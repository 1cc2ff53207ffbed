//! A kernel is decoded once, from statements to a compact form: registers are numbers, constants are registers with a value, labels are
//! positions, and functions are copied to where they are called, with registers for their parameters. Those of the kernel are memory of a space of its own.
//!
//! An instruction that does several things at once becomes several steps (`add.cc` writes its sum and the carry); the first counts.

use std::collections::BTreeMap;

use crate::compute::{self, Compute, Row};
use crate::demanded::{self, Reads};
use crate::error::{PtxError, PtxFault};
use crate::matrix::Half;
use crate::text::{Function, Module, Operand, Statement, StatementKind, Variable};

/// A register: an index into those of a warp.
pub type Register = u32;

/// Most steps of a kernel, and deepest calls: functions are copied.
const MOST_STEPS: usize = 1 << 20;
const MOST_CALLS: usize = 16;

/// A kernel, ready to run.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its steps; the last one ends a thread.
    pub steps: Vec<Step>,
    /// Registers of a thread.
    pub registers: usize,
    /// Registers with a value that is known before the first step.
    pub given: Vec<(Register, Given)>,
    /// Bytes of each parameter.
    pub parameters: Vec<usize>,
    /// Bytes of the kernel's own shared variables; the launch's dynamic shared memory follows them.
    pub shared_bytes: u64,
    /// Most threads of a block, where the kernel says so.
    pub max_threads: Option<u32>,
    /// Blocks of a cluster.
    pub cluster: u32,
}

/// A value that a register has from the beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Given {
    /// Bits.
    Constant(u64),
    /// `%tid` along an axis.
    Thread(usize),
    /// `%ntid`
    Threads(usize),
    /// `%ctaid`
    Block(usize),
    /// `%nctaid`
    Blocks(usize),
    /// `%laneid`
    Lane,
}

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    /// The predicate that must hold, and true where it must not.
    pub guard: Option<(Register, bool)>,
    /// The action.
    pub action: Action,
    /// The line of the text.
    pub line: u32,
    /// The class under which the step is counted; `None` for the later steps of an instruction.
    pub class: Option<Class>,
    /// True for the first step of a basic block.
    pub leads: bool,
}

/// Classes of instructions in counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Moves, loads of parameters, and conversions of addresses, which the assembler mostly removes.
    Move,
    /// Integers, comparisons and predicates.
    Integer,
    /// 32-bit floats and narrower ones.
    Float,
    /// 64-bit floats.
    Double,
    /// Conversions.
    Convert,
    /// Loads from global and constant memory, and stores.
    Global,
    /// Those of shared memory.
    Shared,
    /// Exchanges within a warp.
    Shuffle,
    /// Products of matrices on tensor cores.
    Matrix,
    /// Barriers.
    Barrier,
    /// Branches and exits.
    Branch,
}

/// A state space of loads and stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// The device's memory.
    Global,
    /// A block's memory.
    Shared,
    /// That of any block of the cluster.
    Cluster,
    /// Constants of the module.
    Constant,
    /// Parameters of the kernel, each in a range of addresses of its own ([`PARAMETER_BITS`]).
    Parameter,
}

impl Space {
    /// True for memory that no thread writes.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Space::Constant | Space::Parameter)
    }
}

/// Directions of a shuffle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shuffle {
    /// From a lower lane.
    Up,
    /// From a higher lane.
    Down,
    /// From the lane whose number differs in the given bits.
    Butterfly,
    /// From a given lane.
    Index,
}

/// An action of a step.
#[derive(Clone, Debug)]
pub enum Action {
    /// Computes a register.
    Compute {
        /// The function.
        row: Row,
        /// The result.
        to: Register,
        /// The operands; those that are not used are 0's register.
        from: [Register; 3],
    },
    /// Loads registers from consecutive elements.
    Load {
        /// The memory.
        space: Space,
        /// The registers, with the mask of their bits.
        to: Vec<(Register, u64)>,
        /// The address.
        base: Register,
        /// Bytes that are added to it.
        offset: i64,
        /// Bytes of an element.
        size: usize,
        /// True if elements are extended by their signs.
        signed: bool,
        /// The bytes that the kernel's results depend on, a bit for each.
        demanded: u32,
    },
    /// Stores registers to consecutive elements.
    Store {
        /// The memory.
        space: Space,
        /// The registers.
        from: Vec<Register>,
        /// The address.
        base: Register,
        /// Bytes that are added to it.
        offset: i64,
        /// Bytes of an element.
        size: usize,
    },
    /// Takes a register of another lane.
    Shuffle {
        /// The direction.
        mode: Shuffle,
        /// The result.
        to: Register,
        /// True where the lane was in range.
        valid: Register,
        /// The register that is read.
        from: Register,
        /// The distance or the lane.
        by: Register,
        /// The last lane and the segments.
        clamp: Register,
        /// The lanes that take part.
        members: Register,
    },
    /// Combines a register of all lanes that take part.
    Reduce {
        /// The function of two values.
        combine: Compute,
        /// The result, the same in each lane.
        to: Register,
        /// The register that is combined.
        from: Register,
        /// The lanes that take part.
        members: Register,
    },
    /// Loads matrices of 8 by 8 elements of 16 bits from shared memory, one for each register; a lane has the address of a row.
    LoadMatrix {
        /// The registers, one to four.
        to: Vec<Register>,
        /// True if the matrices are transposed on their way.
        transposed: bool,
        /// The address.
        base: Register,
        /// Bytes that are added to it.
        offset: i64,
    },
    /// Adds the product of two matrices of 16-bit floats, distributed over the lanes of a warp, to a matrix of f32.
    Multiply {
        /// The type of the factors.
        half: Half,
        /// The sum.
        to: [Register; 4],
        /// 16 rows of 16 terms.
        left: [Register; 4],
        /// 8 columns of 16 terms.
        right: [Register; 2],
        /// The addend.
        addend: [Register; 4],
    },
    /// Increments a counter atomically, wrapping to 0 at a limit. Releases the block's accesses before its last
    /// barrier, and acquires the releases of other blocks at this address.
    Count {
        /// The count before.
        to: Register,
        /// The address.
        base: Register,
        /// Bytes that are added to it.
        offset: i64,
        /// The greatest count.
        limit: Register,
    },
    /// Goes on elsewhere.
    Branch(u32),
    /// Waits for all threads of the block, or of its cluster.
    Barrier {
        /// True for those of the cluster.
        cluster: bool,
    },
    /// Ends the thread.
    Exit,
}

type Result<T> = std::result::Result<T, PtxError>;

/// The variables of a module, by name with their addresses, and the bytes of its constant memory.
#[derive(Debug, Default)]
pub struct Variables {
    /// Constant memory.
    pub constants: Vec<u8>,
    at: BTreeMap<String, u64>,
}

impl Variables {
    /// Lays out the variables of a module; `allocate` gives bytes a place in global memory.
    pub fn of(
        module: &Module<'_>,
        allocate: &mut dyn FnMut(&[u8]) -> Option<u64>,
    ) -> Result<Variables> {
        let mut all = Variables::default();
        for variable in &module.variables {
            let large = || PtxFault::Length(variable.name.to_owned()).at(variable.line);
            let address = match variable.space {
                "const" => {
                    let start = all
                        .constants
                        .len()
                        .next_multiple_of(variable.align as usize);
                    all.constants.resize(start, 0);
                    all.constants.extend(initial(variable).ok_or_else(large)?);
                    start as u64
                }
                "global" => allocate(&initial(variable).ok_or_else(large)?).ok_or_else(large)?,
                _ => continue,
            };
            all.at.insert(variable.name.to_owned(), address);
        }
        Ok(all)
    }
}

/// Most bytes of a variable.
const MOST_BYTES: usize = 1 << 24;

/// The bytes of a variable, padded with zeros after its initial values; `None` if it is too large.
fn initial(variable: &Variable<'_>) -> Option<Vec<u8>> {
    let size = variable.size as usize;
    let given = variable.values.iter().map(|value| value.to_le_bytes());
    let mut bytes: Vec<u8> = given
        .flat_map(|value| value.into_iter().take(size))
        .collect();
    let all = size
        .checked_mul(variable.count? as usize)
        .filter(|all| *all <= MOST_BYTES)?;
    bytes.resize(all.max(bytes.len()), 0);
    Some(bytes)
}

/// Names of a scope: registers that are declared, and variables.
#[derive(Default)]
struct Scope<'a> {
    /// The beginning of the names, bits, and the count; none for the name alone.
    declared: Vec<(&'a str, u32, Option<u32>)>,
    /// Registers in use, with their bits.
    registers: BTreeMap<&'a str, (Register, u32)>,
    /// The registers that stand for parameters of a call, which have no address.
    passed: BTreeMap<&'a str, Register>,
}

struct Decoder<'a, 'm> {
    module: &'m Module<'a>,
    variables: &'m Variables,
    kernel: &'m Function<'a>,
    steps: Vec<Step>,
    registers: u32,
    given: BTreeMap<Given, Register>,
    /// Shared variables with their addresses.
    shared: BTreeMap<&'a str, u64>,
    shared_bytes: u64,
    /// The carry of `.cc`.
    carry: Option<Register>,
    /// True between `barrier.cluster.arrive` and `.wait`, where accesses are ordered neither before nor after the
    /// barrier.
    arrived: bool,
    calls: usize,
}

/// A function that is being decoded.
struct Frame<'a> {
    scopes: Vec<Scope<'a>>,
    labels: BTreeMap<&'a str, u32>,
    /// Branches whose labels are not known yet, with the line.
    branches: Vec<(usize, &'a str, u32)>,
    /// Branches to the end of a called function; none in a kernel.
    returns: Option<Vec<usize>>,
}

impl Frame<'_> {
    /// The register that stands for the parameter of that name of a call.
    fn passed(&self, name: &str) -> Option<Register> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.passed.get(name)).copied()
    }
}

/// Decodes the kernel `kernel` of a module.
pub fn decode<'a>(
    module: &Module<'a>,
    variables: &Variables,
    kernel: &Function<'a>,
) -> Result<Kernel> {
    let mut decoder = Decoder {
        module,
        variables,
        kernel,
        steps: Vec::new(),
        registers: 0,
        given: BTreeMap::new(),
        shared: BTreeMap::new(),
        shared_bytes: 0,
        carry: None,
        arrived: false,
        calls: 0,
    };
    decoder.shared_variables(module.variables.iter())?;
    let own = kernel
        .body
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Variable(variable) => Some(variable),
            _ => None,
        });
    decoder.shared_variables(own)?;
    decoder.dynamic_variables()?;
    let frame = Frame {
        scopes: vec![Scope::default()],
        labels: BTreeMap::new(),
        branches: Vec::new(),
        returns: None,
    };
    decoder.function(kernel, frame)?;
    decoder.step(None, Action::Exit, kernel.line, None)?;
    let mut steps = decoder.steps;
    mark_leaders(&mut steps);
    let given = decoder.given.into_iter().map(|(given, r)| (r, given));
    let given: Vec<(Register, Given)> = given.collect();
    demanded::find(&mut steps, &given, decoder.registers as usize);
    Ok(Kernel {
        name: kernel.name.to_owned(),
        steps,
        registers: decoder.registers as usize,
        given,
        parameters: kernel
            .parameters
            .iter()
            .map(|p| p.size as usize * p.count.unwrap_or(0) as usize)
            .collect(),
        shared_bytes: decoder.shared_bytes,
        max_threads: kernel.max_threads,
        cluster: kernel.cluster,
    })
}

fn mark_leaders(steps: &mut [Step]) {
    let targets: Vec<usize> = steps
        .iter()
        .filter_map(|step| match step.action {
            Action::Branch(target) => Some(target as usize),
            _ => None,
        })
        .collect();
    let after = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.class == Some(Class::Branch));
    let after: Vec<usize> = after.map(|(at, _)| at + 1).collect();
    for at in targets.into_iter().chain(after) {
        if let Some(step) = steps.get_mut(at) {
            step.leads = true;
        }
    }
}

impl<'a> Decoder<'a, '_> {
    /// Gives addresses to shared variables of a size that is known.
    fn shared_variables<'v>(&mut self, all: impl Iterator<Item = &'v Variable<'a>>) -> Result<()>
    where
        'a: 'v,
    {
        for variable in all.filter(|v| v.space == "shared") {
            let Some(count) = variable.count else {
                continue;
            };
            let start = self.shared_bytes.next_multiple_of(variable.align.into());
            self.shared.insert(variable.name, start);
            self.shared_bytes = start + u64::from(variable.size) * u64::from(count);
        }
        Ok(())
    }
    /// Those of a size that the launch says begin behind all others.
    fn dynamic_variables(&mut self) -> Result<()> {
        let module = self.module;
        let all = module.variables.iter();
        for variable in all.filter(|v| v.space == "shared" && v.count.is_none()) {
            self.shared_bytes = self.shared_bytes.next_multiple_of(variable.align.into());
            self.shared.insert(variable.name, self.shared_bytes);
        }
        Ok(())
    }

    fn new_register(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }
    fn given(&mut self, given: Given) -> Register {
        if let Some(register) = self.given.get(&given) {
            return *register;
        }
        let register = self.new_register();
        self.given.insert(given, register);
        register
    }
    fn constant(&mut self, bits: u64) -> Register {
        self.given(Given::Constant(bits))
    }

    fn step(
        &mut self,
        guard: Option<(Register, bool)>,
        action: Action,
        line: u32,
        class: Option<Class>,
    ) -> Result<()> {
        let orders_nothing = match &action {
            Action::Compute { .. } => true,
            Action::Load { space, .. } => space.is_fixed(),
            _ => false,
        };
        if self.arrived && !orders_nothing {
            return Err(PtxFault::Instruction("barrier.cluster.arrive".into()).at(line));
        }
        if self.steps.len() >= MOST_STEPS {
            return Err(PtxFault::Length(self.kernel.name.to_owned()).at(line));
        }
        self.steps.push(Step {
            guard,
            action,
            line,
            class,
            leads: false,
        });
        Ok(())
    }

    /// Decodes a body; branches to its labels are resolved at its end.
    fn function(&mut self, function: &Function<'a>, mut frame: Frame<'a>) -> Result<()> {
        for statement in &function.body {
            self.statement(&mut frame, statement)?;
        }
        let end = self.steps.len() as u32;
        let undeclared = |label: &str, line| PtxFault::Undeclared(label.to_owned()).at(line);
        for (at, label, line) in frame.branches {
            let target = frame
                .labels
                .get(label)
                .ok_or_else(|| undeclared(label, line))?;
            self.steps[at].action = Action::Branch(*target);
        }
        for at in frame.returns.into_iter().flatten() {
            self.steps[at].action = Action::Branch(end);
        }
        Ok(())
    }

    fn statement(&mut self, frame: &mut Frame<'a>, statement: &Statement<'a>) -> Result<()> {
        let line = statement.line;
        match &statement.kind {
            StatementKind::Label(name) => {
                frame.labels.insert(name, self.steps.len() as u32);
            }
            StatementKind::Open => frame.scopes.push(Scope::default()),
            StatementKind::Close => {
                frame.scopes.pop();
            }
            StatementKind::Register { name, bits, count } => {
                let scope = frame.scopes.last_mut();
                scope
                    .into_iter()
                    .for_each(|s| s.declared.push((name, *bits, *count)));
            }
            StatementKind::Variable(variable) if variable.space == "param" => {
                let register = self.new_register();
                let scope = frame.scopes.last_mut();
                scope.into_iter().for_each(|s| {
                    s.passed.insert(variable.name, register);
                });
            }
            StatementKind::Variable(_) => {}
            StatementKind::Instruction {
                guard,
                name,
                operands,
            } => {
                let guard = match guard {
                    Some((name, negated)) => Some((self.register(frame, name, line)?.0, *negated)),
                    None => None,
                };
                self.instruction(
                    frame,
                    Instruction {
                        guard,
                        name,
                        operands,
                        line,
                    },
                )?;
            }
        }
        Ok(())
    }

    /// The register of that name and its bits.
    fn register(
        &mut self,
        frame: &mut Frame<'a>,
        name: &'a str,
        line: u32,
    ) -> Result<(Register, u32)> {
        for scope in frame.scopes.iter_mut().rev() {
            if let Some(found) = scope.registers.get(name) {
                return Ok(*found);
            }
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let number: Option<u32> = name[stem.len()..].parse().ok();
            let mut declared = scope.declared.iter().rev();
            let declaration = declared.find(|(declared, _, count)| match count {
                Some(count) => *declared == stem && number.is_some_and(|n| n < *count),
                None => *declared == name,
            });
            if let Some((_, bits, _)) = declaration {
                let found = (self.registers, *bits);
                self.registers += 1;
                scope.registers.insert(name, found);
                return Ok(found);
            }
        }
        Err(PtxFault::Undeclared(name.to_owned()).at(line))
    }

    /// The register that holds an operand: a register, a number, an address or a special register.
    fn value(
        &mut self,
        frame: &mut Frame<'a>,
        operand: &Operand<'a>,
        line: u32,
    ) -> Result<Register> {
        match operand {
            Operand::Number(bits) => Ok(self.constant(*bits)),
            Operand::Name(name) => {
                if let Some(given) = special(name) {
                    return Ok(self.given(given));
                }
                let own = |p: &Variable<'_>| frame.returns.is_none() && p.name == *name;
                let parameters = &self.kernel.parameters;
                let address = self.shared.get(name).or(self.variables.at.get(*name));
                let address = address.copied();
                match address.or_else(|| parameters.iter().position(own).map(parameter)) {
                    Some(address) => Ok(self.constant(address)),
                    None => Ok(self.register(frame, name, line)?.0),
                }
            }
            other => Err(PtxFault::Operand(format!("{other:?}")).at(line)),
        }
    }

    /// The destination register of an instruction and its bits; `_` stands for an unused register.
    fn target(
        &mut self,
        frame: &mut Frame<'a>,
        operand: &Operand<'a>,
        line: u32,
    ) -> Result<(Register, u32)> {
        match operand {
            Operand::Name("_") => Ok((self.new_register(), 64)),
            Operand::Name(name) => self.register(frame, name, line),
            other => Err(PtxFault::Operand(format!("{other:?}")).at(line)),
        }
    }

    fn instruction(&mut self, frame: &mut Frame<'a>, this: Instruction<'a, '_>) -> Result<()> {
        let parts: Vec<&str> = this.name.split('.').collect();
        match (parts.as_slice(), this.operands) {
            (["bra"] | ["bra", "uni"], [Operand::Name(label)]) => {
                frame.branches.push((self.steps.len(), label, this.line));
                self.step(
                    this.guard,
                    Action::Branch(0),
                    this.line,
                    Some(Class::Branch),
                )
            }
            (["ret" | "exit"] | ["ret", "uni"], []) => {
                let action = match &mut frame.returns {
                    Some(returns) if parts[0] == "ret" => {
                        returns.push(self.steps.len());
                        Action::Branch(0)
                    }
                    _ => Action::Exit,
                };
                self.step(this.guard, action, this.line, Some(Class::Branch))
            }
            (["bar" | "barrier", "sync"], [Operand::Number(0)]) => {
                let barrier = Action::Barrier { cluster: false };
                self.step(this.guard, barrier, this.line, Some(Class::Barrier))
            }
            (["barrier", "cluster", "arrive", "aligned"], []) if this.guard.is_none() => {
                self.arrived = true;
                Ok(())
            }
            (["barrier", "cluster", "wait", "aligned"], []) if self.arrived => {
                self.arrived = false;
                let barrier = Action::Barrier { cluster: true };
                self.step(this.guard, barrier, this.line, Some(Class::Barrier))
            }
            (["call"] | ["call", "uni"], operands) => self.call(frame, this, operands),
            (["st", "param", _], [Operand::Address(name, 0), from]) => {
                let other = || PtxFault::Operand((*name).to_owned()).at(this.line);
                let to = frame.passed(name).ok_or_else(other)?;
                let from = self.value(frame, from, this.line)?;
                self.compute(this, Some(Class::Move), compute::SAME, to, &[from])
            }
            (["ld", rest @ ..], [to, Operand::Address(base, offset)]) => {
                self.load(frame, this, rest, to, (base, *offset))
            }
            (["st", rest @ ..], [Operand::Address(base, offset), from]) => {
                self.store(frame, this, rest, from, (base, *offset))
            }
            (["shfl", "sync", mode, "b32"], operands) => self.shuffle(frame, this, mode, operands),
            (
                [
                    "redux",
                    "sync",
                    combine @ ("add" | "min" | "max"),
                    kind @ ("u32" | "s32"),
                ],
                [to, from, members],
            ) => {
                let row = compute::find(&format!("{combine}.{kind}"));
                let row =
                    row.ok_or_else(|| PtxFault::Instruction(this.name.to_owned()).at(this.line))?;
                let action = Action::Reduce {
                    combine: row.compute,
                    to: self.target(frame, to, this.line)?.0,
                    from: self.value(frame, from, this.line)?,
                    members: self.value(frame, members, this.line)?,
                };
                self.step(this.guard, action, this.line, Some(Class::Shuffle))
            }
            (["ldmatrix", "sync", "aligned", "m8n8", rest @ ..], operands) => {
                self.load_matrix(frame, this, rest, operands)
            }
            (["mma", "sync", "aligned", "m16n8k16", rest @ ..], operands) => {
                self.multiply(frame, this, rest, operands)
            }
            (
                ["atom", "acq_rel", "gpu", "global", "inc", "u32"],
                [to, Operand::Address(base, offset), limit],
            ) => {
                let action = Action::Count {
                    to: self.target(frame, to, this.line)?.0,
                    base: self.value(frame, &Operand::Name(base), this.line)?,
                    offset: *offset,
                    limit: self.value(frame, limit, this.line)?,
                };
                self.step(this.guard, action, this.line, Some(Class::Global))
            }
            (["mapa", "shared::cluster", "u64"], [to, from, rank]) => {
                let to = self.target(frame, to, this.line)?.0;
                let from = self.value(frame, from, this.line)?;
                let rank = self.value(frame, rank, this.line)?;
                self.compute(this, Some(Class::Integer), MAPPED, to, &[from, rank])
            }
            (["cvta", "to", "global", "u64"], [to, from]) => {
                let (to, from) = (
                    self.target(frame, to, this.line)?.0,
                    self.value(frame, from, this.line)?,
                );
                self.compute(this, Some(Class::Move), compute::SAME, to, &[from])
            }
            (["add" | "addc" | "sub" | "subc", ..], [to, a, b])
                if parts.contains(&"cc") || parts[0].ends_with('c') =>
            {
                self.carried(frame, this, &parts, [to, a, b])
            }
            (["bfi", kind @ ("b32" | "b64")], [to, rest @ ..]) if rest.len() == 4 => {
                self.insert(frame, this, kind, to, rest)
            }
            (["setp", holds, kind @ ("f16x2" | "bf16x2")], [Operand::Both(low, high), a, b]) => {
                self.compare_halves(frame, this, [holds, kind], [low, high], [a, b])
            }
            (["mov", kind], [to, Operand::Vector(parts)]) => {
                self.pack(frame, this, kind, to, parts)
            }
            (["mov", kind], [Operand::Vector(parts), from]) => {
                self.unpack(frame, this, kind, parts, from)
            }
            (_, operands) => self.computing(frame, this, operands),
        }
    }

    fn compute(
        &mut self,
        this: Instruction<'_, '_>,
        class: Option<Class>,
        row: Row,
        to: Register,
        from: &[Register],
    ) -> Result<()> {
        let zero = self.constant(0);
        let operand = |n: usize| from.get(n).copied().unwrap_or(zero);
        let from = [operand(0), operand(1), operand(2)];
        self.step(
            this.guard,
            Action::Compute { row, to, from },
            this.line,
            class,
        )
    }

    /// An instruction of the table.
    fn computing(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        operands: &[Operand<'a>],
    ) -> Result<()> {
        let unknown = || PtxFault::Instruction(this.name.to_owned()).at(this.line);
        let row = compute::find(this.name).ok_or_else(unknown)?;
        let [to, from @ ..] = operands else {
            return Err(PtxFault::Operand(this.name.to_owned()).at(this.line));
        };
        let of_three = from.len() == 3 && row.operands == 2 && is_of_three(this.name);
        if from.len() != row.operands && !of_three {
            return Err(PtxFault::Operand(this.name.to_owned()).at(this.line));
        }
        let to = self.target(frame, to, this.line)?.0;
        let from = from
            .iter()
            .map(|operand| self.value(frame, operand, this.line));
        let mut from = from.collect::<Result<Vec<Register>>>()?;
        let mut class = Some(class_of(this.name));
        if of_three {
            // The first two, and their result with the third.
            let aside = self.new_register();
            self.compute(this, class.take(), row, aside, &from[..2])?;
            from.splice(..2, [aside]);
        }
        self.compute(this, class, row, to, &from)
    }

    /// Sums and differences in a chain: the carry first, as the result may be an operand, and kept aside until the result is there.
    fn carried(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        parts: &[&str],
        operands: [&Operand<'a>; 3],
    ) -> Result<()> {
        if !matches!(parts.last(), Some(&"s64" | &"u64")) {
            return Err(PtxFault::Instruction(this.name.to_owned()).at(this.line));
        }
        let [to, a, b] = operands;
        let to = self.target(frame, to, this.line)?.0;
        let (a, b) = (
            self.value(frame, a, this.line)?,
            self.value(frame, b, this.line)?,
        );
        let kept = match self.carry {
            Some(register) => register,
            None => self.new_register(),
        };
        self.carry = Some(kept);
        let given = match parts[0].ends_with('c') {
            true => kept,
            false => self.constant(0),
        };
        let (result, carry) = match parts[0].starts_with("add") {
            true => (compute::ADD_WITH_CARRY, compute::CARRY),
            false => (compute::SUBTRACT_WITH_BORROW, compute::BORROW),
        };
        let aside = self.new_register();
        self.compute(this, Some(Class::Integer), carry, aside, &[a, b, given])?;
        self.compute(this, None, result, to, &[a, b, given])?;
        match parts.contains(&"cc") {
            true => self.compute(this, None, compute::SAME, kept, &[aside]),
            false => Ok(()),
        }
    }

    /// `bfi`: so many bits of one value at a place in another.
    fn insert(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        kind: &str,
        to: &Operand<'a>,
        from: &[Operand<'a>],
    ) -> Result<()> {
        let to = self.target(frame, to, this.line)?.0;
        let from = from
            .iter()
            .map(|operand| self.value(frame, operand, this.line));
        let from = from.collect::<Result<Vec<Register>>>()?;
        let field = match kind {
            "b32" => compute::FIELD_32,
            _ => compute::FIELD_64,
        };
        let (mask, raised) = (self.new_register(), self.new_register());
        self.compute(this, Some(Class::Integer), field, mask, &from[2..])?;
        self.compute(this, None, compute::RAISED, raised, &[from[0], from[2]])?;
        self.compute(this, None, compute::MIXED, to, &[raised, from[1], mask])
    }

    /// `mov.b32 %r1, {%rs1, %rs2}`
    fn pack(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        kind: &str,
        to: &Operand<'a>,
        parts: &[Operand<'a>],
    ) -> Result<()> {
        let (joined, _, bits) = halves(this, kind, parts.len())?;
        let to = self.target(frame, to, this.line)?.0;
        let mut whole = self.constant(0);
        for (n, part) in parts.iter().enumerate() {
            let part = self.value(frame, part, this.line)?;
            let at = self.constant(n as u64 * bits);
            let class = (n == 0).then_some(Class::Move);
            let next = match n + 1 == parts.len() {
                true => to,
                false => self.new_register(),
            };
            self.compute(this, class, joined, next, &[part, at, whole])?;
            whole = next;
        }
        Ok(())
    }

    /// `mov.b32 {%rs1, %rs2}, %r1`
    fn unpack(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        kind: &str,
        parts: &[Operand<'a>],
        from: &Operand<'a>,
    ) -> Result<()> {
        let (_, part, bits) = halves(this, kind, parts.len())?;
        let from = self.value(frame, from, this.line)?;
        for (n, operand) in parts.iter().enumerate() {
            let to = self.target(frame, operand, this.line)?.0;
            let at = self.constant(n as u64 * bits);
            let class = (n == 0).then_some(Class::Move);
            self.compute(this, class, part, to, &[from, at])?;
        }
        Ok(())
    }

    /// A comparison of two 16-bit floats with two others; each pair has its own result.
    fn compare_halves(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        [holds, kind]: [&str; 2],
        to: [&'a str; 2],
        from: [&Operand<'a>; 2],
    ) -> Result<()> {
        let unknown = || PtxFault::Instruction(this.name.to_owned()).at(this.line);
        let one = kind.strip_suffix("x2").unwrap_or(kind);
        let row = compute::find(&format!("setp.{holds}.{one}")).ok_or_else(unknown)?;
        let mut values = Vec::new();
        for operand in from {
            values.push(self.value(frame, operand, this.line)?);
        }
        for (n, name) in to.into_iter().enumerate() {
            let at = self.constant(16 * n as u64);
            let mut halves = Vec::new();
            for value in &values {
                let half = self.new_register();
                self.compute(this, None, compute::PART_16, half, &[*value, at])?;
                halves.push(half);
            }
            let to = self.target(frame, &Operand::Name(name), this.line)?.0;
            let class = (n == 0).then_some(Class::Float);
            self.compute(this, class, row, to, &halves)?;
        }
        Ok(())
    }

    fn load(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        rest: &[&str],
        to: &Operand<'a>,
        address: (&'a str, i64),
    ) -> Result<()> {
        let Access {
            space,
            count,
            size,
            signed,
        } = access(this, rest)?;
        if let (Space::Parameter, Some(from), 0) = (space, frame.passed(address.0), address.1) {
            let to = self.target(frame, to, this.line)?.0;
            return self.compute(this, Some(Class::Move), compute::SAME, to, &[from]);
        }
        let operands = match to {
            Operand::Vector(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        if operands.len() != count {
            return Err(PtxFault::Operand(this.name.to_owned()).at(this.line));
        }
        let mut to = Vec::with_capacity(count);
        for operand in operands {
            let (register, bits) = self.target(frame, operand, this.line)?;
            to.push((register, u64::MAX >> (64 - bits.clamp(1, 64))));
        }
        let base = self.value(frame, &Operand::Name(address.0), this.line)?;
        let offset = address.1;
        let action = Action::Load {
            space,
            to,
            base,
            offset,
            size,
            signed,
            demanded: u32::MAX,
        };
        self.step(this.guard, action, this.line, Some(class_of_space(space)))
    }

    fn store(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        rest: &[&str],
        from: &Operand<'a>,
        address: (&'a str, i64),
    ) -> Result<()> {
        let Access {
            space, count, size, ..
        } = access(this, rest)?;
        let operands = match from {
            Operand::Vector(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        if operands.len() != count || space.is_fixed() || space == Space::Cluster {
            return Err(PtxFault::Operand(this.name.to_owned()).at(this.line));
        }
        let from = operands
            .iter()
            .map(|operand| self.value(frame, operand, this.line));
        let from = from.collect::<Result<Vec<Register>>>()?;
        let base = self.value(frame, &Operand::Name(address.0), this.line)?;
        let offset = address.1;
        let action = Action::Store {
            space,
            from,
            base,
            offset,
            size,
        };
        self.step(this.guard, action, this.line, Some(class_of_space(space)))
    }

    fn shuffle(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        mode: &str,
        operands: &[Operand<'a>],
    ) -> Result<()> {
        let mode = match mode {
            "up" => Shuffle::Up,
            "down" => Shuffle::Down,
            "bfly" => Shuffle::Butterfly,
            "idx" => Shuffle::Index,
            _ => return Err(PtxFault::Instruction(this.name.to_owned()).at(this.line)),
        };
        let [to, from, by, clamp, members] = operands else {
            return Err(PtxFault::Operand(this.name.to_owned()).at(this.line));
        };
        let to = self.target(frame, to, this.line)?.0;
        let valid = self.new_register();
        let mut value = |operand| self.value(frame, operand, this.line);
        let action = Action::Shuffle {
            mode,
            to,
            valid,
            from: value(from)?,
            by: value(by)?,
            clamp: value(clamp)?,
            members: value(members)?,
        };
        self.step(this.guard, action, this.line, Some(Class::Shuffle))
    }

    fn load_matrix(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        rest: &[&str],
        operands: &[Operand<'a>],
    ) -> Result<()> {
        let unknown = || PtxFault::Instruction(this.name.to_owned()).at(this.line);
        let (count, transposed) = match rest {
            [count, "shared", "b16"] => (*count, false),
            [count, "trans", "shared", "b16"] => (*count, true),
            _ => return Err(unknown()),
        };
        let count = match count {
            "x1" => 1,
            "x2" => 2,
            "x4" => 4,
            _ => return Err(unknown()),
        };
        let [Operand::Vector(to), Operand::Address(base, offset)] = operands else {
            return Err(PtxFault::Operand(this.name.to_owned()).at(this.line));
        };
        if to.len() != count {
            return Err(PtxFault::Operand(this.name.to_owned()).at(this.line));
        }
        let to = to.iter().map(|to| Ok(self.target(frame, to, this.line)?.0));
        let action = Action::LoadMatrix {
            to: to.collect::<Result<_>>()?,
            transposed,
            base: self.value(frame, &Operand::Name(base), this.line)?,
            offset: *offset,
        };
        self.step(this.guard, action, this.line, Some(Class::Shared))
    }

    fn multiply(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        rest: &[&str],
        operands: &[Operand<'a>],
    ) -> Result<()> {
        let half = match rest {
            ["row", "col", "f32", "bf16", "bf16", "f32"] => Half::Bf16,
            ["row", "col", "f32", "f16", "f16", "f32"] => Half::F16,
            _ => return Err(PtxFault::Instruction(this.name.to_owned()).at(this.line)),
        };
        let odd = || PtxFault::Operand(this.name.to_owned()).at(this.line);
        let [
            Operand::Vector(to),
            Operand::Vector(left),
            Operand::Vector(right),
            Operand::Vector(addend),
        ] = operands
        else {
            return Err(odd());
        };
        let to = to.iter().map(|to| Ok(self.target(frame, to, this.line)?.0));
        let to: Vec<Register> = to.collect::<Result<_>>()?;
        let mut values = |all: &[Operand<'a>]| -> Result<Vec<Register>> {
            let all = all.iter();
            all.map(|one| self.value(frame, one, this.line)).collect()
        };
        let action = Action::Multiply {
            half,
            to: to.try_into().map_err(|_| odd())?,
            left: values(left)?.try_into().map_err(|_| odd())?,
            right: values(right)?.try_into().map_err(|_| odd())?,
            addend: values(addend)?.try_into().map_err(|_| odd())?,
        };
        self.step(this.guard, action, this.line, Some(Class::Matrix))
    }

    /// A call: the function's steps, with the caller's parameters as registers.
    fn call(
        &mut self,
        frame: &mut Frame<'a>,
        this: Instruction<'a, '_>,
        operands: &[Operand<'a>],
    ) -> Result<()> {
        let (results, name, parameters) = match operands {
            [
                Operand::List(results),
                Operand::Name(name),
                Operand::List(parameters),
            ] => (results.as_slice(), *name, parameters.as_slice()),
            [Operand::Name(name), Operand::List(parameters)] => {
                (&[][..], *name, parameters.as_slice())
            }
            [Operand::Name(name)] => (&[][..], *name, &[][..]),
            _ => return Err(PtxFault::Operand(this.name.to_owned()).at(this.line)),
        };
        let module = self.module;
        let function = module.functions.iter().find(|f| !f.entry && f.name == name);
        let function =
            function.ok_or_else(|| PtxFault::Undeclared(name.to_owned()).at(this.line))?;
        let fits = function.results.len() == results.len()
            && function.parameters.len() == parameters.len();
        if this.guard.is_some() || !fits {
            return Err(PtxFault::Operand(name.to_owned()).at(this.line));
        }
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return Err(PtxFault::Recursion(name.to_owned()).at(this.line));
        }
        let mut scope = Scope::default();
        let declared = function.results.iter().chain(&function.parameters);
        for (variable, operand) in declared.zip(results.iter().chain(parameters)) {
            let passed = match operand {
                Operand::Name(name) => frame.passed(name),
                _ => None,
            };
            let register = match passed {
                Some(register) => register,
                None => self.value(frame, operand, this.line)?,
            };
            scope.passed.insert(variable.name, register);
        }
        let called = Frame {
            scopes: vec![scope, Scope::default()],
            labels: BTreeMap::new(),
            branches: Vec::new(),
            returns: Some(Vec::new()),
        };
        self.function(function, called)?;
        self.calls -= 1;
        Ok(())
    }
}

/// An instruction of the text.
#[derive(Clone, Copy)]
struct Instruction<'a, 's> {
    guard: Option<(Register, bool)>,
    name: &'a str,
    operands: &'s [Operand<'a>],
    line: u32,
}

fn special(name: &str) -> Option<Given> {
    let (register, axis) = name.split_once('.').unwrap_or((name, "x"));
    let axis = ["x", "y", "z"].iter().position(|a| *a == axis)?;
    Some(match register {
        "%tid" => Given::Thread(axis),
        "%ntid" => Given::Threads(axis),
        "%ctaid" => Given::Block(axis),
        "%nctaid" => Given::Blocks(axis),
        "%laneid" => Given::Lane,
        _ => return None,
    })
}

/// The address of the parameter of that number.
const fn parameter(number: usize) -> u64 {
    (number as u64 + 1) << PARAMETER_BITS
}

/// Bits of an address within a parameter, which are more than any has bytes; those above are 1 more than its number.
pub const PARAMETER_BITS: u32 = 32;

/// Bits of an address of shared memory; those above are 0 for the block's own, and 1 more than the number of a block of its cluster.
pub const SHARED_BITS: u32 = 32;

const MAPPED: Row = Row::of(mapped, 2, Reads::All);

/// The address of shared memory in the block of that number in the cluster.
fn mapped(address: u64, rank: u64, _: u64) -> u64 {
    address & u64::from(u32::MAX) | (rank & u64::from(u32::MAX)).wrapping_add(1) << SHARED_BITS
}

/// The class of an instruction of the table.
fn class_of(name: &str) -> Class {
    let (root, kind) = (name.split('.').next(), name.rsplit('.').next());
    match (root, kind) {
        (Some("mov"), _) => Class::Move,
        (Some("cvt" | "prmt"), _) => Class::Convert,
        (Some("setp"), _) => Class::Integer,
        (_, Some("f64")) => Class::Double,
        (_, Some("f32" | "f32x2" | "f16" | "bf16" | "f16x2" | "bf16x2")) => Class::Float,
        _ => Class::Integer,
    }
}

/// True for an instruction of two operands that there is for three as well.
fn is_of_three(name: &str) -> bool {
    matches!(name, "min.f32" | "max.f32" | "min.NaN.f32" | "max.NaN.f32")
}

fn class_of_space(space: Space) -> Class {
    match space {
        Space::Global | Space::Constant => Class::Global,
        Space::Shared | Space::Cluster => Class::Shared,
        Space::Parameter => Class::Move,
    }
}

/// The modifiers of a load or a store.
struct Access {
    space: Space,
    count: usize,
    size: usize,
    signed: bool,
}

/// Bytes of a type in memory, and true where its sign extends it.
fn element(kind: &str) -> Option<(usize, bool)> {
    let bits = kind.trim_start_matches(['b', 'u', 's', 'f']);
    let size = match bits {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        "64" => 8,
        _ => return None,
    };
    (kind.len() == bits.len() + 1).then_some((size, kind.starts_with('s')))
}

fn access(this: Instruction<'_, '_>, rest: &[&str]) -> Result<Access> {
    let unknown = || PtxFault::Instruction(this.name.to_owned()).at(this.line);
    let [space, modifiers @ .., kind] = rest else {
        return Err(unknown());
    };
    let space = match *space {
        "global" => Space::Global,
        "shared" => Space::Shared,
        "shared::cluster" => Space::Cluster,
        "const" => Space::Constant,
        "param" => Space::Parameter,
        _ => return Err(unknown()),
    };
    let (size, signed) = element(kind).ok_or_else(unknown)?;
    let modifiers = match modifiers {
        ["nc", rest @ ..] if space == Space::Global => rest,
        all => all,
    };
    let count = match modifiers {
        [] => 1,
        ["v2"] => 2,
        ["v4"] => 4,
        ["v8"] if size == 4 => 8,
        _ => return Err(unknown()),
    };
    Ok(Access {
        space,
        count,
        size,
        signed,
    })
}

/// For a value packed from `parts` parts: the operation that inserts a part, the one that extracts it, and the bits of
/// a part.
fn halves(this: Instruction<'_, '_>, kind: &str, parts: usize) -> Result<(Row, Row, u64)> {
    match (kind, parts) {
        ("b32", 2) | ("b64", 4) => Ok((compute::JOINED_16, compute::PART_16, 16)),
        ("b64", 2) => Ok((compute::JOINED_32, compute::PART_32, 32)),
        _ => Err(PtxFault::Instruction(this.name.to_owned()).at(this.line)),
    }
}
