//! Exact values, every fault, and the two notations.

use super::*;

fn expr(text: &str) -> SizeExpr {
    text.parse().unwrap()
}

fn message(text: &str, extents: &[i64]) -> String {
    expr(text).evaluate(extents).unwrap_err().to_string()
}

#[test]
fn values_are_exact() {
    let extents = [7, 3];
    for (text, value) in [
        ("5", 5),
        ("$0", 7),
        ("$0 $1 +", 10),
        ("$0 $1 -", 4),
        ("$1 $0 -", -4),
        ("$0 $1 *", 21),
        ("$0 $1 ceildiv", 3),
        ("$0 $1 floordiv", 2),
        ("-7 3 ceildiv", -2),
        ("-7 3 floordiv", -3),
        ("6 3 ceildiv", 2),
        ("$0 $1 min", 3),
        ("$0 $1 max", 7),
        ("$0 1 - $1 ceildiv 4 *", 8),
    ] {
        assert_eq!(expr(text).evaluate(&extents), Ok(value), "{text}");
        assert_eq!(expr(text).to_string(), text);
    }
}

#[test]
fn faults_name_the_expression() {
    let huge = format!("{} 2 *", i64::MAX);
    let overflow = format!("size `{huge}` does not fit 64 bits");
    assert_eq!(message(&huge, &[]), overflow);
    assert_eq!(
        message("1 $0 floordiv", &[0]),
        "size `1 $0 floordiv` divides by 0"
    );
    assert_eq!(message("$2", &[1, 1]), "size `$2` names extent 2 of 2");
    for malformed in ["", "+", "1 +", "1 2"] {
        let expected = format!("size `{malformed}` does not leave one value");
        assert_eq!(message(malformed, &[]), expected);
    }
    let negative = expr("$0 2 -").evaluate_size(&[1]).unwrap_err();
    assert_eq!(negative.to_string(), "size `$0 2 -` is -1");
    assert_eq!(negative.describe(&["B".to_string()]), "size `B - 2` is -1");
    let text = "1 ".repeat(MAX_SIZE_OPS + 1);
    let error = text.parse::<SizeExpr>().unwrap_err();
    assert_eq!(error.to_string(), "a size of more than 4096 tokens");
    assert_eq!(
        "1 ?".parse::<SizeExpr>().unwrap_err().to_string(),
        "`?` is no token of a size"
    );
    let long = SizeExpr::from_ops(vec![SizeOp::Const(1); MAX_SIZE_OPS + 1]);
    assert_eq!(long.check(0).unwrap_err().fault, SizeFault::TooLong);
}

#[test]
fn extreme_operands_do_not_panic() {
    let values = [i64::MIN, i64::MIN + 1, -1, 0, 1, 2, i64::MAX - 1, i64::MAX];
    for op in ["+", "-", "*", "ceildiv", "floordiv", "min", "max"] {
        for a in values {
            for b in values {
                let _ = expr(&format!("{a} {b} {op}")).evaluate(&[]);
            }
        }
    }
    assert_eq!(
        expr(&format!("{} 2 ceildiv", i64::MAX)).evaluate(&[]),
        Ok(1 << 62)
    );
}

#[test]
fn building_folds_constants_and_neutral_elements() {
    let b = || SizeExpr::extent(0);
    let c = SizeExpr::constant;
    assert_eq!((c(2) * c(3) + c(1)).as_constant(), Some(7));
    assert_eq!(b() * c(1) + c(0), b());
    assert_eq!(c(0) + c(1) * b() - c(0), b());
    assert_eq!(b().ceil_div(c(1)).floor_div(c(1)).as_extent(), Some(0));
    assert_eq!(
        SizeExpr::product([b(), c(4), c(2)]).to_string(),
        "$0 4 * 2 *"
    );
    assert_eq!(SizeExpr::sum([]).as_constant(), Some(0));
    // An overflowing product stays an expression, whose evaluation is then an error.
    assert!((c(i64::MAX) * c(2)).evaluate(&[]).is_err());
}

#[test]
fn the_usual_notation_has_the_brackets_that_it_needs() {
    let names = ["B".to_string(), "S".to_string()];
    for (text, pretty) in [
        ("$0 1 + 1024 *", "(B + 1) * 1024"),
        ("$0 $1 1024 * *", "B * S * 1024"),
        ("$0 $1 1 - -", "B - (S - 1)"),
        ("$0 $1 2 * ceildiv", "B ceildiv (S * 2)"),
        ("$0 $1 1 + max", "max(B, S + 1)"),
        ("$7", "$7"),
    ] {
        assert_eq!(expr(text).pretty(&names), pretty);
    }
}
