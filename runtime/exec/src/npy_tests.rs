//! Round trips, foreign layouts, and every way in which a file can be wrong.

use super::*;
use crate::element;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn write_file(path: &Path, tensor: &HostTensor) {
    write(&mut File::create(path).unwrap(), tensor).unwrap();
}

fn heap() -> Heap {
    Heap::with_limit(1 << 20)
}

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn simple(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy(
        &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"),
        data,
    )
}

/// The message without the folder's name.
fn message(folder: &Folder, bytes: &[u8], dtype: DType) -> String {
    let path = folder.file("x.npy", bytes);
    let text = read(&path, dtype, &heap()).unwrap_err().to_string();
    let prefix = format!("{}: ", path.display());
    text.strip_prefix(&prefix).unwrap().to_string()
}

#[test]
fn every_type_and_shape_round_trips() {
    let folder = Folder::new();
    for dtype in DType::ALL {
        for extents in [
            vec![],
            vec![0],
            vec![1],
            vec![7],
            vec![3, 0, 2],
            vec![2, 3, 5],
        ] {
            let axes: Vec<Axis> = extents.into_iter().map(Axis::stored).collect();
            let mut tensor = HostTensor::zeros(&heap(), dtype, &axes).unwrap();
            let elements = tensor.bytes_mut().chunks_exact_mut(dtype.bytes());
            for (i, element) in elements.enumerate() {
                let value = i128::from(i % 2 == 1) * (i as i128 - 9);
                element.copy_from_slice(element::from_int(dtype, value).as_bytes());
            }
            let path = folder.path("x.npy");
            write_file(&path, &tensor);
            let back = read(&path, dtype, &heap()).unwrap();
            assert_eq!(
                (back.bytes(), back.axes()),
                (tensor.bytes(), &axes[..]),
                "{dtype}"
            );
        }
    }
}

#[test]
fn a_broadcast_axis_is_written_out() {
    let folder = Folder::new();
    let axes = [Axis::stored(2), Axis::broadcast(3)];
    let tensor = HostTensor::from_bytes(&heap(), DType::U8, &axes, &[4, 9]).unwrap();
    write_file(&folder.path("x.npy"), &tensor);
    let back = read(&folder.path("x.npy"), DType::U8, &heap()).unwrap();
    assert_eq!(back.bytes(), [4, 4, 4, 9, 9, 9]);
    assert_eq!(back.axes(), [Axis::stored(2), Axis::stored(3)]);
}

#[test]
fn foreign_layouts_are_converted() {
    let folder = Folder::new();
    let big: Vec<u8> = [1i32, -2].iter().flat_map(|v| v.to_be_bytes()).collect();
    let path = folder.file("big.npy", &simple(">i4", "(2,)", &big));
    let values: Vec<f64> = read(&path, DType::I32, &heap()).unwrap().values().collect();
    assert_eq!(values, [1.0, -2.0]);

    let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
    let path = folder.file("fortran.npy", &npy(header, &[0, 1, 2, 3, 4, 5]));
    let tensor = read(&path, DType::U8, &heap()).unwrap();
    assert_eq!(tensor.bytes(), [0, 2, 4, 1, 3, 5]);

    let path = folder.file("bool.npy", &simple("|b1", "(3,)", &[0, 1, 7]));
    assert_eq!(read(&path, DType::I1, &heap()).unwrap().bytes(), [0, 1, 1]);

    for descr in ["<V2", "|V2", "<u2"] {
        let path = folder.file("bf16.npy", &simple(descr, "()", &[0x80, 0x3f]));
        let values: Vec<f64> = read(&path, DType::Bf16, &heap())
            .unwrap()
            .values()
            .collect();
        assert_eq!(values, [1.0]);
    }

    let mut second = simple("<f4", "(1,)", &1.5f32.to_le_bytes());
    second.splice(
        6..10,
        [2, 0].into_iter().chain((second[8] as u32).to_le_bytes()),
    );
    let path = folder.file("v2.npy", &second);
    let values: Vec<f64> = read(&path, DType::F32, &heap()).unwrap().values().collect();
    assert_eq!(values, [1.5]);
}

#[test]
fn wrong_files_are_errors_that_say_what_was_expected() {
    let folder = Folder::new();
    let f32 = DType::F32;
    assert_eq!(message(&folder, b"", f32), "not a .npy file");
    assert_eq!(
        message(&folder, b"PK\x03\x04 a zip file", f32),
        "not a .npy file"
    );
    let text = message(&folder, &simple("<f8", "(1,)", &[0; 8]), f32);
    assert_eq!(text, "element type '<f8', expected f32");
    let text = message(&folder, &simple("<i8", "(1,)", &[0; 8]), DType::Bf16);
    assert_eq!(text, "element type '<i8', expected bf16");
    let text = message(&folder, &simple("<f4", "(2, 3)", &[0; 23]), f32);
    assert_eq!(text, "23 bytes of data, expected 24 for shape 2x3");
    let text = message(&folder, &simple("<f4", "(2,)", &[0; 9]), f32);
    assert_eq!(text, "9 bytes of data, expected 8 for shape 2");
    let text = message(
        &folder,
        &simple("<f4", &format!("({})", "1, ".repeat(33)), &[]),
        f32,
    );
    assert_eq!(text, "33 axes, at most 32 are possible");
    let huge = message(
        &folder,
        &simple("<f4", "(4611686018427387904, 8)", &[]),
        f32,
    );
    let expected = "too little memory: the size of a tensor of shape 4611686018427387904x8 does not fit 63 bits";
    assert_eq!(huge, expected);
    let mut third = simple("<f4", "()", &[0; 4]);
    third[6] = 3;
    assert_eq!(
        message(&folder, &third, f32),
        "format version 3.0, expected 1.0 or 2.0"
    );
    let long = message(&folder, &npy(&" ".repeat(10_001), &[]), f32);
    assert_eq!(long, "a header of 10001 bytes, at most 10000 are read");
    let missing = read(&folder.path("no.npy"), f32, &heap()).unwrap_err();
    assert!(
        missing.to_string().contains("no.npy: No such file"),
        "{missing}"
    );
}

#[test]
fn a_claim_of_much_data_allocates_nothing() {
    let folder = Folder::new();
    let heap = Heap::with_limit(0);
    let path = folder.file("x.npy", &simple("<f4", "(1000000000,)", &[0; 4]));
    let error = read(&path, DType::F32, &heap).unwrap_err().to_string();
    assert!(
        error.ends_with("4 bytes of data, expected 4000000000 for shape 1000000000"),
        "{error}"
    );
}

#[test]
fn every_truncation_and_changed_byte_is_an_error_or_a_tensor() {
    let folder = Folder::new();
    let whole = simple("<f4", "(2, 3)", &[0; 24]);
    for end in 0..whole.len() {
        let path = folder.file("x.npy", &whole[..end]);
        assert!(read(&path, DType::F32, &heap()).is_err(), "{end}");
    }
    for position in 0..whole.len() - 24 {
        for byte in [0, b'9', b'(', b'\'', 0xff] {
            let mut changed = whole.clone();
            changed[position] = byte;
            let path = folder.file("x.npy", &changed);
            if let Ok(tensor) = read(&path, DType::F32, &heap()) {
                assert_eq!(tensor.bytes().len(), 24);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_unopened() {
    let folder = Folder::new();
    let pipe = folder.path("pipe.npy");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for path in [pipe.as_path(), folder.0.path(), Path::new("/dev/zero")] {
        let error = read(path, DType::F32, &heap()).unwrap_err().to_string();
        assert!(error.ends_with(": not a regular file"), "{error}");
    }
}
