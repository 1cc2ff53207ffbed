//! The small face of the library: five lines, errors as standard errors, calls on memory at any address.

use std::error::Error as _;
use std::sync::Arc;

use fuser::session::Session;
use fuser::{Compiled, Options, Program, Tensor};

fn compiled(text: &str) -> Compiled {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program.compile(&Options::default()).unwrap()
}

#[test]
fn five_lines_run_a_program() {
    let f = compiled(
        "task.program @f(%x: tensor<[N]x2xf32>, %w: tensor<2xf32>) -> (tensor<[N]x2xf32>, tensor<[N]xf32>) {
           %b = fusion.broadcast %w dims [1] shape [[N], 2]
           %y = fusion.mul %x, %b
           %s = fusion.sum %y dims [1]
           task.return %y, %s
         }",
    );
    for rows in [0, 1, 3, 3, 65] {
        let x: Vec<f32> = (0..2 * rows).map(|i| i as f32).collect();
        let inputs = [
            Tensor::new(&[rows, 2], &x).unwrap(),
            Tensor::new(&[2], &[1.0f32, -1.0]).unwrap(),
        ];
        let outputs = f.run(&inputs).unwrap();
        assert_eq!(outputs[0].shape(), [rows, 2]);
        assert_eq!(outputs[1].to_vec::<f32>().unwrap(), vec![-1.0; rows]);
    }
}

#[test]
fn one_line_runs_a_program_and_its_error_goes_anywhere() {
    type Anything = Box<dyn std::error::Error + Send + Sync + 'static>;
    fn run(text: &str, inputs: &[Tensor]) -> Result<Vec<Tensor>, Anything> {
        Ok(Program::parse(text)?
            .compile(&Options::default())?
            .run(inputs)?)
    }
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Program>();
    shared::<Compiled>();
    let text = "task.program @f(%x: tensor<[N]xi32>) -> tensor<[N]xi32> { %y = fusion.neg %x\n task.return %y }";
    let x = Tensor::new(&[2], &[1i32, -7]).unwrap();
    let y = run(text, &[x]).unwrap();
    assert_eq!(y[0].to_vec::<i32>().unwrap(), [-1, 7]);
    let error = run(text, &[]).unwrap_err();
    assert!(error.downcast_ref::<fuser::Error>().is_some(), "{error}");
}

#[test]
fn wishes_about_segments_have_a_price_or_a_reason() {
    let program = Program::parse(
        "task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {
           %a = fusion.exp %x
           %b = fusion.sin %a
           task.return %b
         }",
    )
    .unwrap();
    let options = Options::default();
    let list = |names: &[&str]| vec![names.iter().map(|name| name.to_string()).collect()];
    let apart = program.what_if(&options, &[], &list(&["a", "b"])).unwrap();
    assert_eq!(apart.taken.report.segments.len(), 1);
    assert_eq!(apart.asked.unwrap().report.segments.len(), 2);
    let both = program
        .what_if(&options, &list(&["a", "b"]), &list(&["a", "b"]))
        .unwrap();
    assert_eq!(both.asked.err().map(|error| error.code()), Some("FIR0710"));
    let unknown = program.explain(&options, &["aa"]);
    assert_eq!(unknown.err().map(|error| error.code()), Some("FIR0714"));
    let own = r#"{"segments": [{"name": "s", "ops": ["%a"]}, {"name": "t", "ops": ["%b"]}]}"#;
    let drawn = program.with_segments(&options, own).unwrap();
    assert_eq!(drawn.drawing(&options).unwrap().report.segments.len(), 2);
    let x = Tensor::new(&[3], &[0.5f32, -1.0, 0.0]).unwrap();
    let run = |program: &Program| {
        let outputs = program
            .compile(&options)
            .unwrap()
            .run(std::slice::from_ref(&x));
        outputs.unwrap()[0].bytes().to_vec()
    };
    assert_eq!(run(&drawn), run(&program));
}

