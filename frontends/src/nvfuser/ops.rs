//! The table of `fd.ops`: what each is in the fusion dialect, and how it promotes.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::def::OpDef;
use fuser_ir::types::{DType, Dim, Extent, ExtentExpr};
use fuser_ir::{Value, suggest};

use super::Reader;
use super::args::{Args, axis_of};
use super::attention;
use super::value::{Config, Number, Val};
use crate::codes::UNSUPPORTED;
use crate::program::{Fault, Made};

/// Reads an op: its values.
pub type Read = for<'s> fn(&mut Reader<'s>, &Args<'s>) -> Made<Vec<Val<'s>>>;

/// The meaning of an op.
pub enum Meaning {
    /// An elementwise op of the arguments, in the type that the rule finds.
    Ew(&'static OpDef, Config),
    /// Likewise, of truth values.
    Truth(&'static OpDef),
    /// A comparison.
    Test(&'static str),
    /// A reduction; integers are summed and multiplied as `Int`.
    Fold(&'static OpDef, bool),
    /// A scan along one axis.
    Scan(&'static OpDef),
    /// Several ops, or arguments of another kind.
    By(Read),
    /// None: the advice.
    Refused(&'static str),
}

use Config::{Default, Float, Keep};
use Meaning::{By, Ew, Fold, Refused, Scan, Test, Truth};

const OUTSIDE: &str = "compute it outside of the program, and give it as an input";
const RANDOM: &str = "other generators give other numbers: give them as an input, or use `fusion.uniform` and `fusion.normal` in `.fir`";

/// The ops, by name.
pub static OPS: &[(&str, Meaning)] = &[
    ("abs", Ew(&fusion::ABS, Default)),
    ("acos", Ew(&fusion::ACOS, Float)),
    ("acosh", Ew(&fusion::ACOSH, Float)),
    ("add", Ew(&fusion::ADD, Default)),
    ("addcmul", By(addcmul)),
    ("argsort", Refused(OUTSIDE)),
    ("asin", Ew(&fusion::ASIN, Float)),
    ("asinh", Ew(&fusion::ASINH, Float)),
    ("atan", Ew(&fusion::ATAN, Float)),
    ("atan2", Ew(&fusion::ATAN2, Float)),
    ("atanh", Ew(&fusion::ATANH, Float)),
    ("bitwise_and", Ew(&fusion::AND, Default)),
    ("bitwise_left_shift", Ew(&fusion::SHL, Default)),
    ("bitwise_not", Ew(&fusion::NOT, Default)),
    ("bitwise_or", Ew(&fusion::OR, Default)),
    ("bitwise_right_shift", Ew(&fusion::SHR, Default)),
    ("bitwise_xor", Ew(&fusion::XOR, Default)),
    ("broadcast", By(broadcast)),
    ("broadcast_in_dim", By(broadcast_in_dim)),
    ("cast", By(cast)),
    ("cat", By(cat)),
    ("ceil", Ew(&fusion::CEIL, Keep)),
    ("clamp", Ew(&fusion::CLAMP, Default)),
    ("complex", Refused("compute with real and imaginary parts")),
    ("cos", Ew(&fusion::COS, Float)),
    ("cosh", Ew(&fusion::COSH, Float)),
    ("cummax", Scan(&fusion::CUMMAX)),
    ("cummin", Scan(&fusion::CUMMIN)),
    ("cumprod", Scan(&fusion::CUMPROD)),
    ("cumsum", Scan(&fusion::CUMSUM)),
    ("div", Ew(&fusion::DIV, Default)),
    ("embedding_fwd", By(embedding)),
    ("eq", Test("eq")),
    ("erf", Ew(&fusion::ERF, Float)),
    ("erfc", Ew(&fusion::ERFC, Float)),
    ("erfcinv", Ew(&fusion::ERFCINV, Float)),
    ("erfinv", Ew(&fusion::ERFINV, Float)),
    ("exp", Ew(&fusion::EXP, Float)),
    ("exp2", Ew(&fusion::EXP2, Float)),
    ("expand", By(expand)),
    ("expm1", Ew(&fusion::EXPM1, Float)),
    ("floor", Ew(&fusion::FLOOR, Keep)),
    ("fmod", Ew(&fusion::REM, Default)),
    ("frac", By(frac)),
    ("full", By(full)),
    ("gather", By(gather)),
    ("gcd", Ew(&fusion::GCD, Default)),
    ("ge", Test("ge")),
    ("grouped_mm", Refused(OUTSIDE)),
    ("gt", Test("gt")),
    ("imag", Refused("compute with real and imaginary parts")),
    ("index_select", By(index_select)),
    ("iota", By(iota)),
    ("isfinite", Ew(&fusion::ISFINITE, Default)),
    ("isinf", By(is_inf)),
    ("isnan", Ew(&fusion::ISNAN, Default)),
    ("isneginf", By(is_neg_inf)),
    ("isposinf", By(is_pos_inf)),
    ("le", Test("le")),
    ("lerp", By(lerp)),
    ("lgamma", Refused(OUTSIDE)),
    ("linear", By(linear)),
    ("log", Ew(&fusion::LOG, Float)),
    ("log10", Ew(&fusion::LOG10, Float)),
    ("log1p", Ew(&fusion::LOG1P, Float)),
    ("log2", Ew(&fusion::LOG2, Float)),
    ("logical_and", Truth(&fusion::AND)),
    ("logical_not", Truth(&fusion::NOT)),
    ("logical_or", Truth(&fusion::OR)),
    ("logical_right_shift", Ew(&fusion::LSHR, Default)),
    ("lt", Test("lt")),
    ("matmul", By(matmul)),
    ("max", Fold(&fusion::MAX, false)),
    ("maximum", Ew(&fusion::MAXIMUM, Default)),
    ("min", Fold(&fusion::MIN, false)),
    ("minimum", Ew(&fusion::MINIMUM, Default)),
    ("mod", Ew(&fusion::REM, Default)),
    ("mul", Ew(&fusion::MUL, Default)),
    ("ne", Test("ne")),
    ("neg", Ew(&fusion::NEG, Default)),
    ("nextafter", Ew(&fusion::NEXTAFTER, Default)),
    ("normal", Refused(RANDOM)),
    ("nv_block_quantize", Refused(OUTSIDE)),
    ("pad", By(pad)),
    ("permute", By(permute)),
    ("pow", Ew(&fusion::POW, Default)),
    ("prod", Fold(&fusion::PROD, true)),
    ("rand_like", Refused(RANDOM)),
    ("randn_like", Refused(RANDOM)),
    ("real", Refused("compute with real and imaginary parts")),
    ("reciprocal", Ew(&fusion::RECIPROCAL, Float)),
    ("relu", Ew(&fusion::RELU, Keep)),
    ("remainder", Ew(&fusion::REMAINDER, Default)),
    ("reshape", By(reshape)),
    ("round", Ew(&fusion::ROUND, Keep)),
    ("rsqrt", Ew(&fusion::RSQRT, Float)),
    ("scaled_mm", Refused(OUTSIDE)),
    (
        "scatter",
        Refused("`where` over `eq` with an `iota`, where the axis is short"),
    ),
    (
        "sdpfa_bwd",
        Refused("write it as `matmul` and the ops of a softmax"),
    ),
    ("sdpfa_fwd", By(attention::forward)),
    ("segment_set", By(segment_set)),
    ("select", By(select)),
    ("set", By(set)),
    ("shape", By(shape)),
    ("sigmoid", Ew(&fusion::SIGMOID, Float)),
    ("sign", Ew(&fusion::SIGN, Keep)),
    ("signbit", Refused("`lt` with 0, which takes -0 for 0")),
    ("silu", Ew(&fusion::SILU, Keep)),
    ("sin", Ew(&fusion::SIN, Float)),
    ("sinh", Ew(&fusion::SINH, Float)),
    ("size", By(size)),
    ("slice", By(slice)),
    ("sqrt", Ew(&fusion::SQRT, Float)),
    ("squeeze", By(squeeze)),
    ("stride_order", By(set)),
    ("sub", Ew(&fusion::SUB, Default)),
    ("sum", Fold(&fusion::SUM, true)),
    ("take_along_axis", By(gather)),
    ("tan", Ew(&fusion::TAN, Float)),
    ("tanh", Ew(&fusion::TANH, Float)),
    ("threshold", By(threshold)),
    ("topk", Refused(OUTSIDE)),
    ("triu", By(triu)),
    ("truediv", Ew(&fusion::DIV, Float)),
    ("trunc", Ew(&fusion::TRUNC, Keep)),
    ("uniform", Refused(RANDOM)),
    ("var", By(var)),
    ("var_mean", By(var_mean)),
    (
        "welford",
        Refused("`var_mean`, times the number of elements"),
    ),
    ("where", By(choose)),
];

/// The values of `fd.ops.NAME`.
pub fn read<'s>(r: &mut Reader<'s>, name: &str, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let Some((_, meaning)) = OPS.iter().find(|(known, _)| *known == name) else {
        let fault = Fault::new(&UNSUPPORTED, "is not known");
        let near = suggest::nearest(name, OPS.iter().map(|(known, _)| *known));
        return Err(match near {
            Some(near) => fault.help(format!("did you mean `fd.ops.{near}`?")),
            None => fault.help("docs/importing.md lists the ops that are read"),
        });
    };
    match meaning {
        Ew(def, config) => elementwise(r, def, *config, args),
        Truth(def) => truths(r, def, args),
        Test(predicate) => {
            let (a, b) = (args.value(0, &["a", "x"])?, args.value(1, &["b", "y"])?);
            let values = r.operands(&[a, b], Default)?;
            one(Ok(r
                .draft
                .builder()
                .compare(predicate, values[0], values[1])?))
        }
        Fold(def, widens) => reduction(r, def, *widens, args),
        Scan(def) => {
            let x = args.tensor(0, &["arg"])?;
            let dim = args.axis(1, &["dim"], r.draft.dims(x).len())?;
            let mut b = r.draft.builder();
            let clause = [b.int("dim", dim)];
            one(Ok(b.value(def, &[x], &clause)?))
        }
        By(read) => read(r, args),
        Refused(help) => Err(Fault::new(&UNSUPPORTED, "has no counterpart in Fuser").help(*help)),
    }
}

fn one<'s>(made: Made) -> Made<Vec<Val<'s>>> {
    made.map(|value| vec![Val::Tensor(value)])
}

fn elementwise<'s>(
    r: &mut Reader<'s>,
    def: &'static OpDef,
    config: Config,
    args: &Args<'s>,
) -> Made<Vec<Val<'s>>> {
    let given: Vec<&Val<'s>> = args.all().take(def.operands.len()).collect();
    if given.len() != def.operands.len() {
        return Err(Fault::form(format!(
            "has {} operands, not {}",
            given.len(),
            def.operands.len()
        )));
    }
    let values = r.operands(&given, config)?;
    one(r.draft.make(def, &values))
}

fn truths<'s>(r: &mut Reader<'s>, def: &'static OpDef, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let given: Vec<&Val<'s>> = args.all().take(def.operands.len()).collect();
    let values = given.iter().map(|value| r.typed(value, DType::I1));
    let values = values.collect::<Made<Vec<Value>>>()?;
    let values = r.joined(values)?;
    one(r.draft.make(def, &values))
}

fn reduction<'s>(
    r: &mut Reader<'s>,
    def: &'static OpDef,
    widens: bool,
    args: &Args<'s>,
) -> Made<Vec<Val<'s>>> {
    let mut x = args.tensor(0, &["arg"])?;
    let rank = r.draft.dims(x).len();
    let dims = match args.get(1, &["dims", "dim", "axes"]) {
        None | Some(Val::Nothing | Val::Type(_)) => (0..rank as i64).collect(),
        Some(_) => args.axes(1, &["dims", "dim", "axes"], rank)?,
    };
    let whole = r.draft.dtype(x).is_int() && widens;
    let to = args.dtype(3, &["dtype"])?.or(whole.then_some(DType::I64));
    if let Some(to) = to {
        x = r.draft.cast(x, to)?;
    }
    let keep = args.flag(2, &["keepdim", "keep_dim"]);
    let mut b = r.draft.builder();
    let mut clauses = vec![b.ints("dims", &dims)];
    if keep {
        clauses.push(b.flag("keepdim"));
    }
    one(Ok(b.value(def, &[x], &clauses)?))
}

