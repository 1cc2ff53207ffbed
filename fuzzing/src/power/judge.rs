//! The check whose power is measured: that of `fuser-run --check`, on the results of another execution.

use std::cell::RefCell;

use fuser::compile::{CompileOptions, Loader, compile};
use fuser::session::{Loaded, Session};
use fuser_interp::Expected;
use fuser_interp::compare::Status;
use fuser_runtime::{CpuProgram, HostTensor, Inputs};

use crate::generate::Case;
use crate::oracle::{compiled, summary};

/// The reference of a program, ready to be compared with many executions.
pub struct Judge {
    session: Session,
    loaded: Loaded,
    inputs: Inputs,
    expected: RefCell<Expected>,
}

/// The answer of the check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Verdict {
    /// A result is wrong.
    pub found: bool,
    /// Results of which less than half could be compared.
    pub not_checked: u64,
    /// Elements compared.
    pub compared: u64,
    /// Elements that could not be compared.
    pub undecided: u64,
}

impl Judge {
    /// The judge of the case as it is, which is `compiled`.
    pub fn of(case: &Case, compiled: &CompiledCase) -> Result<Self, String> {
        let told = |error| format!("{error:?}");
        let session = Session::new(Default::default()).map_err(told)?;
        let loaded = session.load(case.ir.clone(), case.module, None);
        let loaded = loaded.map_err(told)?;
        let artifact = compiled.program.artifact();
        let inputs = compiled::inputs(session.runtime(), case, artifact);
        let inputs = Inputs {
            tensors: inputs.map_err(|error| error.to_string())?,
            extents: Vec::new(),
        };
        let expected = session.expected(&loaded, &inputs).map_err(told)?;
        Ok(Self {
            session,
            loaded,
            inputs,
            expected: RefCell::new(expected),
        })
    }
    /// The answer of the check to these results.
    pub fn verdict(&self, results: &[HostTensor]) -> Result<Verdict, String> {
        let expected = &mut *self.expected.borrow_mut();
        let check = (self.session)
            .check_with(&self.loaded, &self.inputs, expected, results)
            .map_err(|error| format!("{error:?}"))?;
        let reports = check.outputs.iter().map(|output| &output.report);
        let sum = |of: fn(&fuser_interp::compare::Report) -> usize| {
            reports.clone().map(|report| of(report) as u64).sum()
        };
        Ok(Verdict {
            found: check.failed(),
            not_checked: sum(|r| usize::from(r.status == Status::NotChecked)),
            compared: sum(|r| r.compared),
            undecided: sum(|r| r.elements() - r.compared),
        })
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
    /// Runs it on one thread.
    pub fn run(&self, case: &Case) -> Result<Vec<HostTensor>, String> {
        let run = compiled::execute(&self.program, case, 1, false);
        run.map(|run| run.outputs)
            .map_err(|error| error.to_string())
    }
}
