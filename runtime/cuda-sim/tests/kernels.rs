//! Small kernels on the simulated device: what is right runs in every order and is counted, each mistake is found and named with its place.

use fuser_cuda_sim::count::Counts;
use fuser_cuda_sim::decode::Class;
use fuser_cuda_sim::device::{Device, Failure, Options};
use fuser_cuda_sim::finding::Code;

/// A kernel `k` of a pointer `p`, whose address is in `%rd1`, the thread in `%r1`, and the address of its word in `%rd3`.
fn kernel(shared: &str, body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 dyn[];\n\
         .visible .entry k(\n.param .u64 .ptr .global .align 64 p\n)\n.maxntid 128\n{{\n\
         .reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n{shared}\n\
         ld.param.b64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}\n"
    )
}

/// Runs a kernel on one buffer of words.
fn run(
    options: &str,
    ptx: &str,
    words: &[u32],
    grid: u32,
    block: u32,
) -> Result<(Vec<u32>, Counts), Failure> {
    let mut device = Device::new(Options::read(options).unwrap());
    let module = device.load(ptx)?;
    let function = device.function(module, "k")?;
    let buffer = device.allocate(words.len() * 4)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    device.bytes(buffer, bytes.len())?.copy_from_slice(&bytes);
    device.launch(
        function,
        [grid, 1, 1],
        [block, 1, 1],
        0,
        &[buffer.to_le_bytes().to_vec()],
    )?;
    let bytes = device.bytes(buffer, bytes.len())?;
    let words = bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    let words = words.collect();
    Ok((words, device.counts()["k"].clone()))
}

/// The error of a kernel, the same in all orders up to the place.
fn error(shared: &str, body: &str, block: u32) -> Failure {
    let ptx = kernel(shared, body);
    let run = |order: &str| run(&format!("order={order}"), &ptx, &[0; 256], 1, block).map(|_| ());
    let failures = ["forward", "reverse", "random"].map(|order| run(order).unwrap_err());
    assert!(
        failures
            .iter()
            .all(|failure| failure.code == failures[0].code),
        "{failures:?}"
    );
    failures[0].clone()
}

/// Each thread takes the word of its neighbour of 64, through shared memory; `{}` is the barrier.
const EXCHANGE: &str = "mov.b64 %rd4, s;\nadd.s64 %rd5, %rd4, %rd2;\nld.global.b32 %r2, [%rd3];\nst.shared.b32 [%rd5], %r2;\n{}\n\
    xor.b32 %r3, %r1, 33;\nmul.wide.u32 %rd6, %r3, 4;\nadd.s64 %rd7, %rd4, %rd6;\nld.shared.b32 %r4, [%rd7];\nst.global.b32 [%rd3], %r4;";

#[test]
fn threads_exchange_words_in_every_order() {
    let ptx = kernel(
        ".shared .align 4 .b8 s[256];",
        &EXCHANGE.replace("{}", "bar.sync 0;"),
    );
    let words: Vec<u32> = (0..64).map(|n| n * n).collect();
    let expected: Vec<u32> = (0..64).map(|n| (n ^ 33) * (n ^ 33)).collect();
    for options in [
        "",
        "order=reverse",
        "order=random,seed=1",
        "sm_100,order=random,seed=2",
    ] {
        let (found, counts) = run(options, &ptx, &words, 1, 64).unwrap();
        assert_eq!(found, expected, "{options}");
        // Two warps of 15 instructions; 128 bytes of a warp are four sectors; the exchange has no conflicts.
        assert_eq!(
            (
                counts.launches,
                counts.blocks,
                counts.threads,
                counts.barriers
            ),
            (1, 1, 64, 1)
        );
        assert_eq!(
            (counts.warp_instructions, counts.thread_instructions),
            (2 * 15, 64 * 15)
        );
        assert_eq!(
            (
                counts.loads.requests,
                counts.loads.sectors,
                counts.loads.bytes
            ),
            (2, 8, 256)
        );
        assert_eq!((counts.stores.requests, counts.stores.sectors), (2, 8));
        assert_eq!((counts.wavefronts, counts.ideal_wavefronts), (4, 4));
        assert_eq!(
            (counts.batches, counts.bytes_in_flight, counts.shared_bytes),
            (2, 256, 256)
        );
    }
}

#[test]
fn a_missing_barrier_is_a_race() {
    let found = error(
        ".shared .align 4 .b8 s[256];",
        &EXCHANGE.replace("{}", ""),
        64,
    );
    assert_eq!(found.code, Code::LaunchFailed);
    // Forward, the first warp reads what the second has not written yet.
    assert!(
        found
            .text
            .starts_with("shared memory that nobody wrote is read at byte"),
        "{found:?}"
    );
    assert!(
        found
            .text
            .contains("(kernel 'k', line 27, block (0, 0, 0), thread 0): ld.shared.b32"),
        "{found:?}"
    );
    let written = format!(
        "mov.b64 %rd8, s;\nadd.s64 %rd9, %rd8, %rd2;\nst.shared.b32 [%rd9], 0;\nbar.sync 0;\n{EXCHANGE}"
    );
    let found = error(
        ".shared .align 4 .b8 s[256];",
        &written.replace("{}", ""),
        64,
    );
    assert_eq!(found.code, Code::LaunchFailed);
    assert!(found.text.contains("race in shared memory: "), "{found:?}");
}

