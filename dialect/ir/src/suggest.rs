//! "Did you mean": the candidate nearest to a misspelt word.

/// Longer words are not compared, so that a hostile input costs nothing.
const LONGEST: usize = 64;

/// The number of names of an input that are compared with one: a hundred mistakes, each with as many names, still take
/// negligible time.
pub const MOST_COMPARED: usize = 1_000;

/// The nearest candidate if it is near: at most a third of the word's letters are inserted, deleted or replaced, or
/// swapped with their neighbour. The first of equals wins.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .filter(|c| c.len() <= LONGEST && c.len().abs_diff(word.len()) <= 4 * limit)
        .map(|c| (strsim::osa_distance(word, c), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// [`nearest`] among the names of an input, sorted so that the suggestion does not depend on hashes. `None` if there
/// are too many names.
pub fn nearest_name<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut names: Vec<&str> = names.take(MOST_COMPARED + 1).collect();
    if names.len() > MOST_COMPARED {
        return None;
    }
    names.sort_unstable();
    nearest(word, names.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_within_a_third() {
        let words = ["dims", "shape", "keepdim"];
        let near = |w| nearest(w, words.into_iter());
        assert_eq!(near("dim"), Some("dims"));
        assert_eq!(near("shpe"), Some("shape"));
        assert_eq!(near("keepdims"), Some("keepdim"));
        assert_eq!(near("predicate"), None);
        assert_eq!(near(""), None);
        assert_eq!(near("dmis"), Some("dims"));
        assert_eq!(near("hsaep"), None);
    }
}
