//! The entry points of a fuzzing engine: bytes in, a panic if a promise was broken.
//!
//! Bytes are text for `parse`, and choices of the generators for the others: changing a byte changes a choice. Each
//! target is a function of its bytes alone.

use fuser_target::{A100, GENERIC};

use crate::campaign::{self, QUICK, USUAL, Variant};
use crate::generate::fusion::{self, Config};
use crate::generate::{Case, Tier, kernels, tasks};
use crate::oracle::{Finding, compiled, parse as parser, passes as executed, text, verify};
use crate::{Source, Stats, modules};

/// Any text through the parser.
pub fn parse(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    told(parser::check(&text, &mut Stats::default()));
}

/// A module of any dialect, verified, and through every form of text.
pub fn roundtrip(bytes: &[u8]) {
    let source = &mut Source::bytes(bytes);
    let mut case = match source.below(3) {
        0 => program(source),
        1 => {
            let mut case = program(source);
            tasks::draw(&mut case, source);
            case
        }
        _ => kernels::generate(source),
    };
    told(verify::check(&mut case.ir, case.module, "verify"));
    told(text::check(&case.ir, case.module, &mut Stats::default()));
}

/// A fusion, executed after every pass.
pub fn passes(bytes: &[u8]) {
    let source = &mut Source::bytes(bytes);
    let target = match source.below(2) {
        0 => GENERIC,
        _ => A100,
    };
    let variant = Variant::draw(source);
    let case = program(source);
    let expected = given(campaign::expected(&case));
    let pipeline = given(variant.pipeline(&target));
    let stats = &mut Stats::default();
    told(executed::check(&case, &expected, &pipeline, QUICK.fuel, stats).findings);
}

/// A program of fusions or of launches, compiled.
pub fn compiled(bytes: &[u8]) {
    let source = &mut Source::bytes(bytes);
    if source.chance(1, 4) {
        let (_, findings) = modules::kernels(source, QUICK, &mut Stats::default());
        return told(findings);
    }
    let variant = match source.below(2) {
        0 => USUAL,
        _ => Variant::draw(source),
    };
    let case = program(source);
    let expected = given(campaign::expected(&case));
    let options = variant.options(QUICK.compile_options(None));
    let outcome = compiled::check(&case, &expected, &variant.to_string(), options);
    if let compiled::Outcome::Found(finding) = outcome {
        told([finding]);
    }
}

fn program(source: &mut Source) -> Case {
    let tier = source.one(&[Tier::Exact, Tier::Bounded]);
    let config = Config {
        complex: source.chance(1, 4),
        ..Config::small(tier)
    };
    fusion::generate(source, &config)
}

fn given<T>(result: Result<T, Finding>) -> T {
    result.unwrap_or_else(|finding| panic!("{finding}"))
}

fn told(findings: impl IntoIterator<Item = Finding>) {
    if let Some(finding) = findings.into_iter().next() {
        panic!("{finding}");
    }
}