/// Unchecked, kernels run and count as they do where threads write the same value to one place; accesses out of bounds stay findings.
#[test]
fn unchecked_kernels_may_write_one_value_twice() {
    let same = kernel("", "st.global.b32 [%rd1], 7;");
    let checked = run("", &same, &[0; 64], 1, 64).map(|_| ());
    assert_eq!(checked.unwrap_err().code, Code::LaunchFailed);
    let (words, counts) = run("unchecked", &same, &[0; 64], 1, 64).unwrap();
    assert_eq!((words[0], counts.stores.sectors), (7, 2));
    let outside = kernel("", "st.global.b32 [%rd3+4], 7;");
    let outside = run("unchecked", &outside, &[0; 64], 1, 64).map(|_| ());
    assert_eq!(outside.unwrap_err().code, Code::IllegalAddress);
}

/// A load of four words of which three are read, as LLVM makes one of three: the fourth is nobody's, or is written beside it.
#[test]
fn what_a_widened_load_reads_beyond_is_no_mistake() {
    let body = |last: &str| {
        format!(
            "mov.u32 %r9, buf;\nshl.b32 %r3, %r1, 4;\nadd.u32 %r3, %r9, %r3;\ncvt.u64.u32 %rd5, %r3;\n\
             st.shared.b32 [%rd5], %r1;\nst.shared.b32 [%rd5+4], %r1;\nst.shared.b32 [%rd5+8], %r1;\n\
             ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%rd5];\n\
             add.u32 %r4, %r4, %r5;\nadd.u32 %r4, %r4, {last};\nst.global.b32 [%rd3], %r4;"
        )
    };
    let shared = ".shared .align 16 .b8 buf[512];";
    let (words, _) = run("sm_80", &kernel(shared, &body("%r6")), &[0; 32], 1, 32).unwrap();
    assert!((0..32).all(|thread| words[thread] == 3 * thread as u32));
    let failure = error(shared, &body("%r7"), 32);
    assert!(
        failure
            .text
            .starts_with("shared memory that nobody wrote is read at byte"),
        "{failure:?}"
    );
}

/// A word of which a row has two bytes: what lies in the others, and who writes it there without a barrier, is no matter of a kernel that
/// takes those two, in whichever way LLVM takes bytes from words.
#[test]
fn bytes_that_nothing_depends_on_are_nobodys() {
    let takes = [
        (
            "prmt.b32 %r6, %r4, 0, 0x7770U;\nprmt.b32 %r7, %r4, 0, 0x7771U;",
            true,
        ),
        ("and.b32 %r6, %r4, 255;\nbfe.u32 %r7, %r4, 8, 8;", true),
        (
            "mov.b32 {%rs3, %rs4}, %r4;\ncvt.u32.u16 %r5, %rs3;\nand.b32 %r6, %r5, 255;\nshr.u32 %r7, %r5, 8;",
            true,
        ),
        (
            "shl.b32 %r5, %r4, 16;\nshr.u32 %r6, %r5, 24;\ncvt.u16.u32 %rs3, %r4;\ncvt.u16.u8 %rs4, %rs3;\ncvt.u32.u16 %r7, %rs4;",
            true,
        ),
        (
            "prmt.b32 %r6, %r4, 0, 0x7770U;\nprmt.b32 %r7, %r4, 0, 0x7772U;",
            false,
        ),
        ("bfe.u32 %r6, %r4, 8, 9;\nmov.u32 %r7, 0;", false),
        ("min.u32 %r6, %r4, 3;\nmov.u32 %r7, 0;", false),
        (
            "mov.u32 %r6, 0;\nsetp.lt.u32 %p1, %r4, 7;\nselp.b32 %r7, 1, 0, %p1;",
            false,
        ),
    ];
    for (take, right) in takes {
        // A thread's row is a word; the next word's thread writes its upper half, where `{}` says so, or nobody does.
        let body = |upper: &str| {
            format!(
                "mov.u32 %r9, buf;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r3, %r9, %r3;\ncvt.u64.u32 %rd5, %r3;\n\
                 cvt.u16.u32 %rs1, %r1;\nadd.s16 %rs2, %rs1, 1;\nst.shared.b8 [%rd5], %rs1;\nst.shared.b8 [%rd5+1], %rs2;\n{upper}\n\
                 ld.shared.b32 %r4, [%rd5];\n{take}\nadd.u32 %r8, %r6, %r7;\nst.global.b32 [%rd3], %r8;"
            )
        };
        let shared = ".shared .align 4 .b8 buf[260];";
        let others = "st.shared.b8 [%rd5+6], %rs1;\nst.shared.b8 [%rd5+7], %rs1;";
        for (upper, found) in [
            ("", "shared memory that nobody wrote"),
            (others, "race in shared memory"),
        ] {
            if right {
                let ptx = kernel(shared, &body(upper));
                for order in ["order=forward", "order=reverse"] {
                    let (words, _) = run(order, &ptx, &[0; 64], 1, 64).unwrap();
                    assert!((0..64).all(|n| words[n] == 2 * n as u32 + 1), "{take}");
                }
            } else {
                let failure = error(shared, &body(upper), 64);
                assert!(
                    failure.text.starts_with("shared memory") || failure.text.starts_with(found),
                    "{failure:?}"
                );
            }
        }
    }
}

