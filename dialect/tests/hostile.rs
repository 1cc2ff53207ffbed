//! Mutated examples of every op: parser, inference and verifier give diagnostics, never a panic; an accepted text
//! prints and reads again.

use fuser_dialects::docs::complete;
use fuser_ir::lex::lex;
use fuser_ir::parse::parse_str;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, verify};
use fuser_testing::Random;

/// Mutations of each example.
const CASES: u64 = 500;

/// Replaces, removes or doubles a few tokens of `text`; replacements are other tokens of it, or of `pool`.
fn mutate(text: &str, pool: &[String], random: &mut Random) -> String {
    let mut tokens: Vec<&str> = lex(text).iter().map(|t| t.text(text)).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(tokens.len());
        match random.below(4) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            2 => tokens[at] = tokens[random.below(tokens.len())],
            _ => tokens[at] = &pool[random.below(pool.len())],
        }
        if tokens.is_empty() {
            break;
        }
    }
    tokens.join(" ")
}

/// True if `text` is accepted; then it prints and parses again.
fn check(text: &str) -> bool {
    let mut ir = Ir::new(fuser_dialects::registry());
    let result = parse_str(&mut ir, text);
    assert_eq!(result.module.is_none(), result.diagnostics.has_errors());
    let Some(module) = result.module else {
        return false;
    };
    if verify(&mut ir, module).has_errors() {
        return false;
    }
    for types in [true, false] {
        let options = PrintOptions {
            types,
            ..PrintOptions::default()
        };
        let printed = print(&ir, module, &options);
        let mut again = Ir::new(fuser_dialects::registry());
        let result = parse_str(&mut again, &printed);
        let root = result
            .module
            .unwrap_or_else(|| panic!("{text}\nprints as\n{printed}\n{:#?}", result.diagnostics));
        assert_eq!(print(&again, root, &options), printed, "{text}");
    }
    true
}

#[test]
fn mutated_examples() {
    let registry = fuser_dialects::registry();
    let examples: Vec<String> = registry.ops().map(|op| complete(op.example)).collect();
    let mut pool: Vec<String> = Vec::new();
    for text in &examples {
        pool.extend(lex(text).iter().map(|t| t.text(text).to_owned()));
    }
    pool.sort();
    pool.dedup();
    let mut accepted = 0;
    for (index, text) in examples.iter().enumerate() {
        for case in 0..CASES {
            let mut random = Random((index as u64) << 32 | case);
            accepted += usize::from(check(&mutate(text, &pool, &mut random)));
        }
    }
    let cases = examples.len() * CASES as usize;
    println!("{accepted} of {cases} are accepted");
    assert!(
        accepted * 100 > cases,
        "only {accepted} of {cases} are accepted: nothing is tested"
    );
}
