"""Checks lines of JSON, or with --document one text, against the part of JSON Schema that our schemas use: types, fields, constants, enumerations."""

import json
import re
import sys

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def check(schema, value, at, root):
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    assert not types or any(isinstance(value, TYPES[t]) for t in types), f"{at}: {value!r} is no {types}"
    assert "const" not in schema or value == schema["const"], f"{at}: {value!r}"
    assert "enum" not in schema or value in schema["enum"], f"{at}: {value!r}"
    assert "pattern" not in schema or re.search(schema["pattern"], value), f"{at}: {value!r}"
    assert "minimum" not in schema or value is None or value >= schema["minimum"], f"{at}: {value!r}"
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        missing = set(schema.get("required", [])) - set(value)
        assert not missing, f"{at}: without {missing}"
        for key, inner in value.items():
            rest = schema.get("additionalProperties", True)
            assert key in fields or rest is not False, f"{at}: unknown field {key}"
            if key in fields or isinstance(rest, dict):
                check(fields.get(key, rest), inner, f"{at}.{key}", root)
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)), f"{at}: {len(value)} items"
        for index, inner in enumerate(value):
            check(schema.get("items", {}), inner, f"{at}[{index}]", root)


schema = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
lines = [text] if "--document" in sys.argv else text.splitlines()
assert lines, "no lines"
for number, line in enumerate(lines, 1):
    check(schema, json.loads(line), f"line {number}", schema)
print("ok")
