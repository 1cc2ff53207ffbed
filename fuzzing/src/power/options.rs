//! The command line of `power`.

use super::programs::{CLASSES, Class};

/// The command line of `power`.
pub const USAGE: &str = "usage: power [options]
  --classes A,B  of the classes of programs only these: examples, models, random, written
  --programs N   random and written programs, each (1000)
  --changes N    changes of each program (60 of files, 4 of others)
  --seed N       draws programs and changes (0)
  --only TEXT    programs whose name contains TEXT
  --jobs N       threads (2)
  --least P      the power of each class must be at least P per cent (0)
  --all          a line for each change, not only for those that are missed, and every panic as it happens";

/// Options of a measurement.
#[derive(Clone)]
pub struct Options {
    pub(super) classes: Vec<Class>,
    pub(super) programs: u64,
    pub(super) changes: Option<u64>,
    pub(super) seed: u64,
    pub(super) only: Option<String>,
    pub(super) jobs: usize,
    pub(super) least: f64,
    pub(super) all: bool,
}

impl Options {
    /// Reads arguments.
    pub fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            classes: CLASSES.to_vec(),
            programs: 1000,
            changes: None,
            seed: 0,
            only: None,
            jobs: 2,
            least: 0.0,
            all: false,
        };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            if name == "--all" {
                options.all = true;
                continue;
            }
            let value = rest.next();
            let value = value.ok_or_else(|| format!("`{name}` takes a value"))?;
            options.set(name, value)?;
        }
        Ok(options)
    }
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let refused = || format!("`{name}` takes a number, not `{value}`");
        let number = || value.parse::<u64>().map_err(|_| refused());
        match name {
            "--programs" => self.programs = number()?,
            "--changes" => self.changes = Some(number()?),
            "--seed" => self.seed = number()?,
            "--only" => self.only = Some(value.into()),
            "--jobs" => self.jobs = number()?.max(1) as usize,
            "--least" => self.least = value.parse().map_err(|_| refused())?,
            "--classes" => {
                self.classes.clear();
                for name in value.split(',') {
                    let known = CLASSES.iter().find(|class| class.name == name);
                    let known = known.ok_or_else(|| format!("`{name}` is no class of programs"))?;
                    self.classes.push(*known);
                }
            }
            _ => return Err(format!("unknown option `{name}`")),
        }
        Ok(())
    }
}
