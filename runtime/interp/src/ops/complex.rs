//! Complex numbers: each op by the formula in its definition, on the tensors of real and of imaginary parts.
//!
//! A complex tensor holds two real ones. Whatever only moves, chooses or adds elements is done to each of them; every other op is a
//! formula of real ops, whose error bounds in reference mode follow from theirs. An op without a formula is refused.

use fuser_ir::DType;

use super::code::{Code, Reduce};
use crate::error::{InterpError, Result};
use crate::execute::execute;
use crate::machine::Machine;
use crate::number::math::{Binary, Predicate, Test, Unary};
use crate::ops::shape;
use crate::site::Site;
use crate::tensor::{Axis, Data, Tensor};

/// A real part and an imaginary one.
type Pair = (Tensor, Tensor);

/// The results of an op with complex operands or results; `None` for other ops.
pub(crate) fn computed(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    code: Code,
    operands: &[Tensor],
) -> Result<Option<Vec<Tensor>>> {
    let made = code == Code::Complex || code == Code::Cast && site.dtype("to")?.is_complex();
    if !made && !operands.iter().any(|x| x.dtype().is_complex()) {
        return Ok(None);
    }
    if is_by_parts(code) {
        return by_parts(machine, site, code, operands).map(Some);
    }
    if let (Code::VarMean, [x]) = (code, operands) {
        return moments(machine, site, x).map(Some);
    }
    let mut of = Formulas { machine };
    let result = match (code, operands) {
        (Code::Complex, [a, b]) => of.aligned(a, b).and_then(join),
        (Code::Cast, [x]) => of.cast(x, site.dtype("to")?.part()).and_then(join),
        (Code::Real, [x]) => parts(x).map(|p| p.0),
        (Code::Imag, [x]) => parts(x).map(|p| p.1),
        (Code::Unary(Unary::Abs), [x]) => of.abs(&parts(x)?),
        (Code::Test(test), [x]) => of.test(test, &parts(x)?),
        (Code::Compare, [x, y]) => {
            of.compare(site.word("predicate")? == "eq", &parts(x)?, &parts(y)?)
        }
        (Code::Reduce(Reduce::Prod), [x]) => {
            of.product(x, &site.counts("dims")?, site.flag("keepdim"))
        }
        (Code::Scan(Reduce::Prod), [x]) => {
            of.products(x, crate::machine::extent(site.int("dim")?)?)
        }
        (Code::Binary(op), [x, y]) => of.binary(op, &parts(x)?, &parts(y)?).and_then(join),
        (Code::Unary(op), [x]) => of.unary(op, &parts(x)?).and_then(join),
        (Code::Conj, [x]) => {
            let (a, b) = parts(x)?;
            of.one(Unary::Neg, "neg", &b).and_then(|b| join((a, b)))
        }
        (Code::Formula(steps), [x]) => {
            let z = parts(x)?;
            let value = match steps == super::code::RSQRT {
                true => {
                    let root = of.sqrt(&z)?;
                    of.reciprocal(&root)?
                }
                false => {
                    let s = of.sigmoid(&z)?;
                    of.times(&z, &s)?
                }
            };
            join(value)
        }
        _ => Err(unknown()),
    };
    Ok(Some(vec![result?]))
}

fn unknown() -> InterpError {
    InterpError::invalid("the op is not defined for complex numbers")
}

/// Ops that do the same with both parts.
fn is_by_parts(code: Code) -> bool {
    let moves = matches!(
        code,
        Code::Shape(_) | Code::Slice | Code::Flip | Code::Pad | Code::Cat | Code::Roll | Code::Full
    );
    let finds = matches!(
        code,
        Code::Take | Code::TakeAlong | Code::DynamicSlice | Code::DynamicUpdateSlice | Code::Where
    );
    let adds = matches!(
        code,
        Code::Unary(Unary::Neg)
            | Code::Binary(Binary::Add | Binary::Sub)
            | Code::Reduce(Reduce::Sum)
            | Code::Scan(Reduce::Sum)
            | Code::Mean
            | Code::Scatter(_)
    );
    moves || finds || adds
}

/// An op on the real parts of its operands, and on the imaginary ones; what is real is an operand of both.
fn by_parts(
    machine: &mut Machine<'_>,
    site: Site<'_>,
    code: Code,
    operands: &[Tensor],
) -> Result<Vec<Tensor>> {
    let mut of = |second: bool| {
        let part = |x: &Tensor| match x.parts() {
            Some(parts) if second => parts.1,
            Some(parts) => parts.0,
            None => x.clone(),
        };
        let own: Vec<Tensor> = operands.iter().map(part).collect();
        execute(machine, site, code, &own)
    };
    let pairs = of(false)?.into_iter().zip(of(true)?);
    pairs.map(join).collect()
}