/// Variance and mean, with their clauses.
fn moments<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<[Value; 2]> {
    let x = args.tensor(0, &["arg"])?;
    let dims = args.axes(1, &["dims", "axes"], r.draft.dims(x).len())?;
    let correction = args.int(2, &["correction"], 1)?;
    let mut b = r.draft.builder();
    let mut clauses = vec![b.ints("dims", &dims), b.int("correction", correction)];
    if args.flag(3, &["keepdim"]) {
        clauses.push(b.flag("keepdim"));
    }
    let op = b.op(&fusion::VAR_MEAN, &[x], &clauses)?;
    Ok([0, 1].map(|at| r.draft.ir.result(op, at)))
}

fn var_mean<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    Ok(moments(r, args)?.map(Val::Tensor).into())
}

fn var<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let [var, _] = moments(r, args)?;
    one(Ok(var))
}

fn cast<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let to = args
        .dtype(1, &["dtype"])?
        .ok_or_else(|| Fault::form("has no type"))?;
    match args.value(0, &["arg"])? {
        Val::Number(number, _) => Ok(vec![Val::Number(*number, Some(to))]),
        value => one(r.typed(value, to)),
    }
}

fn set<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    one(r.draft.make(&fusion::COPY, &[x]))
}

fn segment_set<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    one(r.draft.make(&fusion::SEGMENT_SET, &[x]))
}

