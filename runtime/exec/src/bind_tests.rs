//! Values from every source, and every contradiction.

use super::*;
use fuser_artifact::SizeExpr;

fn extents() -> Vec<String> {
    vec!["B".to_string(), "S".to_string()]
}

fn b() -> SizeExpr {
    SizeExpr::extent(0)
}

fn tensor(name: &str, dims: Vec<DimSpec>) -> TensorSpec {
    TensorSpec {
        name: name.to_string(),
        dtype: DType::F32,
        dims,
        order: Vec::new(),
        buffer: 0,
    }
}

/// `x: [B]x8`, `w: b[S]x[B * 2]`.
fn tensors() -> Vec<TensorSpec> {
    let x = vec![DimSpec::stored(b()), DimSpec::stored(8)];
    let w = vec![
        DimSpec::broadcast(SizeExpr::extent(1)),
        DimSpec::stored(b() * 2.into()),
    ];
    vec![tensor("x", x), tensor("w", w)]
}

fn run(
    x: Option<&[usize]>,
    w: Option<&[usize]>,
    explicit: &[(&str, i64)],
) -> Result<Vec<i64>, String> {
    let stored = |extents: Option<&[usize]>| {
        extents.map(|extents| {
            extents
                .iter()
                .copied()
                .map(Axis::stored)
                .collect::<Vec<_>>()
        })
    };
    let (x, w) = (stored(x), stored(w));
    let dtype = DType::F32;
    let given = [
        x.as_deref().map(|axes| Given {
            dtype,
            axes,
            origin: Some("x.npy"),
        }),
        w.as_deref().map(|axes| Given {
            dtype,
            axes,
            origin: None,
        }),
    ];
    let explicit = explicit
        .iter()
        .map(|(name, value)| (name.to_string(), *value))
        .collect();
    bind(&extents(), &tensors(), &given, &explicit).map_err(|error| error.to_string())
}

#[test]
fn values_come_from_tensors_and_from_the_command_line() {
    assert_eq!(run(Some(&[5, 8]), Some(&[3, 10]), &[]), Ok(vec![5, 3]));
    assert_eq!(run(Some(&[5, 8]), None, &[("S", 7)]), Ok(vec![5, 7]));
    assert_eq!(run(None, None, &[("B", 0), ("S", 0)]), Ok(vec![0, 0]));
    assert_eq!(
        run(None, Some(&[1, 4]), &[("B", 2), ("S", 9)]),
        Ok(vec![2, 9])
    );
}

