//! Folds and scans with a lambda, one index of the axis after the other, for all other indices at once.

use std::collections::BTreeMap;

use fuser_ir::attr::AttrKind;
use fuser_ir::types::TypeKind;
use fuser_ir::{Block, DType, Value};

use super::code::{Code, code};
use super::elementwise::{chunks, join, view_of};
use super::shape::squeeze;
use super::window::unravel;
use super::with_lane;
use crate::error::{ErrorKind, InterpError, Result};
use crate::execute::execute;
use crate::machine::Machine;
use crate::site::Site;
use crate::tensor::{Axis, Lane, Tensor};

/// The lambda of an op: its block, and the element types of its accumulators.
struct Lambda<'a> {
    site: Site<'a>,
    body: Block,
    accumulators: Vec<DType>,
}

impl<'a> Lambda<'a> {
    fn of(site: Site<'a>) -> Result<Self> {
        let body = site.ir.body(site.op, 0);
        let body = body.ok_or_else(|| InterpError::invalid("the op has no lambda"))?;
        let dtype = |&result: &Value| match site.ir.value_kind(result) {
            TypeKind::Tensor(t) => Ok(t.dtype),
            _ => Err(InterpError::invalid("a result is no tensor")),
        };
        let results = site.ir.results(site.op).iter();
        let accumulators = results.map(dtype).collect::<Result<_>>()?;
        Ok(Self {
            site,
            body,
            accumulators,
        })
    }
    /// The accumulators before the first element, everywhere.
    fn init(&self, machine: &mut Machine<'_>, axes: &[Axis]) -> Result<Vec<Tensor>> {
        let ir = self.site.ir;
        let numbers = match ir.attr_of(self.site.op, "init") {
            Some(AttrKind::Array(numbers)) if numbers.len() == self.accumulators.len() => numbers,
            _ => return Err(InterpError::invalid("`init` has another number of entries")),
        };
        let pairs = numbers.iter().zip(&self.accumulators);
        pairs
            .map(|(&number, &dtype)| machine.constant(dtype, axes.to_vec(), ir.attr_kind(number)))
            .collect()
    }
    /// The accumulators after the elements `arguments[accumulators..]`, from those before it.
    fn step(&self, machine: &mut Machine<'_>, arguments: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let ir = self.site.ir;
        let parameters = ir.args(self.body);
        if parameters.len() != arguments.len() {
            return Err(InterpError::invalid(
                "the lambda has another number of arguments",
            ));
        }
        let mut values: BTreeMap<Value, Tensor> = BTreeMap::new();
        values.extend(parameters.iter().copied().zip(arguments));
        for op in ir.block_ops(self.body) {
            let missing = || InterpError::invalid("the lambda uses a value that it has not");
            let operands = ir
                .operands(op)
                .map(|v| values.get(&v).cloned().ok_or_else(missing));
            let operands = operands.collect::<Result<Vec<_>>>()?;
            if ir.name(op) == "fusion.yield" {
                return Ok(operands);
            }
            let site = Site { op, ..self.site };
            let found = execute(machine, site, pointwise(ir.name(op))?, &operands)?;
            values.extend(ir.results(op).iter().copied().zip(found));
        }
        Err(InterpError::invalid("the lambda yields nothing"))
    }
}

/// The code of an op that stands in a lambda.
fn pointwise(name: &str) -> Result<Code> {
    let unknown = || InterpError::new(ErrorKind::UnknownOp(name.into()));
    let own = name.strip_prefix("fusion.").and_then(code);
    own.ok_or_else(unknown)
}

/// A tensor broadcast to `axes`: the result of a lambda on constants, or on broadcast operands, is repeated.
fn spread(machine: &mut Machine<'_>, x: Tensor, axes: &[Axis]) -> Result<Tensor> {
    if x.axes() == axes {
        return Ok(x);
    }
    let view = view_of(&x, axes);
    machine.gather(&x, axes.to_vec(), view)
}