/// The condition keeps its type, the others their common one, 16-bit floats too.
fn choose<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let condition = args.value(0, &["condition", "a"])?;
    let (x, y) = (args.value(1, &["x", "b"])?, args.value(2, &["y", "c"])?);
    let condition = r.typed(condition, DType::I1)?;
    let values = r.operands(&[x, y], Keep)?;
    let values = r.joined(vec![condition, values[0], values[1]])?;
    one(r.draft.make(&fusion::WHERE, &values))
}

/// `start + weight * (end - start)`
fn lerp<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let given = [
        args.value(0, &["start"])?,
        args.value(1, &["end"])?,
        args.value(2, &["weight"])?,
    ];
    let [start, end, weight] = three(r.operands(&given, Default)?)?;
    let distance = r.draft.make(&fusion::SUB, &[end, start])?;
    let part = r.draft.make(&fusion::MUL, &[weight, distance])?;
    one(r.draft.make(&fusion::ADD, &[start, part]))
}

/// `x + value * (a * b)`
fn addcmul<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let number = Val::Number(Number::Int(1), None);
    let value = args.get(3, &["value"]).unwrap_or(&number);
    let given = [
        args.value(0, &["x"])?,
        args.value(1, &["tensor1"])?,
        args.value(2, &["tensor2"])?,
        value,
    ];
    let values = r.operands(&given, Default)?;
    let product = r.draft.make(&fusion::MUL, &[values[1], values[2]])?;
    let part = r.draft.make(&fusion::MUL, &[values[3], product])?;
    one(r.draft.make(&fusion::ADD, &[values[0], part]))
}

