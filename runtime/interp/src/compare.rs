//! Comparison of results, element by element: against a derived bound, against the spread of samples, or bit for bit.
//!
//! A bound covers any order of summation and any library within its stated accuracy. Four times the bound and a unit in
//! the last place are permitted, to cover effects outside of the analysis (second-order terms, roundings of the bound
//! itself). The rounding of a store to a narrow type is permitted once. A bound of zero means that there is provably
//! only one correct result, and no slack is added.
//!
//! Samples are sharper than a wide bound ([`Spread`]): an element must satisfy both. An element for which
//! neither gives a useful limit is not compared.

use crate::machine::CHUNK;
use crate::number::{F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU, Rules, round};
use crate::ops::elementwise::{join, view_of};
use crate::tensor::{Axis, Tensor, filled};
use crate::view::View;
use fuser_ir::DType;

pub use crate::number::rules::SLACK;

/// The allowed error of an element as a multiple of the farthest sample's distance. Samples enlarge errors and
/// therefore cover the jumps that errors can cause.
const BEYOND: f64 = 1.5;

/// The greatest bound that needs no samples, in units in the last place of the computing type. The rounding of the
/// store is permitted in addition.
const TIGHT: f64 = 64.0;

/// The element that came closest to what is allowed, or went furthest beyond.
#[derive(Clone, PartialEq, Debug)]
pub struct Worst {
    /// Its index.
    pub index: Vec<usize>,
    /// The computed value.
    pub actual: f64,
    /// The reference value.
    pub expected: f64,
    /// Their distance.
    pub error: f64,
    /// The greatest distance allowed.
    pub allowed: f64,
}

/// The outcome of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Status {
    /// No error exceeds its limit, and at least half of the elements could be compared.
    Ok,
    /// An element is beyond what is allowed, or shapes and types disagree.
    #[default]
    Failed,
    /// Nothing is wrong that could be compared, which is less than half.
    NotChecked,
}

impl Status {
    /// Its name, for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "FAILED",
            Self::NotChecked => "not checked",
        }
    }
    /// The status of both together.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (Self::NotChecked, _) | (_, Self::NotChecked) => Self::NotChecked,
            (Self::Ok, Self::Ok) => Self::Ok,
        }
    }
}

/// The result of a comparison.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// The outcome.
    pub status: Status,
    /// Elements compared.
    pub compared: usize,
    /// The number of those elements for which the reference allows no error: there is only one correct result.
    pub exact: usize,
    /// The number of elements whose samples spread as widely as their magnitude, or differ in kind.
    pub ill_conditioned: usize,
    /// The number of elements for which the reference gives no usable bound, and which have no samples.
    pub undecided: usize,
    /// Elements beyond what is allowed.
    pub failures: usize,
    /// Those of them that the bound alone would have let pass.
    pub suspects: usize,
    /// The element with the greatest error relative to its limit; `None` if all agree exactly.
    pub worst: Option<Worst>,
    /// The reason that nothing was compared.
    pub mismatch: Option<String>,
}

impl Report {
    /// True if enough was compared, and nothing was wrong.
    pub fn ok(&self) -> bool {
        self.status == Status::Ok
    }
    /// True if something is wrong.
    pub fn failed(&self) -> bool {
        self.status == Status::Failed
    }
    /// Elements that were to be compared.
    pub fn elements(&self) -> usize {
        self.compared + self.ill_conditioned + self.undecided
    }
    fn mismatch(why: String) -> Self {
        Self {
            mismatch: Some(why),
            ..Self::default()
        }
    }
    /// Its outcome, from its counts.
    fn settled(mut self) -> Self {
        self.status = match (self.failures, self.elements()) {
            _ if self.mismatch.is_some() => Status::Failed,
            (0, all) if 2 * self.compared >= all => Status::Ok,
            (0, _) => Status::NotChecked,
            _ => Status::Failed,
        };
        self
    }
}

/// The distances of samples from the reference, by stored element. A distance is infinite for a sample of another kind
/// (another integer, or a NaN or an infinity instead of a number).
#[derive(Clone, PartialEq, Debug)]
pub struct Spread {
    distances: Vec<Distances>,
    /// The same of the imaginary parts.
    imaginary: Option<Box<Spread>>,
}