#[test]
fn a_result_that_is_stored_once_is_given_whole() {
    let f = compiled(
        "task.program @f(%x: tensor<3xi32>) -> (tensor<b2xb2x3xi32>, tensor<3xb2xi32>) {
           %b = fusion.broadcast %x dims [2] shape [2, 2, 3]
           %c = fusion.broadcast %x dims [1] shape [2, 3]
           %t = fusion.permute %c dims [1, 0]
           task.return %b, %t
         }",
    );
    let outputs = f.run(&[Tensor::new(&[3], &[1i32, 2, 3]).unwrap()]);
    let [b, t] = &outputs.unwrap()[..] else {
        panic!("two results")
    };
    assert_eq!(b.to_vec::<i32>().unwrap(), [1, 2, 3].repeat(4));
    assert_eq!(t.to_vec::<i32>().unwrap(), [1, 1, 2, 2, 3, 3]);
}

#[test]
fn errors_are_standard_errors_with_code_and_place() {
    let error = Program::parse(
        "task.program @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = fusion.ex %x\n  task.return %y\n}",
    );
    let error = error.err().unwrap();
    assert!(error.source().is_none());
    assert!(error.code().starts_with("FIR"), "{error:?}");
    assert_eq!(error.place(), Some(("program.fir", 2, 8)));
    assert!(error.to_string().contains("fusion.exp"), "{error}");

    let f = compiled(
        "task.program @f(%x: tensor<[N]xf32>, %y: tensor<[N]xf32>) -> tensor<[N]xf32> {\n  %z = fusion.add %x, %y\n  task.return %z\n}",
    );
    let vector = |n: usize| Tensor::new(&[n], &vec![1.0f32; n]).unwrap();
    let wrong = [
        (vec![vector(2)], "1 inputs given, expected 2"),
        (vec![vector(2), vector(3)], "extent `N` is 2"),
        (
            vec![vector(2), Tensor::new(&[2], &[1.0f64; 2]).unwrap()],
            "element type f64, expected f32",
        ),
        (
            vec![vector(2), Tensor::new(&[1, 2], &[1.0f32; 2]).unwrap()],
            "shape 1x2",
        ),
    ];
    for (inputs, message) in wrong {
        let error = f.run(&inputs).err().unwrap();
        assert!(error.to_string().contains(message), "{error}");
    }
    assert!(Tensor::new(&[3], &[1.0f32]).is_err());
    assert!(vector(1).to_vec::<i32>().is_err());
    assert!(Options::target("h1000").is_err());
}

#[test]
fn programs_share_the_threads_of_a_session() {
    let session =
        Arc::new(Session::new(Default::default()).unwrap_or_else(|_| panic!("a session")));
    let options = Options {
        session: Some(Arc::clone(&session)),
        ..Options::default()
    };
    let text = "task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {\n  %y = fusion.neg %x\n  task.return %y\n}";
    let programs =
        [text, text].map(|text| Program::parse(text).unwrap().compile(&options).unwrap());
    std::thread::scope(|scope| {
        for n in 1..5 {
            let programs = &programs;
            scope.spawn(move || {
                for f in programs.iter().cycle().take(20) {
                    let x = Tensor::new(&[n], &vec![1.0f32; n]).unwrap();
                    let y = f.run(&[x]).unwrap();
                    assert_eq!(y[0].to_vec::<f32>().unwrap(), vec![-1.0; n]);
                }
            });
        }
    });
}

