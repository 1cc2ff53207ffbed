//! The check whose power is measured: that of `fuser-run --check`, applied to the results of another execution.

use fuser::compile::{CompileOptions, Loader, compile};
use fuser::session::promised_ulps;
use fuser_interp::compare::{Report, Status};
use fuser_interp::{Expected, Options, Subject, Tensor};
use fuser_runtime::{CpuProgram, HostTensor};

use crate::generate::Case;
use crate::oracle::{compiled, execute, summary};

/// The expected results of a program, prepared for comparison with those of many executions.
pub struct Judge<'a> {
    case: &'a Case,
    inputs: Vec<Tensor>,
    options: Options,
    expected: Expected,
}

/// The answer of the check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Verdict {
    /// A result is wrong.
    pub found: bool,
    /// Results with too few elements compared.
    pub not_checked: u64,
    /// Elements compared.
    pub compared: u64,
    /// Elements whose samples spread too far.
    pub ill_conditioned: u64,
    /// Elements about which the reference says nothing.
    pub undecided: u64,
}

impl Verdict {
    /// The answer that reports on all results are.
    pub fn of(reports: &[Report]) -> Self {
        let sum = |of: fn(&Report) -> usize| reports.iter().map(|r| of(r) as u64).sum();
        Self {
            found: reports.iter().any(Report::failed),
            not_checked: sum(|r| usize::from(r.status == Status::NotChecked)),
            compared: sum(|r| r.compared),
            ill_conditioned: sum(|r| r.ill_conditioned),
            undecided: sum(|r| r.undecided),
        }
    }
    /// Elements that were to be compared.
    pub fn elements(&self) -> u64 {
        self.compared + self.ill_conditioned + self.undecided
    }
}

impl<'a> Judge<'a> {
    /// The judge of the case as it is.
    pub fn of(case: &'a Case) -> Result<Self, String> {
        let inputs = execute::tensors(&case.inputs);
        let options = Options {
            math: promised_ulps(),
            ..Options::default()
        };
        let subject = Subject {
            ir: &case.ir,
            op: case.program,
            inputs: &inputs,
            options: &options,
        };
        let expected = Expected::of(subject).map_err(|error| format!("{:?}", error.kind))?;
        Ok(Self {
            case,
            inputs,
            options,
            expected,
        })
    }
    /// The answer of the check to these results.
    pub fn verdict(&mut self, results: &[Tensor]) -> Verdict {
        let subject = Subject {
            ir: &self.case.ir,
            op: self.case.program,
            inputs: &self.inputs,
            options: &self.options,
        };
        Verdict::of(&self.expected.judge(subject, results))
    }
}

/// A case, compiled for this machine as a user gets it.
pub struct CompiledCase {
    program: CpuProgram,
}

impl CompiledCase {
    /// Compiles a case.
    pub fn of(case: &Case) -> Result<Self, String> {
        let compiled = compile(&case.ir, case.module, &CompileOptions::default());
        let compiled = compiled.map_err(|diagnostics| summary(&diagnostics))?;
        let program = CpuProgram::load(compiled.artifact, &Loader).map_err(|e| e.to_string())?;
        Ok(Self { program })
    }
    /// Runs it on one thread; the results as the interpreter has them.
    pub fn run(&self, case: &Case) -> Result<Vec<Tensor>, String> {
        let run = compiled::execute(&self.program, case, 1, false);
        let outputs: Vec<HostTensor> = run.map_err(|error| error.to_string())?.outputs;
        let outputs: Option<Vec<Tensor>> = outputs.iter().map(compiled::interpreted).collect();
        outputs.ok_or_else(|| "a result has more bytes than its shape".into())
    }
}
