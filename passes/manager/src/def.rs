//! The declaration of a pass: a plain table entry, from which pipelines, help, docs and tests are derived.

use fuser_ir::Diagnostics;

use crate::context::PassContext;

/// The body of a pass, run on one op.
pub type RunFn = fn(&mut PassContext<'_>) -> Result<(), Diagnostics>;

/// A pass.
#[derive(Debug)]
pub struct PassDef {
    /// Name in pipelines and, after `--`, on the command line: `inline-tasks`.
    pub name: &'static str,
    /// A few words.
    pub summary: &'static str,
    /// Description, guarantees, and IR before and after. Markdown.
    pub doc: &'static str,
    /// Names of the ops it may run on; empty: any op.
    pub anchor: &'static [&'static str],
    /// The op of which there must be one, so that it has something to do: made by a pass before it, or of the program.
    /// Empty: none.
    pub works_on: &'static str,
    /// The op that it makes and others work on. Empty: none.
    pub makes: &'static str,
    /// Options.
    pub options: &'static [OptionDef],
    /// Statistics.
    pub statistics: &'static [StatDef],
    /// Left out of lists: passes that exist for the tests of the tool.
    pub hidden: bool,
    /// Runs it.
    pub run: RunFn,
}

impl PassDef {
    /// A pass that does nothing, to be completed: `PassDef { name: ..., ..PassDef::EMPTY }`.
    pub const EMPTY: PassDef = PassDef {
        name: "",
        summary: "",
        doc: "",
        anchor: &[],
        works_on: "",
        makes: "",
        options: &[],
        statistics: &[],
        hidden: false,
        run: |_| Ok(()),
    };

    /// True if it may run on ops called `name`.
    pub fn runs_on(&self, name: &str) -> bool {
        self.anchor.is_empty() || self.anchor.contains(&name)
    }
    /// The option called `name`, with its index.
    pub fn option(&self, name: &str) -> Option<(usize, &'static OptionDef)> {
        let mut all = self.options.iter().enumerate();
        all.find(|(_, option)| option.name == name)
    }
    /// The index of a statistic.
    pub fn statistic(&self, name: &str) -> Option<usize> {
        self.statistics.iter().position(|s| s.name == name)
    }
}

/// An option of a pass.
#[derive(Clone, Copy, Debug)]
pub struct OptionDef {
    /// Name: `max-iterations`.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: OptionKind,
    /// The default, as it would be written.
    pub default: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// The kind of an option's value.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// `true` or `false`; the name alone means `true`.
    Bool,
    /// An integer within bounds.
    Int {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// Any text.
    Text,
    /// One of the listed words.
    Choice(&'static [&'static str]),
    /// Words separated by commas.
    List,
    /// Text that a check admits; the error says what is wrong with it.
    Checked {
        /// For help: `<target>`.
        what: &'static str,
        /// The check.
        check: fn(&str) -> Result<(), String>,
    },
}

impl OptionKind {
    /// Any integer from 0.
    pub const COUNT: Self = OptionKind::Int {
        min: 0,
        max: i64::MAX,
    };

    /// For help: `<int>`, `row|column`.
    pub fn placeholder(self) -> String {
        match self {
            OptionKind::Bool => "true|false".into(),
            OptionKind::Int { .. } => "<int>".into(),
            OptionKind::Text => "<text>".into(),
            OptionKind::Choice(words) => words.join("|"),
            OptionKind::List => "<a,b,...>".into(),
            OptionKind::Checked { what, .. } => what.into(),
        }
    }
}

/// A counter that a pass keeps.
#[derive(Clone, Copy, Debug)]
pub struct StatDef {
    /// Name: `ops-erased`.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// A named pipeline: a flag of its own (`--fuse`) and a name usable in pipeline text.
#[derive(Debug)]
pub struct PipelineDef {
    /// Name.
    pub name: &'static str,
    /// A few words.
    pub summary: &'static str,
    /// The op it runs on.
    pub anchor: &'static str,
    /// The elements inside the anchor: `task.program(preseg,segment)`.
    pub text: &'static str,
}
