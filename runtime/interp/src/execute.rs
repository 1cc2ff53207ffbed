//! One `fusion` op: clauses read, operands checked for number, results made.

use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::math::Predicate;
use crate::ops::code::{Code, Reduce, Shape};
use crate::ops::{complex, lambda, shape};
use crate::site::Site;
use crate::tensor::Tensor;
use fuser_ir::DType;
use fuser_ir::entity::Entity;

/// The results of an op.
pub(crate) fn execute(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    code: Code,
    operands: &[Tensor],
) -> Result<Vec<Tensor>> {
    machine.begin(site.op.index());
    if let Some(results) = complex::computed(machine, site, code, operands)? {
        return Ok(results);
    }
    let result = match (code, operands) {
        (Code::Unary(op), [x]) => machine.unary(op, name(site), x),
        (Code::Formula(steps), [x]) => machine.formula(steps, x),
        (Code::Binary(op), [a, b]) => machine.binary(op, name(site), a, b),
        (Code::Test(test), [x]) => machine.test(test, x),
        (Code::Compare, [a, b]) => machine.compare(predicate(site)?, a, b),
        (Code::Where, [condition, a, b]) => machine.select(condition, a, b),
        (Code::Clamp, [x, low, high]) => machine.clamp(x, low, high),
        (Code::Cast, [x]) => machine.cast(x, site.dtype("to")?),
        (Code::Bitcast, [x]) => machine.bitcast(x, site.dtype("to")?),
        (Code::Constant, []) => constant(machine, site),
        (Code::Full, [x]) => machine.full(x, site.axes("shape")?),
        (Code::Iota, []) => iota(machine, site),
        (Code::Size, []) => size(site),
        (Code::Shape(kind), [x]) => shaped(machine, site, kind, x),
        (Code::Slice, [x]) => slice(machine, site, x),
        (Code::Flip, [x]) => machine.flip(x, &axes(site, x)?),
        (Code::Pad, [x, value]) => {
            let amounts = [site.amounts("low")?, site.amounts("high")?];
            machine.pad(x, value, &amounts, &site.repeats(0)?)
        }
        (Code::Cat, operands) => {
            let operands: Vec<&Tensor> = operands.iter().collect();
            machine.cat(&operands, crate::machine::extent(site.int("dim")?)?)
        }
        (Code::Take, [x, indices]) => {
            machine.take(x, indices, crate::machine::extent(site.int("dim")?)?)
        }
        (Code::TakeAlong, [x, indices]) => {
            machine.take_along(x, indices, crate::machine::extent(site.int("dim")?)?)
        }
        (Code::DynamicSlice, [x, starts @ ..]) => {
            let extents = site.shape("shape", |axis| x.axes().get(axis).map(|a| a.extent))?;
            machine.dynamic_slice(x, starts, &axes(site, x)?, &extents)
        }
        (Code::DynamicUpdateSlice, [x, updates, starts @ ..]) => {
            machine.dynamic_update_slice(x, updates, starts, &axes(site, x)?)
        }
        (Code::Scatter(whole), [dest, indices, updates]) => {
            let dim = crate::machine::extent(site.int("dim")?)?;
            machine.scatter(combine(site)?, dim, whole, [dest, indices, updates])
        }
        (Code::Reduce(op), [x]) => machine.reduce(op, x, &axes(site, x)?, site.flag("keepdim")),
        (Code::Scan(op), [x]) => machine.scan(op, x, crate::machine::extent(site.int("dim")?)?),
        (Code::Matmul, [a, b, c @ ..]) if c.len() < 2 => {
            machine.matmul(a, b, c.first(), site.result(0)?.0)
        }
        (Code::Linear, [x, weight, bias @ ..]) if bias.len() < 2 => {
            machine.linear(x, weight, bias.first(), site.result(0)?.0)
        }
        (Code::Convolution, [x, kernel]) => machine.convolution(site, [x, kernel]),
        (Code::Sdpa, [_, _, _, bias @ ..]) if bias.len() < 2 => {
            let sums = site.flag("logsumexp");
            return machine.sdpa(operands, site.float("scale"), site.flag("causal"), sums);
        }
        (Code::Philox, [index, seed, offset]) => machine.philox(word(site)?, [index, seed, offset]),
        (Code::Uniform, [seed, offset]) => {
            machine.uniform(site.dtype("of")?, site.axes("shape")?, [seed, offset])
        }
        (Code::Normal, [seed, offset]) => {
            machine.normal(site.dtype("of")?, site.axes("shape")?, [seed, offset])
        }
        (Code::Bernoulli, [p, seed, offset]) => {
            machine.bernoulli(site.axes("shape")?, p, [seed, offset])
        }
        (Code::Mean, [x]) => machine.mean(x, &axes(site, x)?, site.flag("keepdim")),
        (Code::Arg(greatest), [x]) => {
            let dim = crate::machine::extent(site.int("dim")?)?;
            machine.arg(greatest, x, dim, site.flag("keepdim"), site.dtype("of")?)
        }
        (Code::Roll, [x]) => {
            let dim = crate::machine::extent(site.int("dim")?)?;
            machine.roll(x, dim, site.int("shift")?)
        }
        (Code::OneHot, [x]) => one_hot(machine, site, x),
        (Code::Sort, [x]) => {
            let of = site.flag("of").then(|| site.dtype("of")).transpose()?;
            sort(machine, site, x, of, site.flag("descending"))
        }
        (Code::TopK, [x]) => {
            let descending = !site.flag("smallest");
            let values = sort(machine, site, x, None, descending)?;
            let indices = sort(machine, site, x, Some(site.dtype("of")?), descending)?;
            return Ok(vec![values, indices]);
        }
        (Code::Routine(routine), operands) => return machine.routine(routine, site, operands),
        (Code::Lambda(steps), operands) => return lambda::walk(machine, site, operands, steps),
        (Code::Last, [x]) => lambda::last(machine, site, x),
        (Code::VarMean, [x]) => return var_mean(machine, site, x),
        _ => Err(InterpError::invalid(
            "the op has another number of operands",
        )),
    };
    Ok(vec![result?])
}