/// Approximations err by as much as the ISA allows and no more, in both directions.
#[test]
fn approximations_are_as_bad_as_they_may_be() {
    type Exact = fn(f64) -> f64;
    let rows: [(&str, Exact, f64); 5] = [
        ("ex2.approx.f32 %r5, %r4", f64::exp2, 2.0),
        ("rcp.approx.f32 %r5, %r4", |x| 1.0 / x, 1.0),
        ("rsqrt.approx.f32 %r5, %r4", |x| 1.0 / x.sqrt(), 2.2),
        ("tanh.approx.f32 %r5, %r4", f64::tanh, 8200.0),
        ("div.full.f32 %r5, %r4, 0f40400000", |x| x / 3.0, 2.0),
    ];
    let operands: Vec<f32> = (0..32).map(|n| 0.3 + n as f32 * 0.37).collect();
    let words: Vec<u32> = operands.iter().map(|x| x.to_bits()).collect();
    for (text, exact, most) in rows {
        let body = format!("ld.global.b32 %r4, [%rd3];\n{text};\nst.global.b32 [%rd3], %r5;");
        let (results, _) = run("sm_80", &kernel("", &body), &words, 1, 32).unwrap();
        let errors = operands.iter().zip(&results).map(|(x, bits)| {
            let (exact, result) = (exact(f64::from(*x)), f32::from_bits(*bits));
            let ulp = f64::exp2(exact.abs().log2().floor() - 23.0);
            (f64::from(result) - exact) / ulp
        });
        let (low, high) = errors.fold((0.0f64, 0.0f64), |(low, high), e| (low.min(e), high.max(e)));
        assert!(low >= -most && high <= most, "{text}: {low} to {high}");
        assert!(
            low <= -most / 2.5 && high >= most / 2.5,
            "{text}: {low} to {high}"
        );
    }
}

#[test]
fn blocks_are_not_ordered() {
    let ptx = kernel("", "st.global.b32 [%rd3], %r1;");
    let found = run("", &ptx, &[0; 32], 2, 32).unwrap_err();
    assert_eq!(found.code, Code::LaunchFailed);
    assert!(
        found
            .text
            .starts_with("race in global memory: writes byte "),
        "{found:?}"
    );
    assert!(
        found.text.contains("which another block wrote"),
        "{found:?}"
    );
    assert!(
        found.text.contains("block (1, 0, 0), thread 0"),
        "{found:?}"
    );
}

/// Three blocks of 64 store a word for each thread, count, and the last one adds the words of all.
const LAST: &str = "mov.u32 %r2, %ctaid.x;\nshl.b32 %r3, %r2, 6;\nadd.s32 %r4, %r3, %r1;\nmul.wide.u32 %rd4, %r4, 4;\n\
    add.s64 %rd5, %rd1, %rd4;\nst.global.b32 [%rd5+256], %r1;\n{1}\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L1;\n\
    atom.acq_rel.gpu.global.inc.u32 %r5, [%rd1], 2;\nst.shared.b32 [s], %r5;\n$L1:\n{2}\nld.shared.b32 %r6, [s];\n\
    setp.ne.u32 %p2, %r6, 2;\n@%p2 bra $L2;\nxor.b32 %r7, %r1, 33;\nmul.wide.u32 %rd6, %r7, 4;\nadd.s64 %rd7, %rd1, %rd6;\n\
    ld.global.b32 %r8, [%rd7+256];\nld.global.b32 %r9, [%rd7+512];\nld.global.b32 %r10, [%rd7+768];\nadd.s32 %r11, %r8, %r9;\n\
    add.s32 %r12, %r11, %r10;\nst.global.b32 [%rd3+1024], %r12;\n$L2:";

#[test]
fn counting_orders_blocks() {
    let ptx = |barriers: [&str; 2]| {
        let body = LAST.replace("{1}", barriers[0]).replace("{2}", barriers[1]);
        kernel(".shared .align 4 .b8 s[4];", &body)
    };
    for order in ["order=forward", "order=reverse", "order=random,seed=5"] {
        let all = ptx(["bar.sync 0;"; 2]);
        let (words, _) = run(order, &all, &[0; 320], 3, 64).unwrap();
        let sums: Vec<u32> = (0..64).map(|thread| 3 * (thread ^ 33)).collect();
        assert_eq!((words[0], &words[256..]), (0, &sums[..]), "{order}");
        // What a block did since its last barrier is not released; nor do other threads acquire before the next one.
        let early = run(order, &ptx(["", "bar.sync 0;"]), &[0; 320], 3, 64).unwrap_err();
        assert!(
            early.text.contains("which another block wrote"),
            "{early:?}"
        );
        let late = run(order, &ptx(["bar.sync 0;", ""]), &[0; 320], 3, 64).unwrap_err();
        assert_eq!(late.code, Code::LaunchFailed, "{late:?}");
    }
}