/// The variances of the parts together, and the means.
fn moments(machine: &mut Machine<'_>, site: Site<'_>, x: &Tensor) -> Result<Vec<Tensor>> {
    let (a, b) = parts(x)?;
    let [a, b] = [a, b].map(|part| execute(machine, site, Code::VarMean, &[part]));
    match (&a?[..], &b?[..]) {
        ([a, mean], [b, other]) => {
            let var = Formulas { machine }.add(a, b)?;
            Ok(vec![var, join((mean.clone(), other.clone()))?])
        }
        _ => Err(unknown()),
    }
}

fn parts(x: &Tensor) -> Result<Pair> {
    x.parts().ok_or_else(unknown)
}

fn join((a, b): Pair) -> Result<Tensor> {
    Tensor::of_parts(a, b).ok_or_else(|| InterpError::invalid("the parts have not one shape"))
}

struct Formulas<'m, 'o> {
    machine: &'m mut Machine<'o>,
}

impl Formulas<'_, '_> {
    fn one(&mut self, op: Unary, name: &str, x: &Tensor) -> Result<Tensor> {
        self.machine.unary(op, name, x)
    }
    fn two(&mut self, op: Binary, name: &str, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.machine.binary(op, name, x, y)
    }
    fn add(&mut self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.two(Binary::Add, "add", x, y)
    }
    fn sub(&mut self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.two(Binary::Sub, "sub", x, y)
    }
    fn mul(&mut self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.two(Binary::Mul, "mul", x, y)
    }
    fn div(&mut self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.two(Binary::Div, "div", x, y)
    }
    fn either(&mut self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.two(Binary::Or, "or", x, y)
    }
    fn is(&mut self, x: &Tensor, predicate: Predicate, number: f64) -> Result<Tensor> {
        let number = scalar(x.dtype(), number)?;
        self.machine.compare(predicate, x, &number)
    }
    fn choose(&mut self, condition: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.machine.select(condition, x, y)
    }
    fn choose_both(&mut self, condition: &Tensor, x: &Pair, y: &Pair) -> Result<Pair> {
        Ok((
            self.choose(condition, &x.0, &y.0)?,
            self.choose(condition, &x.1, &y.1)?,
        ))
    }

    /// Two tensors in their common shape.
    fn aligned(&mut self, a: &Tensor, b: &Tensor) -> Result<Pair> {
        let yes = Tensor::new(DType::I1, Vec::new(), Data::I1(vec![true])).ok_or_else(unknown)?;
        Ok((self.choose(&yes, a, b)?, self.choose(&yes, b, a)?))
    }
    fn cast(&mut self, x: &Tensor, to: DType) -> Result<Pair> {
        match x.parts() {
            Some((a, b)) => Ok((self.machine.cast(&a, to)?, self.machine.cast(&b, to)?)),
            None => {
                let a = self.machine.cast(x, to)?;
                self.aligned(&a, &scalar(to, 0.0)?)
            }
        }
    }
    fn test(&mut self, test: Test, z: &Pair) -> Result<Tensor> {
        let (a, b) = (
            self.machine.test(test, &z.0)?,
            self.machine.test(test, &z.1)?,
        );
        match test {
            Test::Nan => self.either(&a, &b),
            Test::Finite => self.two(Binary::And, "and", &a, &b),
        }
    }
    fn compare(&mut self, equal: bool, x: &Pair, y: &Pair) -> Result<Tensor> {
        let (predicate, op, name) = match equal {
            true => (Predicate::Eq, Binary::And, "and"),
            false => (Predicate::Ne, Binary::Or, "or"),
        };
        let a = self.machine.compare(predicate, &x.0, &y.0)?;
        let b = self.machine.compare(predicate, &x.1, &y.1)?;
        self.two(op, name, &a, &b)
    }

    /// Products along axes: the last axis first, in index order, from 1 on.
    fn product(&mut self, x: &Tensor, dims: &[usize], keep: bool) -> Result<Tensor> {
        let mut value = parts(x)?;
        for &dim in dims.iter().rev() {
            let (one, steps) = self.steps(&value, dim)?;
            value = steps.into_iter().next_back().unwrap_or(one);
        }
        let (a, b) = value;
        match keep {
            true => join((a, b)),
            false => join((shape::squeeze(&a, dims)?, shape::squeeze(&b, dims)?)),
        }
    }