#[test]
fn contradictions_name_both_sides() {
    let text = run(Some(&[5, 8]), None, &[("B", 4)]).unwrap_err();
    let expected = "extent `B` is 4 by `--shape B=4` but 5 by axis 0 of input `x` (x.npy)";
    assert_eq!(text, expected);
    let text = run(Some(&[5, 8]), Some(&[3, 11]), &[]).unwrap_err();
    assert_eq!(
        text,
        "axis 1 of input `w` has extent 11, expected 10 (`B * 2`)"
    );
    let text = run(Some(&[5, 9]), None, &[("S", 1)]).unwrap_err();
    assert_eq!(
        text,
        "axis 1 of input `x` (x.npy) has extent 9, expected 8 (`8`)"
    );
    let two = [
        tensor("x", vec![DimSpec::stored(b())]),
        tensor("y", vec![DimSpec::stored(b())]),
    ];
    let (three, four) = ([Axis::stored(3)], [Axis::stored(4)]);
    let given = |axes| {
        Some(Given {
            dtype: DType::F32,
            axes,
            origin: None,
        })
    };
    let both = [given(&three[..]), given(&four[..])];
    let error = bind(&extents()[..1], &two, &both, &Explicit::new()).unwrap_err();
    let expected = "extent `B` is 3 by axis 0 of input `x` but 4 by axis 0 of input `y`";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn sums_with_one_name_give_it_a_value() {
    // `B * 2` of 10 elements.
    assert_eq!(run(None, Some(&[4, 10]), &[]), Ok(vec![5, 4]));
    assert_eq!(run(None, Some(&[4, 0]), &[]), Ok(vec![0, 4]));
    let text = run(None, Some(&[4, 9]), &[]).unwrap_err();
    assert_eq!(
        text,
        "axis 1 of input `w` has extent 9, and `B * 2` is that for no `B`"
    );
    let s = || SizeExpr::extent(1);
    let solve = |dims: Vec<SizeExpr>, lengths: &[usize]| {
        let tensor = tensor("x", dims.into_iter().map(DimSpec::stored).collect());
        let axes: Vec<Axis> = lengths.iter().copied().map(Axis::stored).collect();
        let given = Given {
            dtype: DType::F32,
            axes: &axes,
            origin: None,
        };
        let bound = bind(&extents(), &[tensor], &[Some(given)], &Explicit::new());
        bound.map_err(|error| error.to_string())
    };
    // The second axis says what the first needs.
    let both = || vec![b() + s() * 3.into(), s() + 7.into()];
    assert_eq!(solve(both(), &[20, 11]), Ok(vec![8, 4]));
    let text = solve(both(), &[20, 6]).unwrap_err();
    assert_eq!(
        text,
        "axis 1 of input `x` has extent 6, and `S + 7` is that for no `S`"
    );
    // Squares, and two names that have no value.
    let text = solve(vec![b() * b(), s()], &[9, 2]).unwrap_err();
    assert!(text.starts_with("extent `B` has no value"), "{text}");
    let text = solve(vec![b() + s()], &[9]).unwrap_err();
    assert!(text.starts_with("extent `B` has no value"), "{text}");
    assert_eq!(solve(vec![b() * s(), s()], &[12, 4]), Ok(vec![3, 4]));
    let text = solve(vec![b() * s(), s()], &[12, 0]).unwrap_err();
    assert!(text.starts_with("extent `B` has no value"), "{text}");
}

#[test]
fn what_is_missing_says_how_to_give_it() {
    let text = run(None, None, &[("S", 1)]).unwrap_err();
    let expected = "extent `B` has no value: give it with `--shape B=VALUE`, or a file for input `x`, whose axis 0 it is";
    assert_eq!(text, expected);
    // One element for a broadcast axis says nothing about its extent.
    let text = run(Some(&[2, 8]), Some(&[1, 4]), &[]).unwrap_err();
    assert!(text.starts_with("extent `S` has no value"), "{text}");
    let error = bind(&extents(), &[], &[], &Explicit::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "extent `B` has no value: give it with `--shape B=VALUE`"
    );
}

#[test]
fn wrong_types_ranks_names_and_counts_are_errors() {
    let text = run(Some(&[5]), None, &[]).unwrap_err();
    assert_eq!(text, "input `x` (x.npy) has shape 5, expected [B]x8");
    let text = run(None, Some(&[]), &[]).unwrap_err();
    assert_eq!(text, "input `w` has shape scalar, expected b[S]x[B * 2]");
    let text = run(None, None, &[("H", 1)]).unwrap_err();
    assert_eq!(text, "the program has no extent `H` (it has B, S)");
    let text = run(None, None, &[("B", -1)]).unwrap_err();
    assert_eq!(text, "extent `B` cannot be -1");
    let text = run(None, None, &[("B", i64::MAX), ("S", 0)]);
    assert_eq!(text, Ok(vec![i64::MAX, 0]));
    let error = axes(&tensors()[1], &extents(), &[i64::MAX, 0]).unwrap_err();
    assert_eq!(error.to_string(), "size `B * 2` does not fit 64 bits");
    let axes = [Axis::stored(1)];
    let given = Given {
        dtype: DType::F64,
        axes: &axes,
        origin: None,
    };
    let error = bind(
        &extents(),
        &tensors(),
        &[Some(given), None],
        &Explicit::new(),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "input `x` has element type f64, expected f32"
    );
    let error = bind(&extents(), &tensors(), &[], &Explicit::new()).unwrap_err();
    assert_eq!(error.to_string(), "0 inputs given, expected 2");
}

#[test]
fn elements_that_share_a_byte_are_an_even_number() {
    let dims = vec![DimSpec::stored(b()), DimSpec::stored(SizeExpr::extent(1))];
    let mut x = tensor("x", dims);
    x.dtype = DType::F4E2M1FN;
    let message = |tensor: &TensorSpec, values: [i64; 2]| {
        axes(tensor, &extents(), &values).map_err(|error| error.to_string())
    };
    assert!(message(&x, [3, 4]).is_ok());
    assert!(message(&x, [3, 0]).is_ok());
    let odd = "axis 1 of `x` has extent 7, and two elements of f4E2M1FN share a byte along it: it must be even";
    assert_eq!(message(&x, [4, 7]), Err(odd.to_string()));
    // The innermost axis in memory counts, of those that are stored.
    x.order = vec![1, 0];
    assert!(message(&x, [4, 7]).is_ok());
    x.order.clear();
    x.dims[1].broadcast = true;
    assert!(message(&x, [4, 7]).is_ok());
    let odd = "axis 0 of `x` has extent 3, and two elements of f4E2M1FN share a byte along it: it must be even";
    assert_eq!(message(&x, [3, 4]), Err(odd.to_string()));
}
