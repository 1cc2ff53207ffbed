//! The diagnostic codes of lexer (FIR00xx), parser (FIR01xx) and limits (FIR09xx).
//!
//! A code is never reused. Each has an example; the tests check that the example gives the code.

/// Declares the codes of a table, each as a constant, and the list of them, `CODES`: name, code, title, explanation,
/// example.
#[macro_export]
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $title:literal, $explanation:literal, $example:expr;)*) => {
        $($(#[$doc])* #[doc = concat!($code, ": ", $title)]
        pub const $name: $crate::diag::CodeDef = $crate::diag::CodeDef {
            code: $code,
            title: $title,
            explanation: $explanation,
            example: $example,
        };)*
        /// All of them.
        pub static CODES: &[$crate::diag::CodeDef] = &[$($name),*];
    };
}

codes! {
    BAD_CHARACTER = "FIR0001", "character that begins no token",
        "Text outside strings and comments is made of names, numbers and the marks of the grammar. Comments begin with `//`.",
        "module {\n  ;\n}";
    OPEN_STRING = "FIR0002", "string without an end",
        "A string ends with `\"` on the line where it begins; a line break inside is written `\\n` or `\\0A`.",
        "\"test.op\"() {k = \"abc} : () -> ()";
    OPEN_BRACKET = "FIR0003", "bracket without an end",
        "The body of a type or attribute that is kept as text must have matching brackets.",
        "\"test.op\"() {k = #foo.bar<[1>} : () -> ()";
    BAD_STRING = "FIR0004", "string that is no text",
        "In strings, `\\\\`, `\\\"`, `\\n`, `\\t` and two hexadecimal digits after `\\` stand for a byte. The bytes must be UTF-8.",
        "\"test.op\"() {k = \"\\zz\"} : () -> ()";
    UNEXPECTED = "FIR0101", "unexpected token",
        "The grammar is in docs/language.md. In custom form an operation is `results = dialect.op @symbol (signature) operands \
         clauses {attributes} {region} : types loc(...)`, each part where the operation has it.",
        "\"test.op\" : () -> ()";
    OPEN_REGION = "FIR0102", "region without an end",
        "Each `{` needs its `}`. The place is the innermost region that is still open at the end of the file; the missing brace \
         may belong to a region inside it.",
        "module {";
    STRAY_BRACE = "FIR0103", "`}` that closes nothing",
        "There are more `}` than `{` up to this place.",
        "module {\n}\n}";
    UNKNOWN_OP = "FIR0104", "unknown operation",
        "No dialect has an operation of this name. Operations of unknown dialects can be written in generic form, `\"a.b\"(...)`.",
        "fusion.no_such_operation";
    UNREGISTERED = "FIR0105", "operation of an unknown dialect",
        "The generic form may name any operation, but unknown ones are mostly misspelt, so they must be allowed explicitly: \
         `--allow-unregistered-dialect`.",
        "\"test.op\"() : () -> ()";
    UNDEFINED_VALUE = "FIR0106", "undefined value",
        "Nothing defines the name in this region or around it. An isolated region (a program, a function) sees no names of the \
         outside, and names of an inner region are not seen after its end.",
        "\"builtin.module\"(%x) ({}) : (f32) -> ()";
    REDEFINITION = "FIR0107", "name defined twice",
        "A value name is unique in its region and the regions inside it.",
        "%0 = \"test.op\"() : () -> f32\n%0 = \"test.op\"() : () -> f32";
    RESULT_NAMES = "FIR0108", "wrong number of result names",
        "To the left of `=` stands a name for each result, or `%name:count` for several at once. All may be left out.",
        "%a, %b = \"test.op\"() : () -> f32";
    EARLY_USE = "FIR0109", "value used before its definition, type unknown",
        "In custom form the types of operands are known from their definitions. Where the definition comes later, the result \
         types of the operation must be written.",
        "%a = fusion.exp %b\n%b = fusion.constant value 0.5 : f32";
    UNKNOWN_TYPE = "FIR0110", "unknown type",
        "Types are `f32`, `tensor<..>`, `vector<..>`, `memref<..>`, `tuple<..>`, `(..) -> ..`, `none`, dialect types `!a.b` and \
         aliases `!a`.",
        "%0 = \"test.op\"() : () -> f23";
    BAD_SHAPE = "FIR0111", "malformed shape",
        "A shape is a list of extents, each followed by `x`, then the element type. An extent is a number, a named extent in \
         brackets, or `?`; before it `b` makes a broadcast axis.",
        "%0 = \"test.op\"() : () -> tensor<4xB xf32>";
    BAD_ATTRIBUTE = "FIR0112", "malformed attribute",
        "The literal does not fit its type, or is no attribute.",
        "\"test.op\"() {k = 300 : i8} : () -> ()";
    DUPLICATE_ATTRIBUTE = "FIR0114", "attribute given twice",
        "A clause is an attribute: one name, one value.",
        "\"test.op\"() {k = 1, k = 2} : () -> ()";
    UNDEFINED_BLOCK = "FIR0115", "undefined block",
        "A successor is a block of the same region.",
        "module {\n  \"test.br\"()[^bb1] : () -> ()\n}";
    BLOCK_REDEFINITION = "FIR0116", "block defined twice",
        "A block name is unique in its region.",
        "module {\n^a:\n^a:\n}";
    BAD_ALIAS = "FIR0117", "alias undefined, defined twice, circular or misplaced",
        "Aliases (`#a = ...`, `!t = ...`) stand at the top of a file, outside all regions, once each; they may be used before.",
        "\"test.op\"() {k = #a} : () -> ()";
    OPERAND_TYPES = "FIR0118", "written operand types do not fit the operands",
        "The generic form states a type for each operand; it must be the one of the value.",
        "%0 = \"test.op\"() : () -> f32\n\"test.op\"(%0) : (f64) -> ()";
    BAD_LOCATION = "FIR0120", "malformed location",
        "Locations are `loc(\"file\":line:column)`, `loc(\"name\")`, `loc(\"name\"(child))`, `loc(callsite(a at b))`, \
         `loc(fused[a, b])`, `loc(unknown)`.",
        "\"test.op\"() : () -> () loc(nowhere)";
    NOT_IN_FORM = "FIR0121", "part that the operation's custom form does not have",
        "A symbol, a signature or a region can only be written where the operation's table has it.",
        "module (%a: f32) {\n}";
    REGION_ORDER = "FIR0122", "region in the wrong place",
        "Regions follow each other in the order of the operation's table; one that may be left out is preceded by its name.",
        "module {\n} otherwise {\n}";
    RESULT_NUMBER = "FIR0123", "no such result",
        "`%r#n` is result `n`, counted from 0, of what `%r:count = ...` defines.",
        "%r:2 = \"test.op\"() : () -> (f32, f32)\n\"test.op\"(%r#2) : (f32) -> ()";
    LIMIT_SOURCE = "FIR0901", "input too large",
        "A file may have 256 MiB.", "";
    LIMIT_REGIONS = "FIR0902", "regions nested too deep",
        "Regions may lie 10,000 deep inside each other.", "";
    LIMIT_NESTING = "FIR0903", "brackets, types or attributes nested too deep",
        "Types and attributes may lie 256 deep inside each other, aliases included.", "";
    LIMIT_OPS = "FIR0904", "too many operations",
        "A module may have 16,777,216 operations.", "";
    LIMIT_OPERANDS = "FIR0905", "too many operands, results, attributes or block arguments",
        "An operation may have 65,535 of each.", "";
    LIMIT_SHAPE = "FIR0906", "shape too large",
        "A tensor may have 32 axes; the number of elements along its static axes fits 63 bits; a named extent has at most 64 parts.",
        "%0 = \"test.op\"() : () -> tensor<4294967296x4294967296xf32>";
    LIMIT_INTEGER = "FIR0907", "integer literal too large",
        "An integer literal has at most 128 bits.",
        "\"test.op\"() {k = 999999999999999999999999999999999999999999 : i64} : () -> ()";
    LIMIT_TEXT = "FIR0908", "name or string too long",
        "A name may have 4 KiB, a string 16 MiB.", "";
    LIMIT_DENSE = "FIR0909", "too many elements",
        "A dense attribute that is no splat may have 67,108,864 elements.", "";
    LIMIT_PARTS = "FIR0910", "type or attribute too large",
        "A type, attribute or location may have 1,048,576 parts when its aliases are written out.", "";
    LIMIT_ERRORS = "FIR0911", "too many errors",
        "The parser gives up after 100 errors.", "";
}
