//! Kernels whose threads have no order: found, and none where they have.

use crate::common::f32s;
use fuser_interp::{ErrorKind, Options, Race, interpret};

/// The outcome of a kernel of 64 threads on a buffer `%x` of 300 elements, with constants `%c0` to `%c300` where its text has them.
fn run_with(attributes: &str, body: &str, races: bool) -> Result<(), ErrorKind> {
    let mut text = format!("kernel.func @k(%x: memref<?xf32>) {attributes} {{\n");
    for n in [0, 1, 2, 3, 4, 32, 64, 100, 200, 300] {
        text += &format!("  %c{n} = fusion.constant value {n} : index\n");
    }
    text += "  %f = fusion.constant value 1.0 : f32\n";
    text += "  %t = kernel.alloc : memref<300xf32, tile>\n";
    text += body;
    text += "}\n";
    let (ir, module) = fuser_testing::parsed(&text);
    let options = Options {
        races,
        ..Options::default()
    };
    let kernel = ir.children(module)[0];
    let done = interpret(&ir, kernel, &[f32s(&[300], &[1.0; 300])], &options);
    done.map(drop).map_err(|error| error.kind)
}

fn run(body: &str) -> Result<(), ErrorKind> {
    assert_eq!(run_with("threads 64", body, false), Ok(()));
    run_with("threads 64", body, true)
}

/// The text of a race between elements.
fn race(body: &str) -> String {
    match run(body) {
        Err(ErrorKind::Race(Race::Elements { what, .. })) => what,
        other => panic!("{other:?}"),
    }
}

/// A loop that stores the element `%i` of the tile in thread `%i % 64`.
const FILL: &str =
    "kernel.for %c0, %c100, %c1 map \"thread\" {\n^bb0(%i: index):\n  kernel.store %f, %t, %i\n}\n";
/// A loop that reads it back in the same thread.
const OWN: &str = "kernel.for %c0, %c100, %c1 map \"thread\" {\n^bb0(%j: index):\n  %a = kernel.load %t, %j\n  kernel.store %a, %x, %j\n}\n";
/// One that reads the element behind it.
const NEXT: &str = "kernel.for %c0, %c64, %c1 map \"thread\" {\n^bb0(%k: index):\n  %n = fusion.add %k, %c1\n  %b = kernel.load %t, %n\n  kernel.store %b, %x, %k\n}\n";
const BARRIER: &str = "kernel.barrier\n";

fn all(parts: &[&str]) -> String {
    parts.concat()
}

#[test]
fn another_threads_element_needs_a_barrier() {
    assert_eq!(run(&all(&[FILL, OWN])), Ok(()));
    assert_eq!(run(&all(&[FILL, BARRIER, NEXT])), Ok(()));
    assert_eq!(
        race(&all(&[FILL, NEXT])),
        "thread 0 reads element 1, which thread 1 wrote with no barrier between"
    );
    // What is read may not be written by another thread either, before all have read it.
    let again = "kernel.for %c0, %c64, %c1 map \"thread\" {\n^bb0(%m: index):\n  %o = fusion.add %m, %c1\n  kernel.store %f, %t, %o\n}\n";
    assert_eq!(
        race(&all(&[FILL, BARRIER, OWN, again])),
        "thread 0 writes element 1, which thread 1 read with no barrier between"
    );
    assert_eq!(run(&all(&[FILL, BARRIER, OWN, BARRIER, again])), Ok(()));
}

#[test]
fn outside_of_thread_loops_all_load_and_the_first_stores() {
    let store = "kernel.store %f, %t, %c2\n";
    let load = "%l = kernel.load %t, %c2\n";
    assert_eq!(
        race(&all(&[store, load])),
        "every thread reads element 2, which thread 0 wrote with no barrier between"
    );
    assert_eq!(
        race(&all(&[FILL, BARRIER, load, store])),
        "thread 0 writes element 2, which other threads read with no barrier between"
    );
    assert_eq!(run(&all(&[FILL, BARRIER, load, BARRIER, store])), Ok(()));
    // One thread has nobody to wait for.
    assert_eq!(run_with("", &all(&[store, load, FILL, NEXT]), true), Ok(()));
}

/// A loop that adds up the tile over so many threads.
fn sum(name: &str, index: &str) -> String {
    format!(
        "{name} = kernel.for %c0, %c100, %c1, %f map \"thread\" combine [\"add\"] {{\n^bb0({index}: index, {index}_a: f32):\n  {index}_l = kernel.load %t, {index}\n  {index}_s = fusion.add {index}_a, {index}_l\n  kernel.yield {index}_s\n}}\n"
    )
}

#[test]
fn a_reduction_over_warps_holds_a_barrier() {
    assert_eq!(run(&all(&[FILL, &sum("%s", "%p"), NEXT])), Ok(()));
    // Partial results are written again when all have read them.
    let turns = |within: &str| {
        all(&[
            FILL,
            "kernel.for %c0, %c2, %c1 map \"seq\" {\n^bb0(%turn: index):\n",
            &sum("%s", "%p"),
            within,
            "}\n",
        ])
    };
    assert_eq!(run(&turns("")), Err(ErrorKind::Race(Race::Again)));
    assert_eq!(run(&turns(BARRIER)), Ok(()));
    let warp = all(&[FILL, &sum("%s", "%p"), NEXT]);
    assert!(run_with("threads 32", &warp, true).is_err());
    assert_eq!(run_with("threads 32", &turns(""), true), Ok(()));
}