/// The greatest of some distances, and the sum of their squares divided by its square, a scaling without overflow or
/// underflow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Distances {
    most: f64,
    squares: f64,
}

impl Distances {
    /// Records a possible distance that does not come from a sample.
    fn note(&mut self, distance: f64) {
        if distance > self.most {
            let part = self.most / distance;
            self.squares *= part * part;
            self.most = distance;
        }
    }
    fn add(&mut self, distance: f64) {
        self.note(distance);
        if distance > 0.0 && distance < f64::INFINITY {
            let part = distance / self.most;
            self.squares += part * part;
        }
    }
    /// The root of the mean square of `count` samples.
    fn spread(&self, count: u32) -> f64 {
        match self.most < f64::INFINITY {
            true => self.most * (self.squares / f64::from(count.max(1))).sqrt(),
            false => f64::INFINITY,
        }
    }
}

impl Spread {
    /// That of no samples yet; `None` where there is no memory for it.
    pub fn of(reference: &Tensor) -> Option<Self> {
        let imaginary = match reference.parts() {
            Some((_, im)) => Some(Box::new(Self::of(&im)?)),
            None => None,
        };
        Some(Self {
            distances: filled(Distances::default(), reference.stored_len())?,
            imaginary,
        })
    }
    /// Records an execution in the types of the program. A correct program may have its distance, but it contributes
    /// nothing to the spread of samples.
    pub fn note(&mut self, reference: &Tensor, execution: &Tensor) {
        self.take(reference, execution, Distances::note);
    }
    /// Adds a sample.
    pub fn add(&mut self, reference: &Tensor, sample: &Tensor) {
        self.take(reference, sample, Distances::add);
    }
    fn take(&mut self, reference: &Tensor, other: &Tensor, of: fn(&mut Distances, f64)) {
        if let (Some((re, im)), Some((own_re, own_im)), Some(imaginary)) =
            (reference.parts(), other.parts(), &mut self.imaginary)
        {
            imaginary.take(&im, &own_im, of);
            return self.take(&re, &own_re, of);
        }
        let fits = reference.axes() == other.axes();
        let each = self.distances.iter_mut().enumerate();
        each.for_each(|(i, distances)| {
            let distance = if fits {
                distance(reference, other, i)
            } else {
                f64::INFINITY
            };
            of(distances, distance);
        });
    }
}

/// The distance of an element from the reference's.
fn distance(reference: &Tensor, sample: &Tensor, i: usize) -> f64 {
    if !reference.dtype().is_float() {
        let same = reference.data().int(i) == sample.data().int(i);
        return if same { 0.0 } else { f64::INFINITY };
    }
    let (x, y) = (reference.data().float(i), sample.data().float(i));
    match x == y || (x.is_nan() && y.is_nan()) {
        true => 0.0,
        false => match (x - y).abs() {
            distance if distance.is_nan() => f64::INFINITY,
            distance => distance,
        },
    }
}

/// The yardstick that samples are.
#[derive(Clone, Copy, Debug)]
pub struct Sampled<'a> {
    /// Their spread.
    pub spread: &'a Spread,
    /// The number of samples.
    pub count: u32,
    /// The times of their spread that an element may be off.
    pub reach: f64,
}

/// The knowledge of an element.
enum Verdict {
    Compared(Deviation),
    /// It is not compared, unless it is beyond even what is allowed.
    IllConditioned(Option<Deviation>),
    Undecided(Option<Deviation>),
}

#[derive(Clone, Copy)]
struct Deviation {
    error: f64,
    allowed: f64,
    /// Beyond the bound itself.
    certain: bool,
}

impl Deviation {
    fn exact(error: f64) -> Self {
        Self {
            error,
            allowed: 0.0,
            certain: error > 0.0,
        }
    }
}

/// Compares a result with the reference's, bounds and all.
pub fn compare(actual: &Tensor, reference: &Tensor) -> Report {
    compare_sampled(actual, reference, None)
}

