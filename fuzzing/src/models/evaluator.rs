//! The process that evaluates programs with NumPy: `fuzzing/evaluator/evaluate.py`, which shares nothing with the
//! compiler.
//!
//! One process serves thousands of programs; there are as many processes as threads use at once. The head of the script
//! documents the protocol.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use fuser_runtime::HostTensor;

use crate::generate::{Case, Input};

/// The evaluator's answer about a program's executions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// Numbers of elements: compared, known to the bit, undetermined, and with wide bounds.
    pub elements: [u64; 4],
    /// Name of the execution, index of the result, and the mistake in it.
    pub wrong: Vec<(String, usize, String)>,
    /// The reason that the program could not be evaluated.
    pub error: Option<String>,
}

/// Processes that evaluate; more are started when all are busy.
#[derive(Debug, Default)]
pub struct Evaluators {
    idle: Mutex<Vec<Process>>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended on its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("evaluator")
}

impl Process {
    /// Starts one, with the NumPy that the set-up fetched, or the one that Python finds.
    fn start() -> Result<Self, String> {
        let fetched = folder().join("../../.cache/numpy");
        let mut command = Command::new("python3");
        // Programs are small: threads of NumPy's own would only be in the way.
        command
            .env("OPENBLAS_NUM_THREADS", "1")
            .env("PYTHONDONTWRITEBYTECODE", "1");
        if fetched.is_dir() {
            command.env("PYTHONPATH", fetched);
        }
        let spawned = command
            .arg(folder().join("evaluate.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn();
        let mut child = spawned.map_err(|error| format!("python3 does not run: {error}"))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("python3 has no pipes".into());
        };
        let mut process = Self {
            child,
            requests,
            answers: BufReader::new(answers),
        };
        match process.line()? {
            line if line.starts_with("ready") => Ok(process),
            line => Err(line.trim_start_matches("missing: ").to_owned()),
        }
    }
    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err("the evaluator ended".into()),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(format!("the evaluator does not answer: {error}")),
        }
    }
    fn ask(&mut self, request: &[u8]) -> Result<Answer, String> {
        let sent = self
            .requests
            .write_all(request)
            .and_then(|()| self.requests.flush());
        sent.map_err(|error| format!("the evaluator does not listen: {error}"))?;
        let mut answer = Answer::default();
        loop {
            let line = self.line()?;
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "end" => return Ok(answer),
                "error" => answer.error = Some(rest.to_owned()),
                "wrong" => answer.wrong.extend(wrong(rest)),
                "result" => {
                    let numbers = rest.split(' ').filter_map(|word| word.parse::<u64>().ok());
                    let counts = numbers.skip(1).zip(&mut answer.elements);
                    counts.for_each(|(n, sum)| *sum += n);
                }
                _ => return Err(format!("the evaluator says `{line}`")),
            }
        }
    }
}

/// `NAME INDEX TEXT`
fn wrong(text: &str) -> Option<(String, usize, String)> {
    let mut words = text.splitn(3, ' ');
    let name = words.next()?.to_owned();
    let index = words.next()?.parse().ok()?;
    Some((name, index, words.next()?.to_owned()))
}

impl Evaluators {
    /// The reason that nothing can be evaluated here: there is no Python, or no NumPy. `None` if there are both.
    pub fn missing(&self) -> Option<String> {
        match self.take() {
            Ok(process) => {
                self.give(process);
                None
            }
            Err(why) => Some(why),
        }
    }
    fn take(&self) -> Result<Process, String> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        idle.map_or_else(Process::start, Ok)
    }
    fn give(&self, process: Process) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(process);
        }
    }
    /// The evaluator's answer about the executions of a program, each a name and its results.
    pub fn ask(
        &self,
        text: &str,
        case: &Case,
        executions: &[(String, &[HostTensor])],
    ) -> Result<Answer, String> {
        let mut process = self.take()?;
        let answer = process.ask(&request(text, case, executions))?;
        self.give(process);
        Ok(answer)
    }
}

fn request(text: &str, case: &Case, executions: &[(String, &[HostTensor])]) -> Vec<u8> {
    let mut head = format!("text {}\n", text.len());
    let mut body = text.as_bytes().to_vec();
    for (name, length) in &case.extents {
        let _ = writeln!(head, "extent {name} {length}");
    }
    for Input { dtype, axes, bytes } in &case.inputs {
        let axes = axes.iter().map(|(n, b)| axis(*n, *b));
        let _ = writeln!(head, "input {}{}", dtype.name(), axes.collect::<String>());
        body.extend(bytes);
    }
    for (name, results) in executions {
        let _ = writeln!(head, "results {name}");
        for result in *results {
            let axes = result.axes().iter();
            let axes = axes.map(|a| axis(a.extent as u64, a.broadcast));
            let dtype = super::check::name_of(result.dtype());
            let _ = writeln!(head, "result {dtype}{}", axes.collect::<String>());
            body.extend(result.elements().iter());
        }
    }
    head += "end\n";
    let mut request = head.into_bytes();
    request.extend(body);
    request
}

fn axis(length: u64, broadcast: bool) -> String {
    format!(" {}{length}", if broadcast { "b" } else { "" })
}