/// `value` where `x <= threshold`, else `x`
fn threshold<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let given = [
        args.value(0, &["x", "arg"])?,
        args.value(1, &["threshold"])?,
        args.value(2, &["value"])?,
    ];
    let [x, limit, value] = three(r.operands(&given, Default)?)?;
    let below = r.draft.builder().compare("le", x, limit)?;
    one(r.draft.make(&fusion::WHERE, &[below, value, x]))
}

fn three(values: Vec<Value>) -> Made<[Value; 3]> {
    let wrong = |_| Fault::form("has other than three operands");
    values.try_into().map_err(wrong)
}

fn frac<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let whole = r.draft.make(&fusion::TRUNC, &[x])?;
    one(r.draft.make(&fusion::SUB, &[x, whole]))
}

/// True where the operand, or its absolute value, is the infinity.
fn infinite<'s>(
    r: &mut Reader<'s>,
    args: &Args<'s>,
    number: f64,
    size: bool,
) -> Made<Vec<Val<'s>>> {
    let values = r.operands(&[args.value(0, &["arg"])?], Default)?;
    let x = match size {
        true => r.draft.make(&fusion::ABS, &values)?,
        false => values[0],
    };
    let scalar = r.draft.dtype(x);
    let scalar = r.draft.ir.scalar(scalar);
    let number = r.draft.number(number, scalar)?;
    one(Ok(r.draft.builder().compare("eq", x, number)?))
}

