//! Specifications of inputs, as written on the command line.
//!
//! | text | elements |
//! |---|---|
//! | `@file.npy` | those of the file |
//! | `random`, `random:seed=7` | real numbers, uniform in [-1, 1); for integer types as `ints` |
//! | `uniform:lo=0,hi=2,seed=7` | real numbers, uniform in [lo, hi) |
//! | `normal:seed=7` | real numbers, nearly normal: the sum of 12 uniform ones, less 6 |
//! | `ints`, `ints:-8..8`, `ints:lo=-8,hi=8,seed=7` | whole numbers from `lo` to `hi`, both included |
//! | `zeros`, `ones`, `full:2.5` | one number |
//! | `iota` | 0, 1, 2, ... |

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fuser_artifact::DType;

/// The default bound on the magnitude of generated integers. Products and sums of a few hundred of them are exact in
/// every type.
pub const DEFAULT_MAGNITUDE: i128 = 8;

/// The source of an input's elements.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSpec {
    File(PathBuf),
    /// A member of a `.npz` archive.
    Member {
        archive: PathBuf,
        name: String,
    },
    Generate(Generator),
}

impl InputSpec {
    /// The file that holds the elements, if one does.
    pub fn file(&self) -> Option<&Path> {
        match self {
            InputSpec::File(path) | InputSpec::Member { archive: path, .. } => Some(path),
            InputSpec::Generate(_) => None,
        }
    }
}

/// A rule that makes elements up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Generator {
    /// Uniform in [-1, 1), or small whole numbers for integer types.
    Random {
        seed: u64,
    },
    Uniform {
        seed: u64,
        low: f64,
        high: f64,
    },
    Normal {
        seed: u64,
    },
    /// From `low` to `high`, both included; without them, what suits the type.
    Ints {
        seed: u64,
        range: Option<(i128, i128)>,
    },
    Full(Number),
    Iota,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Real(f64),
}

/// Text that describes no input, or elements that the type cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    Unknown {
        text: String,
    },
    Option {
        kind: String,
        option: String,
    },
    Value {
        option: String,
        value: String,
    },
    EmptyRange {
        low: String,
        high: String,
    },
    /// Whole numbers beyond what the type holds.
    OutOfRange {
        dtype: DType,
        low: i128,
        high: i128,
    },
    /// A real number for an integer type.
    NotWhole {
        dtype: DType,
        what: &'static str,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Unknown { text } => write!(
                f,
                "`{text}` describes no input (expected @FILE.npy, random, uniform, normal, ints, zeros, ones, full:V or iota)"
            ),
            SpecError::Option { kind, option } => write!(f, "`{kind}` has no option `{option}`"),
            SpecError::Value { option, value } => {
                write!(f, "`{value}` is no value of `{option}`")
            }
            SpecError::EmptyRange { low, high } => write!(f, "nothing lies from {low} to {high}"),
            SpecError::OutOfRange { dtype, low, high } => {
                write!(f, "{dtype} does not hold all numbers from {low} to {high}")
            }
            SpecError::NotWhole { dtype, what } => {
                write!(f, "{what} is for real numbers, the element type is {dtype}")
            }
        }
    }
}

impl std::error::Error for SpecError {}

impl FromStr for InputSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<InputSpec, SpecError> {
        match text.strip_prefix('@') {
            Some(path) if !path.is_empty() => Ok(InputSpec::File(path.into())),
            None if text.ends_with(".npy") => Ok(InputSpec::File(text.into())),
            _ => text.parse().map(InputSpec::Generate),
        }
    }
}

impl FromStr for Generator {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Generator, SpecError> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        if kind == "full" {
            return number(rest).map(Generator::Full);
        }
        let options = Options::parse(kind, rest)?;
        let Options { seed, .. } = options;
        match kind {
            "random" => Ok(Generator::Random { seed }),
            "normal" => Ok(Generator::Normal { seed }),
            "uniform" => options.uniform(),
            "ints" => options.ints(),
            "zeros" => Ok(Generator::Full(Number::Integer(0))),
            "ones" => Ok(Generator::Full(Number::Integer(1))),
            "iota" => Ok(Generator::Iota),
            _ => Err(SpecError::Unknown {
                text: text.to_string(),
            }),
        }
    }
}

/// The options after the colon, before they are read as numbers.
#[derive(Default)]
struct Options<'a> {
    seed: u64,
    low: Option<&'a str>,
    high: Option<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(kind: &str, text: &'a str) -> Result<Options<'a>, SpecError> {
        let mut options = Options::default();
        let ranged = matches!(kind, "ints" | "uniform");
        let seeded = ranged || matches!(kind, "random" | "normal");
        for option in text.split(',').filter(|option| !option.is_empty()) {
            match (option.split_once('='), option.split_once("..")) {
                (Some(("seed", value)), _) if seeded => options.seed = parsed("seed", value)?,
                (Some(("lo", value)), _) if ranged => options.low = Some(value),
                (Some(("hi", value)), _) if ranged => options.high = Some(value),
                (None, Some((low, high))) if ranged => {
                    (options.low, options.high) = (Some(low), Some(high));
                }
                _ => {
                    return Err(SpecError::Option {
                        kind: kind.to_string(),
                        option: option.to_string(),
                    });
                }
            }
        }
        Ok(options)
    }

    fn uniform(self) -> Result<Generator, SpecError> {
        let low: f64 = self.low.map_or(Ok(-1.0), |text| parsed("lo", text))?;
        let high: f64 = self.high.map_or(Ok(1.0), |text| parsed("hi", text))?;
        let seed = self.seed;
        if low < high && (high - low).is_finite() {
            return Ok(Generator::Uniform { seed, low, high });
        }
        Err(empty(low, high))
    }

    fn ints(self) -> Result<Generator, SpecError> {
        let seed = self.seed;
        if self.low.is_none() && self.high.is_none() {
            return Ok(Generator::Ints { seed, range: None });
        }
        let low = self
            .low
            .map_or(Ok(-DEFAULT_MAGNITUDE), |text| parsed("lo", text))?;
        let high = self
            .high
            .map_or(Ok(DEFAULT_MAGNITUDE), |text| parsed("hi", text))?;
        let range = Some((low, high));
        let some = low <= high;
        some.then_some(Generator::Ints { seed, range })
            .ok_or_else(|| empty(low, high))
    }
}

