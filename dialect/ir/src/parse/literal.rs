//! Literals: strings, numbers, `dense<...>`, `array<...>`. Text in, data out; no diagnostics, no IR.
//!
//! Nesting of dense data is read with a counter, not by recursion.

use std::borrow::Cow;

use crate::float;
use crate::lex::scan;
use crate::types::DType;

/// The message for a malformed literal.
pub type Wrong = String;

/// The text of a string literal, quotes included, with escapes replaced. `None`: a bad escape or not UTF-8.
pub fn unescape(literal: &str) -> Option<Cow<'_, str>> {
    let body = literal.strip_prefix('"')?.strip_suffix('"')?;
    if !body.contains('\\') {
        return Some(Cow::Borrowed(body));
    }
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        bytes.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'\\' | b'"' => escape,
            high => {
                let (&low, after) = rest.split_first()?;
                rest = after;
                hex_digit(high)? << 4 | hex_digit(low)?
            }
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|d| d as u8)
}

/// The value of an integer literal, decimal or hexadecimal, with or without `-`; `None` beyond 128 bits.
pub fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None if negative => return format!("-{digits}").parse().ok(),
        None => digits.parse().ok()?,
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// True if the text is a hexadecimal literal.
pub fn is_hex(text: &str) -> bool {
    text.starts_with("0x")
}

/// True if the text of a number token is a float literal.
pub fn is_float(text: &str) -> bool {
    !is_hex(text) && (text.contains(['.', 'e', 'E']) || is_special(text))
}

/// True for `inf` and `nan`, with or without `-`, ignoring case.
pub fn is_special(text: &str) -> bool {
    let word = text.strip_prefix('-').unwrap_or(text).trim_start();
    ["inf", "infinity", "nan"]
        .iter()
        .any(|w| word.eq_ignore_ascii_case(w))
}

/// The smallest and largest value of an integer type; a signless type takes both readings, as in MLIR.
pub fn integer_range(bits: u32, signed: Option<bool>) -> (i128, i128) {
    if bits >= 127 {
        return (i128::MIN, i128::MAX);
    }
    let (low, high) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
    match signed {
        Some(true) => (low, (1i128 << (bits - 1)) - 1),
        Some(false) => (0, high),
        None => (low, high),
    }
}

/// The signedness in which literals of an element type are read.
pub fn signedness(dtype: DType) -> Option<bool> {
    match dtype {
        DType::Index => Some(true),
        DType::I1 => None,
        other if other.is_signed() => None,
        _ => Some(false),
    }
}

/// The reason that no attribute has complex elements.
const NO_COMPLEX: &str = "a complex constant is made of two real ones, `fusion.complex %re, %im`";

/// One number as an element: its little-endian bytes.
pub fn element(dtype: DType, text: &str) -> Result<[u8; 8], Wrong> {
    let bits = match text {
        "true" | "false" if dtype == DType::I1 => u64::from(text == "true"),
        _ if dtype.is_float() => float_bits(dtype, text)?,
        _ if dtype.is_complex() => return Err(NO_COMPLEX.into()),
        _ => integer_bits(dtype, text)?,
    };
    Ok(bits.to_le_bytes())
}

/// The bits in `dtype` of a number written as decimal, or as hexadecimal bits.
pub fn float_bits(dtype: DType, text: &str) -> Result<u64, Wrong> {
    if is_hex(text) {
        let bits = integer(text).and_then(|v| u64::try_from(v).ok());
        let fits = bits.filter(|b| dtype.bits() == 64 || b >> dtype.bits() == 0);
        return fits.ok_or_else(|| format!("`{text}` has more bits than `{}`", dtype.name()));
    }
    let compact: Cow<'_, str> = match text.strip_prefix('-') {
        Some(rest) => Cow::Owned(format!("-{}", rest.trim_start())),
        None => Cow::Borrowed(text),
    };
    match float::parse(dtype, &compact) {
        Some(bits) => Ok(float::narrow(dtype, bits)),
        None => Err(format!("`{text}` is no number")),
    }
}

fn integer_bits(dtype: DType, text: &str) -> Result<u64, Wrong> {
    let Some(value) = integer(text) else {
        return Err(format!("`{text}` is no integer"));
    };
    let (low, high) = integer_range(dtype.bits(), signedness(dtype));
    if value < low || value > high {
        return Err(format!("`{value}` does not fit `{}`", dtype.name()));
    }
    let mask = u64::MAX >> (64 - dtype.bits());
    Ok(value as u64 & mask)
}