fn is_inf<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    infinite(r, args, f64::INFINITY, true)
}

fn is_pos_inf<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    infinite(r, args, f64::INFINITY, false)
}

fn is_neg_inf<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    infinite(r, args, f64::NEG_INFINITY, false)
}

/// New axes of extent 1 where the list is true.
fn broadcast<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let Val::List(flags) = args.value(1, &["is_broadcast_dim"])? else {
        return Err(Fault::form("`is_broadcast_dim` is no list"));
    };
    let own = r.extents(x);
    let mut next = own.iter();
    let (mut dims, mut shape) = (Vec::new(), Vec::new());
    for (at, flag) in flags.iter().enumerate() {
        if matches!(flag, Val::Number(number, _) if number.float() != 0.0) {
            shape.push(Extent::Static(1));
        } else {
            let own = next
                .next()
                .ok_or_else(|| Fault::form("has more axes to keep than its operand"))?;
            shape.push(*own);
            dims.push(at as i64);
        }
    }
    one(r.draft.broadcast(x, &dims, &shape))
}

fn broadcast_in_dim<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = match args.value(0, &["arg"])? {
        Val::Tensor(value) => *value,
        number => {
            let (_, dtype) = r.class(number)?;
            let dtype = if dtype == DType::F64 {
                DType::F32
            } else {
                dtype
            };
            r.typed(number, dtype)?
        }
    };
    let shape = known(args.shape(1, &["shape", "output_shape"])?)?;
    let mut dims = Vec::new();
    for dim in args.ints(2, &["broadcast_dims"])? {
        dims.push(axis_of(dim, shape.len())?);
    }
    let mut own = r.draft.dims(x);
    if own.len() != dims.len() {
        return Err(Fault::form(format!(
            "places {} axes, its operand has {}",
            dims.len(),
            own.len()
        )));
    }
    for (dim, to) in own.iter_mut().zip(&dims) {
        if dim.extent != Extent::Static(1) {
            dim.extent = r.unify(dim.extent, shape[*to as usize])?;
        }
    }
    r.settle(x, own);
    // The order of the list does not reorder axes.
    dims.sort_unstable();
    let shape: Vec<Extent> = shape.into_iter().map(|extent| r.root(extent)).collect();
    one(r.draft.broadcast(x, &dims, &shape))
}

/// A shape without `-1`.
fn known(shape: Vec<Option<Extent>>) -> Made<Vec<Extent>> {
    let all: Option<Vec<Extent>> = shape.into_iter().collect();
    all.ok_or_else(|| Fault::form("leaves an extent open (-1)"))
}

fn expand<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let shape = args.shape(1, &["shape"])?;
    let own = r.extents(x);
    if own.len() != shape.len() {
        return Err(Fault::form(format!(
            "has {} extents, its operand {} axes",
            shape.len(),
            own.len()
        )));
    }
    let kept = shape
        .iter()
        .zip(&own)
        .map(|(extent, own)| extent.unwrap_or(*own));
    let shape: Vec<Extent> = kept.collect();
    one(r.expanded(x, &shape))
}

fn squeeze<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let dims = args.axes(1, &["dims"], r.draft.dims(x).len())?;
    let mut b = r.draft.builder();
    let clause = [b.ints("dims", &dims)];
    one(Ok(b.value(&fusion::SQUEEZE, &[x], &clause)?))
}

