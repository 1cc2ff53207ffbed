//! Types as a program writes them: extents that are numbers, names, or sums and products of names.

use std::collections::BTreeMap;
use std::fmt;

use fuser_ir::DType;

/// An extent: a polynomial of names, or an unknown one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// The factor of each product of names; names are sorted.
    Sum(BTreeMap<Vec<&'static str>, u64>),
    /// `?`
    Unknown,
}

impl Extent {
    /// A number.
    pub fn fixed(n: u64) -> Self {
        Self::Sum(BTreeMap::from([(Vec::new(), n)]))
    }
    /// A name.
    pub fn named(name: &'static str) -> Self {
        Self::Sum(BTreeMap::from([(vec![name], 1)]))
    }
    /// The number, if it is one.
    pub fn number(&self) -> Option<u64> {
        let Self::Sum(terms) = self else { return None };
        match terms.iter().collect::<Vec<_>>().as_slice() {
            [] => Some(0),
            [(names, n)] if names.is_empty() => Some(**n),
            _ => None,
        }
    }
    /// Its length for these lengths of names; none of `?`.
    pub fn length(&self, names: &[(&'static str, u64)]) -> Option<u64> {
        let Self::Sum(terms) = self else { return None };
        let value = |name: &&str| names.iter().find(|(n, _)| n == name).map(|(_, l)| *l);
        let product = |(list, n): (&Vec<&'static str>, &u64)| {
            list.iter()
                .map(value)
                .try_fold(*n, |all, one| Some(all * one?))
        };
        terms.iter().map(product).sum()
    }
    fn of(terms: BTreeMap<Vec<&'static str>, u64>) -> Self {
        let mut terms = terms;
        terms.retain(|names, n| *n != 0 || names.is_empty());
        if terms.len() > 1 && terms.get(&Vec::new()) == Some(&0) {
            terms.remove(&Vec::new());
        }
        Self::Sum(terms)
    }
    /// The sum; unknown if either is.
    pub fn plus(&self, other: &Self) -> Self {
        let (Self::Sum(a), Self::Sum(b)) = (self, other) else {
            return Self::Unknown;
        };
        let mut terms = a.clone();
        for (names, n) in b {
            *terms.entry(names.clone()).or_default() += n;
        }
        Self::of(terms)
    }
    /// The product; unknown if either is.
    pub fn times(&self, other: &Self) -> Self {
        let (Self::Sum(a), Self::Sum(b)) = (self, other) else {
            return Self::Unknown;
        };
        let mut terms: BTreeMap<Vec<&'static str>, u64> = BTreeMap::new();
        for (left, n) in a {
            for (right, m) in b {
                let mut names: Vec<_> = left.iter().chain(right).copied().collect();
                names.sort_unstable();
                *terms.entry(names).or_default() += n * m;
            }
        }
        Self::of(terms)
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Sum(terms) = self else {
            return f.write_str("?");
        };
        if let Some(n) = self.number() {
            return write!(f, "{n}");
        }
        let products = terms.iter().rev().map(|(names, n)| {
            let factor = (*n != 1 || names.is_empty()).then(|| n.to_string());
            let parts: Vec<String> = factor
                .into_iter()
                .chain(names.iter().map(|name| (*name).to_owned()))
                .collect();
            parts.join("*")
        });
        write!(f, "[{}]", products.collect::<Vec<_>>().join("+"))
    }
}

/// An axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dim {
    /// As it is written.
    pub extent: Extent,
    /// As the inputs make it.
    pub length: u64,
    /// True if it is stored once.
    pub broadcast: bool,
}

impl Dim {
    /// A plain axis with a number for an extent.
    pub fn fixed(n: u64) -> Self {
        Self {
            extent: Extent::fixed(n),
            length: n,
            broadcast: false,
        }
    }
    /// The axis, stored element by element.
    pub fn plain(&self) -> Self {
        Self {
            broadcast: false,
            ..self.clone()
        }
    }
    /// The same extent, stored once.
    pub fn once(&self) -> Self {
        Self {
            broadcast: true,
            ..self.clone()
        }
    }
    /// True if the program states the extent as 1.
    pub fn is_one(&self) -> bool {
        self.extent.number() == Some(1)
    }
    /// True if two axes agree.
    pub fn agrees(&self, other: &Self) -> bool {
        self.extent == other.extent && self.extent != Extent::Unknown
    }
    /// An axis as long as both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            extent: self.extent.plus(&other.extent),
            length: self.length + other.length,
            broadcast: false,
        }
    }
    /// An axis of all pairs.
    pub fn times(&self, other: &Self) -> Self {
        Self {
            extent: self.extent.times(&other.extent),
            length: self.length * other.length,
            broadcast: false,
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let b = if self.broadcast { "b" } else { "" };
        write!(f, "{b}{}", self.extent)
    }
}

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Type {
    /// Element type.
    pub dtype: DType,
    /// Axes; none of a scalar.
    pub dims: Vec<Dim>,
    /// A scalar type, not a tensor of rank 0.
    pub scalar: bool,
    /// The order of the axes in memory, where it is written.
    pub layout: Option<Vec<usize>>,
}

impl Type {
    /// A row-major tensor.
    pub fn tensor(dtype: DType, dims: Vec<Dim>) -> Self {
        Self {
            dtype,
            dims,
            scalar: false,
            layout: None,
        }
    }
    /// A scalar.
    pub fn scalar(dtype: DType) -> Self {
        Self {
            scalar: true,
            ..Self::tensor(dtype, Vec::new())
        }
    }
    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
    /// The logical number of elements.
    pub fn elements(&self) -> u64 {
        elements(&self.dims)
    }
    /// True if an extent is `?`.
    pub fn is_vague(&self) -> bool {
        self.dims.iter().any(|d| d.extent == Extent::Unknown)
    }
    /// True if the shapes agree, axis by axis.
    pub fn agrees(&self, other: &Self) -> bool {
        let pairs = self.dims.iter().zip(&other.dims);
        self.rank() == other.rank() && pairs.into_iter().all(|(a, b)| a.agrees(b))
    }
}

/// The logical number of elements of a shape.
pub fn elements(dims: &[Dim]) -> u64 {
    dims.iter().map(|d| d.length).product()
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dtype = self.dtype.name();
        if self.scalar {
            return f.write_str(dtype);
        }
        f.write_str("tensor<")?;
        for dim in &self.dims {
            write!(f, "{dim}x")?;
        }
        f.write_str(dtype)?;
        if let Some(layout) = &self.layout {
            write!(f, ", {layout:?}")?;
        }
        f.write_str(">")
    }
}