/// The same, with samples.
pub fn compare_sampled(
    actual: &Tensor,
    reference: &Tensor,
    sampled: Option<Sampled<'_>>,
) -> Report {
    if let (Some((re, im)), Some((re_expected, im_expected))) = (actual.parts(), reference.parts())
    {
        let other = sampled.and_then(|sampled| {
            let spread = sampled.spread.imaginary.as_deref()?;
            Some(Sampled { spread, ..sampled })
        });
        return joined(
            compare_sampled(&re, &re_expected, sampled),
            compare_sampled(&im, &im_expected, other),
        );
    }
    let float = reference.dtype().is_float();
    let judge = Judge {
        rules: Rules::of(reference.dtype()),
        typical: if float { typical(reference) } else { 0.0 },
        sampled,
    };
    scan(actual, reference, |a, r| match float {
        true => judge.float(actual.data().float(a), reference.bounded(r), r),
        false => judge.integer(actual, reference, a, r),
    })
}

/// True if bounds suffice: no element is undecided, and no bound is large compared with a typical magnitude.
pub fn is_tight(reference: &Tensor) -> bool {
    if let Some((re, im)) = reference.parts() {
        return is_tight(&re) && is_tight(&im);
    }
    let Some(bounds) = reference.bounds() else {
        return true;
    };
    if !reference.dtype().is_float() {
        return bounds.iter().all(|e| *e == 0.0);
    }
    let (rules, typical) = (Rules::of(reference.dtype()), typical(reference));
    let tight = |(i, e): (usize, &f64)| {
        let v = reference.data().float(i).abs();
        let most = if v.is_finite() {
            v.max(typical)
        } else {
            typical
        };
        let computed = e - rules.of_the_store(v, *e);
        *e == 0.0 || SLACK * computed <= TIGHT * rules.computing_ulp(most)
    };
    bounds.iter().enumerate().all(tight)
}

/// The most elements whose median stands for all.
const MOST_OF_A_MEDIAN: usize = 1 << 16;

/// The median magnitude of a tensor's finite elements that are not stored as zero; a large tensor is sampled at equal
/// distances.
fn typical(reference: &Tensor) -> f64 {
    let least = Rules::of(reference.dtype()).ulp(0.0);
    let count = reference.stored_len();
    let places = (0..count).step_by(count.div_ceil(MOST_OF_A_MEDIAN).max(1));
    let all = places.map(|i| reference.data().float(i).abs());
    let mut all: Vec<f64> = all.filter(|v| *v >= least && v.is_finite()).collect();
    let middle = all.len() / 2;
    match all.is_empty() {
        true => 0.0,
        false => *all.select_nth_unstable_by(middle, f64::total_cmp).1,
    }
}

/// Compares two results bit for bit; all NaN are equal.
pub fn compare_exact(actual: &Tensor, expected: &Tensor) -> Report {
    if let (Some((re, im)), Some((re_expected, im_expected))) = (actual.parts(), expected.parts()) {
        let parts = [(re, re_expected), (im, im_expected)];
        let [re, im] = parts.map(|(actual, expected)| compare_exact(&actual, &expected));
        return joined(re, im);
    }
    let float = expected.dtype().is_float();
    scan(actual, expected, |a, e| {
        if !float {
            let equal = actual.data().int(a) == expected.data().int(e);
            return Verdict::Compared(unequal(equal, actual, expected, a, e));
        }
        let (x, y) = (actual.data().float(a), expected.data().float(e));
        let equal = (x.is_nan() && y.is_nan()) || x.to_bits() == y.to_bits();
        let error = match (equal, (x - y).abs()) {
            (true, _) => 0.0,
            (false, distance) if distance > 0.0 => distance,
            // Zeros of different sign, or NaN beside a number.
            (false, _) => f64::INFINITY,
        };
        Verdict::Compared(Deviation::exact(error))
    })
}

/// Complex tensors part by part: every part counts as an element.
fn joined(re: Report, im: Report) -> Report {
    let further = |w: &Worst| w.error / w.allowed;
    let worst = match (re.worst, im.worst) {
        (Some(a), Some(b)) if further(&b) > further(&a) => Some(b),
        (a, b) => a.or(b),
    };
    let both = Report {
        status: Status::Ok,
        compared: re.compared + im.compared,
        exact: re.exact + im.exact,
        ill_conditioned: re.ill_conditioned + im.ill_conditioned,
        undecided: re.undecided + im.undecided,
        failures: re.failures + im.failures,
        suspects: re.suspects + im.suspects,
        worst,
        mismatch: re.mismatch.or(im.mismatch),
    };
    both.settled()
}