/// The axes of the results without `dim`, and the indices of `dim`.
fn around(operands: &[Tensor], dim: usize) -> Result<(Vec<Axis>, usize)> {
    let all: Vec<&Tensor> = operands.iter().collect();
    let mut axes = join(&all)?;
    if operands.is_empty() || dim >= axes.len() {
        return Err(InterpError::invalid("`dim` is no axis of the operands"));
    }
    let walked = axes.remove(dim);
    Ok((axes, walked.extent))
}

/// The results of `fusion.fold`, or of `fusion.scan` with `steps`.
pub(crate) fn walk(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    operands: &[Tensor],
    steps: bool,
) -> Result<Vec<Tensor>> {
    let lambda = Lambda::of(site)?;
    let dim = crate::machine::extent(site.int("dim")?)?;
    let (axes, extent) = around(operands, dim)?;
    let mut accumulators = lambda.init(machine, &axes)?;
    let mut kept: Vec<Vec<Tensor>> = vec![Vec::new(); accumulators.len()];
    for index in 0..extent {
        let mut arguments = accumulators;
        for x in operands {
            arguments.push(element(machine, x, dim, index)?);
        }
        let next = lambda.step(machine, arguments)?;
        let next = next.into_iter().map(|x| spread(machine, x, &axes));
        accumulators = next.collect::<Result<_>>()?;
        if steps {
            kept.iter_mut()
                .zip(&accumulators)
                .for_each(|(list, x)| list.push(x.clone()));
        }
    }
    if !steps {
        return Ok(accumulators);
    }
    let lists = kept.into_iter().zip(&lambda.accumulators);
    lists
        .map(|(list, &dtype)| stacked(machine, &list, dtype, &axes, dim))
        .collect()
}

/// The part of `x` at an index of `dim`, without that axis.
fn element(machine: &mut Machine<'_>, x: &Tensor, dim: usize, index: usize) -> Result<Tensor> {
    let mut starts = vec![0; x.axes().len()];
    let mut shape: Vec<usize> = x.axes().iter().map(|a| a.extent).collect();
    (starts[dim], shape[dim]) = (index, 1);
    let steps = vec![1; shape.len()];
    squeeze(&machine.slice(x, &starts, &shape, &steps)?, &[dim])
}

/// One tensor behind the other along a new axis `dim`.
fn stacked(
    machine: &mut Machine<'_>,
    list: &[Tensor],
    dtype: DType,
    axes: &[Axis],
    dim: usize,
) -> Result<Tensor> {
    let mut all = axes.to_vec();
    all.insert(dim, Axis::plain(list.len()));
    let draft = machine.draft(dtype, all.clone())?;
    with_lane!(machine.kind(dtype), L => machine.fill(draft, |part| {
        let mut index = vec![0; all.len()];
        chunks::<L>(part, |at, row| {
            for (i, lane) in row.iter_mut().enumerate() {
                unravel(&all, at + i, &mut index);
                let x = &list[index[dim]];
                let others = index[..dim].iter().chain(&index[dim + 1..]);
                let from = others.zip(x.strides()).map(|(i, stride)| i * stride).sum();
                L::load(x, from, 1, std::slice::from_mut(lane));
            }
        });
    }))
}

/// The last element along `dim`, `otherwise` where there is none.
pub(crate) fn last(machine: &mut Machine<'_>, site: Site<'_>, x: &Tensor) -> Result<Tensor> {
    let dim = crate::machine::extent(site.int("dim")?)?;
    let (axes, extent) = around(std::slice::from_ref(x), dim)?;
    match extent.checked_sub(1) {
        Some(index) => element(machine, x, dim, index),
        None => {
            let number = site.ir.attr_of(site.op, "otherwise");
            let number = number.ok_or_else(|| InterpError::invalid("`otherwise` is missing"))?;
            machine.constant(x.dtype(), axes, number)
        }
    }
}