/// The first elements of each line in order, or their indices.
fn sort(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    x: &Tensor,
    of: Option<DType>,
    descending: bool,
) -> Result<Tensor> {
    let dim = crate::machine::extent(site.int("dim")?)?;
    let first = match site.flag("first") {
        true => Some(crate::machine::extent(site.int("first")?)?),
        false => None,
    };
    machine.sort(x, dim, of, first, descending)
}

fn one_hot(machine: &mut Machine<'_>, site: Site<'_>, x: &Tensor) -> Result<Tensor> {
    let dim = crate::machine::extent(site.int("dim")?)?;
    match site.axes("shape")?[..] {
        [own] => machine.one_hot(x, dim, own, site.dtype("of")?),
        _ => Err(InterpError::invalid("`shape` is not one extent")),
    }
}

/// The op's name without its dialect.
fn name(site: Site<'_>) -> &str {
    let name = site.ir.name(site.op);
    name.split_once('.').map_or(name, |(_, rest)| rest)
}

fn predicate(site: Site<'_>) -> Result<Predicate> {
    let word = site.word("predicate")?;
    Predicate::from_name(word).ok_or_else(|| InterpError::invalid("unknown predicate"))
}

/// The reduction by which a scatter combines elements; `None` if the last update of an element wins.
fn combine(site: Site<'_>) -> Result<Option<Reduce>> {
    Ok(Some(match site.word("combine")? {
        "set" => return Ok(None),
        "add" => Reduce::Sum,
        "mul" => Reduce::Prod,
        "max" => Reduce::Max,
        "min" => Reduce::Min,
        _ => return Err(InterpError::invalid("unknown way to combine")),
    }))
}

/// The place of the word in a block.
fn word(site: Site<'_>) -> Result<usize> {
    let word = site.word("word")?;
    let place = ["x", "y", "z", "w"].iter().position(|name| *name == word);
    place.ok_or_else(|| InterpError::invalid("unknown word"))
}

fn constant(machine: &mut Machine<'_>, site: Site<'_>) -> Result<Tensor> {
    let (dtype, axes) = site.result(0)?;
    let value = site.ir.attr_of(site.op, "value");
    let value = value.ok_or_else(|| InterpError::invalid("a constant has no value"))?;
    machine.constant(dtype, axes, value)
}