fn empty(low: impl fmt::Display, high: impl fmt::Display) -> SpecError {
    SpecError::EmptyRange {
        low: low.to_string(),
        high: high.to_string(),
    }
}

fn parsed<T: FromStr>(option: &str, value: &str) -> Result<T, SpecError> {
    value.parse().map_err(|_| SpecError::Value {
        option: option.to_string(),
        value: value.to_string(),
    })
}

fn number(text: &str) -> Result<Number, SpecError> {
    let integer = text.parse().map(Number::Integer);
    integer.or_else(|_| parsed("full", text).map(Number::Real))
}

impl Generator {
    /// Refuses elements that the type cannot hold.
    pub fn check(&self, dtype: DType) -> Result<(), SpecError> {
        let powers = dtype == DType::F8E8M0FNU;
        let Some((least, greatest)) = dtype.integer_range() else {
            return match *self {
                Generator::Full(Number::Integer(low @ ..=0)) if powers => {
                    Err(SpecError::OutOfRange {
                        dtype,
                        low,
                        high: low,
                    })
                }
                _ => Ok(()),
            };
        };
        let not_whole = |what| Err(SpecError::NotWhole { dtype, what });
        let within = |low, high| {
            let fits = least <= low && high <= greatest;
            fits.then_some(())
                .ok_or(SpecError::OutOfRange { dtype, low, high })
        };
        match *self {
            Generator::Uniform { .. } => not_whole("`uniform`"),
            Generator::Normal { .. } => not_whole("`normal`"),
            Generator::Full(Number::Real(_)) => not_whole("`full` with a fraction"),
            Generator::Full(Number::Integer(value)) => within(value, value),
            Generator::Ints {
                range: Some((low, high)),
                ..
            } => within(low, high),
            Generator::Ints { range: None, .. } | Generator::Random { .. } | Generator::Iota => {
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<InputSpec>().unwrap_err().to_string()
    }

    #[test]
    fn specs_parse() {
        let file = "@a b.npy".parse::<InputSpec>().unwrap();
        assert_eq!(file, InputSpec::File("a b.npy".into()));
        for (text, generator) in [
            ("random", Generator::Random { seed: 0 }),
            ("random:seed=7", Generator::Random { seed: 7 }),
            ("normal:seed=1", Generator::Normal { seed: 1 }),
            (
                "uniform:0..2,seed=3",
                Generator::Uniform {
                    seed: 3,
                    low: 0.0,
                    high: 2.0,
                },
            ),
            (
                "ints",
                Generator::Ints {
                    seed: 0,
                    range: None,
                },
            ),
            (
                "ints:-8..8",
                Generator::Ints {
                    seed: 0,
                    range: Some((-8, 8)),
                },
            ),
            (
                "ints:seed=2,lo=0,hi=3",
                Generator::Ints {
                    seed: 2,
                    range: Some((0, 3)),
                },
            ),
            (
                "ints:hi=3",
                Generator::Ints {
                    seed: 0,
                    range: Some((-8, 3)),
                },
            ),
            ("zeros", Generator::Full(Number::Integer(0))),
            ("ones", Generator::Full(Number::Integer(1))),
            ("full:-2.5", Generator::Full(Number::Real(-2.5))),
            ("full:inf", Generator::Full(Number::Real(f64::INFINITY))),
            ("iota", Generator::Iota),
        ] {
            assert_eq!(text.parse(), Ok(InputSpec::Generate(generator)), "{text}");
        }
    }

    #[test]
    fn wrong_specs_are_errors() {
        let expected =
            "(expected @FILE.npy, random, uniform, normal, ints, zeros, ones, full:V or iota)";
        for text in ["", "@", "randm", "x.npz"] {
            assert_eq!(
                refused(text),
                format!("`{text}` describes no input {expected}")
            );
        }
        assert_eq!(refused("zeros:seed=1"), "`zeros` has no option `seed=1`");
        assert_eq!(refused("random:lo=1"), "`random` has no option `lo=1`");
        assert_eq!(refused("random:seed=-1"), "`-1` is no value of `seed`");
        assert_eq!(refused("full:x"), "`x` is no value of `full`");
        assert_eq!(refused("full:"), "`` is no value of `full`");
        assert_eq!(refused("ints:3..2"), "nothing lies from 3 to 2");
        assert_eq!(refused("uniform:nan..1"), "nothing lies from NaN to 1");
        let check = |text: &str, dtype| {
            text.parse::<Generator>()
                .unwrap()
                .check(dtype)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            check("ints:-1..5", DType::U8),
            "u8 does not hold all numbers from -1 to 5"
        );
        assert_eq!(
            check("full:2", DType::I1),
            "i1 does not hold all numbers from 2 to 2"
        );
        assert_eq!(
            check("zeros", DType::F8E8M0FNU),
            "f8E8M0FNU does not hold all numbers from 0 to 0"
        );
        let text = "`normal` is for real numbers, the element type is i64";
        assert_eq!(check("normal", DType::I64), text);
    }
}
