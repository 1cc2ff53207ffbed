//! Other names, and numbers for names: changes of the text.

use std::collections::BTreeMap;

use fuser_dialects::task;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, Value};

use super::rewire::{body, ops};
use crate::Source;
use crate::generate::Case;

/// Names that an extent may have instead; some sort before the usual ones, some after.
const EXTENTS: [&str; 8] = ["A", "Z", "rows", "x1", "B_2", "S", "H", "b"];

/// Values, extents and the program under other names.
pub fn rename(case: &mut Case, source: &mut Source) -> bool {
    let mut values: Vec<Value> = body(case).map_or(Vec::new(), |body| case.ir.args(body).to_vec());
    for op in ops(case) {
        values.extend(case.ir.results(op));
    }
    let mut numbers: Vec<usize> = (0..values.len()).collect();
    source.shuffle(&mut numbers);
    for (value, number) in values.iter().zip(numbers) {
        let name = case
            .ir
            .sym(&format!("{}{number}", source.one(&["v", "a.", "_", "Z"])));
        case.ir.set_value_name(*value, Some(name));
    }
    let name = case.ir.string_attr("g_1");
    case.ir.set_attr(case.program, "sym_name", name);
    let mut names = EXTENTS.to_vec();
    source.shuffle(&mut names);
    let renamed: BTreeMap<String, &str> = case.extents.keys().cloned().zip(names).collect();
    let word = |word: &str| renamed.get(word).map(|name| (*name).to_owned());
    let text = in_brackets(&printed(case), &word, &|inner| format!("[{inner}]"));
    let extents = case.extents.iter();
    let extents = extents.filter_map(|(name, length)| Some((word(name)?, *length)));
    let extents = extents.collect();
    read(case, &text, extents)
}

/// Numbers for all named extents.
pub fn number_extents(case: &mut Case, _: &mut Source) -> bool {
    if case.extents.is_empty() {
        return false;
    }
    let word = |word: &str| case.extents.get(word).map(u64::to_string);
    let number = |inner: &str| value(inner).map_or(format!("[{inner}]"), |n| n.to_string());
    let text = in_brackets(&printed(case), &word, &number);
    read(case, &text, BTreeMap::new())
}

/// The text of a case's program.
pub fn printed(case: &Case) -> String {
    print(&case.ir, case.module, &PrintOptions::default())
}

/// The case with another text.
fn read(case: &mut Case, text: &str, extents: BTreeMap<String, u64>) -> bool {
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = fuser_ir::parse::parse_str(&mut ir, text);
    let (Some(module), false) = (parsed.module, parsed.diagnostics.has_errors()) else {
        return false;
    };
    let programs = ir.body(module, 0).map(|body| {
        let mut ops = ir.block_ops(body);
        ops.find(|op| ir.is(*op, &task::PROGRAM))
    });
    let Some(program) = programs.flatten() else {
        return false;
    };
    (case.ir, case.module, case.program) = (ir, module, program);
    case.extents = extents;
    true
}

/// Replaces words in innermost brackets; `whole` renders the brackets in which a word was replaced.
fn in_brackets(
    text: &str,
    word: &dyn Fn(&str) -> Option<String>,
    whole: &dyn Fn(&str) -> String,
) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let inner = &rest[open + 1..];
        let end = inner.find(['[', ']']).unwrap_or(inner.len());
        out += &rest[..open];
        match inner[end..]
            .starts_with(']')
            .then(|| replaced(&inner[..end], word))
        {
            Some(Some(changed)) => {
                out += &whole(&changed);
                rest = &inner[end + 1..];
            }
            _ => {
                out.push('[');
                rest = inner;
            }
        }
    }
    out + rest
}

/// The text with other words, if one is replaced.
fn replaced(text: &str, word: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let (mut out, mut rest, mut any) = (String::new(), text, false);
    while let Some(first) = rest.chars().next() {
        let length = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        match word(token) {
            Some(other) => {
                out += &other;
                any = true;
            }
            None => out += token,
        }
        rest = after;
    }
    any.then_some(out)
}

/// The value of a sum of products of numbers: `2*3*5 - 4 + 1`.
fn value(text: &str) -> Option<i64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let signed = text.replace('-', "+-");
    let terms = signed.split('+').filter(|term| !term.is_empty());
    let mut sum = 0i64;
    for term in terms {
        let (sign, product) = match term.strip_prefix('-') {
            Some(product) => (-1, product),
            None => (1, term),
        };
        let mut value = sign;
        for factor in product.split('*') {
            value = i64::checked_mul(value, factor.parse().ok()?)?;
        }
        sum = sum.checked_add(value)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_products() {
        assert_eq!(value("2*3*5 - 4 + 1"), Some(27));
        assert_eq!(value("-2+7"), Some(5));
        assert_eq!(value("B"), None);
    }

    #[test]
    fn only_extents_change() {
        let word = |word: &str| (word == "B").then(|| "7".to_owned());
        let whole = |inner: &str| value(inner).map_or(format!("[{inner}]"), |n| n.to_string());
        let text = "shape [[B], 2, [2*B+1]] dims [0, 1] : tensor<[B]x[S]xf32> %B[0]";
        let wanted = "shape [7, 2, 15] dims [0, 1] : tensor<7x[S]xf32> %B[0]";
        assert_eq!(in_brackets(text, &word, &whole), wanted);
    }
}