#[test]
fn accesses_stay_in_bounds() {
    let found = error("", "st.global.b32 [%rd3+964], %r1;", 32);
    assert_eq!(found.code, Code::IllegalAddress);
    assert!(
        found.text.contains(
            "are out of bounds in global memory (kernel 'k', line 19, block (0, 0, 0), thread 15)"
        ),
        "{found:?}"
    );
    let found = error(
        ".shared .align 4 .b8 s[64];",
        "mov.b64 %rd4, s;\nadd.s64 %rd5, %rd4, %rd2;\nst.shared.b32 [%rd5], %r1;",
        32,
    );
    assert_eq!(found.code, Code::IllegalAddress);
    assert!(
        found
            .text
            .contains("4 bytes at 0x40 are out of bounds in shared memory"),
        "{found:?}"
    );
}

#[test]
fn vectors_are_aligned() {
    let found = error("", "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd3];", 32);
    assert_eq!(found.code, Code::MisalignedAddress);
    assert!(
        found.text.contains("are misaligned in global memory"),
        "{found:?}"
    );
    assert!(
        found.text.contains("line 19, block (0, 0, 0), thread 1"),
        "{found:?}"
    );
}

#[test]
fn all_threads_reach_a_barrier() {
    let half_a_warp = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:";
    let one_warp = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:";
    let two_places =
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $L1;\nbar.sync 0;\nret;\n$L1:\nbar.sync 0;";
    let guarded = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.sync 0;";
    for body in [half_a_warp, one_warp, two_places, guarded] {
        let found = error("", body, 64);
        assert_eq!(found.code, Code::LaunchFailed);
        assert!(found.text.starts_with("divergent barrier: "), "{found:?}");
    }
}

#[test]
fn all_lanes_reach_a_shuffle() {
    let shuffle = "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nst.global.b32 [%rd3], %r2;";
    let (words, _) = run("", &kernel("", shuffle), &[0; 32], 1, 32).unwrap();
    assert!(
        words
            .iter()
            .enumerate()
            .all(|(n, word)| *word == n as u32 ^ 1)
    );
    let parted =
        "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:\n".to_owned() + shuffle;
    let found = error("", &parted, 32);
    assert!(found.text.starts_with("divergent "), "{found:?}");
    // Half of the lanes shuffle at one place, half at another: each waits for the other.
    let twice =
        format!("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $L1;\n{shuffle}\nret;\n$L1:\n{shuffle}");
    assert!(
        error("", &twice, 32)
            .text
            .starts_with("divergent shuffle: ")
    );
    let found = error("", shuffle, 31);
    assert!(
        found
            .text
            .starts_with("shuffle from lane 31, which takes no part"),
        "{found:?}"
    );
}

#[test]
fn a_word_of_all_lanes_is_combined() {
    for (name, expected) in [
        ("max.s32", 30),
        ("min.s32", -31_i32 as u32),
        ("max.u32", -1_i32 as u32),
        ("min.u32", 0),
        ("add.s32", -16_i32 as u32),
    ] {
        // 0, -1, 2, -3, ...
        let body = format!(
            "neg.s32 %r2, %r1;\nand.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 1;\nselp.b32 %r4, %r2, %r1, %p1;\n\
             redux.sync.{name} %r5, %r4, -1;\nst.global.b32 [%rd3], %r5;"
        );
        let (words, counts) = run("", &kernel("", &body), &[0; 32], 1, 32).unwrap();
        assert_eq!(words, [expected; 32], "{name}");
        assert_eq!(counts.classes[&Class::Shuffle], 1);
    }
    let parted =
        "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $L1;\nredux.sync.add.u32 %r2, %r1, -1;\n$L1:\n";
    let found = error("", &format!("{parted}bar.sync 0;"), 32);
    assert!(found.text.starts_with("divergent "), "{found:?}");
}

#[test]
fn lanes_that_part_meet_again() {
    // Each lane counts to its own number in a loop; then all shuffle.
    let body = "mov.u32 %r2, 0;\n$L1:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra $L1;\n\
        shfl.sync.idx.b32 %r3, %r2, 31, 31, -1;\nst.global.b32 [%rd3], %r3;";
    let (words, _) = run("", &kernel("", body), &[0; 32], 1, 32).unwrap();
    assert_eq!(words, [31; 32]);
}

#[test]
fn launches_keep_the_limits_of_the_device() {
    let ptx = kernel("", "st.shared.b32 [dyn], %r1;");
    let launch =
        |options: &str, allowed: Option<i32>, shared: u64, grid: [u32; 3], block: [u32; 3]| {
            let mut device = Device::new(Options::read(options).unwrap());
            let module = device.load(&ptx)?;
            let function = device.function(module, "k")?;
            let buffer = device.allocate(4)?.to_le_bytes().to_vec();
            allowed.map_or(Ok(()), |bytes| device.allow_shared(function, bytes))?;
            device.launch(function, grid, block, shared, &[buffer])?;
            device.synchronize()
        };
    let one = [1, 1, 1];
    let big = 100 << 10;
    assert_eq!(launch("sm_80", None, 48 << 10, one, one), Ok(()));
    assert_eq!(launch("sm_80", Some(big), big as u64, one, one), Ok(()));
    for (options, allowed, shared, grid, block, text) in [
        (
            "sm_80",
            None,
            49 << 10,
            one,
            one,
            "is launched with 50176 bytes of shared memory, it may have 49152",
        ),
        (
            "sm_80",
            Some(200 << 10),
            0,
            one,
            one,
            "asks for 204800 bytes of shared memory beside 0 of its own, the device has 166912",
        ),
        (
            "sm_86",
            Some(big),
            0,
            one,
            one,
            "the device has 101376 for a block",
        ),
        (
            "sm_80",
            None,
            0,
            [1, 65_536, 1],
            one,
            "is launched with a grid of [1, 65536, 1]",
        ),
        (
            "sm_80",
            None,
            0,
            [0, 1, 1],
            one,
            "is launched with a grid of [0, 1, 1]",
        ),
        (
            "sm_80",
            None,
            0,
            one,
            [129, 1, 1],
            "is launched with blocks of [129, 1, 1] threads, at most 128 run",
        ),
    ] {
        let failure = launch(options, allowed, shared, grid, block).unwrap_err();
        assert_eq!(failure.code, Code::InvalidValue);
        assert!(failure.text.contains(text), "{}", failure.text);
    }
    assert_eq!(
        launch("sm_90", Some(200 << 10), 200 << 10, one, one),
        Ok(())
    );
}