fn permute<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let rank = r.draft.dims(x).len();
    let dims = args
        .ints(1, &["dims"])?
        .into_iter()
        .map(|dim| axis_of(dim, rank));
    let dims = dims.collect::<Made<Vec<i64>>>()?;
    one(r.draft.permute(x, &dims))
}

fn reshape<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let shape = args.shape(1, &["new_shape", "shape"])?;
    let own = r.extents(x);
    let whole = product(r, &own);
    let given: Vec<Extent> = shape.iter().flatten().copied().collect();
    let part = product(r, &given);
    // The one that is left out is the quotient.
    let rest = whole
        .zip(part)
        .and_then(|(whole, part)| whole.div_exact(&part));
    let mut filled = Vec::new();
    let open = shape.len() - given.len();
    for extent in shape {
        let missing = || {
            let expr = rest.clone().filter(|_| open == 1)?;
            match expr.as_constant() {
                Some(n) => u64::try_from(n).ok().map(Extent::Static),
                None => r.draft.ir.extent(expr),
            }
        };
        let extent = extent.or_else(missing);
        filled.push(
            extent.ok_or_else(|| Fault::form("leaves an extent open that does not follow (-1)"))?,
        );
    }
    one(r.draft.reshape(x, &filled))
}

/// The product of extents.
fn product(r: &Reader<'_>, extents: &[Extent]) -> Option<ExtentExpr> {
    let one = ExtentExpr::constant(1);
    extents.iter().try_fold(one, |product, extent| {
        product.mul(&r.draft.ir.extent_as_expr(*extent)?)
    })
}

fn cat<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let Val::List(items) = args.value(0, &["tensors"])? else {
        return Err(Fault::form("`tensors` is no list"));
    };
    let tensors = items.iter().map(|item| match item {
        Val::Tensor(value) => Ok(*value),
        _ => Err(Fault::form("puts together what is no tensor")),
    });
    let tensors = tensors.collect::<Made<Vec<Value>>>()?;
    let rank = tensors
        .first()
        .map_or(0, |first| r.draft.dims(*first).len());
    let dim = axis_of(args.int(1, &["dim"], 0)?, rank)?;
    let mut b = r.draft.builder();
    let clause = [b.int("dim", dim)];
    one(Ok(b.value(&fusion::CAT, &tensors, &clause)?))
}

/// Pairs of amounts, the last axis first.
fn pad<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let widths = args.ints(1, &["pad_widths"])?;
    let rank = r.draft.dims(x).len();
    if widths.len() > 2 * rank || widths.len() % 2 != 0 || widths.iter().any(|n| *n < 0) {
        return Err(Fault::form(
            "has widths that are no pairs for its axes, or negative ones",
        ));
    }
    let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
    for (at, pair) in widths.chunks(2).enumerate() {
        (low[rank - 1 - at], high[rank - 1 - at]) = (pair[0], pair[1]);
    }
    let zero = Val::Number(Number::Int(0), None);
    let value = match args.get(2, &["value"]) {
        None | Some(Val::Nothing) => &zero,
        Some(value) => value,
    };
    let dtype = r.draft.dtype(x);
    let value = r.typed(value, dtype)?;
    let mut b = r.draft.builder();
    let clauses = [b.ints("low", &low), b.ints("high", &high)];
    one(Ok(b.value(&fusion::PAD, &[x, value], &clauses)?))
}

