//! The results that a program is to give: the reference with its bounds and, where bounds say too little, samples.
//!
//! Samples are drawn when they are wanted, a few first, and more while an element looks wrong that its bound lets pass. An element fails
//! where it is farther from the reference than `K s`, `s` the root mean square distance of the samples, with `K` such that a correct
//! program fails with a probability of at most [`FALSE_ALARM`], all elements together. docs/checking.md has the derivation.

use fuser_ir::types::TypeKind;
use fuser_ir::{Ir, Op};

use crate::compare::{self, Report, Sampled, Spread};
use crate::number::Sample;
use crate::{Options, Result, Tensor, interpret};

/// The numbers of samples after which elements are judged again.
const STAGES: [u32; 3] = [8, 24, 64];
/// The probability that the samples of a correct program find something wrong with it.
pub const FALSE_ALARM: f64 = 1e-6;
/// The factor by which samples enlarge errors. The farthest samples then lie about as far away as the limit, so that
/// they expose jumps within it.
const FACTOR: f64 = 4.0;

/// A program with its inputs.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The module.
    pub ir: &'a Ir,
    /// The program.
    pub op: Op,
    /// Its inputs.
    pub inputs: &'a [Tensor],
    /// Options of executions; reference mode or not, and samples, are no matter here.
    pub options: &'a Options,
}

impl Subject<'_> {
    /// One of `share` executions at a time, while `held` bytes are taken.
    fn run(self, sample: Option<Sample>, share: usize, held: u64) -> Result<Vec<Tensor>> {
        let options = Options {
            reference: true,
            sample,
            threads: (self.options.threads / share).max(1),
            memory: self.options.memory.saturating_sub(held) / share as u64,
            ..self.options.clone()
        };
        Ok(interpret(self.ir, self.op, self.inputs, &options)?.values)
    }
    /// The factor by which errors are enlarged; 1 for narrow types, whose range enlarged errors would leave.
    fn factor(self) -> f64 {
        let small = |ty: &TypeKind| match ty {
            TypeKind::Tensor(tensor) => tensor.dtype.is_storage(),
            TypeKind::Scalar(dtype) => dtype.is_storage(),
            _ => false,
        };
        let mut ops = self.ir.walk(self.op).into_iter();
        let narrow = ops.any(|op| {
            let results = self.ir.results(op).iter();
            results
                .copied()
                .any(|value| small(self.ir.value_kind(value)))
        });
        if narrow { 1.0 } else { FACTOR }
    }
}

/// The results that a program is to give.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The reference, with bounds.
    pub values: Vec<Tensor>,
    /// Those of the results; none before samples are drawn.
    spreads: Vec<Spread>,
    /// The samples drawn so far.
    pub samples: u32,
    factor: f64,
    /// True if no more can be drawn.
    ended: bool,
}