/// The data of `dense<...>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DenseData {
    /// True if there is one element for all positions.
    pub splat: bool,
    /// Little-endian elements.
    pub bytes: Vec<u8>,
}

/// Reads `dense<...>` of elements `dtype` and static extents `shape`; at most `most` elements.
pub fn dense(text: &str, dtype: DType, shape: &[u64], most: usize) -> Result<DenseData, Wrong> {
    let body = text
        .strip_prefix("dense<")
        .and_then(|t| t.strip_suffix('>'));
    let body = body.unwrap_or("").trim();
    if dtype.is_complex() {
        return Err(NO_COMPLEX.into());
    }
    let elements = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    let elements = elements.ok_or("the type has too many elements")?;
    if let Some(hex) = body.strip_prefix("\"0x").and_then(|t| t.strip_suffix('"')) {
        return dense_hex(hex, dtype, elements);
    }
    if body.is_empty() {
        return match elements {
            0 => Ok(DenseData {
                splat: false,
                bytes: Vec::new(),
            }),
            n => Err(format!("{n} elements are missing")),
        };
    }
    if !body.starts_with('[') {
        let bytes = element(dtype, body)?[..dtype.bytes() as usize].to_vec();
        return Ok(DenseData { splat: true, bytes });
    }
    if elements > most as u64 {
        return Err(format!("more than {most} elements"));
    }
    let bytes = dense_list(body, dtype, shape)?;
    Ok(DenseData {
        splat: false,
        bytes,
    })
}

fn dense_hex(hex: &str, dtype: DType, elements: u64) -> Result<DenseData, Wrong> {
    let digits = hex.as_bytes();
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(hex_digit(*high)? << 4 | hex_digit(*low)?),
        _ => None,
    });
    let bytes: Option<Vec<u8>> = pairs.collect();
    let bytes = bytes.ok_or("not a string of hexadecimal bytes")?;
    if dtype == DType::F4E2M1FN && bytes.iter().any(|byte| byte >> dtype.bits() != 0) {
        let name = dtype.name();
        return Err(format!(
            "an element of `{name}` is a byte from 00 to 0F here"
        ));
    }
    let splat = bytes.len() as u64 == dtype.bytes();
    let whole = elements.checked_mul(dtype.bytes());
    if splat || whole == Some(bytes.len() as u64) {
        let splat = splat && elements != 1;
        return Ok(DenseData { splat, bytes });
    }
    Err(format!(
        "{} bytes, but {elements} elements of {} bytes",
        bytes.len(),
        dtype.bytes()
    ))
}

/// Nested lists: the number of open brackets is the axis, and each list is as long as its axis.
fn dense_list(body: &str, dtype: DType, shape: &[u64]) -> Result<Vec<u8>, Wrong> {
    let mut bytes = Vec::new();
    let mut counts: Vec<u64> = Vec::new();
    let mut rest = body;
    // After a `,` or at a start an item must follow; after an item `,` or `]`.
    let mut want_item = true;
    loop {
        rest = rest.trim_start();
        let Some(c) = rest.chars().next() else {
            return Ok(bytes);
        };
        match c {
            '[' if want_item && counts.len() < shape.len() => {
                count_item(&mut counts, want_item)?;
                counts.push(0);
                rest = &rest[1..];
            }
            ']' if !want_item || counts.last() == Some(&0) => {
                let found = counts.pop().ok_or("`]` without `[`")?;
                let axis = counts.len();
                if shape.get(axis) != Some(&found) {
                    return Err(format!(
                        "{found} items along axis {axis}, the type has {}",
                        shape[axis]
                    ));
                }
                want_item = false;
                rest = &rest[1..];
                if counts.is_empty() && !rest.trim().is_empty() {
                    return Err("text after the list".into());
                }
            }
            ',' if !want_item => {
                want_item = true;
                rest = &rest[1..];
            }
            _ if want_item && counts.len() == shape.len() => {
                count_item(&mut counts, want_item)?;
                let end = rest.find([',', ']', '[']).unwrap_or(rest.len());
                let item = element(dtype, rest[..end].trim_end())?;
                bytes.extend_from_slice(&item[..dtype.bytes() as usize]);
                want_item = false;
                rest = &rest[end..];
            }
            _ => {
                return Err(format!(
                    "unexpected `{c}`: lists must be nested as the type's axes"
                ));
            }
        }
    }
}

fn count_item(counts: &mut [u64], allowed: bool) -> Result<(), Wrong> {
    if let Some(count) = counts.last_mut() {
        *count += 1;
    }
    if allowed {
        Ok(())
    } else {
        Err("`,` is missing".into())
    }
}

