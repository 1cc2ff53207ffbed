//! Results against results: element by element, against a derived bound or bit for bit.
//!
//! A bound covers any order of summation and any library that keeps its promise; four times the bound and a unit in the
//! last place are allowed, for what the analysis leaves out (terms of second order, roundings of the bound itself). A
//! bound of zero means that the analysis has shown that there is only one result, and no slack is given.

use crate::machine::CHUNK;
use crate::number::{F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU, Rules, round};
use crate::ops::elementwise::{join, view_of};
use crate::tensor::{Axis, Tensor};
use crate::view::View;

/// Times the derived bound that an element may be off.
pub const SLACK: f64 = 4.0;

/// The element that came closest to its bound, or went furthest beyond.
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

/// The result of a comparison.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// No element is beyond its bound, and shapes and types agree.
    pub ok: bool,
    /// Elements compared.
    pub compared: usize,
    /// Those of them for which the reference allows nothing: there is one result only.
    pub exact: usize,
    /// Elements about which the reference says nothing, because an operand lay within its error of a discontinuity.
    pub undecided: usize,
    /// Elements beyond their bound.
    pub failures: usize,
    /// The element with the greatest error in relation to what is allowed; none where all agree exactly.
    pub worst: Option<Worst>,
    /// The reason that nothing was compared.
    pub mismatch: Option<String>,
}

struct Deviation {
    error: f64,
    allowed: f64,
}

/// Compares a result with the reference's, bounds and all.
pub fn compare(actual: &Tensor, reference: &Tensor) -> Report {
    if let Some(report) = by_parts(actual, reference, compare) {
        return report;
    }
    let rules = Rules::of(reference.dtype());
    scan(actual, reference, |a, r| {
        if reference.dtype().is_float() {
            return bounded(actual.data().float(a), reference.bounded(r), &rules);
        }
        let expected = reference.int(r)?;
        let equal = actual.data().int(a) == Some(expected.v);
        (!expected.unsure).then(|| integer(equal, actual, reference, a, r))
    })
}

/// Compares two results bit for bit; all NaN are equal.
pub fn compare_exact(actual: &Tensor, expected: &Tensor) -> Report {
    if let Some(report) = by_parts(actual, expected, compare_exact) {
        return report;
    }
    let float = expected.dtype().is_float();
    scan(actual, expected, |a, e| {
        if !float {
            let equal = actual.data().int(a) == expected.data().int(e);
            return Some(integer(equal, actual, expected, a, e));
        }
        let (x, y) = (actual.data().float(a), expected.data().float(e));
        let equal = (x.is_nan() && y.is_nan()) || x.to_bits() == y.to_bits();
        let error = match (equal, (x - y).abs()) {
            (true, _) => 0.0,
            (false, distance) if distance > 0.0 => distance,
            // Zeros of different sign, or NaN beside a number.
            (false, _) => f64::INFINITY,
        };
        Some(Deviation {
            error,
            allowed: 0.0,
        })
    })
}

/// Complex tensors part by part: every part counts as an element.
fn by_parts(
    actual: &Tensor,
    expected: &Tensor,
    compare: fn(&Tensor, &Tensor) -> Report,
) -> Option<Report> {
    let ((re, im), (re_expected, im_expected)) = (actual.parts()?, expected.parts()?);
    let (mut both, im) = (compare(&re, &re_expected), compare(&im, &im_expected));
    both.ok &= im.ok;
    both.compared += im.compared;
    both.exact += im.exact;
    both.undecided += im.undecided;
    both.failures += im.failures;
    both.mismatch = both.mismatch.or(im.mismatch);
    let further = |w: &Worst| w.error / w.allowed;
    both.worst = match (both.worst, im.worst) {
        (Some(a), Some(b)) if further(&b) > further(&a) => Some(b),
        (a, b) => a.or(b),
    };
    Some(both)
}

fn integer(equal: bool, actual: &Tensor, expected: &Tensor, a: usize, e: usize) -> Deviation {
    let distance = (actual.data().float(a) - expected.data().float(e)).abs();
    Deviation {
        error: if equal { 0.0 } else { distance.max(1.0) },
        allowed: 0.0,
    }
}

fn bounded(actual: f64, expected: crate::Bounded, rules: &Rules) -> Option<Deviation> {
    if expected.is_undecided() {
        return None;
    }
    let zeros = actual == 0.0 && expected.v == 0.0;
    let turned = actual.is_sign_negative() != expected.v.is_sign_negative();
    // What is certain is so with the sign of a zero.
    if zeros && turned && expected.e == 0.0 {
        let (error, allowed) = (f64::INFINITY, 0.0);
        return Some(Deviation { error, allowed });
    }
    let same = actual == expected.v || (actual.is_nan() && expected.v.is_nan());
    let distance = (actual - expected.v).abs();
    let error = match (same, distance.is_nan()) {
        (true, _) => 0.0,
        (false, true) => f64::INFINITY,
        (false, false) => distance,
    };
    let allowed = match expected.e {
        0.0 => 0.0,
        e => SLACK * e + rules.ulp(expected.v),
    };
    Some(Deviation { error, allowed })
}

fn scan(
    actual: &Tensor,
    expected: &Tensor,
    judge: impl Fn(usize, usize) -> Option<Deviation>,
) -> Report {
    let shapes = (actual.shape(), expected.shape());
    if actual.dtype() != expected.dtype() || shapes.0 != shapes.1 {
        let text = format!(
            "is {}, should be {}",
            actual.describe(),
            expected.describe()
        );
        return Report {
            mismatch: Some(text),
            ..Report::default()
        };
    }
    let axes = join(&[actual, expected]).unwrap_or_default();
    let (view_a, view_e) = (view_of(actual, &axes), view_of(expected, &axes));
    // An empty axis leaves no index that reads the elements stored along the others, so they may be unwritten.
    let stored = |n: usize, a: &Axis| n.saturating_mul(if a.extent == 0 { 0 } else { a.stored() });
    let count = axes.iter().fold(1, stored);
    let mut report = Report {
        ok: true,
        ..Report::default()
    };
    let mut worst: Option<(usize, Deviation)> = None;
    let (mut places_a, mut places_e) = (vec![0; CHUNK], vec![0; CHUNK]);
    for begin in (0..count).step_by(CHUNK) {
        let length = CHUNK.min(count - begin);
        places(&view_a, begin, &mut places_a[..length]);
        places(&view_e, begin, &mut places_e[..length]);
        for i in 0..length {
            let Some(deviation) = judge(places_a[i], places_e[i]) else {
                report.undecided += 1;
                continue;
            };
            report.compared += 1;
            report.exact += usize::from(deviation.allowed == 0.0);
            report.failures += usize::from(deviation.error > deviation.allowed);
            if deviation.error > 0.0
                && worst
                    .as_ref()
                    .is_none_or(|(_, w)| ratio(&deviation) > ratio(w))
            {
                worst = Some((begin + i, deviation));
            }
        }
    }
    report.ok = report.failures == 0;
    report.worst = worst.map(|(i, deviation)| Worst {
        index: unravel(&axes, i),
        actual: actual.data().float(view_a.at(i)),
        expected: expected.data().float(view_e.at(i)),
        error: deviation.error,
        allowed: deviation.allowed,
    });
    report
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
    use fuser_ir::DType;
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