/// The product of the extents, modulo two to the 64.
fn size(site: Site<'_>) -> Result<Tensor> {
    let shape = site.shape("shape", |_| None)?;
    let product = shape
        .into_iter()
        .fold(1i64, |product, extent| product.wrapping_mul(extent as i64));
    Ok(Tensor::index(product))
}

fn iota(machine: &mut Machine<'_>, site: Site<'_>) -> Result<Tensor> {
    let dim = crate::machine::extent(site.int("dim")?)?;
    machine.iota(site.dtype("of")?, site.axes("shape")?, dim)
}

fn shaped(machine: &mut Machine<'_>, site: Site<'_>, kind: Shape, x: &Tensor) -> Result<Tensor> {
    let own = |axis: usize| x.axes().get(axis).map(|a| a.extent);
    match kind {
        Shape::Identity => Ok(x.clone()),
        Shape::Copy if site.flag("dense") => machine.densify(x),
        Shape::Copy => Ok(x.clone()),
        Shape::Permute => machine.permute(x, &site.counts("dims")?),
        Shape::Squeeze => shape::squeeze(x, &site.counts("dims")?),
        Shape::Reshape => shape::reshape(x, site.axes("shape")?),
        Shape::Broadcast => {
            let dims = site.counts("dims")?;
            let kept = |axis| own(dims.iter().position(|d| *d == axis)?);
            shape::broadcast(x, &dims, &site.shape("shape", kept)?)
        }
        Shape::Expand => shape::expand(x, &site.shape("shape", own)?, &stretched(site)?),
    }
}

/// The axes that `expand` repeats: those whose written extent differs from the operand's. Types decide this, since a
/// named extent may be 1.
fn stretched(site: Site<'_>) -> Result<Vec<bool>> {
    let operand = site.ir.operand(site.op, 0);
    let from = site.ir.value_kind(operand).as_tensor();
    let from = from.ok_or_else(|| InterpError::invalid("the operand is no tensor"))?;
    let pairs = from.dims.iter().zip(site.dims("shape")?);
    Ok(pairs.map(|(from, to)| from.extent != to.extent).collect())
}

fn slice(machine: &mut Machine<'_>, site: Site<'_>, x: &Tensor) -> Result<Tensor> {
    let shape = site.shape("shape", |axis| x.axes().get(axis).map(|a| a.extent))?;
    let steps = match site.flag("strides") {
        true => site.counts("strides")?,
        false => vec![1; x.axes().len()],
    };
    let starts = site.amounts("starts")?;
    // An axis of one index is plain, whatever its type says; of that nothing is taken, and it is stored once again.
    let operand = site.ir.value_kind(site.ir.operand(site.op, 0)).as_tensor();
    let mut axes = x.axes().to_vec();
    for ((axis, dim), &taken) in axes
        .iter_mut()
        .zip(operand.iter().flat_map(|t| &t.dims))
        .zip(&shape)
    {
        axis.broadcast |= dim.broadcast && axis.extent == 1 && taken == 0;
    }
    let x = x.with_axes(axes);
    let x = x.ok_or_else(|| InterpError::invalid("an axis of one index has several elements"))?;
    machine.slice(&x, &starts, &shape, &steps)
}

/// The axes of `dims`, each an axis of the operand, each once.
fn axes(site: Site<'_>, x: &Tensor) -> Result<Vec<usize>> {
    let dims = site.counts("dims")?;
    let ascending = dims.windows(2).all(|w| w[0] < w[1]);
    match ascending && dims.iter().all(|d| *d < x.axes().len()) {
        true => Ok(dims),
        false => Err(InterpError::invalid(
            "`dims` does not list axes of the operand, ascending",
        )),
    }
}

fn var_mean(machine: &mut Machine<'_>, site: Site<'_>, x: &Tensor) -> Result<Vec<Tensor>> {
    let correction = site.int("correction")?;
    let keep = site.flag("keepdim");
    let (variance, mean) = machine.var_mean(x, &axes(site, x)?, keep, correction)?;
    Ok(vec![variance, mean])
}