#[test]
fn an_error_stays() {
    let mut device = Device::new(Options::default());
    let module = device
        .load(&kernel("", "st.global.b32 [%rd3], %r1;"))
        .unwrap();
    let function = device.function(module, "k").unwrap();
    let (wild, one) = (8_u64.to_le_bytes().to_vec(), [1, 1, 1]);
    assert_eq!(device.launch(function, one, one, 0, &[wild]), Ok(()));
    for _ in 0..2 {
        assert_eq!(device.synchronize().unwrap_err().code, Code::IllegalAddress);
        assert_eq!(device.allocate(4).unwrap_err().code, Code::IllegalAddress);
    }
}

#[test]
fn ptx_that_is_not_known_is_refused_by_name() {
    for (body, text) in [
        (
            "sin.approx.f32 %r1, %r2;",
            "line 19: the instruction 'sin.approx.f32' is unknown",
        ),
        (
            "ld.local.b32 %r1, [%rd1];",
            "line 19: the instruction 'ld.local.b32' is unknown",
        ),
        (
            "atom.global.add.u32 %r1, [%rd1], 1;",
            "line 19: the instruction 'atom.global.add.u32' is unknown",
        ),
        ("bra $nowhere;", "line 19: '$nowhere' is not declared"),
        ("add.s32 %r1, %q1, 1;", "line 19: '%q1' is not declared"),
        ("add.s32 %r1, %r20, 1;", "line 19: '%r20' is not declared"),
        (
            "add.s32 %r1, %r2;",
            "line 19: the operand 'add.s32' does not fit",
        ),
        ("call g;", "line 19: 'g' is not declared"),
    ] {
        let failure = run("", &kernel("", body), &[0], 1, 1).unwrap_err();
        assert_eq!(
            (failure.code, failure.text.as_str()),
            (Code::InvalidPtx, text)
        );
    }
    let failure = run("", ".target sm_90", &[0], 1, 1).unwrap_err();
    assert_eq!(
        failure.text,
        "line 1: the code is for sm_90, the device is sm_80"
    );
    let passed = ".func f(.param .b32 x) {\n.reg .b64 %rd<2>;\nmov.b64 %rd1, x;\nret;\n}\n\
        .entry k() {\n.param .b32 x;\nst.param.b32 [x], 1;\ncall f, (x);\n}";
    let failure = run("", passed, &[0], 1, 1).unwrap_err();
    assert_eq!(failure.text, "line 3: 'x' is not declared");
    let endless = ".func f() {\ncall f;\nret;\n}\n.entry k() {\ncall f;\n}";
    let failure = run("", endless, &[0], 1, 1).unwrap_err();
    assert_eq!(failure.text, "line 2: calls of 'f' are nested too deeply");
}

