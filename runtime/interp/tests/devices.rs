//! Programs on the devices of a mesh, against what each collective is by definition.

use fuser_interp::{Data, Options, Tensor, interpret};
use fuser_ir::{DType, Ir};

/// The results of the first program of `text` on tensors of f32.
fn run(text: &str, inputs: &[(&[usize], &[f32])]) -> Result<Vec<Vec<f64>>, String> {
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = fuser_ir::parse::parse_str(&mut ir, text);
    let module = parsed.module.ok_or("no module")?;
    let found = fuser_ir::verify(&mut ir, module);
    if let Some(first) = found.items.first() {
        return Err(format!("{}: {}", first.code, first.message));
    }
    let programs = ir.children(module).into_iter();
    let mut programs = programs.filter(|op| ir.name(*op) == "task.program");
    let tensor = |(shape, data): &(&[usize], &[f32])| {
        Tensor::dense(DType::F32, shape, Data::F32(data.to_vec()))
    };
    let inputs: Option<Vec<Tensor>> = inputs.iter().map(tensor).collect();
    let program = programs.next().ok_or("no program")?;
    let made = interpret(
        &ir,
        program,
        &inputs.ok_or("bad input")?,
        &Options::default(),
    );
    let made = made.map_err(|e| format!("{:?}", e.kind))?;
    let floats = |t: &Tensor| (0..t.stored_len()).map(|i| t.data().float(i)).collect();
    Ok(made.values.iter().map(floats).collect())
}

/// One op on eight numbers over the devices of a mesh of 2 by 2 or of 4.
fn on(mesh: &str, part: &str, of: &str, op: &str, out: &str) -> Result<Vec<f64>, String> {
    let numbers: Vec<f32> = (0..8).map(|i| i as f32).collect();
    let text = format!(
        "module {{\n  task.mesh {mesh}\n  task.program @f(%x: tensor<8xf32>) -> {of} {{\n    \
         %y = task.devices %x body @part in [[{part}]] out [{out}] : {of}\n    task.return %y\n  }}\n  {op}\n}}"
    );
    let mut made = run(&text, &[(&[8], &numbers)])?;
    made.pop().ok_or_else(|| "no result".into())
}

fn part(own: &str, made: &str, op: &str) -> String {
    format!(
        "task.program @part(%x: {own}) -> {made} attributes {{task.device}} {{\n    %y = {op}\n    task.return %y\n  }}"
    )
}

const LINE: &str = "axes [\"x\"] sizes [4]";
const SQUARE: &str = "axes [\"x\", \"y\"] sizes [2, 2]";

