//! Remarks: reports of what a pass did, did not do, and found out, with numbers. Data; rendering and filters are
//! elsewhere.

use fuser_ir::Place;

/// The kinds of LLVM's optimization remarks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RemarkKind {
    /// Done.
    Passed,
    /// Not done, with the reason.
    Missed,
    /// Tried and failed.
    Failed,
    /// Something worth knowing.
    Analysis,
}

impl RemarkKind {
    /// All kinds.
    pub const ALL: [RemarkKind; 4] = [
        RemarkKind::Passed,
        RemarkKind::Missed,
        RemarkKind::Failed,
        RemarkKind::Analysis,
    ];
    /// The word in text and YAML.
    pub const fn name(self) -> &'static str {
        match self {
            RemarkKind::Passed => "Passed",
            RemarkKind::Missed => "Missed",
            RemarkKind::Failed => "Failed",
            RemarkKind::Analysis => "Analysis",
        }
    }
}

/// A number or a word in a remark.
#[derive(Clone, PartialEq, Debug)]
pub enum RemarkValue {
    /// A count, a number of bytes.
    Int(i64),
    /// A ratio, a time.
    Float(f64),
    /// Anything else.
    Text(String),
}

impl std::fmt::Display for RemarkValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RemarkValue::Int(v) => write!(f, "{v}"),
            RemarkValue::Float(v) => write!(f, "{v}"),
            RemarkValue::Text(v) => f.write_str(v),
        }
    }
}

/// One remark.
#[derive(Clone, PartialEq, Debug)]
pub struct Remark {
    /// Kind.
    pub kind: RemarkKind,
    /// The pass; filled in by the context.
    pub pass: &'static str,
    /// Topic, in CamelCase: `Merge`, `ConstantFold`.
    pub name: &'static str,
    /// The program or kernel concerned; filled in by the context.
    pub function: Option<String>,
    /// Place in the program.
    pub place: Place,
    /// Message.
    pub message: String,
    /// Reason.
    pub reason: Option<String>,
    /// Advice.
    pub suggestion: Option<String>,
    /// Metrics in a fixed order.
    pub args: Vec<(&'static str, RemarkValue)>,
}

impl Remark {
    /// A remark of `kind` about `name`.
    pub fn new(
        kind: RemarkKind,
        name: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            pass: "",
            name,
            function: None,
            place,
            message: message.into(),
            reason: None,
            suggestion: None,
            args: Vec::new(),
        }
    }
    /// Says why.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
    /// Says what to do.
    pub fn suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
    /// Adds an integer.
    pub fn int(mut self, key: &'static str, value: i64) -> Self {
        self.args.push((key, RemarkValue::Int(value)));
        self
    }
    /// Adds a real number.
    pub fn float(mut self, key: &'static str, value: f64) -> Self {
        self.args.push((key, RemarkValue::Float(value)));
        self
    }
    /// Adds a word.
    pub fn text(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.args.push((key, RemarkValue::Text(value.into())));
        self
    }
}