fn unequal(equal: bool, actual: &Tensor, expected: &Tensor, a: usize, e: usize) -> Deviation {
    let distance = (actual.data().float(a) - expected.data().float(e)).abs();
    Deviation::exact(if equal { 0.0 } else { distance.max(1.0) })
}

/// The permitted error near zero in least numbers of a type, if no limit is sharper: four times the units promised for
/// functions, which are at most seven.
const LEAST: f64 = 32.0;

/// The yardsticks of one output.
struct Judge<'a> {
    rules: Rules,
    /// A typical magnitude of the output's elements.
    typical: f64,
    sampled: Option<Sampled<'a>>,
}

impl Judge<'_> {
    /// The permitted spread of stored element `i`, infinite if its samples are of several kinds; `None` without
    /// samples.
    fn spread(&self, i: usize) -> Option<f64> {
        let Sampled {
            spread,
            count,
            reach,
        } = self.sampled?;
        let Some(distances) = spread.distances.get(i) else {
            return Some(f64::INFINITY);
        };
        Some((reach * distances.spread(count)).max(BEYOND * distances.most))
    }
    fn integer(&self, actual: &Tensor, reference: &Tensor, a: usize, r: usize) -> Verdict {
        let Some(expected) = reference.int(r) else {
            return Verdict::Undecided(None);
        };
        let equal = actual.data().int(a) == Some(expected.v);
        let deviation = unequal(equal, actual, reference, a, r);
        match self.spread(r) {
            _ if !expected.unsure => Verdict::Compared(deviation),
            None => Verdict::Undecided(None),
            Some(0.0) => Verdict::Compared(Deviation {
                certain: false,
                ..deviation
            }),
            Some(_) => Verdict::IllConditioned(None),
        }
    }
    fn float(&self, actual: f64, expected: crate::Bounded, i: usize) -> Verdict {
        let zeros = actual == 0.0 && expected.v == 0.0;
        let turned = actual.is_sign_negative() != expected.v.is_sign_negative();
        // What is certain is so with the sign of a zero.
        if zeros && turned && expected.e == 0.0 {
            return Verdict::Compared(Deviation::exact(f64::INFINITY));
        }
        let same = actual == expected.v || (actual.is_nan() && expected.v.is_nan());
        let distance = (actual - expected.v).abs();
        let error = match (same, distance.is_nan()) {
            (true, _) => 0.0,
            (false, true) => f64::INFINITY,
            (false, false) => distance,
        };
        if expected.e == 0.0 {
            return Verdict::Compared(Deviation::exact(error));
        }
        let proven = self.rules.allowed(expected.v, expected.e);
        let spread = self.spread(i);
        let sharp = spread.map_or(f64::INFINITY, |spread| match expected.v.is_finite() {
            true => spread * self.own_error() + self.rules.ulp(expected.v),
            false => spread,
        });
        let allowed = proven.min(sharp);
        let deviation = Deviation {
            error,
            allowed,
            certain: error > proven,
        };
        let known = Some(deviation).filter(|_| allowed < f64::INFINITY);
        let most = expected.v.abs().max(self.typical);
        let most = most.max(LEAST * self.rules.ulp(0.0));
        match spread {
            _ if allowed < most || (allowed == 0.0 && !expected.v.is_finite()) => {
                Verdict::Compared(deviation)
            }
            Some(_) => Verdict::IllConditioned(known),
            None => Verdict::Undecided(known),
        }
    }
    /// The factor for the error of the reference itself: if the program computes in f64, the reference is as inaccurate
    /// as the program.
    fn own_error(&self) -> f64 {
        match self.rules.dtype {
            DType::F64 => std::f64::consts::SQRT_2,
            _ => 1.0,
        }
    }
}