#[test]
fn each_collective_is_what_its_definition_says() -> Result<(), String> {
    let two = "tensor<2xf32>";
    let check = |mesh: &str,
                 cut: &str,
                 of: &str,
                 own: &str,
                 made: &str,
                 op: &str,
                 out: &str,
                 wanted: &[f64]| {
        let found = on(mesh, cut, of, &part(own, made, op), out)?;
        assert_eq!(found, wanted, "{op}");
        Ok::<(), String>(())
    };
    // 0 1 | 2 3 | 4 5 | 6 7
    let cut = "[\"x\"]";
    check(
        LINE,
        cut,
        two,
        two,
        two,
        "fusion.all_reduce %x over [\"x\"] combine sum",
        "[[]]",
        &[12.0, 16.0],
    )?;
    check(
        LINE,
        cut,
        two,
        two,
        two,
        "fusion.all_reduce %x over [\"x\"] combine prod",
        "[[]]",
        &[0.0, 105.0],
    )?;
    check(
        LINE,
        cut,
        two,
        two,
        two,
        "fusion.all_reduce %x over [\"x\"] combine max",
        "[[]]",
        &[6.0, 7.0],
    )?;
    check(
        LINE,
        cut,
        two,
        two,
        two,
        "fusion.all_reduce %x over [] combine min",
        "[[]]",
        &[0.0, 1.0],
    )?;
    check(
        LINE,
        cut,
        two,
        two,
        two,
        "fusion.collective_broadcast %x over [\"x\"] root 2",
        "[[]]",
        &[4.0, 5.0],
    )?;
    let all: Vec<f64> = (0..8).map(f64::from).collect();
    let eight = "tensor<8xf32>";
    check(
        LINE,
        cut,
        eight,
        two,
        eight,
        "fusion.all_gather %x over [\"x\"] dim 0 shape [8]",
        "[[]]",
        &all,
    )?;
    check(
        LINE,
        cut,
        eight,
        two,
        two,
        "fusion.collective_permute %x over [\"x\"] pairs [0, 1, 3, 0]",
        "[[\"x\"]]",
        &[6.0, 7.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    )?;
    // Groups along x are devices 0, 2 and 1, 3; along y 0, 1 and 2, 3. In the order of y, x: 0, 2, 1, 3.
    let cut = "[\"x\", \"y\"]";
    let turned = "[0, 1, 4, 5, 2, 3, 6, 7]";
    let gathered = on(
        SQUARE,
        cut,
        eight,
        &part(
            two,
            eight,
            "fusion.all_gather %x over [\"y\", \"x\"] dim 0 shape [8]",
        ),
        "[[]]",
    )?;
    assert_eq!(
        format!(
            "{:?}",
            gathered.iter().map(|x| *x as i64).collect::<Vec<_>>()
        ),
        turned
    );
    let one = "tensor<1xf32>";
    let scattered = on(
        SQUARE,
        cut,
        "tensor<4xf32>",
        &part(
            two,
            one,
            "fusion.reduce_scatter %x over [\"x\"] combine sum dim 0 shape [1]",
        ),
        "[[\"x\", \"y\"]]",
    )?;
    assert_eq!(scattered, [4.0, 8.0, 6.0, 10.0]);
    let exchanged = on(
        SQUARE,
        cut,
        eight,
        &part(
            two,
            two,
            "fusion.all_to_all %x over [\"y\"] split 0 concat 0 shape [2]",
        ),
        "[[\"x\", \"y\"]]",
    )?;
    assert_eq!(exchanged, [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]);
    Ok(())
}

#[test]
fn devices_know_their_numbers() -> Result<(), String> {
    let own = "task.program @part(%x: tensor<2xf32>) -> tensor<2xf32> attributes {task.device} {\n    \
               %i = fusion.axis_index over [\"y\", \"x\"]\n    %f = fusion.cast %i to f32\n    %y = fusion.full %f shape [2]\n    task.return %y\n  }";
    let made = on(
        SQUARE,
        "[\"x\", \"y\"]",
        "tensor<8xf32>",
        own,
        "[[\"x\", \"y\"]]",
    )?;
    assert_eq!(made, [0.0, 0.0, 2.0, 2.0, 1.0, 1.0, 3.0, 3.0]);
    Ok(())
}

#[test]
fn a_nan_of_one_device_is_one_of_all() -> Result<(), String> {
    let text = "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<2x2xf32>) -> tensor<2xf32> {\n    \
                %y = task.devices %x body @part in [[[\"x\"], []]] out [[[]]] : tensor<2xf32>\n    task.return %y\n  }\n  \
                task.program @part(%x: tensor<1x2xf32>) -> tensor<2xf32> attributes {task.device} {\n    \
                %s = fusion.squeeze %x dims [0]\n    %y = fusion.all_reduce %s over [\"x\"] combine max\n    task.return %y\n  }\n}";
    for at in [0, 2] {
        let mut data = [-0.0f32, -0.0, -0.0, 0.0];
        data[at] = f32::NAN;
        let made = run(text, &[(&[2, 2], &data)])?;
        assert!(
            made[0][0].is_nan() && made[0][1].is_sign_positive(),
            "{made:?}"
        );
    }
    Ok(())
}

#[test]
fn a_loop_may_have_collectives() -> Result<(), String> {
    let text = "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n    \
                %y = task.devices %x body @part in [[[\"x\"]]] out [[[\"x\"]]] : tensor<2xf32>\n    task.return %y\n  }\n  \
                task.program @part(%x: tensor<1xf32>) -> tensor<1xf32> attributes {task.device} {\n    \
                %y = task.loop %x turns 3 body @turn\n    task.return %y\n  }\n  \
                task.program @turn(%x: tensor<1xf32>) -> tensor<1xf32> attributes {task.device} {\n    \
                %y = fusion.all_reduce %x over [\"x\"] combine sum\n    task.return %y\n  }\n}";
    assert_eq!(run(text, &[(&[2], &[1.0, 2.0])])?, [[12.0, 12.0]]);
    Ok(())
}