    /// The products up to each index of an axis, from 1 on.
    fn products(&mut self, x: &Tensor, dim: usize) -> Result<Tensor> {
        let (one, steps) = self.steps(&parts(x)?, dim)?;
        let (mut starts, mut shape) = (vec![0; one.0.axes().len()], one.0.shape());
        (starts[dim], shape[dim]) = (1, 0);
        let by = vec![1; shape.len()];
        let mut all = |of: fn(&Pair) -> &Tensor| {
            let none = self.machine.slice(of(&one), &starts, &shape, &by)?;
            let steps: Vec<&Tensor> = [&none].into_iter().chain(steps.iter().map(of)).collect();
            self.machine.cat(&steps, dim)
        };
        let (a, b) = (all(|pair| &pair.0)?, all(|pair| &pair.1)?);
        join((a, b))
    }
    /// Ones with extent 1 along an axis, and the products from these on up to each index of it.
    fn steps(&mut self, value: &Pair, dim: usize) -> Result<(Pair, Vec<Pair>)> {
        let mut shape = value.0.shape();
        let length = std::mem::replace(shape.get_mut(dim).ok_or_else(unknown)?, 1);
        let (mut starts, by) = (vec![0; shape.len()], vec![1; shape.len()]);
        let mut axes = value.0.axes().to_vec();
        axes[dim] = Axis::plain(1);
        let dtype = value.0.dtype();
        let one = (
            self.machine.full(&scalar(dtype, 1.0)?, axes.clone())?,
            self.machine.full(&scalar(dtype, 0.0)?, axes)?,
        );
        let mut steps: Vec<Pair> = Vec::new();
        for at in 0..length {
            starts[dim] = at;
            let a = self.machine.slice(&value.0, &starts, &shape, &by)?;
            let b = self.machine.slice(&value.1, &starts, &shape, &by)?;
            let step = self.times(steps.last().unwrap_or(&one), &(a, b))?;
            steps.push(step);
        }
        Ok((one, steps))
    }

    fn binary(&mut self, op: Binary, x: &Pair, y: &Pair) -> Result<Pair> {
        match op {
            Binary::Mul => self.times(x, y),
            Binary::Div => self.quotient(x, y),
            Binary::Pow => self.power(x, y),
            _ => Err(unknown()),
        }
    }
    fn times(&mut self, (a, b): &Pair, (c, d): &Pair) -> Result<Pair> {
        let (ac, bd) = (self.mul(a, c)?, self.mul(b, d)?);
        let (ad, bc) = (self.mul(a, d)?, self.mul(b, c)?);
        Ok((self.sub(&ac, &bd)?, self.add(&ad, &bc)?))
    }
    /// R. Smith, "Algorithm 116: Complex division" (1962).
    fn quotient(&mut self, (a, b): &Pair, (c, d): &Pair) -> Result<Pair> {
        let one = scalar(c.dtype(), 1.0)?;
        let (size_c, size_d) = (
            self.one(Unary::Abs, "abs", c)?,
            self.one(Unary::Abs, "abs", d)?,
        );
        let first = {
            let r = self.div(d, c)?;
            let (dr, br, ar) = (self.mul(d, &r)?, self.mul(b, &r)?, self.mul(a, &r)?);
            let s = self.add(c, &dr)?;
            let s = self.div(&one, &s)?;
            let (re, im) = (self.add(a, &br)?, self.sub(b, &ar)?);
            (self.mul(&re, &s)?, self.mul(&im, &s)?)
        };
        let second = {
            let r = self.div(c, d)?;
            let (cr, ar, br) = (self.mul(c, &r)?, self.mul(a, &r)?, self.mul(b, &r)?);
            let s = self.add(&cr, d)?;
            let s = self.div(&one, &s)?;
            let (re, im) = (self.add(&ar, b)?, self.sub(&br, a)?);
            (self.mul(&re, &s)?, self.mul(&im, &s)?)
        };
        let by_zero = (self.div(a, &size_c)?, self.div(b, &size_c)?);
        let larger = self.machine.compare(Predicate::Ge, &size_c, &size_d)?;
        let zero = {
            let (c, d) = (
                self.is(c, Predicate::Eq, 0.0)?,
                self.is(d, Predicate::Eq, 0.0)?,
            );
            self.two(Binary::And, "and", &c, &d)?
        };
        let value = self.choose_both(&larger, &first, &second)?;
        self.choose_both(&zero, &by_zero, &value)
    }
    fn reciprocal(&mut self, z: &Pair) -> Result<Pair> {
        let one = self.number(&z.0, 1.0)?;
        self.quotient(&one, z)
    }
    fn power(&mut self, z: &Pair, w: &Pair) -> Result<Pair> {
        let exponent = self.log(z)?;
        let exponent = self.times(w, &exponent)?;
        let value = self.exp(&exponent)?;
        let (zero, one) = (self.number(&value.0, 0.0)?, self.number(&value.0, 1.0)?);
        let none = self.is_zero(z)?;
        let positive = self.is(&w.0, Predicate::Gt, 0.0)?;
        let vanishes = self.two(Binary::And, "and", &none, &positive)?;
        let value = self.choose_both(&vanishes, &zero, &value)?;
        let trivial = self.is_zero(w)?;
        self.choose_both(&trivial, &one, &value)
    }
    fn is_zero(&mut self, (a, b): &Pair) -> Result<Tensor> {
        let (a, b) = (
            self.is(a, Predicate::Eq, 0.0)?,
            self.is(b, Predicate::Eq, 0.0)?,
        );
        self.two(Binary::And, "and", &a, &b)
    }
    /// A real number in the shape of `like`.
    fn number(&mut self, like: &Tensor, number: f64) -> Result<Pair> {
        let mut full = |number| {
            let number = scalar(like.dtype(), number)?;
            self.machine.full(&number, like.axes().to_vec())
        };
        Ok((full(number)?, full(0.0)?))
    }