/// Programs whose kernels and library calls read inputs in different ways: vectors, gathers, packing, rows, sorts.
const READERS: &[&str] = &[
    "task.program @f(%x: tensor<257x65xf32>) -> (tensor<257xf32>, tensor<65xf32>, tensor<65x257xf32>) {
       %r = fusion.sum %x dims [1]
       %c = fusion.max %x dims [0]
       %t = fusion.permute %x dims [1, 0]
       task.return %r, %c, %t
     }",
    "task.program @f(%x: tensor<33x129xbf16>, %w: tensor<129x17xbf16>) -> tensor<33x17xbf16> {
       %y = fusion.matmul %x, %w
       task.return %y
     }",
    "task.program @f(%x: tensor<65x130xf32>, %w: tensor<130x64xf32>) -> tensor<65x64xf32> {
       %y = fusion.matmul %x, %w
       task.return %y
     }",
    "task.program @f(%x: tensor<9x31xf64>, %w: tensor<5x31xf64>, %b: tensor<5xf64>) -> tensor<9x5xf64> {
       %y = fusion.linear %x, %w, %b
       task.return %y
     }",
    "task.program @f(%q: tensor<2x19x16xf32>, %k: tensor<2x33x16xf32>, %v: tensor<2x33x8xf32>) -> tensor<2x19x8xf32> {
       %y = fusion.sdpa %q, %k, %v
       task.return %y
     }",
    "task.program @f(%x: tensor<7x101xi32>, %i: tensor<7x3xi32>, %u: tensor<7x3xi32>) -> (tensor<7x101xi32>, tensor<7x101xi32>) {
       %s = fusion.sort %x dim 1
       %a = fusion.scatter %x, %i, %u dim 1 combine add
       task.return %s, %a
     }",
    "task.program @f(%x: tensor<1000xcomplex<f32>>, %m: tensor<1000xi1>) -> tensor<1000xcomplex<f32>> {
       %n = fusion.neg %x
       %y = fusion.where %m, %x, %n
       task.return %y
     }",
];

/// A kernel loads from any address that elements may have: the bits of the results are those for inputs at the beginning of a line.
#[test]
fn inputs_begin_anywhere() {
    for text in READERS {
        let f = compiled(text);
        let mut bound = f.bind(&[], 0).unwrap();
        let specs = &f.signature().inputs;
        let mut results = Vec::new();
        for places in 0..5 {
            let given = bound.input_bytes().to_vec();
            let memories = specs.iter().zip(&given).map(|(spec, bytes)| {
                // Small whole numbers: nothing is NaN, indices stay inside, and sums are exact.
                let size = spec.dtype.part().bytes();
                let offset = size * [0, 1, 3, 7, 15][places];
                let mut memory = Tensor::zeros(fuser::program::DType::U8, &[bytes + 256]).unwrap();
                let elements = memory.bytes_mut()[offset..offset + bytes].chunks_exact_mut(size);
                for (i, to) in elements.enumerate() {
                    let value = (i * 7 % 5) as f64
                        % if spec.dtype.part() == fuser::program::DType::I1 {
                            2.0
                        } else {
                            5.0
                        };
                    let encoded = fuser::program::element::from_f64(spec.dtype.part(), value);
                    to.copy_from_slice(encoded.as_bytes());
                }
                (memory, offset)
            });
            let memories: Vec<_> = memories.collect();
            let inputs = memories.iter().zip(&given);
            let inputs: Vec<&[u8]> = inputs
                .map(|((memory, offset), bytes)| &memory.bytes()[*offset..offset + bytes])
                .collect();
            let types = Arc::clone(bound.outputs());
            let outputs = types
                .iter()
                .map(|ty| Tensor::zeros(fuser::program::DType::U8, &[ty.bytes]));
            let mut outputs: Vec<Tensor> = outputs.map(Result::unwrap).collect();
            let mut taken: Vec<&mut [u8]> = outputs.iter_mut().map(Tensor::bytes_mut).collect();
            bound.run(&inputs, &mut taken).unwrap();
            results.push(
                outputs
                    .iter()
                    .map(|y| y.bytes().to_vec())
                    .collect::<Vec<_>>(),
            );
        }
        assert!(
            results.iter().flatten().flatten().any(|byte| *byte != 0),
            "{text}"
        );
        assert!(results.iter().all(|result| *result == results[0]), "{text}");
    }
}
