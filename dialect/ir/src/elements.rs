//! Element types of other systems: types carried without computing, and our names for types of theirs.
//!
//! ```text
//! i4, ui24, tf32                 carried: read, kept and printed; no op takes them
//! f8, f8E4M3, f6E2M3FN, u4       not supported, and the message says so
//! bool, float32, float8_e5m2     `i1`, `f32`, `f8E5M2`
//! ```

use crate::suggest;
use crate::types::DType;

/// Names that other systems use for our element types: theirs, ours.
const ELSEWHERE: [(&str, &str); 40] = [
    ("bool", "i1"),
    ("double", "f64"),
    ("float64", "f64"),
    ("fp64", "f64"),
    ("float", "f32"),
    ("float32", "f32"),
    ("fp32", "f32"),
    ("half", "f16"),
    ("float16", "f16"),
    ("fp16", "f16"),
    ("bfloat16", "bf16"),
    ("f8e4m3fn", "f8E4M3FN"),
    ("float8_e4m3fn", "f8E4M3FN"),
    ("f8e5m2", "f8E5M2"),
    ("float8_e5m2", "f8E5M2"),
    ("f8e8m0fnu", "f8E8M0FNU"),
    ("float8_e8m0fnu", "f8E8M0FNU"),
    ("f4e2m1fn", "f4E2M1FN"),
    ("float4_e2m1fn", "f4E2M1FN"),
    ("float4_e2m1fn_x2", "f4E2M1FN"),
    ("int64", "i64"),
    ("s64", "i64"),
    ("int", "i32"),
    ("int32", "i32"),
    ("s32", "i32"),
    ("int16", "i16"),
    ("short", "i16"),
    ("s16", "i16"),
    ("int8", "i8"),
    ("s8", "i8"),
    ("uint64", "ui64"),
    ("uint32", "ui32"),
    ("uint16", "ui16"),
    ("uint8", "ui8"),
    ("pred", "i1"),
    ("complex64", "complex<f32>"),
    ("cfloat", "complex<f32>"),
    ("c64", "complex<f32>"),
    ("complex128", "complex<f64>"),
    ("c128", "complex<f64>"),
];

/// Beginnings of names of floats of fewer than 16 bits.
const SMALL_FLOATS: [&str; 9] = [
    "f8", "f6", "f4", "fp8", "fp6", "fp4", "float8", "float6", "float4",
];

/// Our name for the element type called `word`, here or elsewhere, ignoring case.
pub fn ours(word: &str) -> Option<&'static str> {
    let same = |name: &&str| name.eq_ignore_ascii_case(word);
    let own = DType::from_name(word).map(DType::name);
    let cased = || DType::ALL.map(DType::name).into_iter().find(same);
    own.or_else(cased).or_else(|| elsewhere(word))
}

fn elsewhere(word: &str) -> Option<&'static str> {
    let found = ELSEWHERE
        .iter()
        .find(|(there, _)| there.eq_ignore_ascii_case(word));
    found.map(|(_, here)| *here)
}

/// The message and the help for `word`, an unknown element type in the position of a `what`.
pub fn unknown(what: &str, word: &str) -> (String, String) {
    let here = elsewhere(word);
    if let (None, Some(help)) = (here, not_computed(word)) {
        return (format!("{what} `{word}` is not supported"), help.into());
    }
    let names = DType::ALL.map(DType::name);
    let near = match here {
        Some(here) => Some(here),
        None => suggest::nearest(word, names.into_iter()),
    };
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("element types are {}", names.join(", ")),
    };
    (format!("unknown {what} `{word}`"), help)
}

/// The reason that no op computes with the element type `word`; `None` for our own types and for words that are no
/// element type.
pub fn not_computed(word: &str) -> Option<&'static str> {
    let small = SMALL_FLOATS.iter().any(|start| word.starts_with(start));
    if DType::from_name(word).is_some() {
        None
    } else if matches!(word, "tf32" | "f80" | "f128") {
        Some("floats are f64, f32, f16 and bf16")
    } else if small {
        Some(
            "floats of 8 bits are f8E4M3FN, f8E5M2 and f8E8M0FNU, of 4 bits f4E2M1FN; there are none of 6",
        )
    } else if integer(word).is_some() || integer(&word.replacen('u', "ui", 1)).is_some() {
        Some("integers are i64, i32, i16, i8, ui64, ui32, ui16, ui8, i1 and index")
    } else {
        None
    }
}

/// True if `word` is an element type of MLIR that is carried through but not computed with.
pub fn is_carried(word: &str) -> bool {
    integer(word).is_some() || matches!(word, "tf32" | "f80" | "f128")
}

/// Width and signedness of an integer type's name: `i4`, `si32`, `ui24`.
pub fn integer(word: &str) -> Option<(u32, Option<bool>)> {
    let prefixes = [("si", Some(true)), ("ui", Some(false)), ("i", None)];
    let (digits, signed) = prefixes
        .into_iter()
        .find_map(|(prefix, signed)| Some((word.strip_prefix(prefix)?, signed)))?;
    // MLIR's own limit is 2^24 - 1 bits.
    let width = digits.parse().ok().filter(|w| (1..1 << 24).contains(w))?;
    Some((width, signed))
}
