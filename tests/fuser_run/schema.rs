//! Conformity of the tools' JSON output with the schemas of docs/schemas.

use serde_json::{Value, json};

/// The schema called `name`.
fn schema(name: &str) -> Value {
    let path = format!(
        "{}/docs/schemas/{name}.schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the checker does not know type {other}"),
    }
}

/// The faults of `value`, by the part of JSON Schema that the report's schema uses.
fn faults(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root
            .pointer(reference.trim_start_matches('#'))
            .expect("a reference that is there");
        return faults(root, target, value, at, found);
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        found.push(format!("{at}: {value} is none of {words:?}"));
    }
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|t| has_type(value, t)) {
        found.push(format!("{at}: {value} is no {}", types.join(" or ")));
    }
    // Only an object has fields to require.
    let required = schema.get("required").filter(|_| value.is_object());
    for name in required.and_then(Value::as_array).into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            found.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let known = schema.pointer("/properties").and_then(|p| p.get(name));
        match known.or(schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => found.push(format!("{at}: {name} is not in the schema")),
            Some(inner) => faults(root, inner, field, &format!("{at}.{name}"), found),
            None => {}
        }
    }
    if let Some(items) = schema.get("items") {
        for (i, item) in value.as_array().into_iter().flatten().enumerate() {
            faults(root, items, item, &format!("{at}[{i}]"), found);
        }
    }
}

/// The faults of a report.
pub fn check(value: &Value) -> Vec<String> {
    against("report", value)
}

/// The faults of `value` by the schema called `name`.
pub fn against(name: &str, value: &Value) -> Vec<String> {
    let (schema, mut found) = (schema(name), Vec::new());
    faults(&schema, &schema, value, name, &mut found);
    found
}

fn segment_report() -> Value {
    json!({
        "program": "f",
        "segments": [{
            "name": "s0", "label": "exp", "kind": "kernel", "ops": ["%y"], "sweeps": 1, "read_bytes": "2048*B", "write_bytes": 4,
            "values": [{ "name": "%x", "access": "read", "bytes": "2048*B" }],
        }],
        "crossing": [{ "value": "%h", "from": "s0", "to": "s1", "bytes": 4 }],
        "read_bytes": "2048*B", "write_bytes": 4, "total_bytes": "2048*B + 4", "crossing_bytes": 4,
    })
}

#[test]
fn the_schema_takes_reports_and_nothing_else() {
    assert_eq!(check(&segment_report()), [] as [String; 0]);
    let mut wrong = segment_report();
    wrong["segments"][0]["kind"] = json!("kernle");
    wrong["segments"][0]["sweeps"] = json!("one");
    wrong["crossing"][0]["extra"] = json!(1);
    wrong.as_object_mut().unwrap().remove("total_bytes");
    let faults = check(&wrong);
    assert_eq!(faults.len(), 4, "{faults:?}");
}