/// Threads choose between the addresses of two parameters, and load what they chose; an access that leaves its parameter, or lies between two elements,
/// is found. The parameters of a call have registers and no addresses.
#[test]
fn parameters_are_memory() {
    let ptx = |load: &str| {
        format!(
            ".target sm_80\n.entry k(.param .u64 p, .param .align 8 .b8 a[16], .param .align 8 .b8 b[12]) {{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n\
             .reg .b64 %rd<9>;\nld.param.b64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
             mov.b64 %rd4, a;\nmov.b64 %rd5, b;\nsetp.lt.u32 %p1, %r1, 2;\nselp.b64 %rd6, %rd4, %rd5, %p1;\n{load}\n\
             add.s32 %r4, %r2, %r3;\nst.global.b32 [%rd3], %r4;\nret;\n}}"
        )
    };
    let run = |load: &str| {
        let mut device = Device::new(Options::default());
        let module = device.load(&ptx(load))?;
        let function = device.function(module, "k")?;
        let buffer = device.allocate(16)?;
        let words =
            |from: u32, count: u32| (from..from + count).flat_map(u32::to_le_bytes).collect();
        let parameters = [buffer.to_le_bytes().to_vec(), words(10, 4), words(20, 3)];
        device.launch(function, [1; 3], [4, 1, 1], 0, &parameters)?;
        let bytes = device.bytes(buffer, 16)?.chunks_exact(4);
        let words = bytes.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        Ok::<Vec<u32>, Failure>(words.collect())
    };
    for (load, [one, other]) in [
        ("ld.param.v2.b32 {%r2, %r3}, [%rd6];", [10 + 11, 20 + 21]),
        ("ld.param.b32 %r2, [%rd6+8];\nmov.b32 %r3, 0;", [12, 22]),
        (
            "ld.param.s8 %r2, [%rd6+4];\nld.param.b32 %r3, [b+8];",
            [11 + 22, 21 + 22],
        ),
    ] {
        assert_eq!(run(load), Ok(vec![one, one, other, other]), "{load}");
    }
    for (load, code, text) in [
        (
            "ld.param.b32 %r2, [%rd6+12];",
            Code::IllegalAddress,
            "out of bounds in parameter memory (kernel 'k', line 14, block (0, 0, 0), thread 2)",
        ),
        (
            "ld.param.b32 %r2, [%rd6+-4];",
            Code::IllegalAddress,
            "out of bounds in parameter memory",
        ),
        (
            "ld.param.b32 %r2, [a+16];",
            Code::IllegalAddress,
            "out of bounds in parameter memory",
        ),
        (
            "ld.param.b32 %r2, [%rd6+2];",
            Code::MisalignedAddress,
            "misaligned in parameter memory",
        ),
        (
            "ld.param.b32 %r2, [q];",
            Code::InvalidPtx,
            "line 14: 'q' is not declared",
        ),
        (
            "st.param.b32 [%rd6], %r2;",
            Code::InvalidPtx,
            "line 14: the operand '%rd6' does not fit",
        ),
    ] {
        let found = run(load).unwrap_err();
        assert!(found.code == code && found.text.contains(text), "{found:?}");
    }
}

#[test]
fn functions_constants_and_carries() {
    let ptx = ".target sm_80\n.const .align 8 .b64 t[2] = {5, -1};\n.global .align 4 .b32 g[3] = {0, 7};\n\
        .func (.param .b32 f_result) f(.param .b32 f_x, .param .b32 f_y) {\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n\
        ld.param.b32 %r1, [f_x];\nld.param.b32 %r2, [f_y];\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra $L1;\nadd.s32 %r1, %r1, %r2;\n$L1:\n\
        st.param.b32 [f_result], %r1;\nret;\n}\n\
        .entry k(.param .u64 p) {\n.reg .b16 %rs<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<20>;\nld.param.b64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n\
        mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n{\n.param .b32 a;\n.param .b32 b;\n.param .b32 result;\n\
        st.param.b32 [a], %r1;\nst.param.b32 [b], 10;\ncall.uni (result), f, (a, b);\nld.param.b32 %r2, [result];\n}\n\
        mov.b64 %rd4, t;\nld.const.v2.b64 {%rd5, %rd6}, [%rd4];\n\
        add.cc.s64 %rd7, %rd6, 1;\naddc.s64 %rd8, 0, 0;\ncvt.u32.u64 %r3, %rd8;\nadd.s32 %r4, %r2, %r3;\n\
        { .reg .b32 tmp; mov.b64 {%r5, tmp}, %rd5; }\nadd.s32 %r6, %r4, %r5;\nmov.b32 {%rs1, %rs2}, %r6;\nmov.b32 %r7, {%rs2, %rs1};\n\
        ld.global.nc.b32 %r8, [g+4];\nadd.s32 %r7, %r7, %r8;\nst.global.b32 [%rd3], %r7;\nret;\n}";
    let (words, _) = run("", ptx, &[0; 4], 1, 4).unwrap();
    // x below 2, else x + 10; the carry of -1 + 1; the constant; halves exchanged; the variable.
    assert_eq!(words, [0, 1, 12, 13].map(|x: u32| ((x + 1 + 5) << 16) + 7));
}

/// Each block of a cluster of two shows the word that its thread loaded, and stores that of the other one; `{}` are the barriers, before the
/// other's memory is read and before the block ends.
fn clustered(barriers: [&str; 2]) -> String {
    let [before, after] = barriers;
    let body = format!(
        "mov.u32 %r5, %ctaid.x;\nmul.wide.u32 %rd8, %r5, 4;\nadd.s64 %rd9, %rd1, %rd8;\nld.global.b32 %r2, [%rd9];\nmov.b64 %rd4, s;\n\
         st.shared.b32 [%rd4], %r2;\n{before}\nand.b32 %r6, %r5, 1;\nxor.b32 %r7, %r6, 1;\nmapa.shared::cluster.u64 %rd5, %rd4, %r7;\n\
         ld.shared::cluster.b32 %r8, [%rd5];\nld.shared.b32 %r9, [%rd4];\nadd.s32 %r8, %r8, %r9;\n{after}\nst.global.b32 [%rd9], %r8;"
    );
    let ptx = kernel(".shared .align 4 .b8 s[4];", &body).replace("sm_80", "sm_90");
    ptx.replace(
        ".maxntid 128\n",
        ".maxntid 128\n.explicitcluster\n.reqnctapercluster 2\n",
    )
}

const MEET: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;";

#[test]
fn blocks_of_a_cluster_read_each_others_memory() {
    let ptx = clustered([MEET, MEET]);
    for order in ["forward", "reverse", "random,seed=4"] {
        let options = format!("sm_90,order={order}");
        let (found, counts) = run(&options, &ptx, &[1, 20, 300, 4000], 4, 1).unwrap();
        assert_eq!(found, [21, 21, 4300, 4300], "{order}");
        assert_eq!((counts.barriers, counts.cluster_barriers), (8, 8));
    }
}

