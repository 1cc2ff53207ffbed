//! No file names the host of a package registry: the origin of packages is for the tools to know and for the user to
//! set.

use crate::{Violation, assert_none, files};

/// Written in pieces, so that this file keeps its own rule.
const HOSTS: [&str; 9] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npmjs", "."),
    concat!("ruby", "gems.org"),
    concat!("anaconda", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("deb.debian", ".org"),
    concat!("apt.llvm", ".org"),
];

#[test]
fn no_registry_hosts() {
    let broken = |file: &String| named_hosts(file, &files::read(file));
    let violations: Vec<Violation> = files::texts().iter().flat_map(broken).collect();
    assert_none(&violations);
}

fn named_hosts(file: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        for host in HOSTS.iter().filter(|host| line.contains(**host)) {
            violations.push(Violation::new(
                file,
                number,
                format!("names the host `{host}`"),
            ));
        }
    }
    violations
}

#[test]
fn a_named_host_is_seen() {
    let text = format!("fine\nsee {}/x", HOSTS[0]);
    let lines: Vec<usize> = named_hosts("x.md", &text).iter().map(|v| v.line).collect();
    assert_eq!(lines, [2]);
}
