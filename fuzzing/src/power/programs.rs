//! The programs whose results are checked: programs from files, and random ones.

use std::path::{Path, PathBuf};

use fuser::session::Session;
use fuser_artifact::DType as Stored;
use fuser_ir::DType;

use crate::Source;
use crate::generate::fusion::{self, Config};
use crate::generate::{Case, Input, Tier};
use crate::models::check;
use crate::oracle::compiled::stored;

/// A program with inputs.
#[derive(Clone, Debug)]
pub struct Program {
    /// As tables name it.
    pub name: String,
    /// The program.
    pub case: Case,
}

/// A class of programs.
#[derive(Clone, Copy)]
pub struct Class {
    /// As `--classes` takes it.
    pub name: &'static str,
    /// Changes of each program, unless asked for otherwise.
    pub changes: u64,
    /// The programs; of random ones so many, from a seed on.
    pub programs: fn(count: u64, seed: u64) -> Result<Vec<Program>, String>,
}

/// All classes.
pub static CLASSES: &[Class] = &[
    Class {
        name: "examples",
        changes: 60,
        programs: |_, _| files("examples"),
    },
    Class {
        name: "models",
        changes: 60,
        programs: |_, _| files("examples/models"),
    },
    Class {
        name: "random",
        changes: 4,
        programs: random,
    },
    Class {
        name: "written",
        changes: 4,
        programs: written,
    },
];

/// Long axes of the examples, and short ones that stand for them: odd where the axis was one of rows.
const SHORT: [(&str, &str); 4] = [
    ("32768", "67"),
    ("16384", "5"),
    ("8192", "263"),
    ("4096", "65"),
];
/// More of them, for the example that has three long axes.
const SHORTER: (&str, [(&str, &str); 3]) = (
    "issue_2473.fir",
    [("56x", "3x"), ("56,", "3,"), ("1024", "41")],
);
/// Values of named extents, in the order of the signature.
const EXTENTS: [i64; 4] = [3, 37, 5, 9];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The programs of a folder, with short axes and the inputs that `fuser-run` makes.
pub fn files(folder: &str) -> Result<Vec<Program>, String> {
    let folder = root().join(folder);
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(told)? {
        paths.push(entry.map_err(told)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "fir"));
    paths.sort();
    paths.iter().map(|path| file(path)).collect()
}

fn file(path: &Path) -> Result<Program, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let more = SHORTER.1.iter().filter(|_| name == SHORTER.0);
    let short = |text: String, (long, short): &(&str, &str)| text.replace(long, short);
    program(&name, &SHORT.iter().chain(more).fold(text, short))
}

/// The program of a text, with the inputs that `fuser-run` makes.
pub fn program(name: &str, text: &str) -> Result<Program, String> {
    let told = |what: String| format!("{name}: {what}");
    let session = Session::new(Default::default()).map_err(|e| told(format!("{e:?}")))?;
    let parsed = session.parse(0, name, text);
    let (ir, module, _) = parsed.map_err(|d| told(crate::oracle::summary(&d)))?;
    let loaded = session.load(ir, module, None);
    let loaded = loaded.map_err(|e| told(format!("{e:?}")))?;
    let names = loaded.signature.extents.iter().cloned();
    let extents = names.zip(EXTENTS.into_iter().cycle()).collect();
    let inputs = session.resolve(&loaded, &Default::default(), &extents);
    let inputs = inputs.map_err(|e| told(format!("{e:?}")))?;
    let inputs = inputs.tensors.iter().map(|tensor| Input {
        dtype: dtype(tensor.dtype()),
        axes: tensor
            .axes()
            .iter()
            .map(|a| (a.extent as u64, a.broadcast))
            .collect(),
        bytes: tensor.elements().into_owned(),
    });
    let case = Case {
        inputs: inputs.collect(),
        extents: extents.into_iter().map(|(n, v)| (n, v as u64)).collect(),
        tier: Tier::Bounded,
        ir: loaded.ir,
        module: loaded.module,
        program: loaded.program,
    };
    Ok(Program {
        name: name.into(),
        case,
    })
}

fn dtype(of: Stored) -> DType {
    let found = DType::ALL.into_iter().find(|dtype| stored(*dtype) == of);
    found.unwrap_or(DType::I1)
}

/// Random fusions of both tiers, small ones.
fn random(count: u64, seed: u64) -> Result<Vec<Program>, String> {
    let one = |seed: u64| {
        let tier = [Tier::Exact, Tier::Bounded][(seed % 2) as usize];
        let config = Config::small(tier).seeded(seed);
        Program {
            name: format!("random {seed}"),
            case: fusion::generate(&mut Source::seed(seed), &config),
        }
    };
    Ok((seed..seed + count).map(one).collect())
}

/// Programs as people write them.
fn written(count: u64, seed: u64) -> Result<Vec<Program>, String> {
    let one = |seed: u64| {
        let drawn = check::drawn(&mut Source::seed(seed), seed);
        let model = drawn.map_err(|(_, finding)| finding.to_string())?;
        Ok(Program {
            name: format!("written {seed}"),
            case: model.case,
        })
    };
    (seed..seed + count).map(one).collect()
}