#[test]
fn mistakes_of_clusters_are_found() {
    let failure = |ptx: &str, grid| {
        let orders = ["forward", "reverse", "random"];
        let run = |order| run(&format!("sm_90,order={order}"), ptx, &[1; 4], grid, 1);
        orders.map(|order| run(order).unwrap_err())
    };
    let told = |ptx: &str, text: &str| {
        for found in failure(ptx, 4) {
            assert_eq!(found.code, Code::LaunchFailed);
            assert!(found.text.contains(text), "{}", found.text);
        }
    };
    // Whoever runs first reads what the other one has not written.
    told(&clustered(["", MEET]), "shared memory that nobody wrote");
    told(
        &clustered(["bar.sync 0;", MEET]),
        "shared memory that nobody wrote",
    );
    told(&clustered([MEET, ""]), "which may have ended");
    told(&clustered([MEET, "bar.sync 0;"]), "which may have ended");
    // A write to what the other one reads: a race, whoever comes first.
    let late = format!("st.shared.b32 [%rd4], %r5;\n{MEET}");
    told(&clustered([MEET, &late]), "which another block");
    // One of two blocks comes to a barrier.
    let apart = format!("setp.ne.s32 %p1, %r6, 0;\n@%p1 bra $L;\n{MEET}\n$L:");
    told(&clustered([MEET, &apart]), "divergent barrier");
    for found in failure(&clustered([MEET, MEET]), 3) {
        assert_eq!(found.code, Code::InvalidValue);
        assert!(
            found.text.contains("no whole clusters of 2"),
            "{}",
            found.text
        );
    }
    // Between arriving and waiting nothing is ordered: only registers may change.
    let between = MEET.replace("\nbarrier", "\nst.shared.b32 [%rd4], %r5;\nbarrier");
    for found in failure(&clustered([&between, MEET]), 4) {
        assert_eq!(found.code, Code::InvalidPtx);
    }
}

/// The product of a 16x16 and a 16x8 matrix, which lie in the buffer as `bf16` before the result; `{l}` is `.trans` where the left one lies by its
/// terms, `{r}` where the right one does. Lane `l` has the address of row `l % 16`, chunk `l / 16` of the left one.
fn product(kind: &str, [left, right]: [bool; 2]) -> String {
    let trans = |yes| if yes { ".trans" } else { "" };
    // Matrices in the order of the registers: rows, then terms, for the left one; where it lies by terms, the other way round.
    let left_row = match left {
        false => "and.b32 %r4, %r1, 15;\nshr.u32 %r5, %r1, 4;",
        true => {
            "and.b32 %r4, %r1, 7;\nshr.u32 %r5, %r1, 4;\nshl.b32 %r5, %r5, 3;\nadd.u32 %r4, %r4, %r5;\nshr.u32 %r5, %r1, 3;\nand.b32 %r5, %r5, 1;"
        }
    };
    let right_row = match right {
        false => {
            "and.b32 %r6, %r1, 7;\nshr.u32 %r7, %r1, 3;\nand.b32 %r7, %r7, 1;\nshl.b32 %r6, %r6, 5;"
        }
        true => "and.b32 %r6, %r1, 15;\nmov.u32 %r7, 0;\nshl.b32 %r6, %r6, 4;",
    };
    let copies: String = (0..6)
        .map(|n| {
            let at = 128 * n;
            format!("ld.global.b32 %r2, [%rd3+{at}];\nst.shared.b32 [%rd5+{at}], %r2;\n")
        })
        .collect();
    let body = format!(
        "mov.b64 %rd4, s;\nadd.s64 %rd5, %rd4, %rd2;\n{copies}bar.sync 0;\n\
         {left_row}\nshl.b32 %r4, %r4, 5;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r4, %r4, %r5;\ncvt.u64.u32 %rd6, %r4;\nadd.s64 %rd6, %rd4, %rd6;\n\
         {right_row}\nshl.b32 %r7, %r7, 4;\nadd.u32 %r6, %r6, %r7;\ncvt.u64.u32 %rd7, %r6;\nadd.s64 %rd7, %rd4, %rd7;\n\
         ldmatrix.sync.aligned.m8n8.x4{l}.shared.b16 {{%r8, %r9, %r10, %r11}}, [%rd6];\n\
         ldmatrix.sync.aligned.m8n8.x2{r}.shared.b16 {{%r12, %r13}}, [%rd7+512];\n\
         mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32 {{%r14, %r15, %r16, %r17}}, {{%r8, %r9, %r10, %r11}}, {{%r12, %r13}}, {{0, 0, 0, 0}};\n\
         shr.u32 %r18, %r1, 2;\nshl.b32 %r18, %r18, 5;\nand.b32 %r19, %r1, 3;\nshl.b32 %r19, %r19, 3;\nadd.u32 %r18, %r18, %r19;\n\
         cvt.u64.u32 %rd8, %r18;\nadd.s64 %rd8, %rd1, %rd8;\n\
         st.global.v2.b32 [%rd8+768], {{%r14, %r15}};\nst.global.v2.b32 [%rd8+1024], {{%r16, %r17}};",
        l = trans(left),
        r = trans(right),
    );
    kernel(".shared .align 16 .b8 s[768];", &body)
}

