//! A program in parts: each segment as a separate program, the map between their values and the original's, and the
//! execution of the parts as the whole.
//!
//! ```text
//! original ──passes up to schedule──> segments ──split──> s0.fir, s1.fir, ..., map.json ──Parts──> outputs
//! ```
//!
//! Reading order: `map` (the contents of `map.json`), `number` (numbers and names of values), `extents`, `cut` (from
//! segments to programs), `check` (that files still match the map), `locate` (the position of a field in the map),
//! `parts` (execution).
//!
//! Guarantees: the split depends on shapes alone, not on data. Every value that crosses a boundary has one number. A
//! program of one segment is its own only part. Edited files are accepted if they read and write the values that the
//! map states. This module does no file input or output: it takes and returns texts.

mod check;
mod cut;
#[cfg(test)]
mod edit_tests;
mod extents;
mod locate;
pub mod map;
mod number;
mod parts;
#[cfg(test)]
mod tests;
mod updates;

pub use cut::{ORIGINAL, Split, split};
pub use map::Map;
pub use parts::{Part, Parts, PartsRun, Text};
pub(crate) use updates::set_aliases;

/// The file with the map.
pub const MAP: &str = "map.json";

fuser_ir::codes! {
    /// The program has ops between its segments.
    LOOSE_OP = "FIR1010", "an op outside of all segments",
        "Splitting a program writes each of its segments to a file. Once it has a segment, every op must be in one: \
         an op between them would be in no file. Put it into a segment, or take the boundaries away with \
         `--inline-tasks`; a program without segments is segmented first.",
        "$ fuser-translate --split-segments=parts x.fir\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %a = task.segment @s {\n    \
         %a = fusion.exp %x\n    \
         task.yield %a\n  \
         }\n  \
         %y = fusion.neg %a\n  \
         task.return %y\n\
         }";
    /// A map that cannot be used.
    BAD_MAP = "FIR1011", "the map of a split program cannot be used",
        "`map.json` says which file is which segment and which value of it is which of the original. It must be there, \
         be of the form that docs/segmentation.md describes, agree with itself and with the original program that \
         lies beside it, and be as it was written: it is not for editing. Write the folder anew with `fuser-translate --split-segments`.",
        "$ fuser-translate --split-segments=parts x.fir && echo > parts/map.json && fuser-run parts\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %e = fusion.exp %x\n  \
         %s = fusion.segment_set %e\n  \
         %y = fusion.neg %s\n  \
         task.return %y\n\
         }";
    /// A part that does not fit.
    BAD_PART = "FIR1012", "the file of a segment does not fit the map",
        "The file of a segment may be edited: another schedule, other ops. What it takes and gives must stay: inputs \
         of the same names and types, results of the same types in the same order. The message names the file and \
         the value.",
        "$ fuser-translate --split-segments=parts x.fir && sed -i 's/%s/%t/' parts/s1.fir && fuser-run parts\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %e = fusion.exp %x\n  \
         %s = fusion.segment_set %e\n  \
         %y = fusion.neg %s\n  \
         task.return %y\n\
         }";
    /// Values that change their type on the way to a segment.
    COMPLEX = "FIR1014", "a program on complex numbers or floats of 4 bits is not split",
        "The segments of a program on complex numbers compute with pairs of reals, those of one on floats of 4 bits with their codes in bytes, and \
         a map has one type for a value. Write the program with these itself: `fuser-opt --unpack-floats --split-complex` gives it.",
        "$ fuser-translate --split-segments=parts x.fir\n\
         task.program @f(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {\n  \
         %y = fusion.conj %x\n  \
         task.return %y\n\
         }";
    /// Files that somebody edited.
    EDITED = "FIR1013", "a folder holds edited segments",
        "Splitting into a folder that holds a split program replaces its files. Where one of them is not as it was \
         written, nothing is replaced: somebody scheduled that segment by hand. Give another folder, or remove this \
         one.",
        "$ S='fuser-translate --split-segments=parts x.fir'; $S && echo '// mine' >> parts/s0.fir && $S\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %e = fusion.exp %x\n  \
         %s = fusion.segment_set %e\n  \
         %y = fusion.neg %s\n  \
         task.return %y\n\
         }";
}
