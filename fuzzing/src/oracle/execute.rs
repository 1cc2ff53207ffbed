//! Execution by the interpreter: the meaning of a program, exactly or with error bounds.

use std::cell::{Cell, RefCell};

use fuser_interp::compare::{Report, Status, compare_exact};
use fuser_interp::{Axis, InterpError, Options, Subject, Tensor, interpret};
use fuser_ir::{Ir, Op};

use crate::Stats;
use crate::generate::{Case, Input, Tier};

/// The most element operations of an execution of a case, a large multiple of the need of any case.
const FUEL: u64 = 1 << 28;
/// Bytes held by one execution.
const MEMORY: u64 = 1 << 30;

fn options(reference: bool, fuel: u64) -> Options {
    Options {
        reference,
        fuel,
        memory: MEMORY,
        races: false,
        ..Options::default()
    }
}

/// The results of a correct execution.
#[derive(Clone)]
pub struct Expected {
    /// The comparison that they admit.
    pub tier: Tier,
    /// The results, with bounds in the bounded tier.
    pub results: Vec<Tensor>,
    /// Expected results with samples, in the bounded tier.
    sharp: RefCell<fuser_interp::Expected>,
    /// The case of these results, from which samples are drawn.
    origin: Origin,
    /// The results judged so far.
    judged: Cell<Judged>,
}

/// Counts of results that were judged.
#[derive(Clone, Copy, Default)]
struct Judged {
    /// By status: `ok`, `FAILED`, `not checked`.
    results: [u64; 3],
    /// Compared, ill-conditioned, undecided.
    elements: [u64; 3],
}

impl Judged {
    fn and(mut self, report: &Report) -> Self {
        self.results[report.status as usize] += 1;
        let elements = [report.compared, report.ill_conditioned, report.undecided];
        let pairs = self.elements.iter_mut().zip(elements);
        pairs.for_each(|(sum, n)| *sum += n as u64);
        self
    }
}

/// A case before anything was done to it.
#[derive(Clone)]
struct Origin {
    ir: Ir,
    program: Op,
    inputs: Vec<Tensor>,
    options: Options,
}

impl Origin {
    fn subject(&self) -> Subject<'_> {
        Subject {
            ir: &self.ir,
            op: self.program,
            inputs: &self.inputs,
            options: &self.options,
        }
    }
}

/// Executes a case as it is.
pub fn expected(case: &Case) -> Result<Expected, InterpError> {
    expected_of(case, false)
}

/// The expected results for code that is `contracted`: such code may fuse products into sums, and results are within
/// bounds.
pub fn expected_of(case: &Case, contracted: bool) -> Result<Expected, InterpError> {
    let inputs = tensors(&case.inputs);
    let tier = if contracted { Tier::Bounded } else { case.tier };
    let options = Options {
        contracted,
        ..options(tier == Tier::Bounded, FUEL)
    };
    let results = interpret(&case.ir, case.program, &inputs, &options)?.values;
    Ok(Expected {
        tier,
        sharp: RefCell::new(results.clone().into()),
        results,
        origin: Origin {
            ir: case.ir.clone(),
            program: case.program,
            inputs,
            options,
        },
        judged: Cell::default(),
    })
}

/// Executes a later form of a case exactly as its ops are defined, if `fuel` suffices. With `races`, kernels have their
/// barriers, and races are reported.
pub fn exact(
    ir: &Ir,
    program: Op,
    inputs: &[Input],
    fuel: u64,
    races: bool,
) -> Result<Vec<Tensor>, InterpError> {
    let options = Options {
        races,
        ..options(false, fuel)
    };
    let outputs = interpret(ir, program, &tensors(inputs), &options)?;
    Ok(outputs.values)
}

/// The inputs for the interpreter; an input that does not fit becomes an empty tensor, which it refuses.
pub fn tensors(inputs: &[Input]) -> Vec<Tensor> {
    let empty = || Tensor::index(0);
    inputs
        .iter()
        .map(|input| tensor(input).unwrap_or_else(empty))
        .collect()
}

/// One input as the interpreter takes it.
pub fn tensor(input: &Input) -> Option<Tensor> {
    let axes = input.axes.iter().map(|(extent, broadcast)| Axis {
        extent: *extent as usize,
        broadcast: *broadcast,
    });
    Tensor::from_bytes(input.dtype, axes.collect(), &input.bytes)
}

impl Expected {
    /// The first disagreement of `results`, if there is one.
    pub fn fault(&self, results: &[Tensor]) -> Option<String> {
        if results.len() != self.results.len() {
            return Some(format!(
                "{} results, should be {}",
                results.len(),
                self.results.len()
            ));
        }
        let reports = self.reports(results);
        let judged = reports.iter().fold(self.judged.take(), Judged::and);
        self.judged.set(judged);
        let pairs = self.results.iter().zip(&reports).enumerate();
        pairs
            .into_iter()
            .find_map(|(i, (wanted, report))| fault(i, report, wanted))
    }
    /// Counts the results judged since the last call, and their elements.
    pub fn count(&self, stats: &mut Stats) {
        let judged = self.judged.take();
        let statuses = [Status::Ok, Status::Failed, Status::NotChecked].map(Status::name);
        for (status, n) in statuses.into_iter().zip(judged.results) {
            stats.add("results judged", status, n);
        }
        let kinds = ["compared", "ill-conditioned", "undecided"];
        for (kind, n) in kinds.into_iter().zip(judged.elements) {
            stats.add("elements judged", kind, n);
        }
    }
    /// The comparison of each result with the expected one, or in the bounded tier by bounds and samples.
    pub fn reports(&self, results: &[Tensor]) -> Vec<Report> {
        if self.tier == Tier::Bounded {
            let sharp = &mut *self.sharp.borrow_mut();
            return sharp.judge(self.origin.subject(), results);
        }
        let pairs = self.results.iter().zip(results);
        pairs
            .map(|(wanted, got)| compare_exact(got, wanted))
            .collect()
    }
}

fn fault(index: usize, report: &Report, wanted: &Tensor) -> Option<String> {
    // Beside a broadcast axis of extent 0 elements are stored that no index reads.
    if !report.failed() || (report.mismatch.is_none() && wanted.logical_len() == 0) {
        return None;
    }
    let detail = match (&report.mismatch, &report.worst) {
        (Some(mismatch), _) => mismatch.clone(),
        (_, Some(worst)) => format!(
            "{} of {} elements are wrong; at {:?} {:e} should be {:e} (off by {:e}, allowed {:e})",
            report.failures,
            report.elements(),
            worst.index,
            worst.actual,
            worst.expected,
            worst.error,
            worst.allowed
        ),
        _ => "differs".into(),
    };
    Some(format!("result {index} ({}): {detail}", wanted.describe()))
}