#[test]
fn tensor_cores_multiply_matrices_that_lie_in_any_order() {
    let a = |row: usize, term: usize| (row * 5 + term * 3) as f32 % 17.0 - 8.0;
    let b = |term: usize, column: usize| (term * 7 + column * 11) as f32 % 13.0 - 6.0;
    type Bits = fn(f32) -> u16;
    let kinds: [(&str, Bits); 2] = [
        ("bf16", |x| half::bf16::from_f32(x).to_bits()),
        ("f16", |x| half::f16::from_f32(x).to_bits()),
    ];
    for (kind, bits) in kinds {
        for layout in [[false, false], [true, false], [false, true], [true, true]] {
            let mut halves = [0; 384];
            for (row, term) in (0..16).flat_map(|row| (0..16).map(move |term| (row, term))) {
                let at = if layout[0] {
                    term * 16 + row
                } else {
                    row * 16 + term
                };
                halves[at] = bits(a(row, term));
                if row < 8 {
                    let at = if layout[1] {
                        term * 8 + row
                    } else {
                        row * 16 + term
                    };
                    halves[256 + at] = bits(b(term, row));
                }
            }
            let words = halves.chunks(2);
            let words = words.map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16);
            let words: Vec<u32> = words.chain([0; 128]).collect();
            let (found, counts) = run("", &product(kind, layout), &words, 1, 32).unwrap();
            for (row, column) in (0..16).flat_map(|row| (0..8).map(move |column| (row, column))) {
                let expected: f32 = (0..16).map(|term| a(row, term) * b(term, column)).sum();
                let found = f32::from_bits(found[192 + row * 8 + column]);
                assert_eq!(found, expected, "{kind} {layout:?}: {row} {column}");
            }
            // Rows of 32 bytes: those of a matrix of the left factor meet in pairs, four matrices of two wavefronts; of the right one two of two, or of
            // one where its rows are 16 bytes apart. Six stores.
            let right = if layout[1] { 2 } else { 4 };
            assert_eq!(
                (counts.wavefronts, counts.ideal_wavefronts),
                (6 + 8 + right, 6 + 4 + 2),
                "{layout:?}"
            );
            assert_eq!(counts.classes[&fuser_cuda_sim::decode::Class::Matrix], 1);
        }
    }
}

#[test]
fn mistakes_with_matrices_are_found() {
    let whole = product("bf16", [false, false]);
    let failure =
        |ptx: &str, block: u32| run("", ptx, &[0; 384], 1, block).map(|_| ()).unwrap_err();
    // Lanes whose predicate does not hold, a warp that is not full, lanes elsewhere.
    let part = whole.replace(
        "ldmatrix.sync.aligned.m8n8.x4",
        "setp.lt.u32 %p1, %r1, 31;\n@%p1 ldmatrix.sync.aligned.m8n8.x4",
    );
    for (ptx, block) in [(&part, 32), (&whole, 31)] {
        let found = failure(ptx, block);
        assert!(
            found.text.starts_with("divergent matrix instruction: "),
            "{found:?}"
        );
        assert_eq!(found.code, Code::LaunchFailed);
    }
    let away = whole.replace(
        "mma.sync",
        "setp.lt.u32 %p1, %r1, 31;\n@!%p1 bra $L;\nmma.sync",
    );
    let away = away.replace("shr.u32 %r18", "$L:\nshr.u32 %r18");
    let found = failure(&away, 32);
    assert!(
        found.text.starts_with("divergent matrix instruction: "),
        "{found:?}"
    );
    // A predicate that holds nowhere leaves the instruction out.
    let nowhere = whole.replace("mma.sync", "setp.gt.u32 %p1, %r1, 31;\n@%p1 mma.sync");
    assert!(run("", &nowhere, &[0; 384], 1, 32).is_ok());
    // A row that begins between multiples of 16 bytes; one behind the end.
    let found = failure(&whole.replace("[%rd7+512]", "[%rd7+520]"), 32);
    assert!(
        found.text.contains("are misaligned in shared memory"),
        "{found:?}"
    );
    let found = failure(&whole.replace("[%rd7+512]", "[%rd7+528]"), 32);
    assert!(
        found.text.contains("are out of bounds in shared memory"),
        "{found:?}"
    );
    // What other lanes wrote, without a barrier: also of the lane that has the address.
    let found = failure(&whole.replace("bar.sync 0;", ""), 32);
    assert!(
        found.text.starts_with("race in shared memory: reads "),
        "{found:?}"
    );
    assert!(found.text.contains("ldmatrix"), "{found:?}");
    let rewritten = whole.replace("mma.sync", "st.shared.b32 [%rd5], %r8;\nmma.sync");
    let found = failure(&rewritten, 32);
    assert!(
        found.text.starts_with("race in shared memory: writes "),
        "{found:?}"
    );
    // Matrices that nobody wrote.
    let found = failure(&whole.replace("st.shared.b32 [%rd5+0], %r2;", ""), 32);
    assert!(
        found.text.starts_with("shared memory that nobody wrote"),
        "{found:?}"
    );
}
