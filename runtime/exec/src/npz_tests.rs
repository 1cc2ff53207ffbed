//! Round trips, and archives that say something else than they hold.

use super::*;
use crate::tensor::Axis;

fn heap() -> Heap {
    Heap::with_limit(1 << 16)
}

/// A compressed member `x.npy` of f32 zeros, with other bytes behind them.
fn compressed(elements: usize, more: usize) -> Vec<u8> {
    let axes = [Axis::stored(elements)];
    let tensor = HostTensor::zeros(&Heap::with_limit(1 << 24), DType::F32, &axes).unwrap();
    let mut contents = Vec::new();
    npy::write(&mut contents, &tensor).unwrap();
    contents.resize(contents.len() + more, 0);
    let mut bytes = Vec::new();
    let mut archive = ZipWriter::new_stream(&mut bytes);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    archive.start_file("x.npy", options).unwrap();
    archive.write_all(&contents).unwrap();
    archive.finish().unwrap();
    bytes
}

/// The archive with another length of its member in the directory at its end.
fn lying(mut bytes: Vec<u8>, length: u32) -> Vec<u8> {
    let directory = bytes
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .unwrap();
    bytes[directory + 24..directory + 28].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn message(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    std::fs::write(&path, bytes).unwrap();
    let text = read(&path, "x.npy", DType::F32, &heap())
        .unwrap_err()
        .to_string();
    let prefix = format!("{}/x.npy: ", path.display());
    text.strip_prefix(&prefix).unwrap().to_owned()
}

#[test]
fn archives_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let axes = [Axis::stored(2), Axis::stored(3)];
    let values = [1.0, -2.0, 3.0, 0.5, 0.25, 6.0];
    let tensors = [DType::F32, DType::Bf16, DType::F4E2M1FN, DType::I64]
        .map(|dtype| HostTensor::from_f64(&heap(), dtype, &axes, &values).unwrap());
    let names = ["a.npy", "b.npy", "c.npy", "d.npy"];
    write(
        File::create(&path).unwrap(),
        names.into_iter().zip(&tensors),
    )
    .unwrap();
    assert_eq!(members(&path).unwrap(), names);
    for (name, tensor) in names.into_iter().zip(&tensors) {
        let back = read(&path, name, tensor.dtype(), &heap()).unwrap();
        assert_eq!(back.bytes(), tensor.bytes());
        assert_eq!(back.axes(), tensor.axes());
    }
    let none = read(&path, "e.npy", DType::F32, &heap())
        .unwrap_err()
        .to_string();
    assert!(
        none.ends_with("a.npz/e.npy: not a .npz archive: specified file not found in archive"),
        "{none}"
    );
}

#[test]
fn a_member_takes_no_more_than_it_says_and_than_there_is() {
    // 4 MiB of zeros in a few kilobytes: refused by what the heap may have, before it is unpacked.
    let bomb = compressed(1 << 20, 0);
    assert!(bomb.len() < 1 << 14);
    assert_eq!(
        message(&bomb),
        "too little memory: needs 4194304 bytes, limit 65536"
    );
    // A member that unpacks to more than it says, whether that fits the header of the array or not.
    let larger = "File is larger than its declared uncompressed size";
    assert_eq!(message(&lying(bomb, 128 + 64)), larger);
    assert_eq!(message(&lying(compressed(4, 1 << 20), 128 + 16)), larger);
    // One that unpacks to less.
    let shorter = message(&lying(compressed(4, 0), 128 + 20));
    assert_eq!(shorter, "20 bytes of data, expected 16 for shape 4");
}

#[test]
fn damaged_archives_are_errors() {
    let whole = compressed(4, 0);
    assert!(message(b"").starts_with("not a .npz archive: "));
    for at in 0..whole.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        std::fs::write(&path, &whole[..at]).unwrap();
        assert!(members(&path).is_err(), "{at} bytes");
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&path, &damaged).unwrap();
        // Another name, another date: what comes is whole all the same.
        if let Ok(tensor) = read(&path, "x.npy", DType::F32, &heap()) {
            assert_eq!(tensor.bytes(), [0; 16], "byte {at}");
        }
    }
    assert!(members(Path::new("/")).is_err());
}
