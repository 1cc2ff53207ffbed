//! Predicates: tests that decide if a program is still interesting.

/// The answer of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestResult {
    /// The program still shows what is looked for.
    Interesting,
    /// It does not.
    Boring,
    /// It took too long, which counts as not.
    TimedOut,
    /// Nobody wanted to know any more.
    Cancelled,
}

/// A test of programs. It is called from several threads at once, and must give equal results for equal texts.
pub trait Predicate: Sync {
    /// Tests the program `text`. Gives up soon after `cancelled` says so. An error ends the reduction: the test itself
    /// cannot be run.
    fn test(&self, text: &str, cancelled: &(dyn Fn() -> bool + Sync))
    -> Result<TestResult, String>;
}

/// A function of the text: for use of the reducer as a library.
#[derive(Debug)]
pub struct OnText<F>(pub F);

impl<F: Fn(&str) -> bool + Sync> Predicate for OnText<F> {
    fn test(
        &self,
        text: &str,
        _cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<TestResult, String> {
        Ok(match (self.0)(text) {
            true => TestResult::Interesting,
            false => TestResult::Boring,
        })
    }
}
