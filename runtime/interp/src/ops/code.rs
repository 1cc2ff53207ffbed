//! The table from op names to the code that executes them.

use crate::number::math::{Binary, Test, Unary};

/// The meaning of a `fusion` op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    Unary(Unary),
    Formula(&'static [Step]),
    Binary(Binary),
    Test(Test),
    Compare,
    /// A complex number of two parts, and back.
    Complex,
    Real,
    Imag,
    Conj,
    Where,
    Clamp,
    Cast,
    Bitcast,
    Constant,
    Full,
    Iota,
    Size,
    /// Shape changes: `broadcast`, `expand`, `squeeze`, `permute`, `reshape`, `copy`, `segment_set`.
    Shape(Shape),
    Slice,
    Flip,
    Pad,
    Cat,
    Take,
    TakeAlong,
    DynamicSlice,
    DynamicUpdateSlice,
    /// Parts at indices with `true`, else elements.
    Scatter(bool),
    /// The elements in order, or their indices.
    Sort,
    TopK,
    Routine(Routine),
    Roll,
    OneHot,
    Reduce(Reduce),
    /// A reduction by a function of two elements that keeps every step.
    Scan(Reduce),
    /// A lambda along an axis: every step with `true`, else the last one.
    Lambda(bool),
    Last,
    VarMean,
    Matmul,
    Convolution,
    Sdpa,
    Linear,
    Mean,
    /// The index of an extreme: the greatest with `true`.
    Arg(bool),
    Philox,
    Uniform,
    Normal,
    Bernoulli,
}

/// A step of a unary function defined by other functions, in postfix order. Steps compute in the computing type, and
/// the result is rounded to the element type once. Unary and binary functions have the names of their ops, under which
/// their bounds are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Operand,
    Apply(Code, &'static str),
}

/// `1 / sqrt(x)`
pub(super) const RSQRT: &[Step] = &[
    Step::Operand,
    Step::Apply(Code::Unary(Unary::Sqrt), "sqrt"),
    Step::Apply(Code::Unary(Unary::Reciprocal), "reciprocal"),
];

/// `x * sigmoid(x)`
const SILU: &[Step] = &[
    Step::Operand,
    Step::Operand,
    Step::Apply(Code::Unary(Unary::Sigmoid), "sigmoid"),
    Step::Apply(Code::Binary(Binary::Mul), "mul"),
];

/// Ops that only change shape or layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Broadcast,
    Expand,
    Squeeze,
    Permute,
    Reshape,
    Copy,
    Identity,
}

/// Functions of whole matrices or lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Routine {
    Cholesky,
    TriangularSolve,
    Lu,
    Qr,
    Product,
    Eigh,
    Svd,
    Fft,
}

/// Reductions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reduce {
    Sum,
    Prod,
    Max,
    Min,
    MaxNum,
    MinNum,
}

/// The op called `fusion.{name}`.
pub(crate) fn code(name: &str) -> Option<Code> {
    let (_, code) = CODES.iter().find(|(n, _)| *n == name)?;
    Some(*code)
}

