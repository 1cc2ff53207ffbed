//! `docs/math.md` states the bounds of the table.

use fuser_codegen::math::FUNCTIONS;

#[test]
fn the_bounds_in_the_documentation_are_those_of_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/math.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), FUNCTIONS.len());
    for (row, function) in rows.iter().zip(FUNCTIONS) {
        let bound = |cell: &str| cell.parse::<f64>().unwrap();
        assert_eq!(row[1], format!("`{}`", function.name));
        assert_eq!(
            (bound(row[2]), bound(row[4])),
            function.max_ulp,
            "{}",
            function.name
        );
        assert!(bound(row[3]) <= bound(row[2]), "{}", function.name);
    }
}