impl Expected {
    /// The reference of a program.
    pub fn of(subject: Subject<'_>) -> Result<Self> {
        Ok(Self::from(subject.run(None, 1, 0)?))
    }
    /// Judges results: one report for each.
    pub fn judge(&mut self, subject: Subject<'_>, actual: &[Tensor]) -> Vec<Report> {
        self.judge_telling(subject, actual, &|_, _| ())
    }
    /// Judges results, as `judge` does; `tell` hears how many samples are drawn, and of how many.
    pub fn judge_telling(
        &mut self,
        subject: Subject<'_>,
        actual: &[Tensor],
        tell: &dyn Fn(u32, u32),
    ) -> Vec<Report> {
        let pairs = || self.values.iter().zip(actual);
        let reports: Vec<Report> = pairs().map(|(e, a)| compare::compare(a, e)).collect();
        if self.values.iter().all(compare::is_tight) {
            return reports;
        }
        self.factor = subject.factor();
        for stage in STAGES {
            self.draw(subject, stage, tell);
            let reports = self.compared(actual, STAGES[STAGES.len() - 1]);
            if reports.iter().all(|report| report.suspects == 0) {
                return reports;
            }
            let certain = reports
                .iter()
                .any(|report| report.failures > report.suspects);
            if certain || self.ended {
                break;
            }
        }
        self.compared(actual, self.samples)
    }
    fn elements(&self) -> usize {
        let parts = |tensor: &Tensor| if tensor.parts().is_some() { 2 } else { 1 };
        let each = self
            .values
            .iter()
            .map(|value| value.stored_len() * parts(value));
        each.sum()
    }
    /// Compares with the samples that there are, as if they were `count`.
    fn compared(&self, actual: &[Tensor], count: u32) -> Vec<Report> {
        let reach = tolerance(count, FALSE_ALARM / self.elements().max(1) as f64) / self.factor;
        let all = self.values.iter().zip(actual).enumerate();
        all.map(|(i, (expected, actual))| {
            let spread = self.spreads.get(i).filter(|_| self.samples > 0);
            let sampled = spread.map(|spread| Sampled {
                spread,
                count: self.samples,
                reach,
            });
            compare::compare_sampled(actual, expected, sampled)
        })
        .collect()
    }
    /// Draws samples until there are `count`, as far as limits allow.
    fn draw(&mut self, subject: Subject<'_>, count: u32, tell: &dyn Fn(u32, u32)) {
        if self.spreads.len() < self.values.len() {
            match self.values.iter().map(Spread::of).collect() {
                Some(spreads) => self.spreads = spreads,
                None => self.ended = true,
            }
            self.note(subject);
        }
        while self.samples < count && !self.ended {
            tell(self.samples, count);
            let wanted = (count - self.samples).min(subject.options.threads.max(1) as u32);
            let drawn = self.together(subject, wanted);
            // Too little memory for several at a time may do for one.
            let drawn = match drawn {
                Err(_) if wanted > 1 => self.together(subject, 1),
                drawn => drawn,
            };
            match drawn {
                Ok(drawn) => drawn.iter().for_each(|sample| self.add(sample)),
                Err(_) => self.ended = true,
            }
        }
    }
    /// Records the error of the program executed in its own types. Intermediate results may overflow or become
    /// subnormal there, which samples in f64 cannot show.
    fn note(&mut self, subject: Subject<'_>) {
        let options = Options {
            reference: false,
            sample: None,
            ..subject.options.clone()
        };
        let Ok(run) = interpret(subject.ir, subject.op, subject.inputs, &options) else {
            return;
        };
        let each = self.values.iter().zip(&mut self.spreads).zip(&run.values);
        each.for_each(|((reference, spread), execution)| spread.note(reference, execution));
    }
    /// So many more samples, each by a thread.
    fn together(&self, subject: Subject<'_>, count: u32) -> Result<Vec<Vec<Tensor>>> {
        let held = self.values.iter().map(Tensor::held_bytes);
        let held = held.sum::<u64>() + 16 * self.elements() as u64;
        let sample = |number: u32| {
            let factor = self.factor;
            subject.run(Some(Sample { number, factor }), count as usize, held)
        };
        let numbers = self.samples..self.samples + count;
        std::thread::scope(|scope| {
            let others = numbers.clone().skip(1);
            let others: Vec<_> = others
                .map(|number| {
                    let work = move || sample(number);
                    let started = std::thread::Builder::new().spawn_scoped(scope, work);
                    (number, started)
                })
                .collect();
            let first = sample(numbers.start);
            // A thread that the system does not give, or that ended otherwise, is not needed.
            let rest = others.into_iter().map(|(number, thread)| {
                let joined = thread.ok().and_then(|thread| thread.join().ok());
                joined.unwrap_or_else(|| sample(number))
            });
            std::iter::once(first).chain(rest).collect()
        })
    }
    fn add(&mut self, sample: &[Tensor]) {
        self.samples += 1;
        let each = self.values.iter().zip(&mut self.spreads).zip(sample);
        each.for_each(|((reference, spread), sample)| spread.add(reference, sample));
    }
}

impl From<Vec<Tensor>> for Expected {
    fn from(values: Vec<Tensor>) -> Self {
        Self {
            values,
            spreads: Vec::new(),
            samples: 0,
            factor: FACTOR,
            ended: false,
        }
    }
}

/// The number of standard deviations that an error exceeds with a probability of at most `alpha`, where the standard deviation is that
/// of `count` samples: a bound on Student's distribution with so many degrees of freedom `n`, `P(|T| > K) <= sqrt(2/pi) / K n / (n - 1)
/// (1 + K^2 / n)^(-(n - 1) / 2)`.
pub fn tolerance(count: u32, alpha: f64) -> f64 {
    let n = f64::from(count.max(2));
    let tail = |k: f64| {
        let constant = (2.0 / std::f64::consts::PI).sqrt() * n / (n - 1.0);
        constant.ln() - k.ln() - (n - 1.0) / 2.0 * (k * k / n).ln_1p()
    };
    let (mut low, mut high) = (1.0, 1e18);
    for _ in 0..200 {
        let middle = f64::sqrt(low * high);
        match tail(middle) > alpha.ln() {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of Student's distribution, two-sided, from tables: the bound lies above them and close.
    #[test]
    fn tolerances_are_quantiles_of_students_distribution() {
        for (count, alpha, quantile) in [
            (10, 1e-3, 4.587),
            (30, 1e-3, 3.646),
            (10, 1e-6, 10.516),
            (30, 1e-6, 6.119),
            (60, 1e-6, 5.449),
        ] {
            let k = tolerance(count, alpha);
            assert!(k >= quantile && k < 1.1 * quantile, "{count} {alpha}: {k}");
        }
    }
}
