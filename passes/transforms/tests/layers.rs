//! Programs of equal layers: drawn by the groups of a few, they are what the search draws of all.

use crate::common::{Run, programs, run};

/// Layers of a norm and a column sum that all rows of the next one get, each with a residual: `own` weights for each, a boundary behind each norm,
/// a result of each layer, a residual from two layers before. Something else stands before and behind them.
pub fn network(layers: usize, [own, boundary, gives, far]: [bool; 4]) -> String {
    let ty = "tensor<4096x512xf32>";
    let weights = match own {
        true => (1..=layers).map(|n| format!("%w{n}")).collect(),
        false => vec!["%w".to_string()],
    };
    let stop = if boundary { "segment_set" } else { "neg" };
    let mut results = vec![("%out".to_string(), ty)];
    let mut body = String::from("  %x0 = fusion.exp %in\n  %x1 = fusion.sin %x0\n");
    for n in 1..=layers {
        let weight = &weights[(n - 1).min(weights.len() - 1)];
        let (next, from) = (n + 1, if far { n - 1 } else { n });
        body += &format!(
            "  %q{n} = fusion.mul %x{n}, %x{n}\n  \
             %m{n} = fusion.sum %q{n} dims [1]\n  \
             %r{n} = fusion.rsqrt %m{n}\n  \
             %b{n} = fusion.broadcast %r{n} dims [0] shape [4096, 512]\n  \
             %n{n} = fusion.mul %x{n}, %b{n}\n  \
             %v{n} = fusion.broadcast {weight} dims [1] shape [4096, 512]\n  \
             %p{n} = fusion.mul %n{n}, %v{n}\n  \
             %s{n} = fusion.{stop} %p{n}\n  \
             %t{n} = fusion.tanh %s{n}\n  \
             %c{n} = fusion.sum %t{n} dims [0]\n  \
             %d{n} = fusion.broadcast %c{n} dims [1] shape [4096, 512]\n  \
             %f{n} = fusion.add %t{n}, %d{n}\n  \
             %x{next} = fusion.add %f{n}, %x{from}\n"
        );
        if gives {
            results.push((format!("%c{n}"), "tensor<512xf32>"));
        }
    }
    let types: Vec<&str> = results.iter().map(|(_, ty)| *ty).collect();
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    let weights: Vec<String> = weights
        .iter()
        .map(|w| format!("{w}: tensor<512xf32>"))
        .collect();
    format!(
        "task.program @network(%in: {ty}, {}) -> ({}) {{\n{body}  %out = fusion.cos %x{}\n  task.return {}\n}}\n",
        weights.join(", "),
        types.join(", "),
        layers + 1,
        names.join(", ")
    )
}

/// A pass before the search, and options that leave more to rematerialization. Behind `cse` layers share a broadcast, which each computes for itself in
/// the end.
const SEARCHES: [(&str, &str); 3] = [("dce", ""), ("cse", ""), ("cse", "refine=false rounds=0")];

/// True if all layers were drawn as one. Asserts that what is drawn, and what rematerialization leaves of it, is what the search draws, and that
/// rematerialization did not search for it again.
fn drawn_as_one(text: &str) -> bool {
    let told = |remarks: &[String]| remarks.iter().any(|r| r.starts_with("layers "));
    let drawn = SEARCHES.map(|(before, options)| {
        let [with, without] = ["", " layers=false"].map(|layers| {
            let options = format!("{options}{layers}");
            run(text, &[(before, ""), ("segment", &options), ("remat", "")])
        });
        assert_eq!(with.errors, Vec::<String>::new());
        assert_eq!(with.text, without.text, "{before}, {options}: {text}");
        let count = |run: &Run, of: &str| run.statistics[&format!("remat.{of}")];
        for of in ["recomputed", "vanished", "bytes-after"] {
            let counts = (count(&with, of), count(&without, of));
            assert_eq!(counts.0, counts.1, "{of}");
        }
        assert!(!told(&without.remarks) && count(&without, "work") > 0);
        assert_eq!(count(&with, "work") == 0, told(&with.remarks));
        told(&with.remarks)
    });
    assert!(drawn.iter().all(|&one| one == drawn[0]), "{text}");
    drawn[0]
}

#[test]
fn equal_layers_are_drawn_as_the_search_draws_them() {
    let kinds = [
        [false, true, false, false],
        [true, true, true, false],
        [true, true, false, true],
        // One kernel for all.
        [true, false, true, false],
    ];
    for kind in kinds {
        for layers in [15, 17, 26] {
            let one = drawn_as_one(&network(layers, kind));
            assert_eq!(one, layers > 15 && kind[1], "{layers} layers, {kind:?}");
        }
    }
    assert!(drawn_as_one(&programs::layers(24)));
}

#[test]
fn other_repetitions_are_drawn_as_the_search_draws_them() {
    for text in [
        programs::chain(60),
        programs::tree(60),
        programs::sums(20),
        programs::cuts(60),
        programs::parts(60),
        programs::users(60),
        programs::pads(60),
        programs::turns(60),
    ] {
        drawn_as_one(&text);
    }
}

/// The search asks as much for forty layers as for twenty.
#[test]
fn more_layers_are_no_more_questions() {
    let questions = |layers| {
        let text = network(layers, [true, true, true, false]);
        run(&text, &[("segment", "")]).statistics["segment.questions"]
    };
    assert_eq!(questions(20), questions(40));
}

/// In the whole pipeline rematerialization changes each layer, and searches none of those that segmentation did not see. Of the first layer the broadcast
/// is that of all: the others are alike.
#[test]
fn layers_that_the_search_does_not_see_are_not_rematerialized_one_by_one() {
    for (layers, seen) in [(16, true), (17, false), (128, false)] {
        let run = run(
            &network(layers, [false, true, false, false]),
            &[("fuse", "")],
        );
        assert_eq!(run.errors, Vec::<String>::new());
        let count = |of: &str| run.statistics[&format!("remat.{of}")];
        assert_eq!([count("recomputed"), count("vanished")], [layers as u64, 1]);
        let searched = [count("work"), count("steps")].map(|count| count > 0);
        assert_eq!(searched, [seen; 2], "{layers} layers");
    }
}
