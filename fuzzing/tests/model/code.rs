//! The ops of a kernel that its indices and memory depend on, numbered so that they run fast; what is done to data is left out.

use fuser_dialects::{fusion, kernel};
use fuser_ir::{Block, DType, Ir, Op, TypeKind, Value};
use std::collections::HashMap;

#[derive(Clone, Copy)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
}

/// An op that indices or memory depend on. Numbers are registers, `to` that of the result.
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
    Where {
        to: usize,
        of: [usize; 3],
    },
    /// Touches `lanes` elements from `at` on, or those of them from lane `within[0]` to before lane `within[1]`.
    Touch {
        memory: usize,
        stores: bool,
        at: usize,
        lanes: i64,
        within: Option<[usize; 2]>,
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
            codes.extend(self.op(op)?);
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
    fn for_loop(&mut self, op: Op) -> Result<Code, String> {
        let bounds = [self.known(op, 0)?, self.known(op, 1)?, self.known(op, 2)?];
        let body = self.ir.body(op, 0).ok_or("a loop has no body")?;
        let index = self.register(self.ir.args(body)[0]);
        let body = self.block(body)?;
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
        let Some(&number) = self.memories.get(&ir.operand(op, memory)) else {
            return Ok(None);
        };
        let data = match stores {
            true => ir.operand(op, 0),
            false => ir.result(op, 0),
        };
        let lanes = match ir.value_kind(data) {
            TypeKind::Vector { shape, .. } => shape[0] as i64,
            _ => 1,
        };
        let within = match ir.is(op, &kernel::LOAD_WITHIN) {
            true => Some([self.known(op, 3)?, self.known(op, 4)?]),
            false => None,
        };
        Ok(Some(Code::Touch {
            memory: number,
            stores,
            at: self.known(op, memory + 1)?,
            lanes,
            within,
        }))
    }
    /// An op on indices or conditions; none for one on data.
    fn arithmetic(&mut self, op: Op) -> Option<Code> {
        let ir = self.ir;
        let &result = ir.results(op).first()?;
        let index = match ir.value_kind(result) {
            TypeKind::Scalar(dtype) => matches!(dtype, DType::Index | DType::I1),
            _ => false,
        };
        if !index {
            return None;
        }
        let operands = ir.operands(op);
        let of: Option<Vec<usize>> = operands.map(|v| self.registers.get(&v).copied()).collect();
        let of = of?;
        if ir.is(op, &fusion::CONSTANT) {
            let value = ir.attr_of(op, "value")?.as_int()? as i64;
            let to = self.register(result);
            return Some(Code::Constant { to, value });
        }
        if ir.is(op, &fusion::COMPARE) {
            let how = ir.str_of(op, "predicate")?.to_owned();
            let (of, to) = ([of[0], of[1]], self.register(result));
            return Some(Code::Compare { to, how, of });
        }
        if ir.is(op, &fusion::WHERE) {
            let (of, to) = ([of[0], of[1], of[2]], self.register(result));
            return Some(Code::Where { to, of });
        }
        let table = [
            (&fusion::ADD, Binary::Add),
            (&fusion::SUB, Binary::Sub),
            (&fusion::MUL, Binary::Mul),
            (&fusion::DIV, Binary::Div),
            (&fusion::REM, Binary::Rem),
            (&fusion::MINIMUM, Binary::Min),
            (&fusion::MAXIMUM, Binary::Max),
            (&fusion::AND, Binary::And),
            (&fusion::OR, Binary::Or),
        ];
        let (_, how) = table.into_iter().find(|(def, _)| ir.is(op, def))?;
        let (of, to) = ([of[0], of[1]], self.register(result));
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
