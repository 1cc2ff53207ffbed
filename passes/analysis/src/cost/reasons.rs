//! The names of refusals, each with its rule: `fuser-opt explain scan-serial` and the manual show them.
//!
//! [`Refusal::name`](super::Refusal::name) gives the names, and `words.rs` a sentence about one case. Every name has a
//! row here.

/// The name of a refusal, and the rule behind it.
pub type ReasonDef = (&'static str, &'static str);

/// All refusals, in the order of the manual.
pub const REASONS: &[ReasonDef] = &[
    (
        "barrier",
        "The program has a boundary between the two: a `fusion.segment_set`, or the hint `barrier`. No kernel crosses it; `--explain` \
         says what one kernel would move without it.",
    ),
    (
        "call-alone",
        "A library runs the op as one call, and a call shares no kernel. `--decompose --executors=none` compiles it with what stands around it.",
    ),
    (
        "must-be-in-memory",
        "The op demands its operand in memory, so another kernel writes it.",
    ),
    (
        "hint-apart",
        "The op has the hint `apart` (`fusion.hint = \"apart\"`): nothing shares its kernel.",
    ),
    (
        "no-gain",
        "One kernel would cost no less than the two. The numbers are costs in the unit of the objective, bytes unless \
         `segment{objective=...}` says otherwise.",
    ),
    (
        "cycle",
        "The kernel would need its own results: a value leaves it, goes through the ops of the path and comes back. A merge that takes \
         in the whole path may be accepted later.",
    ),
    (
        "unrelated",
        "The two share no value, so one kernel would save no bytes.",
    ),
    (
        "too-far",
        "The two stand far apart in the order of kernels, and the search looks at near ones only.",
    ),
    (
        "tile-too-large",
        "A later phase needs a value whole along some axes, and fast memory of the target has no room for it. Two sweeps do the work \
         instead, and the second reads the arguments again. Shorter rows fit: `--shape` gives their length.",
    ),
    (
        "scan-again",
        "The kernel has an axis that the scan has not, and would compute the scan again for each index of that axis.",
    ),
    (
        "scan-serial",
        "A scan walks its axis in order, so workers share its other axes only. With the other ops in its kernel fewer indices would be \
         left to share than the scan has alone.",
    ),
    (
        "held-serial",
        "A value that is read at another index is kept whole along those axes. Fewer indices would be left for workers to share than the \
         value has, so it is written between two sweeps.",
    ),
    (
        "rows-serial",
        "On a GPU a thread would walk all rows of a column, and too few other threads would compute while it waits for memory.",
    ),
    (
        "may-be-empty",
        "A value would be computed inside a loop along a named extent, and never where that extent is 0.",
    ),
    (
        "parts-uncounted",
        "Blocks would write partial sums for each tile along a named extent, and no polynomial of the extents counts them.",
    ),
    (
        "incompatible-factoring",
        "One op cuts an axis into other factors than the rest does, as `[24] -> [6, 4]` beside `[24] -> [4, 6]`. No common loops walk both.",
    ),
    (
        "extent-mismatch",
        "An op would join two axes of different lengths, which no common loop walks.",
    ),
    (
        "self-mapped",
        "A value is read in two orders of its axes at once, as in `t + transpose(t)`: one walk makes its elements in one order.",
    ),
    (
        "split-scan",
        "A reshape cuts the axis that a scan walks in order, and a scan hands values along a whole axis.",
    ),
    (
        "unsupported-op",
        "The op has no loops that others could share: it runs by itself.",
    ),
    (
        "window-of-computed",
        "A slice, pad, flip, cat or gather reads the result of a reduction or a scan at another index than the one at which it is \
         computed, and that index is none of a whole axis. The result is written to memory first.",
    ),
    (
        "window-of-unknown-extent",
        "An extent on the way to an element is `?`, or a number is out of range. A named extent, `[N]`, may serve.",
    ),
    (
        "window-too-large",
        "One element would take more computed ones than a kernel computes again.",
    ),
    (
        "too-many-pieces",
        "The parts of a `cat` would have to be distinguished in more pieces than a kernel may have. `canonicalize` makes wider cats of \
         several.",
    ),
    (
        "too-many-ops",
        "A kernel has at most so many ops, so that its code and the time to compile it stay bounded: `segment{max-ops=N}`.",
    ),
    ("too-many-axes", "A kernel has at most so many axes."),
    (
        "too-many-sweeps",
        "The kernel would walk memory more often than `segment{max-sweeps=N}` allows. Kernels that share no value are merged only where one \
         walk serves both.",
    ),
];

#[cfg(test)]
mod tests {
    use super::REASONS;

    /// The names that `fn name` of a file gives.
    fn names(source: &str) -> Vec<&str> {
        let start = source.find("pub const fn name").unwrap();
        let end = start + source[start..].find("\n    }\n").unwrap();
        let quoted = source[start..end].split('"');
        quoted.skip(1).step_by(2).collect()
    }

    #[test]
    fn every_reason_is_explained_once() {
        let own = names(include_str!("refusal.rs"));
        let axes = names(include_str!("../axes/refusal.rs"));
        let mut named: Vec<&str> = own.into_iter().chain(axes).collect();
        let mut explained: Vec<&str> = REASONS.iter().map(|(name, _)| *name).collect();
        named.sort_unstable();
        explained.sort_unstable();
        assert!(named.len() > 20, "{named:?}");
        assert_eq!(named, explained);
    }
}
