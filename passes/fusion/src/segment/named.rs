//! Values of a program by the names in its text, and the error for an unknown name.

use fuser_analysis::axes::value_text;
use fuser_ir::suggest::nearest;
use fuser_ir::{Diagnostic, Ir, Op, Place};
use fuser_pass::place_of;

use super::pass::UNKNOWN_VALUE;

/// The op that computes the value `name`, with or without `%`, in `program` as `segment` is about to see it.
///
/// # Errors
/// A name that no value has, or that an input has.
pub fn producer(ir: &Ir, program: Op, name: &str) -> Result<Op, Box<Diagnostic>> {
    let plain = |value| value_text(ir, value).trim_start_matches('%').to_owned();
    let wanted = name.trim_start_matches('%');
    let ops = ir.children(program);
    let made = |op: &&Op| ir.results(**op).iter().any(|&value| plain(value) == wanted);
    if let Some(&op) = ops.iter().find(made) {
        return Ok(op);
    }
    let place = place_of(ir, program);
    let inputs = ir.body(program, 0).map_or(&[][..], |block| ir.args(block));
    if inputs.iter().any(|&value| plain(value) == wanted) {
        let message = format!("'%{wanted}' is an input, which no segment makes");
        return Err(Box::new(Diagnostic::error(&UNKNOWN_VALUE, place, message)));
    }
    let values = ops.iter().flat_map(|&op| ir.results(op));
    let names: Vec<String> = values.map(|&value| plain(value)).collect();
    Err(Box::new(unknown(place, name, &names)))
}

/// The error about a name that is not among `names`.
pub(super) fn unknown(place: Place, name: &str, names: &[String]) -> Diagnostic {
    let message = format!("no op and no input of the program makes '{name}'");
    let error = Diagnostic::error(&UNKNOWN_VALUE, place, message);
    let near = nearest(
        name.trim_start_matches('%'),
        names.iter().map(String::as_str),
    );
    let error = match near {
        Some(near) => error.help(format!("did you mean '%{near}'?")),
        None => error,
    };
    error.help("a pass before 'segment' may have merged or removed it")
}
