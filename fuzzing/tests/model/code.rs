//! The ops of a kernel that affect its indices and memory, numbered so that they run fast; ops on data are left out.
//!
//! An index that is data is represented by its position: a loaded element is its own number, and values computed from
//! it keep that number. So indices are all different, as far as the axis permits: if a kernel clamps such an index to
//! the last one, the numbers wrap around.

use fuser_dialects::{fusion, kernel};
use fuser_ir::{Block, DType, Ir, Op, TypeKind, Value};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    /// A remainder that has the sign of the divisor.
    Mod,
    Min,
    Max,
    And,
    Or,
}

/// An op that affects indices or memory. Numbers are registers; `to` is the register of the result.
pub enum Code {
    Constant {
        to: usize,
        value: i64,
    },
    Binary {
        to: usize,
        how: Binary,
        of: [usize; 2],
    },
    Compare {
        to: usize,
        how: String,
        of: [usize; 2],
    },
    /// `to` is an index that is data, wrapped into an axis whose last index is `last`: neighbours differ, as far as the
    /// axis permits.
    Wrap {
        to: usize,
        of: usize,
        last: usize,
    },
    /// `to` represents the value that `of` represents.
    Copy {
        to: usize,
        of: usize,
    },
    Where {
        to: usize,
        of: [usize; 3],
    },
    /// Touches `lanes` elements from `at` on; with `within`, only those from lane `within.0` (or the first) to before
    /// lane `within.1`.
    Touch {
        memory: usize,
        stores: bool,
        at: usize,
        /// The number of lanes, and elements from one to the next.
        lanes: [i64; 2],
        within: Option<(Option<usize>, usize)>,
        /// The number of a load whose place is data.
        gather: Option<usize>,
        /// The number that represents the element, if an index is computed from it.
        to: Option<usize>,
    },
    For {
        bounds: [usize; 3],
        index: usize,
        body: Vec<Code>,
        innermost: bool,
    },
    If {
        condition: usize,
        then: Vec<Code>,
        otherwise: Vec<Code>,
    },
}

pub struct Decoder<'a> {
    pub ir: &'a Ir,
    pub registers: HashMap<Value, usize>,
    /// The number of each buffer.
    pub memories: HashMap<Value, usize>,
    /// Data from which indices are computed.
    pub data: HashSet<Value>,
    /// Registers that hang on it.
    pub gathered: HashSet<usize>,
    /// The loads whose places are data.
    pub gathers: usize,
    /// The indices of the loops around.
    pub loops: Vec<usize>,
}

/// The data from which a kernel computes indices.
pub fn indices(ir: &Ir, func: Op) -> HashSet<Value> {
    // Indices of the walk and conditions are known anyway.
    let is_data = |v: &Value| match ir.value_kind(*v) {
        TypeKind::Scalar(dtype) => !matches!(dtype, DType::Index | DType::I1),
        _ => false,
    };
    let casts = ir
        .walk(func)
        .into_iter()
        .filter(|&op| ir.is(op, &fusion::CAST));
    let casts =
        casts.filter(|&op| *ir.value_kind(ir.result(op, 0)) == TypeKind::Scalar(DType::Index));
    let mut stack: Vec<Value> = casts.map(|op| ir.operand(op, 0)).collect();
    let mut data = HashSet::new();
    while let Some(value) = stack.pop() {
        if data.insert(value)
            && let Some(op) = ir.def_op(value)
        {
            stack.extend(ir.operands(op).filter(is_data));
        }
    }
    data
}