/// Ends are brought into the axis, as those of Python.
fn slice<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let starts = args.ints(1, &["start_indices"])?;
    let ends = known(args.shape(2, &["end_indices"])?)?;
    if matches!(args.get(3, &["strides"]), Some(Val::List(_)))
        && args
            .ints(3, &["strides"])?
            .iter()
            .any(|stride| *stride != 1)
    {
        return Err(Fault::form("has strides other than 1"));
    }
    let own = r.extents(x);
    if [starts.len(), ends.len()] != [own.len(); 2] || starts.iter().any(|n| *n < 0) {
        return Err(Fault::form(
            "needs a start and an end for each axis, none negative",
        ));
    }
    let (mut first, mut dims) = (Vec::new(), Vec::new());
    for ((start, end), (own, dim)) in starts.iter().zip(ends).zip(own.iter().zip(r.draft.dims(x))) {
        let (start, extent) = match (own, end) {
            (Extent::Static(n), Extent::Static(end)) => {
                let start = (*start as u64).min(*n);
                (
                    start as i64,
                    Extent::Static(end.min(*n).saturating_sub(start)),
                )
            }
            (own, end) if *own == end && *start == 0 => (0, *own),
            (_, Extent::Static(end)) => (*start, Extent::Static(end.saturating_sub(*start as u64))),
            _ => {
                return Err(Fault::form(
                    "has an end that is a named extent of another axis",
                ));
            }
        };
        first.push(start);
        dims.push(Dim { extent, ..dim });
    }
    let mut b = r.draft.builder();
    let clauses = [b.ints("starts", &first), b.shape("shape", &dims)];
    one(Ok(b.value(&fusion::SLICE, &[x], &clauses)?))
}

fn size<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let own = r.extents(x);
    let dim = args.axis(1, &["dim"], own.len())?;
    Ok(vec![length(own[dim as usize])])
}

fn shape<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let own = r.extents(x);
    Ok(vec![Val::List(own.into_iter().map(length).collect())])
}

fn length<'s>(extent: Extent) -> Val<'s> {
    match extent {
        Extent::Static(n) => Val::Number(Number::Int(i64::try_from(n).unwrap_or(i64::MAX)), None),
        other => Val::Extent(other),
    }
}

fn full<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let shape = known(args.shape(0, &["shape"])?)?;
    let value = args.value(1, &["fill_value"])?;
    let dtype = match args.dtype(2, &["dtype"])? {
        Some(dtype) => dtype,
        None => r.class(value)?.1,
    };
    let value = r.typed(value, dtype)?;
    let dims: Vec<Dim> = shape
        .into_iter()
        .map(|extent| Dim::new(r.root(extent)))
        .collect();
    let mut b = r.draft.builder();
    let clause = [b.shape("shape", &dims)];
    one(Ok(b.value(&fusion::FULL, &[value], &clause)?))
}

/// `start + i * step`
fn iota<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let length = match args.value(0, &["length"])? {
        Val::Extent(extent) => r.root(*extent),
        Val::Number(Number::Int(n), _) if *n >= 0 => Extent::Static(*n as u64),
        _ => return Err(Fault::form("has a length that is no known extent")),
    };
    let dtype = args.dtype(3, &["dtype"])?.unwrap_or(DType::I64);
    let mut b = r.draft.builder();
    let clauses = [
        b.int("dim", 0),
        b.shape("shape", &[Dim::new(length)]),
        b.dtype("of", dtype),
    ];
    let mut made = b.value(&fusion::IOTA, &[], &clauses)?;
    for (at, name, def, neutral) in [
        (2, "step", &fusion::MUL, 1.0),
        (1, "start", &fusion::ADD, 0.0),
    ] {
        match args.get(at, &[name]) {
            None | Some(Val::Nothing) => {}
            Some(Val::Number(number, _)) if number.float() == neutral => {}
            Some(value) => {
                let value = r.typed(value, dtype)?;
                made = r.draft.make(def, &[made, value])?;
            }
        }
    }
    one(Ok(made))
}

/// `take` along an axis, at indices of a type that it reads.
fn taken<'s>(
    r: &mut Reader<'s>,
    def: &'static OpDef,
    x: Value,
    index: Value,
    dim: i64,
) -> Made<Vec<Val<'s>>> {
    let index = match r.draft.dtype(index) {
        DType::I32 | DType::I64 => index,
        _ => r.draft.cast(index, DType::I64)?,
    };
    let mut b = r.draft.builder();
    let clause = [b.int("dim", dim)];
    one(Ok(b.value(def, &[x, index], &clause)?))
}

fn index_select<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let dim = args.axis(2, &["dim"], r.draft.dims(x).len())?;
    taken(r, &fusion::TAKE, x, index, dim)
}

fn select<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let index = r.typed(args.value(1, &["index"])?, DType::I64)?;
    let dim = args.axis(2, &["dim"], r.draft.dims(x).len())?;
    taken(r, &fusion::TAKE, x, index, dim)
}