/// The integers of `array<i64: ...>`; `Ok(None)` for an array of other elements, which is carried as text.
pub fn i64_array(text: &str) -> Result<Option<Vec<i64>>, Wrong> {
    let body = text
        .strip_prefix("array<")
        .and_then(|t| t.strip_suffix('>'));
    let body = body.unwrap_or("");
    let (ty, items) = match body.split_once(':') {
        Some((ty, items)) => (ty.trim(), items.trim()),
        None => (body.trim(), ""),
    };
    match ty {
        "i64" if items.is_empty() => Ok(Some(Vec::new())),
        "i64" => items
            .split(',')
            .map(i64_item)
            .collect::<Result<_, _>>()
            .map(Some),
        "i1" | "i8" | "i16" | "i32" | "f32" | "f64" => Ok(None),
        other => Err(format!("`{other}` is no element type of `array`")),
    }
}

/// One `i64` of a list.
pub fn i64_item(text: &str) -> Result<i64, Wrong> {
    let text = text.trim();
    let value = integer(text).and_then(|v| i64::try_from(v).ok());
    value.ok_or_else(|| format!("`{text}` is no 64-bit integer"))
}

/// Cuts the inside of `[a, [b, c], "d, e"]` at its own commas; each piece with its offset in `text`.
pub fn items(text: &str) -> Vec<(usize, &str)> {
    let end = text.len().saturating_sub(1);
    let mut pieces = Vec::new();
    let (mut start, mut depth) = (1, 0usize);
    let mut at = 1;
    while let Some(&byte) = text.as_bytes()[..end].get(at) {
        match byte {
            b'"' => at += scan::string(&text[at..end]).map_or(0, |length| length - 1),
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                pieces.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    let last = text.get(start..end).unwrap_or("");
    if !pieces.is_empty() || !last.trim().is_empty() {
        pieces.push((start, last));
    }
    let trimmed = pieces.into_iter().map(|(at, piece)| {
        let blank = piece.len() - piece.trim_start().len();
        (at + blank, piece.trim())
    });
    trimmed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        assert_eq!(unescape(r#""a\n\t\\\"\41""#).unwrap(), "a\n\t\\\"A");
        assert_eq!(unescape(r#""\E2\82\AC""#).unwrap(), "€");
        assert!(unescape(r#""\ff""#).is_none());
        assert!(unescape(r#""\g0""#).is_none());
    }

    #[test]
    fn integers() {
        assert_eq!(
            integer("-170141183460469231731687303715884105728"),
            Some(i128::MIN)
        );
        assert_eq!(integer("170141183460469231731687303715884105728"), None);
        assert_eq!(integer("- 0x10"), Some(-16));
        assert!(element(DType::I8, "255").is_ok());
        assert!(element(DType::I8, "256").is_err());
        assert!(element(DType::U8, "-1").is_err());
    }

    #[test]
    fn dense_lists() {
        let read = |text, shape: &[u64]| dense(text, DType::I8, shape, 100).map(|d| d.bytes);
        assert_eq!(
            read("dense<[[1, 2], [3, 4]]>", &[2, 2]),
            Ok(vec![1, 2, 3, 4])
        );
        assert_eq!(read("dense<7>", &[5]), Ok(vec![7]));
        assert_eq!(read("dense<\"0x0102\">", &[2]), Ok(vec![1, 2]));
        assert_eq!(read("dense<>", &[0]), Ok(vec![]));
        assert_eq!(read("dense<[]>", &[0]), Ok(vec![]));
        for wrong in [
            "dense<[1]>",
            "dense<[1, 2, 3]>",
            "dense<[1 2]>",
            "dense<[[1, 2]]>",
            "dense<[1,]>",
            "dense<[1, 2]]>",
        ] {
            assert!(read(wrong, &[2]).is_err(), "{wrong}");
        }
        assert!(read("dense<[[1], [2, 3]]>", &[2, 2]).is_err());
    }

    #[test]
    fn list_items() {
        let texts = |t| items(t).into_iter().map(|(_, s)| s).collect::<Vec<_>>();
        assert_eq!(texts("[ [B], 4 , b[S] ]"), ["[B]", "4", "b[S]"]);
        assert_eq!(texts("[]"), [""; 0]);
        assert_eq!(texts("[1,]"), ["1", ""]);
        assert_eq!(texts(r#"["a, b", "c"]"#), [r#""a, b""#, r#""c""#]);
        assert_eq!(texts(r#"["a\\", "\","]"#), [r#""a\\""#, r#""\",""#]);
    }
}
