//! Legality of the simplifications: each condition that a rule needs.
use fuser_ir::DType;

use super::fold_casts::holds;

#[test]
fn a_type_that_holds_another_is_at_least_as_wide() {
    for outer in DType::REAL {
        for inner in DType::REAL {
            let wide = outer.bytes() >= inner.bytes();
            assert!(!holds(outer, inner) || wide, "{outer:?} {inner:?}");
            let both = holds(outer, inner) && holds(inner, outer);
            let twins = matches!(
                (outer, inner),
                (DType::I64, DType::Index) | (DType::Index, DType::I64)
            );
            assert_eq!(both, outer == inner || twins, "{outer:?} {inner:?}");
        }
    }
}