fn scan(actual: &Tensor, expected: &Tensor, judge: impl Fn(usize, usize) -> Verdict) -> Report {
    let shapes = (actual.shape(), expected.shape());
    if actual.dtype() != expected.dtype() || shapes.0 != shapes.1 {
        return Report::mismatch(format!(
            "is {}, should be {}",
            actual.describe(),
            expected.describe()
        ));
    }
    let axes = join(&[actual, expected]).unwrap_or_default();
    let (view_a, view_e) = (view_of(actual, &axes), view_of(expected, &axes));
    // An empty axis leaves no index that reads the elements stored along the others, so they may be unwritten.
    let stored = |n: usize, a: &Axis| n.saturating_mul(if a.extent == 0 { 0 } else { a.stored() });
    let count = axes.iter().fold(1, stored);
    let mut report = Report::default();
    let mut worst: Option<(usize, Deviation)> = None;
    let (mut places_a, mut places_e) = (vec![0; CHUNK], vec![0; CHUNK]);
    for begin in (0..count).step_by(CHUNK) {
        let length = CHUNK.min(count - begin);
        places(&view_a, begin, &mut places_a[..length]);
        places(&view_e, begin, &mut places_e[..length]);
        for i in 0..length {
            let (list, deviation) = match judge(places_a[i], places_e[i]) {
                Verdict::Compared(deviation) => {
                    report.exact += usize::from(deviation.allowed == 0.0);
                    (&mut report.compared, Some(deviation))
                }
                Verdict::IllConditioned(deviation) => (&mut report.ill_conditioned, deviation),
                Verdict::Undecided(deviation) => (&mut report.undecided, deviation),
            };
            *list += 1;
            let Some(deviation) = deviation else { continue };
            let beyond = deviation.error > deviation.allowed;
            report.failures += usize::from(beyond);
            report.suspects += usize::from(beyond && !deviation.certain);
            if deviation.error > 0.0
                && worst
                    .as_ref()
                    .is_none_or(|(_, w)| ratio(&deviation) > ratio(w))
            {
                worst = Some((begin + i, deviation));
            }
        }
    }
    report.worst = worst.map(|(i, deviation)| Worst {
        index: unravel(&axes, i),
        actual: actual.data().float(view_a.at(i)),
        expected: expected.data().float(view_e.at(i)),
        error: deviation.error,
        allowed: deviation.allowed,
    });
    report.settled()
}
/// Fills `out` with the storage positions of the elements from `begin` on.
fn places(view: &View, begin: usize, out: &mut [usize]) {
    view.runs(begin, out.len(), |from, step, at, length| {
        let run = out.iter_mut().skip(at).take(length).enumerate();
        run.for_each(|(i, place)| *place = from + i * step);
    });
}

fn ratio(deviation: &Deviation) -> f64 {
    deviation.error / deviation.allowed
}

fn unravel(axes: &[crate::Axis], mut linear: usize) -> Vec<usize> {
    let mut index = vec![0; axes.len()];
    for (slot, axis) in index.iter_mut().zip(axes).rev() {
        let extent = axis.stored().max(1);
        (*slot, linear) = (linear % extent, linear / extent);
    }
    index
}

/// A reference result as the type stores it: each value rounded once.
pub fn rounded(reference: &Tensor) -> Option<Tensor> {
    if let Some((re, im)) = reference.parts() {
        return Tensor::of_parts(rounded(&re)?, rounded(&im)?);
    }
    use crate::tensor::Data;

    let values = (0..reference.stored_len()).map(|i| reference.data().float(i));
    let data = match reference.dtype() {
        DType::F64 => Data::F64(values.collect()),
        DType::F32 => Data::F32(values.map(round::f32_from).collect()),
        DType::F16 => Data::F16(values.map(round::f16_from).collect()),
        DType::BF16 => Data::BF16(values.map(round::bf16_from).collect()),
        DType::F8E4M3FN => Data::F8E4M3FN(values.map(F8E4M3FN::from_f64).collect()),
        DType::F8E5M2 => Data::F8E5M2(values.map(F8E5M2::from_f64).collect()),
        DType::F8E8M0FNU => Data::F8E8M0FNU(values.map(F8E8M0FNU::from_f64).collect()),
        DType::F4E2M1FN => Data::F4E2M1FN(values.map(F4E2M1FN::from_f64).collect()),
        _ => return Some(reference.clone()),
    };
    Tensor::new(reference.dtype(), reference.axes().to_vec(), data)
}
