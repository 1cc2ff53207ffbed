//! "Did you mean": the candidate nearest to a misspelt word.

/// Longer words are not compared, so that a hostile input costs nothing.
const LONGEST: usize = 64;

/// The number of names of an input that are compared with one: a hundred mistakes, each with as many names, still take
/// negligible time.
pub const MOST_COMPARED: usize = 1_000;

/// The nearest candidate if it is near: at most a third of the word's letters differ. The first of equals wins.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .filter(|c| c.len() <= LONGEST && c.len().abs_diff(word.len()) <= 4 * limit)
        .map(|c| (distance(word, c), c))
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

/// Edits (insert, delete, replace, swap of neighbours not counted apart) that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
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
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
