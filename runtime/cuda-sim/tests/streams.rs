//! Streams of the simulated device: what is recorded into a graph runs when the graph is launched; devices have nothing in common.

use fuser_cuda_sim::device::{Device, Options, Work};
use fuser_cuda_sim::finding::Code;

fn device(options: &str, ordinal: u32) -> Device {
    Device::numbered(Options::read(options).unwrap(), ordinal)
}

/// Two rows of three words, eight bytes apart from each other's end.
fn rows(to: u64) -> Work {
    Work::Set {
        to,
        pitch: 20,
        pattern: vec![1, 2, 3, 4],
        width: 3,
        height: 2,
    }
}

#[test]
fn a_graph_is_work_for_later() {
    let mut device = device("", 0);
    let (from, to) = (device.allocate(32).unwrap(), device.allocate(32).unwrap());
    let stream = device.create_stream().unwrap();
    device.bytes(from, 32).unwrap().fill(0);
    device.bytes(to, 32).unwrap().fill(0);
    device.begin_capture(stream).unwrap();
    device.submit(stream, rows(from)).unwrap();
    let copy = Work::Copy { to, from, size: 32 };
    device.submit(stream, copy).unwrap();
    let graph = device.end_capture(stream).unwrap();
    assert_eq!(device.bytes(from, 32).unwrap(), [0; 32]);
    let executable = device.instantiate(graph).unwrap();
    device.destroy_graph(graph).unwrap();
    device.launch_graph(executable, 0).unwrap();
    let row = [1, 2, 3, 4].repeat(3);
    let expected = [row.as_slice(), &[0; 8], &row].concat();
    assert_eq!(device.bytes(to, 32).unwrap(), expected);
    device.destroy_executable(executable).unwrap();
    let gone = device.launch_graph(executable, 0).unwrap_err();
    assert_eq!(gone.code, Code::InvalidHandle);
}

#[test]
fn a_recorded_stream_takes_work_only() {
    let mut device = device("", 0);
    let stream = device.create_stream().unwrap();
    let refused = device.begin_capture(0).unwrap_err();
    assert_eq!(refused.code, Code::CaptureUnsupported);
    assert_eq!(
        device.end_capture(stream).unwrap_err().code,
        Code::IllegalState
    );
    device.begin_capture(stream).unwrap();
    for refused in [
        device.stream(stream).unwrap_err(),
        device.begin_capture(stream).unwrap_err(),
        device.allocate(8).unwrap_err(),
    ] {
        assert_eq!(refused.code, Code::CaptureUnsupported);
    }
    // Other streams go on.
    device.stream(0).unwrap();
    device.end_capture(stream).unwrap();
    device.allocate(8).unwrap();
}

#[test]
fn nothing_runs_where_calls_are_counted() {
    let mut device = device("sm_90,count", 0);
    let memory = device.allocate(32).unwrap();
    let before = device.bytes(memory, 32).unwrap().to_vec();
    device.submit(0, rows(memory)).unwrap();
    assert_eq!(device.bytes(memory, 32).unwrap(), before);
}

#[test]
fn devices_have_nothing_in_common() {
    let mut devices = [0, 1].map(|ordinal| device("devices=2", ordinal));
    let memory = devices.each_mut().map(|device| device.allocate(8).unwrap());
    let streams = devices
        .each_mut()
        .map(|device| device.create_stream().unwrap());
    let [first, second] = &mut devices;
    assert!(first.bytes(memory[1], 8).is_err() && second.bytes(memory[0], 8).is_err());
    assert!(first.stream(streams[1]).is_err() && second.stream(streams[0]).is_err());
}