impl Decoder<'_> {
    pub fn register(&mut self, value: Value) -> usize {
        let next = self.registers.len();
        *self.registers.entry(value).or_insert(next)
    }
    fn known(&self, op: Op, operand: usize) -> Result<usize, String> {
        let value = self.ir.operand(op, operand);
        let register = self.registers.get(&value).copied();
        register.ok_or_else(|| format!("operand {operand} of {} hangs on data", self.ir.name(op)))
    }
    pub fn block(&mut self, block: Block) -> Result<Vec<Code>, String> {
        let mut codes = Vec::new();
        for op in self.ir.block_ops(block) {
            if self.ir.is(op, &kernel::LAST) {
                // Some iteration runs it.
                let body = self.ir.body(op, 0).ok_or("a count has no body")?;
                codes.extend(self.block(body)?);
            } else {
                codes.extend(self.op(op)?);
                codes.extend(self.combined(op));
            }
        }
        Ok(codes)
    }
    fn op(&mut self, op: Op) -> Result<Option<Code>, String> {
        let ir = self.ir;
        if ir.is(op, &kernel::FOR) {
            return self.for_loop(op).map(Some);
        }
        if ir.is(op, &kernel::IF) {
            let condition = self.known(op, 0)?;
            let mut branch = |number| {
                let body = ir.body(op, number);
                body.map_or(Ok(Vec::new()), |body| self.block(body))
            };
            let (then, otherwise) = (branch(0)?, branch(1)?);
            return Ok(Some(Code::If {
                condition,
                then,
                otherwise,
            }));
        }
        for (def, memory, stores) in [
            (&kernel::LOAD, 0, false),
            (&kernel::LOAD_WITHIN, 0, false),
            (&kernel::STORE, 1, true),
        ] {
            if ir.is(op, def) {
                return self.touch(op, memory, stores);
            }
        }
        Ok(self.arithmetic(op))
    }
    /// The results of a loop from which indices are computed: each is represented by the loop's position in the
    /// enclosing one.
    fn combined(&mut self, op: Op) -> Vec<Code> {
        let ir = self.ir;
        let results = ir.results(op).iter().copied();
        let held: Vec<Value> = results.filter(|v| self.data.contains(v)).collect();
        if held.is_empty() || !ir.is(op, &kernel::FOR) {
            return Vec::new();
        }
        let around = self.loops.last().copied();
        let Some(of) = around.or_else(|| self.known(op, 0).ok()) else {
            return Vec::new();
        };
        let copies = held.into_iter();
        copies.map(|value| self.copy(value, of, true)).collect()
    }
    fn for_loop(&mut self, op: Op) -> Result<Code, String> {
        let bounds = [self.known(op, 0)?, self.known(op, 1)?, self.known(op, 2)?];
        let body = self.ir.body(op, 0).ok_or("a loop has no body")?;
        let index = self.register(self.ir.args(body)[0]);
        self.loops.push(index);
        let body = self.block(body);
        self.loops.pop();
        let body = body?;
        let innermost = !has_loops(&body);
        Ok(Code::For {
            bounds,
            index,
            body,
            innermost,
        })
    }
    fn touch(&mut self, op: Op, memory: usize, stores: bool) -> Result<Option<Code>, String> {
        let ir = self.ir;
        let held = (!stores).then(|| ir.result(op, 0));
        let held = held.filter(|value| self.data.contains(value));
        let Some(&number) = self.memories.get(&ir.operand(op, memory)) else {
            let Some(value) = held else { return Ok(None) };
            let of = self.known(op, memory + 1)?;
            return Ok(Some(self.copy(value, of, true)));
        };
        let data = match stores {
            true => ir.operand(op, 0),
            false => ir.result(op, 0),
        };
        let lanes = match ir.value_kind(data) {
            TypeKind::Vector { shape, .. } => shape[0] as i64,
            _ => 1,
        };
        let lanes = [lanes, ir.int_of(op, "stride").unwrap_or(1)];
        let within = match ir.operand_count(op) {
            5.. => Some((Some(self.known(op, 3)?), self.known(op, 4)?)),
            4 => Some((None, self.known(op, 3)?)),
            _ => None,
        };
        let at = self.known(op, memory + 1)?;
        let gather = self.gathered.contains(&at).then_some(self.gathers);
        self.gathers += usize::from(gather.is_some());
        let to = held.map(|value| self.register(value));
        self.gathered.extend(to);
        Ok(Some(Code::Touch {
            memory: number,
            stores,
            at,
            lanes,
            within,
            gather,
            to,
        }))
    }
    fn copy(&mut self, value: Value, of: usize, data: bool) -> Code {
        let to = self.register(value);
        self.gathered.extend(data.then_some(to));
        Code::Copy { to, of }
    }
    /// An op on indices or conditions; none for one on data, unless an index is made of it.
    fn arithmetic(&mut self, op: Op) -> Option<Code> {
        let ir = self.ir;
        let &result = ir.results(op).first()?;
        let index = match ir.value_kind(result) {
            TypeKind::Scalar(dtype) => matches!(dtype, DType::Index | DType::I1),
            _ => false,
        };
        let held = self.data.contains(&result);
        if !index && !held {
            return None;
        }
        if ir.is(op, &fusion::CONSTANT) {
            let value = ir.attr_of(op, "value")?.as_int().unwrap_or(0) as i64;
            let to = self.register(result);
            return Some(Code::Constant { to, value });
        }
        let known = ir.operands(op).map(|v| self.registers.get(&v).copied());
        let known: Vec<Option<usize>> = known.collect();
        let first = known.iter().flatten().next().copied();
        let mut data = known.iter().flatten().copied();
        let data = data.find(|r| self.gathered.contains(r));
        if let Some(of) = data
            .filter(|_| held)
            .or(first.filter(|_| ir.is(op, &fusion::CAST)))
        {
            return Some(self.copy(result, of, data.is_some()));
        }
        let of: Vec<usize> = known.into_iter().collect::<Option<_>>()?;
        let register = |decoder: &mut Self| {
            let to = decoder.register(result);
            decoder.gathered.extend(data.map(|_| to));
            to
        };
        if ir.is(op, &fusion::COMPARE) {
            let how = ir.str_of(op, "predicate")?.to_owned();
            let (of, to) = ([of[0], of[1]], register(self));
            return Some(Code::Compare { to, how, of });
        }
        if ir.is(op, &fusion::WHERE) {
            let (of, to) = ([of[0], of[1], of[2]], register(self));
            return Some(Code::Where { to, of });
        }
        let table = [
            (&fusion::ADD, Binary::Add),
            (&fusion::SUB, Binary::Sub),
            (&fusion::MUL, Binary::Mul),
            (&fusion::DIV, Binary::Div),
            (&fusion::REM, Binary::Rem),
            (&fusion::REMAINDER, Binary::Mod),
            (&fusion::MINIMUM, Binary::Min),
            (&fusion::MAXIMUM, Binary::Max),
            (&fusion::AND, Binary::And),
            (&fusion::OR, Binary::Or),
        ];
        let Some((_, how)) = table.into_iter().find(|(def, _)| ir.is(op, def)) else {
            return Some(self.copy(result, first.filter(|_| held)?, false));
        };
        let (of, to) = ([of[0], of[1]], register(self));
        if matches!(how, Binary::Min) && self.gathered.contains(&of[0]) {
            let [of, last] = of;
            return Some(Code::Wrap { to, of, last });
        }
        Some(Code::Binary { to, how, of })
    }
}

fn has_loops(codes: &[Code]) -> bool {
    codes.iter().any(|code| match code {
        Code::For { .. } => true,
        Code::If {
            then, otherwise, ..
        } => has_loops(then) || has_loops(otherwise),
        _ => false,
    })
}
