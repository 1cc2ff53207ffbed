//! Conversion of the inputs that people specify to tensors of the declared types and shapes.

use std::collections::BTreeMap;

use fuser_artifact::TensorSpec;

use crate::bind::{self, Explicit, Given};
use crate::error::RuntimeError;
use crate::memory::Heap;
use crate::spec::{Generator, InputSpec};
use crate::tensor::{Axis, HostTensor};
use crate::{npy, npz};

/// Inputs that are ready to run with.
#[derive(Debug)]
pub struct Inputs {
    /// In the order of the declarations.
    pub tensors: Vec<HostTensor>,
    /// The values of the named extents.
    pub extents: Vec<i64>,
}

/// Reads or generates the inputs of a program. An input that `specs` does not name is `random`.
///
/// Files are read first: their shapes determine extents, which generated inputs then use.
pub fn resolve(
    heap: &Heap,
    extents: &[String],
    tensors: &[TensorSpec],
    specs: &BTreeMap<String, InputSpec>,
    explicit: &Explicit,
) -> Result<Inputs, RuntimeError> {
    check_names(tensors, specs)?;
    let files = tensors.iter().map(|tensor| read_file(heap, tensor, specs));
    let files: Vec<Option<File>> = files.collect::<Result<_, _>>()?;
    let given: Vec<Option<Given<'_>>> = files
        .iter()
        .map(|file| file.as_ref().map(File::given))
        .collect();
    let values = bind::bind(extents, tensors, &given, explicit)?;
    let mut ready = Vec::with_capacity(tensors.len());
    for (tensor, file) in tensors.iter().zip(files) {
        let axes = bind::axes(tensor, extents, &values)?;
        ready.push(match file {
            Some(file) => convert(heap, tensor, &axes, &file.tensor)?.unwrap_or(file.tensor),
            None => generate(heap, tensor, &axes, specs)?,
        });
    }
    Ok(Inputs {
        tensors: ready,
        extents: values,
    })
}

struct File {
    name: String,
    tensor: HostTensor,
}

impl File {
    fn given(&self) -> Given<'_> {
        Given {
            dtype: self.tensor.dtype(),
            axes: self.tensor.axes(),
            origin: Some(&self.name),
        }
    }
}

fn check_names(
    tensors: &[TensorSpec],
    specs: &BTreeMap<String, InputSpec>,
) -> Result<(), RuntimeError> {
    let known = || tensors.iter().map(|tensor| tensor.name.clone());
    let stranger = specs
        .keys()
        .find(|name| known().all(|known| known != **name));
    match stranger {
        Some(name) => Err(RuntimeError::UnknownInput {
            name: name.clone(),
            known: known().collect(),
        }),
        None => Ok(()),
    }
}

fn read_file(
    heap: &Heap,
    tensor: &TensorSpec,
    specs: &BTreeMap<String, InputSpec>,
) -> Result<Option<File>, RuntimeError> {
    let (path, read) = match specs.get(&tensor.name) {
        Some(InputSpec::File(path)) => (path.clone(), npy::read(path, tensor.dtype, heap)),
        Some(InputSpec::Member { archive, name }) => {
            let read = npz::read(archive, name, tensor.dtype, heap);
            (archive.join(name), read)
        }
        Some(InputSpec::Generate(_)) | None => return Ok(None),
    };
    let name = path.display().to_string();
    Ok(Some(File {
        name,
        tensor: read?,
    }))
}

fn generate(
    heap: &Heap,
    tensor: &TensorSpec,
    axes: &[Axis],
    specs: &BTreeMap<String, InputSpec>,
) -> Result<HostTensor, RuntimeError> {
    let generator = match specs.get(&tensor.name) {
        Some(InputSpec::Generate(generator)) => *generator,
        _ => Generator::Random { seed: 0 },
    };
    let input = || tensor.name.clone();
    let spec_error = |error| RuntimeError::Spec {
        input: input(),
        error,
    };
    generator.check(tensor.dtype).map_err(spec_error)?;
    let filled = HostTensor::zeros(heap, tensor.dtype, axes);
    let mut filled = filled.map_err(|error| RuntimeError::Input {
        input: input(),
        error,
    })?;
    generator
        .fill(&tensor.name, &mut filled)
        .map_err(spec_error)?;
    // The same elements, however they lie.
    Ok(convert(heap, tensor, axes, &filled)?.unwrap_or(filled))
}

/// The tensor stored as declared, where it is not so already.
fn convert(
    heap: &Heap,
    tensor: &TensorSpec,
    axes: &[Axis],
    given: &HostTensor,
) -> Result<Option<HostTensor>, RuntimeError> {
    let order: Vec<usize> = tensor.order.iter().map(|&axis| axis as usize).collect();
    if given.lies_as(axes, &order) {
        return Ok(None);
    }
    let converted = given.relayout_in(heap, axes, &tensor.order);
    converted.map(Some).map_err(|error| RuntimeError::Input {
        input: tensor.name.clone(),
        error,
    })
}