#[test]
fn a_scan_over_warps_holds_a_barrier() {
    let scan = |end: &str| {
        format!(
            "%e = kernel.for %c0, {end}, %c1, %f map \"thread\" combine [\"scan\"] {{\n^bb0(%p: index, %q: f32):\n  %l = kernel.load %t, %p\n  %s = kernel.scan %l, %q combine add : f32\n  kernel.yield %s\n}}\n"
        )
    };
    let write = FILL.replace("%t, %i", "%t, %m").replace(
        "  kernel.store",
        "  %m = fusion.sub %c100, %i\n  kernel.store",
    );
    // What is loaded ahead of the barrier may be written behind it, and nothing comes of no iterations.
    assert_eq!(run(&all(&[FILL, &scan("%c64"), &write])), Ok(()));
    assert!(run(&all(&[FILL, &scan("%c0"), &write])).is_err());
    let turns = |within: &str| {
        all(&[
            FILL,
            "kernel.for %c0, %c2, %c1 map \"seq\" {\n^bb0(%turn: index):\n",
            &scan("%c64"),
            within,
            "}\n",
        ])
    };
    assert_eq!(run(&turns("")), Err(ErrorKind::Race(Race::Again)));
    assert_eq!(run(&turns(BARRIER)), Ok(()));
}

#[test]
fn iterations_of_the_grid_have_no_order() {
    let grid = |clauses: &str, body: &str| {
        format!("kernel.for %c0, %c3, %c1 map \"grid\" {clauses} {{\n^bb0(%g: index):\n{body}}}\n")
    };
    assert_eq!(run(&grid("", "kernel.store %f, %x, %g\n")), Ok(()));
    assert_eq!(
        race(&grid("", "kernel.store %f, %x, %c2\n")),
        "an iteration of the grid writes element 2, which another one wrote: they run in any order"
    );
    let shifted = "%l = kernel.load %x, %g\n%n = fusion.add %g, %c1\nkernel.barrier\nkernel.store %l, %x, %n\n";
    assert_eq!(
        race(&grid("", shifted)),
        "an iteration of the grid reads element 1, which another one wrote: they run in any order"
    );
    let reads = "%l = kernel.load %x, %c2\n%n = fusion.add %g, %c1\nkernel.barrier\nkernel.store %l, %x, %n\n";
    assert!(race(&grid("", reads)).contains("which another one read: they"));
    // Each block has a tile of its own; one that runs several iterations has one for all.
    let tile = all(&[FILL, BARRIER, &NEXT.replace("kernel.store %b, %x, %k", "")]);
    assert_eq!(run(&grid("", &tile)), Ok(()));
    assert_eq!(
        race(&grid("blocks 2", &tile)),
        "thread 1 writes element 1, which thread 0 read with no barrier between"
    );
    assert_eq!(run(&grid("blocks 2", &all(&[&tile, BARRIER]))), Ok(()));
}

#[test]
fn the_last_block_reads_what_was_stored_before_it_counted() {
    let last = |before: &str| {
        format!(
            "kernel.for %c0, %c3, %c1 map \"grid\" {{\n^bb0(%g: index):\n  kernel.store %f, %x, %g\n{before}  kernel.last %c0, %c1, %c3 {{\n    kernel.for %c0, %c3, %c1 map \"thread\" {{\n    ^bb0(%i: index):\n      %l = kernel.load %x, %i\n    }}\n  }}\n}}\n"
        )
    };
    assert_eq!(run(&last(BARRIER)), Ok(()));
    assert!(race(&last("")).contains("an iteration of the grid reads element 0"));
}

#[test]
fn groups_have_threads_of_their_own() {
    let groups = |at: &str| {
        format!(
            "kernel.for %c0, %c2, %c1 map \"group\" groups 2 {{\n^bb0(%g: index):\n  %b = fusion.mul %g, %c32\n  kernel.for %c0, %c32, %c1 map \"thread\" {{\n  ^bb0(%i: index):\n    %e = fusion.add %b, %i\n    kernel.store %f, %t, %e\n  }}\n  kernel.for %c0, %c32, %c1 map \"thread\" {{\n  ^bb0(%j: index):\n    %o = fusion.add %b, %j\n    %l = kernel.load %t, {at}\n  }}\n}}\n"
        )
    };
    assert_eq!(run(&groups("%o")), Ok(()));
    // The second group reads the first one's.
    assert_eq!(
        race(&groups("%j")),
        "thread 32 reads element 0, which thread 0 wrote with no barrier between"
    );
}

#[test]
fn all_threads_come_to_a_barrier() {
    let body =
        "kernel.for %c0, %c64, %c1 map \"thread\" {\n^bb0(%i: index):\n  kernel.barrier\n}\n";
    assert_eq!(
        run_with("threads 64", body, true),
        Err(ErrorKind::Race(Race::Divergent))
    );
    assert_eq!(run_with("", body, true), Ok(()));
}