    fn unary(&mut self, op: Unary, z: &Pair) -> Result<Pair> {
        match op {
            Unary::Reciprocal => self.reciprocal(z),
            Unary::Exp => self.exp(z),
            Unary::Exp2 => {
                let scaled = self.scaled(Binary::Mul, "mul", z, std::f64::consts::LN_2)?;
                self.exp(&scaled)
            }
            Unary::Log => self.log(z),
            Unary::Log2 | Unary::Log10 => {
                let base = match op {
                    Unary::Log2 => std::f64::consts::LN_2,
                    _ => std::f64::consts::LN_10,
                };
                let log = self.log(z)?;
                self.scaled(Binary::Div, "div", &log, base)
            }
            Unary::Sqrt => self.sqrt(z),
            Unary::Sin | Unary::Cos | Unary::Sinh | Unary::Cosh => self.wave(op, z),
            Unary::Tanh => self.tanh(z),
            Unary::Tan => {
                let turned = (self.one(Unary::Neg, "neg", &z.1)?, z.0.clone());
                let (a, b) = self.tanh(&turned)?;
                Ok((b, self.one(Unary::Neg, "neg", &a)?))
            }
            Unary::Sigmoid => self.sigmoid(z),
            Unary::Expm1 => self.expm1(z),
            Unary::Log1p => self.log1p(z),
            Unary::Asin => self.asin(z),
            Unary::Acos => self.acos(z),
            Unary::Acosh => self.acosh(z),
            Unary::Atanh => self.atanh(z),
            Unary::Asinh => {
                let turned = (self.one(Unary::Neg, "neg", &z.1)?, z.0.clone());
                let (u, v) = self.asin(&turned)?;
                Ok((v, self.one(Unary::Neg, "neg", &u)?))
            }
            Unary::Atan => {
                let turned = (z.1.clone(), self.one(Unary::Neg, "neg", &z.0)?);
                let (u, v) = self.atanh(&turned)?;
                Ok((self.one(Unary::Neg, "neg", &v)?, u))
            }
            _ => Err(unknown()),
        }
    }
    /// Both parts times a number, or divided by it.
    fn scaled(&mut self, op: Binary, name: &str, (a, b): &Pair, number: f64) -> Result<Pair> {
        let number = scalar(a.dtype(), number)?;
        Ok((
            self.two(op, name, a, &number)?,
            self.two(op, name, b, &number)?,
        ))
    }
    fn exp(&mut self, (a, b): &Pair) -> Result<Pair> {
        let size = self.one(Unary::Exp, "exp", a)?;
        let (cos, sin) = (
            self.one(Unary::Cos, "cos", b)?,
            self.one(Unary::Sin, "sin", b)?,
        );
        let (re, im) = (self.mul(&size, &cos)?, self.mul(&size, &sin)?);
        self.turning((a, b), size, (re, im))
    }
    /// An exponential whose angle is 0, or no number: `size` where the one is real and where the other is infinite or
    /// zero, whatever the angle.
    fn turning(
        &mut self,
        (a, b): (&Tensor, &Tensor),
        size: Tensor,
        (re, im): Pair,
    ) -> Result<Pair> {
        let lost = self.is_lost(b)?;
        let (infinite, least) = (
            self.is_infinite(a)?,
            self.is(a, Predicate::Eq, f64::NEG_INFINITY)?,
        );
        let infinite = self.both(&lost, &infinite)?;
        let re = self.choose(&infinite, &size, &re)?;
        let vanishes = self.both(&lost, &least)?;
        let zero = self.signed(&scalar(b.dtype(), 0.0)?, b)?;
        let im = self.choose(&vanishes, &zero, &im)?;
        let real = self.is(b, Predicate::Eq, 0.0)?;
        self.choose_both(&real, &(size, b.clone()), &(re, im))
    }
    /// True where no angle is known: at infinities and NaN.
    fn is_lost(&mut self, x: &Tensor) -> Result<Tensor> {
        let finite = self.machine.test(Test::Finite, x)?;
        self.one(Unary::Not, "not", &finite)
    }
    fn is_infinite(&mut self, x: &Tensor) -> Result<Tensor> {
        let size = self.one(Unary::Abs, "abs", x)?;
        self.is(&size, Predicate::Eq, f64::INFINITY)
    }
    fn both(&mut self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.two(Binary::And, "and", x, y)
    }
    /// The greater magnitude of the parts, infinite where one part is; the ratio of the smaller one to it, 0 where it
    /// is zero or infinite; and the magnitudes.
    fn sizes(&mut self, (a, b): &Pair) -> Result<[Tensor; 4]> {
        let (a, b) = (
            self.one(Unary::Abs, "abs", a)?,
            self.one(Unary::Abs, "abs", b)?,
        );
        let (endless, other) = (
            self.is(&a, Predicate::Eq, f64::INFINITY)?,
            self.is(&b, Predicate::Eq, f64::INFINITY)?,
        );
        let endless = self.either(&endless, &other)?;
        let high = self.two(Binary::Maximum, "maximum", &a, &b)?;
        let high = self.choose(&endless, &scalar(a.dtype(), f64::INFINITY)?, &high)?;
        let low = self.two(Binary::Minimum, "minimum", &a, &b)?;
        let ratio = self.div(&low, &high)?;
        let none = self.is(&high, Predicate::Eq, 0.0)?;
        let none = self.either(&none, &endless)?;
        let ratio = self.choose(&none, &scalar(a.dtype(), 0.0)?, &ratio)?;
        Ok([high, ratio, a, b])
    }
    /// `sqrt(1 + r^2)`
    fn stretch(&mut self, ratio: &Tensor) -> Result<Tensor> {
        let square = self.mul(ratio, ratio)?;
        let sum = self.add(&scalar(ratio.dtype(), 1.0)?, &square)?;
        self.one(Unary::Sqrt, "sqrt", &sum)
    }
    fn abs(&mut self, z: &Pair) -> Result<Tensor> {
        let [high, ratio, ..] = self.sizes(z)?;
        let stretch = self.stretch(&ratio)?;
        self.mul(&high, &stretch)
    }
    fn log(&mut self, z: &Pair) -> Result<Pair> {
        let [high, ratio, ..] = self.sizes(z)?;
        let square = self.mul(&ratio, &ratio)?;
        let more = self.one(Unary::Log1p, "log1p", &square)?;
        let more = self.div(&more, &scalar(high.dtype(), 2.0)?)?;
        let log = self.one(Unary::Log, "log", &high)?;
        let angle = self.two(Binary::Atan2, "atan2", &z.1, &z.0)?;
        Ok((self.add(&log, &more)?, angle))
    }
    fn sqrt(&mut self, z: &Pair) -> Result<Pair> {
        let (a, b) = z;
        let [high, ratio, size_a, size_b] = self.sizes(z)?;
        let two = scalar(a.dtype(), 2.0)?;
        let infinity = scalar(a.dtype(), f64::INFINITY)?;
        let mean = {
            let (share, stretch) = (self.div(&size_a, &high)?, self.stretch(&ratio)?);
            let sum = self.add(&share, &stretch)?;
            self.div(&sum, &two)?
        };
        let (root, factor) = (
            self.one(Unary::Sqrt, "sqrt", &high)?,
            self.one(Unary::Sqrt, "sqrt", &mean)?,
        );
        let t = self.mul(&root, &factor)?;
        let infinite = self.is(&size_a, Predicate::Eq, f64::INFINITY)?;
        let t = self.choose(&infinite, &infinity, &t)?;
        let double = self.add(&t, &t)?;
        let right = (t.clone(), self.div(b, &double)?);
        // A zero has a sign, too.
        let inverse = self.one(Unary::Reciprocal, "reciprocal", b)?;
        let below = self.is(&inverse, Predicate::Lt, 0.0)?;
        let minus = self.one(Unary::Neg, "neg", &t)?;
        let left = (
            self.div(&size_b, &double)?,
            self.choose(&below, &minus, &t)?,
        );
        let is_right = self.is(a, Predicate::Ge, 0.0)?;
        let value = self.choose_both(&is_right, &right, &left)?;
        let zero = self.is(&high, Predicate::Eq, 0.0)?;
        let value = self.choose_both(&zero, &(high, b.clone()), &value)?;
        let up = self.is(&size_b, Predicate::Eq, f64::INFINITY)?;
        self.choose_both(&up, &(infinity, b.clone()), &value)
    }
    /// Sums of exponentials along one part, of waves along the other.
    fn wave(&mut self, op: Unary, (a, b): &Pair) -> Result<Pair> {
        let turned = matches!(op, Unary::Sinh | Unary::Cosh);
        let (angle, growth) = match op {
            Unary::Sin => (a, b.clone()),
            // cos z = cosh iz
            Unary::Cos => (a, self.one(Unary::Neg, "neg", b)?),
            _ => (b, a.clone()),
        };
        let (odd, even) = (
            self.one(Unary::Sinh, "sinh", &growth)?,
            self.one(Unary::Cosh, "cosh", &growth)?,
        );
        let (sin, cos) = (
            self.one(Unary::Sin, "sin", angle)?,
            self.one(Unary::Cos, "cos", angle)?,
        );
        let level = self.is(angle, Predicate::Eq, 0.0)?;
        let lost = self.is_lost(angle)?;
        let (none, endless) = (
            self.is(&growth, Predicate::Eq, 0.0)?,
            self.is_infinite(&growth)?,
        );
        let (none, endless) = (self.both(&lost, &none)?, self.both(&lost, &endless)?);
        let infinity = scalar(angle.dtype(), f64::INFINITY)?;
        if matches!(op, Unary::Sin | Unary::Sinh) {
            let along = self.mul(&odd, &cos)?;
            let along = self.choose(&none, &growth, &along)?;
            let along = self.choose(&endless, &infinity, &along)?;
            let across = self.mul(&even, &sin)?;
            let across = self.choose(&level, angle, &across)?;
            return Ok(if turned {
                (along, across)
            } else {
                (across, along)
            });
        }
        let re = self.mul(&even, &cos)?;
        let re = self.choose(&endless, &infinity, &re)?;
        let im = self.mul(&odd, &sin)?;
        let im = self.choose(&none, &scalar(angle.dtype(), 0.0)?, &im)?;
        let flat = self.signed(angle, &growth)?;
        Ok((re, self.choose(&level, &flat, &im)?))
    }
    fn tanh(&mut self, (a, b): &Pair) -> Result<Pair> {
        let one = scalar(a.dtype(), 1.0)?;
        let (t, u) = (
            self.one(Unary::Tanh, "tanh", a)?,
            self.one(Unary::Tan, "tan", b)?,
        );
        let lost = self.is_lost(b)?;
        let (endless, none) = (self.is_infinite(a)?, self.is(a, Predicate::Eq, 0.0)?);
        let (endless, none) = (self.both(&lost, &endless)?, self.both(&lost, &none)?);
        let zero = self.signed(&scalar(b.dtype(), 0.0)?, b)?;
        let u = self.choose(&endless, &zero, &u)?;
        let cosh = self.one(Unary::Cosh, "cosh", a)?;
        let (tt, uu) = (self.mul(&t, &t)?, self.mul(&u, &u)?);
        let below = self.mul(&tt, &uu)?;
        let below = self.add(&one, &below)?;
        let re = self.add(&one, &uu)?;
        let re = self.mul(&t, &re)?;
        let re = self.div(&re, &below)?;
        let im = self.mul(&cosh, &cosh)?;
        let im = self.div(&u, &im)?;
        let im = self.div(&im, &below)?;
        let real = self.is(b, Predicate::Eq, 0.0)?;
        Ok((self.choose(&none, a, &re)?, self.choose(&real, b, &im)?))
    }
    fn expm1(&mut self, (a, b): &Pair) -> Result<Pair> {
        let less = self.one(Unary::Expm1, "expm1", a)?;
        let two = scalar(a.dtype(), 2.0)?;
        let re = {
            let half = self.div(b, &two)?;
            let half = self.one(Unary::Sin, "sin", &half)?;
            let square = self.mul(&half, &half)?;
            let (turned, lost) = (self.one(Unary::Cos, "cos", b)?, self.mul(&two, &square)?);
            let turned = self.mul(&less, &turned)?;
            self.sub(&turned, &lost)?
        };
        let size = self.one(Unary::Exp, "exp", a)?;
        let sin = self.one(Unary::Sin, "sin", b)?;
        let im = self.mul(&size, &sin)?;
        self.turning((a, b), less, (re, im))
    }
    /// True where a number is nearer to zero than 1/2.
    fn is_small(&mut self, x: &Tensor) -> Result<Tensor> {
        let size = self.one(Unary::Abs, "abs", x)?;
        self.is(&size, Predicate::Lt, 0.5)
    }
    fn log1p(&mut self, (a, b): &Pair) -> Result<Pair> {
        let (one, two) = (scalar(a.dtype(), 1.0)?, scalar(a.dtype(), 2.0)?);
        let grown = self.add(a, &one)?;
        let (re, im) = self.log(&(grown, b.clone()))?;
        let near = {
            let (sum, square) = (self.add(&two, a)?, self.mul(b, b)?);
            let product = self.mul(a, &sum)?;
            let sum = self.add(&product, &square)?;
            let log = self.one(Unary::Log1p, "log1p", &sum)?;
            self.div(&log, &two)?
        };
        let (small_a, small_b) = (self.is_small(a)?, self.is_small(b)?);
        let small = self.two(Binary::And, "and", &small_a, &small_b)?;
        Ok((self.choose(&small, &near, &re)?, im))
    }
    /// True where a part is 2^30 or more, and the logarithm of twice the magnitude.
    fn far(&mut self, z: &Pair) -> Result<[Tensor; 2]> {
        let [high, ..] = self.sizes(z)?;
        let far = self.is(&high, Predicate::Ge, (1u64 << 30) as f64)?;
        let log = self.log(z)?.0;
        let size = self.add(&log, &scalar(high.dtype(), std::f64::consts::LN_2)?)?;
        Ok([far, size])
    }
    /// A positive number with the sign of another, a zero's too.
    fn signed(&mut self, x: &Tensor, of: &Tensor) -> Result<Tensor> {
        let inverse = self.one(Unary::Reciprocal, "reciprocal", of)?;
        let (below, less) = (
            self.is(of, Predicate::Lt, 0.0)?,
            self.is(&inverse, Predicate::Lt, 0.0)?,
        );
        let below = self.either(&below, &less)?;
        let minus = self.one(Unary::Neg, "neg", x)?;
        self.choose(&below, &minus, x)
    }
    /// `x u + y v` or `x u - y v`
    fn joined(
        &mut self,
        [x, u]: [&Tensor; 2],
        sign: Binary,
        [y, v]: [&Tensor; 2],
    ) -> Result<Tensor> {
        let (first, second) = (self.mul(x, u)?, self.mul(y, v)?);
        match sign {
            Binary::Add => self.add(&first, &second),
            _ => self.sub(&first, &second),
        }
    }
    /// The square roots of `1 - z` and `1 + z`.
    fn roots(&mut self, (a, b): &Pair) -> Result<(Pair, Pair)> {
        let one = scalar(a.dtype(), 1.0)?;
        let less = (self.sub(&one, a)?, self.one(Unary::Neg, "neg", b)?);
        let more = (self.add(&one, a)?, b.clone());
        Ok((self.sqrt(&less)?, self.sqrt(&more)?))
    }
    fn asin(&mut self, z: &Pair) -> Result<Pair> {
        let (a, b) = z;
        let (p, q) = self.roots(z)?;
        let re = self.joined([&p.0, &q.0], Binary::Sub, [&p.1, &q.1])?;
        let im = self.joined([&p.0, &q.1], Binary::Sub, [&p.1, &q.0])?;
        let near = (
            self.two(Binary::Atan2, "atan2", a, &re)?,
            self.one(Unary::Asinh, "asinh", &im)?,
        );
        let [far, size] = self.far(z)?;
        let height = self.one(Unary::Abs, "abs", b)?;
        let away = (
            self.two(Binary::Atan2, "atan2", a, &height)?,
            self.signed(&size, b)?,
        );
        let (re, im) = self.choose_both(&far, &away, &near)?;
        let upright = self.is(a, Predicate::Eq, 0.0)?;
        Ok((self.choose(&upright, a, &re)?, im))
    }
    fn acos(&mut self, z: &Pair) -> Result<Pair> {
        let (a, b) = z;
        let (p, q) = self.roots(z)?;
        let angle = self.two(Binary::Atan2, "atan2", &p.0, &q.0)?;
        let im = self.joined([&q.0, &p.1], Binary::Sub, [&q.1, &p.0])?;
        let near = (
            self.mul(&scalar(a.dtype(), 2.0)?, &angle)?,
            self.one(Unary::Asinh, "asinh", &im)?,
        );
        let [far, size] = self.far(z)?;
        let height = self.one(Unary::Abs, "abs", b)?;
        let size = self.signed(&size, b)?;
        let away = (
            self.two(Binary::Atan2, "atan2", &height, a)?,
            self.one(Unary::Neg, "neg", &size)?,
        );
        let (re, im) = self.choose_both(&far, &away, &near)?;
        let upright = self.is(a, Predicate::Eq, 0.0)?;
        let quarter = scalar(a.dtype(), std::f64::consts::FRAC_PI_2)?;
        Ok((self.choose(&upright, &quarter, &re)?, im))
    }
    fn acosh(&mut self, z: &Pair) -> Result<Pair> {
        let (a, b) = z;
        let one = scalar(a.dtype(), 1.0)?;
        let (less, more) = (self.sub(a, &one)?, self.add(a, &one)?);
        let (p, q) = (
            self.sqrt(&(less, b.clone()))?,
            self.sqrt(&(more, b.clone()))?,
        );
        let re = self.joined([&p.0, &q.0], Binary::Add, [&p.1, &q.1])?;
        let angle = self.two(Binary::Atan2, "atan2", &p.1, &q.0)?;
        let near = (
            self.one(Unary::Asinh, "asinh", &re)?,
            self.mul(&scalar(a.dtype(), 2.0)?, &angle)?,
        );
        let [far, size] = self.far(z)?;
        let away = (size, self.two(Binary::Atan2, "atan2", b, a)?);
        let (re, im) = self.choose_both(&far, &away, &near)?;
        let upright = self.is(a, Predicate::Eq, 0.0)?;
        let quarter = scalar(a.dtype(), std::f64::consts::FRAC_PI_2)?;
        let quarter = self.signed(&quarter, b)?;
        Ok((re, self.choose(&upright, &quarter, &im)?))
    }
    fn atanh(&mut self, z: &Pair) -> Result<Pair> {
        let (a, b) = z;
        let [one, two, four] = [1.0, 2.0, 4.0].map(|number| scalar(a.dtype(), number));
        let (one, two, four) = (one?, two?, four?);
        let m = self.one(Unary::Abs, "abs", a)?;
        let (rest, square) = (self.sub(&one, &m)?, self.mul(b, b)?);
        let by_pole = {
            let more = self.add(&one, &m)?;
            let more = self.log(&(more, b.clone()))?.0;
            let less = self.log(&(rest.clone(), b.clone()))?.0;
            let logs = self.sub(&more, &less)?;
            self.div(&logs, &two)?
        };
        let apart = {
            let (times, distance) = (self.mul(&four, &m)?, self.mul(&rest, &rest)?);
            let distance = self.add(&distance, &square)?;
            let share = self.div(&times, &distance)?;
            let log = self.one(Unary::Log1p, "log1p", &share)?;
            self.div(&log, &four)?
        };
        let (near_pole, low) = (self.is_small(&rest)?, self.is_small(b)?);
        let near_pole = self.two(Binary::And, "and", &near_pole, &low)?;
        let x = self.choose(&near_pole, &by_pole, &apart)?;
        let [far, _] = self.far(z)?;
        let fades = {
            let [high, ratio, ..] = self.sizes(z)?;
            let infinite = self.is(&high, Predicate::Eq, f64::INFINITY)?;
            let share = self.div(&m, &high)?;
            let share = self.div(&share, &high)?;
            let squares = self.mul(&ratio, &ratio)?;
            let squares = self.add(&one, &squares)?;
            let share = self.div(&share, &squares)?;
            self.choose(&infinite, &scalar(a.dtype(), 0.0)?, &share)?
        };
        let x = self.choose(&far, &fades, &x)?;
        let angle = {
            let (less, more) = (self.sub(&one, a)?, self.add(&one, a)?);
            let product = self.mul(&less, &more)?;
            let (up, right) = (self.mul(&two, b)?, self.sub(&product, &square)?);
            let angle = self.two(Binary::Atan2, "atan2", &up, &right)?;
            self.div(&angle, &two)?
        };
        let right = self.number(b, std::f64::consts::FRAC_PI_2)?.0;
        let right = self.signed(&right, b)?;
        let nothing = self.machine.test(Test::Nan, b)?;
        let right = self.choose(&nothing, b, &right)?;
        let (x, upright) = (self.signed(&x, a)?, self.is(a, Predicate::Eq, 0.0)?);
        let x = self.choose(&upright, a, &x)?;
        Ok((x, self.choose(&far, &right, &angle)?))
    }
    /// `1 / (1 + exp(-z))` on the right, `exp z / (1 + exp z)` on the left: of the two exponentials the one that is
    /// at most 1.
    fn sigmoid(&mut self, z: &Pair) -> Result<Pair> {
        let minus = (
            self.one(Unary::Neg, "neg", &z.0)?,
            self.one(Unary::Neg, "neg", &z.1)?,
        );
        let right = self.is(&z.0, Predicate::Ge, 0.0)?;
        let exponent = self.choose_both(&right, &minus, z)?;
        let power = self.exp(&exponent)?;
        let one = self.number(&z.0, 1.0)?;
        let above = self.choose_both(&right, &one, &power)?;
        let below = (self.add(&one.0, &power.0)?, power.1);
        self.quotient(&above, &below)
    }
}

/// A number of the type of a part, as a tensor of rank 0.
fn scalar(dtype: DType, number: f64) -> Result<Tensor> {
    let data = match dtype {
        DType::F64 => Data::F64(vec![number]),
        _ => Data::F32(vec![number as f32]),
    };
    Tensor::new(dtype, Vec::new(), data).ok_or_else(unknown)
}
