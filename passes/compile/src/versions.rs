//! Versions of a program: plans for extents of different size classes, and the conditions on the extents for each.
//!
//! A plan keeps values in fast memory. With static extents the size of these is known, and the scheduler refuses a plan
//! that does not fit; with a named extent it is known when the program runs. So a plan with a kernel whose memory
//! depends on named extents is one version, which requires that it fits, and the next version is planned for extents so
//! long that nothing fits that depends on them: then the plan keeps what is of static size, or nothing. The runtime
//! takes the first version whose requirements hold.
//!
//! Guarantees: on a GPU no version asks for more than a block may have under the extents for which it runs; the last one requires
//! nothing, or else a kernel of it stood in the text. On a CPU the requirement is one of speed, that the caches hold it, and the last
//! version runs whatever it requires.

use fuser_artifact::{Artifact, Bound, SizeExpr, Step};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place};

use super::code::compile_alone;
use super::{CompileOptions, Compiled, TOO_LARGE, Target};

/// A length so great that no fast memory holds an axis of it, and so small that bytes of two such axes can be compared.
const LONG: u64 = 1 << 26;

/// Compiles as many versions as are needed, and chains them.
pub fn compile(ir: &mut Ir, module: Op, options: &CompileOptions) -> Result<Compiled, Diagnostics> {
    let mut plans = plans(options).into_iter();
    let original = ir.clone();
    let Some(first) = plans.next() else {
        return compile_alone(ir, module, options);
    };
    let mut compiled = compile_alone(ir, module, &first)?;
    let mut fits = require(&mut compiled.artifact, &first.target);
    let mut others: Vec<Artifact> = Vec::new();
    for plan in plans {
        let before = others.last().unwrap_or(&compiled.artifact);
        if fits.is_ok() && (before.requires.is_empty() || is_decided(before, options)) {
            break;
        }
        let mut next = compile_alone(&mut original.clone(), module, &plan)?;
        let next_fits = require(&mut next.artifact, &plan.target);
        if next_fits.is_ok() && fits.is_err() {
            // A plan that cannot run under any extents is no version.
            compiled = next;
            fits = Ok(());
        } else if next_fits.is_ok() && next.artifact.requires != before.requires {
            others.push(next.artifact);
        }
    }
    fits.map_err(|diagnostic| Diagnostics {
        items: vec![*diagnostic],
    })?;
    let chain = others.into_iter().rev();
    compiled.artifact.otherwise = chain.fold(None, |after, mut version| {
        version.otherwise = after;
        Some(Box::new(version))
    });
    Ok(compiled)
}

/// True if all extents are given, and the artifact runs under them.
fn is_decided(artifact: &Artifact, options: &CompileOptions) -> bool {
    let given = |name: &String| i64::try_from(*options.shapes.get(name)?).ok();
    let extents: Option<Vec<i64>> = artifact.extents.iter().map(given).collect();
    extents.is_some_and(|extents| artifact.requires.iter().all(|bound| bound.holds(&extents)))
}

/// The plans in the order in which they are tried: as asked, for long extents, and with nothing in fast memory.
fn plans(options: &CompileOptions) -> Vec<CompileOptions> {
    let long = CompileOptions {
        nominal: Some(LONG),
        shapes: Default::default(),
        ..options.clone()
    };
    let mut none = long.clone();
    none.target.tile_bytes = 0;
    match options.target.is_gpu() {
        true => vec![options.clone(), long, none],
        false => vec![options.clone(), long],
    }
}

/// Writes down what the launches of an artifact require of the extents; an error where one asks for too much under any.
fn require(artifact: &mut Artifact, target: &Target) -> Result<(), Box<Diagnostic>> {
    let most = target.scratch_limit().unwrap_or(target.l2_bytes);
    let mut bounds: Vec<Bound> = Vec::new();
    for step in &artifact.steps {
        let Step::Launch {
            kernel,
            scratch_bytes,
            ..
        } = step
        else {
            continue;
        };
        let code = artifact.kernels.get(*kernel as usize);
        let own = code.map_or(0, |code| code.shared_bytes);
        let own = SizeExpr::constant(i64::try_from(own).unwrap_or(i64::MAX));
        let bound = Bound {
            kernel: *kernel,
            bytes: scratch_bytes.clone() + own,
            at_most: most,
        };
        match bound.bytes.as_constant() {
            Some(bytes) if target.is_gpu() && !bound.holds(&[]) => {
                let name = code.map_or("", |code| code.name.as_str());
                let message = format!(
                    "a block of kernel '{name}' asks for {bytes} bytes of shared memory, {} has {most} for one",
                    target.name
                );
                return Err(Box::new(Diagnostic::error(
                    &TOO_LARGE,
                    Place::Unknown,
                    message,
                )));
            }
            Some(_) => {}
            None if bounds.contains(&bound) => {}
            None => bounds.push(bound),
        }
    }
    artifact.requires = bounds;
    Ok(())
}