fn embedding<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (input, weight) = (args.tensor(0, &["input"])?, args.tensor(1, &["weight"])?);
    if !matches!(args.get(3, &["max_norm"]), None | Some(Val::Nothing)) {
        return Err(Fault::form("changes rows of the table (`max_norm`)"));
    }
    taken(r, &fusion::TAKE, weight, input, 0)
}

fn gather<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (x, index) = (args.tensor(0, &["arg"])?, args.tensor(1, &["index"])?);
    let mut own = r.draft.dims(x);
    let dim = args.axis(2, &["dim"], own.len())?;
    for (axis, (own, index)) in own.iter_mut().zip(r.draft.dims(index)).enumerate() {
        if axis as i64 != dim {
            own.extent = r.unify(own.extent, index.extent)?;
        }
    }
    r.settle(x, own);
    taken(r, &fusion::TAKE_ALONG, x, index, dim)
}

/// Makes two axes of operands one extent.
pub(super) fn agree(r: &mut Reader<'_>, a: (Value, usize), b: (Value, usize)) -> Made<()> {
    let (mut own, mut other) = (r.draft.dims(a.0), r.draft.dims(b.0));
    if let (Some(first), Some(second)) = (own.get_mut(a.1), other.get_mut(b.1)) {
        let extent = r.unify(first.extent, second.extent)?;
        (first.extent, second.extent) = (extent, extent);
        r.settle(a.0, own);
        r.settle(b.0, other);
    }
    Ok(())
}

fn matmul<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let (a, b) = (
        args.tensor(0, &["a", "arg1"])?,
        args.tensor(1, &["b", "arg2"])?,
    );
    let ranks = [a, b].map(|value| r.draft.dims(value).len());
    agree(
        r,
        (a, ranks[0].saturating_sub(1)),
        (b, ranks[1].saturating_sub(2)),
    )?;
    one(r.draft.make(&fusion::MATMUL, &[a, b]))
}

fn linear<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let mut operands = vec![
        args.tensor(0, &["a", "arg1"])?,
        args.tensor(1, &["b", "arg2"])?,
    ];
    if let Some(Val::Tensor(bias)) = args.get(2, &["bias"]) {
        agree(r, (*bias, 0), (operands[1], 0))?;
        operands.push(*bias);
    }
    let last = r.draft.dims(operands[0]).len().saturating_sub(1);
    agree(r, (operands[0], last), (operands[1], 1))?;
    one(r.draft.make(&fusion::LINEAR, &operands))
}

/// `x` where the column is at or right of the diagonal, else 0.
fn triu<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let x = args.tensor(0, &["arg"])?;
    let diagonal = args.int(1, &["diagonal"], 0)?;
    let dims: Vec<Dim> = r.extents(x).into_iter().map(Dim::new).collect();
    let Some(row) = dims.len().checked_sub(2) else {
        return Err(Fault::form("its operand has fewer than two axes"));
    };
    let dtype = r.draft.dtype(x);
    let int = r.draft.ir.scalar(DType::I64);
    let mut b = r.draft.builder();
    let shape = &dims[row..];
    let mut places = Vec::new();
    for dim in 0..2 {
        let clauses = [
            b.int("dim", dim),
            b.shape("shape", shape),
            b.dtype("of", DType::I64),
        ];
        places.push(b.value(&fusion::IOTA, &[], &clauses)?);
    }
    let distance = b.value(&fusion::SUB, &[places[1], places[0]], &[])?;
    let diagonal = b.constant_int(diagonal, int)?;
    let kept = b.compare("ge", distance, diagonal)?;
    let extents: Vec<Extent> = dims.iter().map(|dim| dim.extent).collect();
    let kept = r
        .draft
        .broadcast(kept, &[row as i64, row as i64 + 1], &extents)?;
    let scalar = r.draft.ir.scalar(dtype);
    let zero = r.draft.number(0.0, scalar)?;
    one(r.draft.make(&fusion::WHERE, &[kept, x, zero]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend() {
        assert!(OPS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