/// All ops, by name without dialect.
pub(crate) static CODES: &[(&str, Code)] = &[
    ("abs", Code::Unary(Unary::Abs)),
    ("acos", Code::Unary(Unary::Acos)),
    ("acosh", Code::Unary(Unary::Acosh)),
    ("add", Code::Binary(Binary::Add)),
    ("and", Code::Binary(Binary::And)),
    ("argmax", Code::Arg(true)),
    ("argmin", Code::Arg(false)),
    ("argsort", Code::Sort),
    ("asin", Code::Unary(Unary::Asin)),
    ("asinh", Code::Unary(Unary::Asinh)),
    ("atan", Code::Unary(Unary::Atan)),
    ("atan2", Code::Binary(Binary::Atan2)),
    ("atanh", Code::Unary(Unary::Atanh)),
    ("bernoulli", Code::Bernoulli),
    ("bitcast", Code::Bitcast),
    ("broadcast", Code::Shape(Shape::Broadcast)),
    ("cast", Code::Cast),
    ("cat", Code::Cat),
    ("ceil", Code::Unary(Unary::Ceil)),
    ("cholesky", Code::Routine(Routine::Cholesky)),
    ("clamp", Code::Clamp),
    ("compare", Code::Compare),
    ("complex", Code::Complex),
    ("conj", Code::Conj),
    ("constant", Code::Constant),
    ("convolution", Code::Convolution),
    ("copy", Code::Shape(Shape::Copy)),
    ("cos", Code::Unary(Unary::Cos)),
    ("cosh", Code::Unary(Unary::Cosh)),
    ("cummax", Code::Scan(Reduce::Max)),
    ("cummin", Code::Scan(Reduce::Min)),
    ("cumprod", Code::Scan(Reduce::Prod)),
    ("cumsum", Code::Scan(Reduce::Sum)),
    ("div", Code::Binary(Binary::Div)),
    ("dynamic_slice", Code::DynamicSlice),
    ("dynamic_update_slice", Code::DynamicUpdateSlice),
    ("eigh", Code::Routine(Routine::Eigh)),
    ("erf", Code::Unary(Unary::Erf)),
    ("erfc", Code::Unary(Unary::Erfc)),
    ("erfcinv", Code::Unary(Unary::Erfcinv)),
    ("erfinv", Code::Unary(Unary::Erfinv)),
    ("exp", Code::Unary(Unary::Exp)),
    ("exp2", Code::Unary(Unary::Exp2)),
    ("expand", Code::Shape(Shape::Expand)),
    ("expm1", Code::Unary(Unary::Expm1)),
    ("fft", Code::Routine(Routine::Fft)),
    ("flip", Code::Flip),
    ("floor", Code::Unary(Unary::Floor)),
    ("fmax", Code::Binary(Binary::Fmax)),
    ("fmin", Code::Binary(Binary::Fmin)),
    ("fold", Code::Lambda(false)),
    ("full", Code::Full),
    ("gcd", Code::Binary(Binary::Gcd)),
    ("householder_product", Code::Routine(Routine::Product)),
    ("imag", Code::Imag),
    ("index_put", Code::Scatter(true)),
    ("iota", Code::Iota),
    ("isfinite", Code::Test(Test::Finite)),
    ("isnan", Code::Test(Test::Nan)),
    ("last", Code::Last),
    ("lgamma", Code::Unary(Unary::Lgamma)),
    ("linear", Code::Linear),
    ("log", Code::Unary(Unary::Log)),
    ("log10", Code::Unary(Unary::Log10)),
    ("log1p", Code::Unary(Unary::Log1p)),
    ("log2", Code::Unary(Unary::Log2)),
    ("lshr", Code::Binary(Binary::Lshr)),
    ("lu", Code::Routine(Routine::Lu)),
    ("matmul", Code::Matmul),
    ("max", Code::Reduce(Reduce::Max)),
    ("max_num", Code::Reduce(Reduce::MaxNum)),
    ("maximum", Code::Binary(Binary::Maximum)),
    ("mean", Code::Mean),
    ("min", Code::Reduce(Reduce::Min)),
    ("min_num", Code::Reduce(Reduce::MinNum)),
    ("minimum", Code::Binary(Binary::Minimum)),
    ("mul", Code::Binary(Binary::Mul)),
    ("neg", Code::Unary(Unary::Neg)),
    ("nextafter", Code::Binary(Binary::Nextafter)),
    ("normal", Code::Normal),
    ("not", Code::Unary(Unary::Not)),
    ("one_hot", Code::OneHot),
    ("or", Code::Binary(Binary::Or)),
    ("pad", Code::Pad),
    ("permute", Code::Shape(Shape::Permute)),
    ("philox", Code::Philox),
    ("pow", Code::Binary(Binary::Pow)),
    ("prod", Code::Reduce(Reduce::Prod)),
    ("qr", Code::Routine(Routine::Qr)),
    ("real", Code::Real),
    ("reciprocal", Code::Unary(Unary::Reciprocal)),
    ("relu", Code::Unary(Unary::Relu)),
    ("rem", Code::Binary(Binary::Rem)),
    ("remainder", Code::Binary(Binary::Remainder)),
    ("reshape", Code::Shape(Shape::Reshape)),
    ("roll", Code::Roll),
    ("round", Code::Unary(Unary::Round)),
    ("rsqrt", Code::Formula(RSQRT)),
    ("scan", Code::Lambda(true)),
    ("scatter", Code::Scatter(false)),
    ("sdpa", Code::Sdpa),
    ("segment_set", Code::Shape(Shape::Identity)),
    ("shl", Code::Binary(Binary::Shl)),
    ("shr", Code::Binary(Binary::Shr)),
    ("sigmoid", Code::Unary(Unary::Sigmoid)),
    ("sign", Code::Unary(Unary::Sign)),
    ("silu", Code::Formula(SILU)),
    ("sin", Code::Unary(Unary::Sin)),
    ("sinh", Code::Unary(Unary::Sinh)),
    ("size", Code::Size),
    ("slice", Code::Slice),
    ("sort", Code::Sort),
    ("sqrt", Code::Unary(Unary::Sqrt)),
    ("squeeze", Code::Shape(Shape::Squeeze)),
    ("sub", Code::Binary(Binary::Sub)),
    ("sum", Code::Reduce(Reduce::Sum)),
    ("svd", Code::Routine(Routine::Svd)),
    ("take", Code::Take),
    ("take_along", Code::TakeAlong),
    ("tan", Code::Unary(Unary::Tan)),
    ("tanh", Code::Unary(Unary::Tanh)),
    ("topk", Code::TopK),
    ("triangular_solve", Code::Routine(Routine::TriangularSolve)),
    ("trunc", Code::Unary(Unary::Trunc)),
    ("uniform", Code::Uniform),
    ("var_mean", Code::VarMean),
    ("where", Code::Where),
    ("xor", Code::Binary(Binary::Xor)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_found() {
        assert!(CODES.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(CODES.iter().all(|(name, c)| code(name) == Some(*c)));
        assert_eq!(code("conv"), None);
    }
}