/// The values of the extents for tensors that are there.
pub(crate) fn bind_tensors(
    extents: &[String],
    specs: &[TensorSpec],
    tensors: &[HostTensor],
    explicit: &Explicit,
) -> Result<Vec<i64>, RuntimeError> {
    let given = |tensor: &'_ HostTensor| (tensor.dtype(), tensor.axes().to_vec());
    let shapes: Vec<_> = tensors.iter().map(given).collect();
    let given: Vec<Option<Given<'_>>> = shapes
        .iter()
        .map(|(dtype, axes)| {
            Some(Given {
                dtype: *dtype,
                axes,
                origin: None,
            })
        })
        .collect();
    Ok(bind::bind(extents, specs, &given, explicit)?)
}

/// For each input, a copy stored as declared, if the given tensor is stored differently.
pub(crate) fn as_declared(
    heap: &Heap,
    specs: &[TensorSpec],
    names: &[String],
    extents: &[i64],
    inputs: &[HostTensor],
) -> Result<Vec<Option<HostTensor>>, RuntimeError> {
    let convert = |(spec, given): (&TensorSpec, &HostTensor)| {
        let axes = bind::axes(spec, names, extents)?;
        convert(heap, spec, &axes, given)
    };
    specs.iter().zip(inputs).map(convert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_artifact::{DType, DimSpec, SizeExpr};

    fn tensors() -> Vec<TensorSpec> {
        let tensor = |name: &str, dtype, dims| TensorSpec {
            name: name.to_string(),
            dtype,
            dims,
            order: Vec::new(),
            buffer: 0,
        };
        let b = || SizeExpr::extent(0);
        vec![
            tensor(
                "x",
                DType::F32,
                vec![DimSpec::stored(b()), DimSpec::broadcast(3)],
            ),
            tensor("n", DType::I32, vec![DimSpec::stored(b())]),
            tensor("eps", DType::F32, vec![]),
        ]
    }

    fn run(specs: &[(&str, &str)], explicit: &[(&str, i64)]) -> Result<Inputs, String> {
        let heap = Heap::with_limit(1 << 20);
        let spec = |(name, text): &(&str, &str)| (name.to_string(), text.parse().unwrap());
        let specs = specs.iter().map(spec).collect();
        let explicit = explicit
            .iter()
            .map(|(name, value)| (name.to_string(), *value))
            .collect();
        let extents = ["B".to_string()];
        resolve(&heap, &extents, &tensors(), &specs, &explicit).map_err(|error| error.to_string())
    }

    fn values(tensor: &HostTensor) -> Vec<f64> {
        tensor.values().collect()
    }

    #[test]
    fn made_up_inputs_have_the_declared_shapes() {
        let specs = [("eps", "full:0.5"), ("n", "iota")];
        let inputs = run(&specs, &[("B", 5)]).unwrap();
        assert_eq!(inputs.extents, [5]);
        assert_eq!(inputs.tensors[0].extents(), [5, 3]);
        assert_eq!(inputs.tensors[0].stored_elements(), 5);
        assert_eq!(values(&inputs.tensors[1]), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(values(&inputs.tensors[2]), [0.5]);
    }

    #[test]
    fn a_file_gives_extents_to_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let heap = Heap::with_limit(1 << 20);
        let full = [Axis::stored(2), Axis::stored(3)];
        let write = |values: &[f64]| {
            let tensor = HostTensor::from_f64(&heap, DType::F32, &full, values).unwrap();
            let mut file = std::fs::File::create(&path).unwrap();
            npy::write(&mut file, &tensor).unwrap();
        };
        let spec = format!("@{}", path.display());
        write(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        let inputs = run(&[("x", &spec)], &[]).unwrap();
        assert_eq!(inputs.extents, [2]);
        // The declared axis is stored once.
        assert_eq!(values(&inputs.tensors[0]), [1.0, 2.0]);
        assert_eq!(inputs.tensors[1].extents(), [2]);

        let text = run(&[("x", &spec)], &[("B", 7)]).unwrap_err();
        let by = format!("axis 0 of input `x` ({})", path.display());
        assert_eq!(
            text,
            format!("extent `B` is 7 by `--shape B=7` but 2 by {by}")
        );

        write(&[1.0, 1.0, 1.0, 2.0, 2.0, 9.0]);
        let text = run(&[("x", &spec)], &[]).unwrap_err();
        assert_eq!(
            text,
            "input `x`: axis 1 is a broadcast axis, but the elements along it differ"
        );
    }

    #[test]
    fn errors_name_the_input() {
        let text = run(&[("q", "ones")], &[("B", 1)]).unwrap_err();
        assert_eq!(text, "the program has no input `q` (it has x, n, eps)");
        let text = run(&[("n", "normal")], &[("B", 1)]).unwrap_err();
        assert_eq!(
            text,
            "input `n`: `normal` is for real numbers, the element type is i32"
        );
        let text = run(&[], &[("B", 1 << 30)]).unwrap_err();
        assert_eq!(
            text,
            "input `x`: too little memory: needs 4294967296 bytes, limit 1048576"
        );
        assert!(
            run(&[], &[])
                .unwrap_err()
                .starts_with("extent `B` has no value")
        );
    }
}
