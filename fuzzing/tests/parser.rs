//! Fixed seeds of bytes, soups of tokens and changed programs through the parser: no panic, every diagnostic has a
//! place, and a valid text prints and reads back in every form.

use fuser_fuzzing::generate::fusion::{self, Config};
use fuser_fuzzing::generate::{Tier, text};
use fuser_fuzzing::oracle::parse;
use fuser_fuzzing::{Source, Stats};

fn run(name: &str, cases: u64, mut make: impl FnMut(&mut Source) -> String) -> Stats {
    let mut stats = Stats::default();
    let mut faults = Vec::new();
    for seed in 0..cases {
        let source = make(&mut Source::seed(seed));
        let found = parse::check(&source, &mut stats);
        faults.extend(
            found
                .iter()
                .map(|f| format!("{name} {seed}: {f}\n{source}")),
        );
    }
    println!("{stats}");
    println!("count: {cases} texts through the parser, {name}");
    assert_eq!(faults, Vec::<String>::new());
    stats
}

#[test]
fn bytes_are_refused_or_read() {
    run("bytes", 1000, text::bytes);
}

#[test]
fn soups_of_tokens_are_refused_or_read() {
    let words = text::words();
    let stats = run("soups", 2000, |source| text::soup(source, &words));
    assert!(stats.entries("diagnostic").count() >= 5, "{stats}");
}

#[test]
fn changed_programs_are_refused_or_read() {
    let words = text::words();
    let config = Config {
        complex: true,
        ..Config::small(Tier::Bounded)
    };
    let stats = run("changed programs", 1500, |source| {
        let case = fusion::generate(source, &config);
        text::changed(&case, source, &words)
    });
    // A generator that only ever makes valid or only refused text sees half of the parser.
    for (outcome, least) in [("valid", 20), ("invalid", 1), ("refused", 200)] {
        assert!(stats.of("parsed", outcome) >= least, "{stats}");
    }
}
