//! The book: every page is in its summary, every link leads somewhere, and mdBook builds it without a warning.
//!
//! Reads the pages as text. A link is `](PATH)` or `](PATH#ANCHOR)` outside of code; the path must be in the checkout, the anchor a heading of that
//! page, in the form that mdBook and code hosts make of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

const SUMMARY: &str = "docs/SUMMARY.md";

/// Pages outside of `docs/`.
const OTHERS: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "python/README.md",
    "c/README.md",
    "examples/models/README.md",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages, relative to the root: those of `docs/`, without the summary, and [`OTHERS`].
fn pages() -> BTreeSet<String> {
    let mut pages: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    let mut pending = vec![PathBuf::from("docs")];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            let name = path.display().to_string();
            if root().join(&path).is_dir() {
                pending.push(path);
            } else if name.ends_with(".md") && name != SUMMARY {
                pages.insert(name);
            }
        }
    }
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// The lines outside of fences, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The targets of links, with the numbers of their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let code = Regex::new("`[^`]*`").unwrap();
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = code.replace_all(line, "``");
        links.extend(
            link.captures_iter(&line)
                .map(|found| (number, found[1].to_owned())),
        );
    }
    links.retain(|(_, target)| !target.contains("://"));
    links
}

/// The anchors of a page: headings in lower case, without punctuation, with `-` for spaces, and with a number where there are several.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    let link = Regex::new(r"\[([^\]]*)\]\([^)]*\)").unwrap();
    for (_, line) in prose(text) {
        let level = line.chars().take_while(|c| *c == '#').count();
        if level == 0 || !line[level..].starts_with(' ') {
            continue;
        }
        let heading = link.replace_all(&line[level..], "$1");
        let kept = heading
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.flat_map(char::to_lowercase).collect();
        let anchor = anchor.replace(' ', "-");
        let count = seen.entry(anchor.clone()).or_default();
        anchors.insert(match *count {
            0 => anchor,
            n => format!("{anchor}-{n}"),
        });
        *count += 1;
    }
    anchors
}

/// `path` from the folder of `page`, relative to the root, without `..`.
fn resolve(page: &str, path: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." if !parts.is_empty() => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Links of `text`, the page `page`, that lead nowhere.
fn broken(page: &str, text: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let leads_nowhere = |(line, target): &(usize, String)| {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let there = match path {
            "" => page.to_owned(),
            path => resolve(page, path),
        };
        let found = match there == page {
            true => Some(text.to_owned()),
            false => read(&there),
        };
        match found {
            None => Some(format!("{page}:{line}: there is no {there}")),
            Some(found) if !anchor.is_empty() && !anchors(&found).contains(anchor) => {
                Some(format!("{page}:{line}: {there} has no #{anchor}"))
            }
            Some(_) => None,
        }
    };
    links(text).iter().filter_map(leads_nowhere).collect()
}

/// The text of a file; nothing for a folder or a file of bytes.
fn content(path: &str) -> Option<String> {
    let path = root().join(path);
    path.exists()
        .then(|| fs::read_to_string(path).unwrap_or_default())
}

#[test]
fn every_page_is_in_the_summary_once() {
    let links: Vec<String> = links(&read(SUMMARY))
        .into_iter()
        .map(|(_, target)| resolve(SUMMARY, &target))
        .collect();
    for page in pages() {
        let count = links.iter().filter(|link| **link == page).count();
        assert_eq!(count, 1, "{SUMMARY} has {page} {count} times");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut all = pages();
    all.insert(SUMMARY.to_owned());
    let found: Vec<String> = all
        .iter()
        .flat_map(|page| broken(page, &read(page), content))
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn a_broken_link_is_seen() {
    let text = "# `a.b`, c\n## d\n## d\n[x](#ab-c) [x](#d-1) [x](#d-2)\n[x](../y.md#e) `[x](z)`\n```\n[x](z)\n```\n[x](gone.md)\n[x](https://x/y)\n";
    let read = |path: &str| (path == "y.md").then(|| "# f".to_owned());
    let found = broken("docs/x.md", text, read);
    assert_eq!(
        found,
        [
            "docs/x.md:4: docs/x.md has no #d-2",
            "docs/x.md:5: y.md has no #e",
            "docs/x.md:9: there is no docs/gone.md"
        ]
    );
}

#[test]
fn the_book_is_built_without_warnings() {
    let cached = root().join(".cache/mdbook/bin/mdbook");
    let found = Command::new("mdbook").arg("--version").output().is_ok() || cached.exists();
    if !found {
        return eprintln!("skipped: mdbook not found; the book is not built");
    }
    let output = Command::new("scripts/book.sh")
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{}{text}",
        String::from_utf8_lossy(&output.stdout)
    );
    for page in [
        "index.html",
        "docs/tutorial.html",
        "python/notebooks/first_program.html",
    ] {
        assert!(root().join("target/book").join(page).exists(), "{page}");
    }
}
