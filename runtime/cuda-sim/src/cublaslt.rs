//! The safe part of the cuBLASLt entry points that the runtime calls: descriptions, the choice of an algorithm, and the
//! computation.
//!
//! The checks are those of NVIDIA's documentation of cuBLAS ("Using the cuBLASLt API": the type tables of
//! `cublasLtMatmul`, and the text on each argument). They cover leading dimensions, batches, combinations of types, and
//! the pointer alignment promised in the preferences. A workspace must be aligned to 256 bytes and as large as the
//! algorithm requires.
//!
//! Choices that the documentation leaves open are as unfavorable here as permitted:
//!
//! - Sums of at least four terms are split in two if the workspace allows it; shorter ones use no workspace.
//! - Halves are stored in the type of the result unless the preferences forbid that.
//! - 16-bit floats are multiplied as on tensor cores (`matrix`), other types are added in order.
//! - A workspace that overlaps another tensor is overwritten.

use std::collections::BTreeMap;

use half::{bf16, f16};

use crate::device::{Device, Handle};
use crate::matrix::accumulate;

/// The codes of cuBLAS that the simulator gives (`cublasStatus_t`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// There is no library, or no such handle.
    NotInitialized = 1,
    /// An argument is out of range, or arguments contradict each other.
    InvalidValue = 7,
    /// The device refuses the work.
    ExecutionFailed = 13,
    /// No algorithm computes this.
    NotSupported = 15,
}

type Result<T> = std::result::Result<T, Status>;

/// Element types of matrices (`cudaDataType_t`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// `CUDA_R_32F`
    F32,
    /// `CUDA_R_64F`
    F64,
    /// `CUDA_R_16F`
    F16,
    /// `CUDA_R_16BF`
    Bf16,
}

impl Type {
    /// The type of a number of `cudaDataType_t`.
    pub fn numbered(number: u32) -> Result<Type> {
        Ok(match number {
            0 => Type::F32,
            1 => Type::F64,
            2 => Type::F16,
            14 => Type::Bf16,
            _ => return Err(Status::NotSupported),
        })
    }
    fn bytes(self) -> usize {
        match self {
            Type::F64 => 8,
            Type::F32 => 4,
            Type::F16 | Type::Bf16 => 2,
        }
    }
    fn read(self, bytes: &[u8]) -> f64 {
        let two = || [bytes[0], bytes[1]];
        match self {
            Type::F64 => f64::from_le_bytes(std::array::from_fn(|n| bytes[n])),
            Type::F32 => f32::from_le_bytes(std::array::from_fn(|n| bytes[n])).into(),
            Type::F16 => f16::from_le_bytes(two()).into(),
            Type::Bf16 => bf16::from_le_bytes(two()).into(),
        }
    }
    /// The bytes of a value that is one of f32, or of f64 for that type.
    fn write(self, value: f64) -> Vec<u8> {
        match self {
            Type::F64 => value.to_le_bytes().to_vec(),
            Type::F32 => (value as f32).to_le_bytes().to_vec(),
            Type::F16 => f16::from_f32(value as f32).to_le_bytes().to_vec(),
            Type::Bf16 => bf16::from_f32(value as f32).to_le_bytes().to_vec(),
        }
    }
    fn rounded(self, value: f64) -> f64 {
        self.read(&self.write(value))
    }
}

/// Types that a product may have: how it computes (`cublasComputeType_t`), its scale, its factors, its result.
const SUPPORTED: [(u32, Type, Type, Type); 6] = [
    (COMPUTE_32F, Type::F32, Type::F32, Type::F32),
    (COMPUTE_32F, Type::F32, Type::Bf16, Type::Bf16),
    (COMPUTE_32F, Type::F32, Type::Bf16, Type::F32),
    (COMPUTE_32F, Type::F32, Type::F16, Type::F16),
    (COMPUTE_32F, Type::F32, Type::F16, Type::F32),
    (COMPUTE_64F, Type::F64, Type::F64, Type::F64),
];
const COMPUTE_32F: u32 = 68;
const COMPUTE_64F: u32 = 70;

/// An operation (`cublasLtMatmulDesc_t`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    compute: u32,
    scale: Type,
    turned: [bool; 2],
    /// True if there is a bias, an element for each row of the result, of its type.
    biased: bool,
    bias: u64,
}

/// A matrix, column by column, and a batch of them (`cublasLtMatrixLayout_t`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    dtype: Type,
    rows: u64,
    columns: u64,
    apart: i64,
    batch: i32,
    step: i64,
}

/// Preferences (`cublasLtMatmulPreference_t`), at first the library's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preference {
    workspace: u64,
    schemes: u32,
    alignments: [u32; 4],
}

impl Default for Preference {
    fn default() -> Self {
        Self {
            workspace: 0,
            schemes: KEPT_IN_RESULT | KEPT_IN_COMPUTED | IN_PLACE,
            alignments: [256; 4],
        }
    }
}

/// Least terms of a sum that is split.
const SPLIT_TERMS: u64 = 4;
/// Schemes of sums that are split (`cublasLtReductionScheme_t`).
const IN_PLACE: u32 = 1;
const KEPT_IN_COMPUTED: u32 = 2;
const KEPT_IN_RESULT: u32 = 4;

/// A description, which a handle stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Described {
    /// The library itself.
    Library,
    /// An operation.
    Operation(Operation),
    /// A matrix.
    Layout(Layout),
    /// Preferences.
    Preference(Preference),
}

/// All descriptions that are alive.
#[derive(Default)]
pub struct Descriptions {
    known: BTreeMap<Handle, Described>,
    last: Handle,
}

/// Attributes by their numbers in the library's enumerations.
const TURN_LEFT: u32 = 3;
const TURN_RIGHT: u32 = 4;
const EPILOGUE: u32 = 7;
const BIAS: u32 = 8;
const BATCH_COUNT: u32 = 5;
const BATCH_STEP: u32 = 6;
const MOST_WORKSPACE: u32 = 1;
const SCHEMES: u32 = 3;
const ALIGNMENTS: std::ops::RangeInclusive<u32> = 5..=8;

impl Descriptions {
    /// A handle for a description.
    pub fn add(&mut self, described: Described) -> Handle {
        self.last += 16;
        self.known.insert(self.last, described);
        self.last
    }
    /// Ends a description of the kind that `is` says.
    pub fn remove(&mut self, handle: Handle, is: fn(&Described) -> bool) -> Result<()> {
        self.known
            .get(&handle)
            .filter(|d| is(d))
            .ok_or(Status::InvalidValue)?;
        self.known.remove(&handle);
        Ok(())
    }
    /// An operation that computes and scales in types by these numbers.
    pub fn operation(&mut self, compute: u32, scale: u32) -> Result<Handle> {
        let scale = Type::numbered(scale).map_err(|_| Status::InvalidValue)?;
        let operation = Operation {
            compute,
            scale,
            turned: [false; 2],
            biased: false,
            bias: 0,
        };
        Ok(self.add(Described::Operation(operation)))
    }
    /// A matrix of a type by this number.
    pub fn layout(&mut self, dtype: u32, rows: u64, columns: u64, apart: i64) -> Result<Handle> {
        let layout = Layout {
            dtype: Type::numbered(dtype)?,
            rows,
            columns,
            apart,
            batch: 1,
            step: 0,
        };
        Ok(self.add(Described::Layout(layout)))
    }
    /// Sets an attribute of a description of the kind that `is` says; `bytes` are the value's.
    pub fn set(
        &mut self,
        handle: Handle,
        is: fn(&Described) -> bool,
        attribute: u32,
        bytes: &[u8],
    ) -> Result<()> {
        let described = self.known.get_mut(&handle).filter(|d| is(d));
        let short = || number(bytes, 4).map(|value| value as u32);
        match (described.ok_or(Status::InvalidValue)?, attribute) {
            (Described::Operation(operation), TURN_LEFT | TURN_RIGHT) => {
                let turned = &mut operation.turned[(attribute - TURN_LEFT) as usize];
                *turned = match short()? {
                    0 => false,
                    1 => true,
                    _ => return Err(Status::InvalidValue),
                };
            }
            // `CUBLASLT_EPILOGUE_DEFAULT` and `CUBLASLT_EPILOGUE_BIAS`.
            (Described::Operation(operation), EPILOGUE) => match short()? {
                1 => operation.biased = false,
                4 => operation.biased = true,
                _ => return Err(Status::NotSupported),
            },
            (Described::Operation(operation), BIAS) => operation.bias = number(bytes, 8)?,
            (Described::Layout(layout), BATCH_COUNT) => layout.batch = short()? as i32,
            (Described::Layout(layout), BATCH_STEP) => layout.step = number(bytes, 8)? as i64,
            (Described::Preference(own), MOST_WORKSPACE) => own.workspace = number(bytes, 8)?,
            (Described::Preference(own), SCHEMES) => own.schemes = short()?,
            (Described::Preference(own), _) if ALIGNMENTS.contains(&attribute) => {
                let alignment = short()?;
                if !alignment.is_power_of_two() {
                    return Err(Status::InvalidValue);
                }
                own.alignments[(attribute - ALIGNMENTS.start()) as usize] = alignment;
            }
            _ => return Err(Status::InvalidValue),
        }
        Ok(())
    }
    /// The library's algorithm for a product, and the bytes of its workspace.
    pub fn choose(
        &self,
        library: Handle,
        described: [Handle; 5],
        preference: Handle,
    ) -> Result<Algorithm> {
        let product = self.product(library, described)?;
        let Some(Described::Preference(preference)) = self.known.get(&preference) else {
            return Err(Status::InvalidValue);
        };
        let kept = match preference.schemes {
            schemes if schemes & (KEPT_IN_RESULT | IN_PLACE) != 0 => product.layouts[3].dtype,
            _ => product.operation.scale,
        };
        let [_, _, _, result] = &product.layouts;
        let bytes = result.rows * result.columns * product.operation.scale.bytes() as u64;
        let splits = preference.schemes != 0
            && product.terms >= SPLIT_TERMS
            && bytes <= preference.workspace;
        Ok(Algorithm {
            workspace: if splits { bytes } else { 0 },
            exact: kept == product.operation.scale,
            alignments: preference.alignments,
        })
    }
    /// A product that is checked: an operation, both factors, the addend and the result.
    pub fn product(&self, library: Handle, described: [Handle; 5]) -> Result<Product> {
        match self.known.get(&library) {
            Some(Described::Library) => {}
            _ => return Err(Status::NotInitialized),
        }
        let layout = |which: usize| match self.known.get(&described[which]) {
            Some(Described::Layout(layout)) => Ok(*layout),
            _ => Err(Status::InvalidValue),
        };
        let layouts = [layout(1)?, layout(2)?, layout(3)?, layout(4)?];
        match self.known.get(&described[0]) {
            Some(Described::Operation(operation)) => Product::of(*operation, layouts),
            _ => Err(Status::InvalidValue),
        }
    }
}

/// The number in so many bytes.
fn number(bytes: &[u8], size: usize) -> Result<u64> {
    if bytes.len() != size {
        return Err(Status::InvalidValue);
    }
    let digits = bytes.iter().rev();
    Ok(digits.fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A way to compute a product (`cublasLtMatmulAlgo_t`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Algorithm {
    /// Bytes of its workspace: where there are some, sums are split in two.
    pub workspace: u64,
    /// True if split sums are kept as they are computed.
    exact: bool,
    /// Powers of two that divide the four pointers.
    alignments: [u32; 4],
}

/// The first word of every algorithm.
const MARK: u64 = 0x6C74_616C_676F;

impl Algorithm {
    /// The algorithm as the library's callers hold it.
    pub fn words(&self) -> [u64; 8] {
        let [a, b, c, d] = self.alignments.map(u64::from);
        [MARK, self.workspace, self.exact.into(), a, b, c, d, 0]
    }
    /// The algorithm in these words.
    pub fn of(words: [u64; 8]) -> Result<Algorithm> {
        let [MARK, workspace, exact, alignments @ .., _] = words else {
            return Err(Status::InvalidValue);
        };
        Ok(Algorithm {
            workspace,
            exact: exact != 0,
            alignments: alignments.map(|alignment| alignment as u32),
        })
    }
}

/// A product that is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    operation: Operation,
    /// The factors, the addend and the result.
    layouts: [Layout; 4],
    terms: u64,
}

impl Product {
    fn of(operation: Operation, layouts: [Layout; 4]) -> Result<Product> {
        for layout in &layouts {
            let within = |extent: u64| (1..=i32::MAX as u64).contains(&extent);
            let lines = i64::try_from(layout.rows).is_ok_and(|rows| layout.apart >= rows);
            let steps = layout.batch >= 1 && layout.step >= 0;
            if !(within(layout.rows) && within(layout.columns) && lines && steps) {
                return Err(Status::InvalidValue);
            }
        }
        let [left, right, addend, result] = layouts;
        let sides = |layout: Layout, turned: bool| match turned {
            true => [layout.columns, layout.rows],
            false => [layout.rows, layout.columns],
        };
        let [rows, terms] = sides(left, operation.turned[0]);
        let [others, columns] = sides(right, operation.turned[1]);
        let fits = terms == others && [rows, columns] == [result.rows, result.columns];
        let one = layouts.iter().all(|layout| layout.batch == result.batch);
        // The matrices of a batch of results are apart.
        let all = result.apart.saturating_mul(result.columns as i64);
        let apart = result.batch == 1 || result.step >= all.min(result.rows as i64);
        if !(fits && one && apart && addend == result) {
            return Err(Status::InvalidValue);
        }
        let types = (operation.compute, operation.scale, left.dtype, result.dtype);
        // No table has a bias of f64.
        let bias = !operation.biased || operation.scale != Type::F64;
        if left.dtype != right.dtype || !bias || !SUPPORTED.contains(&types) {
            return Err(Status::NotSupported);
        }
        Ok(Product {
            operation,
            layouts,
            terms,
        })
    }
    /// The type of the scales, by which a product is multiplied and the addend.
    pub fn scale_bytes(&self) -> usize {
        self.operation.scale.bytes()
    }
}

/// A product with its pointers: the factors, the addend, the result and the workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiply {
    product: Product,
    algorithm: Algorithm,
    pointers: [u64; 4],
    workspace: u64,
}

impl Multiply {
    /// Checks a call: the scales describe a product without an addend, and the workspace has the algorithm's size.
    pub fn new(
        product: Product,
        algorithm: Algorithm,
        scales: [&[u8]; 2],
        pointers: [u64; 4],
        workspace: [u64; 2],
    ) -> Result<Multiply> {
        let scale = product.operation.scale;
        if scales.map(|bytes| scale.read(bytes)) != [1.0, 0.0] {
            return Err(Status::NotSupported);
        }
        let aligned = pointers.iter().zip(algorithm.alignments);
        let mut aligned = aligned.map(|(at, to)| *at != 0 && at.is_multiple_of(to.into()));
        let [at, bytes] = workspace;
        let room = bytes >= algorithm.workspace && (algorithm.workspace == 0 || at != 0);
        let operation = product.operation;
        let bias = !operation.biased || operation.bias != 0;
        if !(aligned.all(|aligned| aligned) && bias && room && at.is_multiple_of(256)) {
            return Err(Status::InvalidValue);
        }
        Ok(Multiply {
            product,
            algorithm,
            pointers,
            workspace: at,
        })
    }
    /// Computes the product on the device's memory.
    pub fn run(&self, device: &mut Device) -> crate::device::Result<()> {
        let [left, right, _, result] = self.product.layouts;
        for batch in 0..i64::from(result.batch) {
            let mut matrix = |which: usize, layout: Layout| {
                let from = (batch * layout.step) as u64 * layout.dtype.bytes() as u64;
                let lines = layout.apart as u64 * (layout.columns - 1) + layout.rows;
                let bytes = lines as usize * layout.dtype.bytes();
                let found = device.bytes(self.pointers[which].wrapping_add(from), bytes);
                found.map(|bytes| bytes.to_vec())
            };
            let (left_bytes, right_bytes) = (matrix(0, left)?, matrix(1, right)?);
            let factors = [(left, left_bytes), (right, right_bytes)];
            let mut sums = Vec::new();
            for half in self.halves().into_iter().filter(|half| !half.is_empty()) {
                let mut parts = self.sums(&factors, half);
                if !self.algorithm.exact {
                    parts
                        .iter_mut()
                        .for_each(|sum| *sum = result.dtype.rounded(*sum));
                }
                sums = match sums.is_empty() {
                    true => self.kept(device, parts)?,
                    false => self.added(&sums, &parts),
                };
            }
            if self.product.operation.biased {
                sums = self.biased(device, sums)?;
            }
            let to = self.pointers[3] + (batch * result.step) as u64 * result.dtype.bytes() as u64;
            let size = result.dtype.bytes();
            let lines = sums.chunks(result.rows as usize).enumerate();
            for (column, line) in lines {
                let bytes: Vec<u8> = line
                    .iter()
                    .flat_map(|sum| result.dtype.write(*sum))
                    .collect();
                let at = to + column as u64 * result.apart as u64 * size as u64;
                device.bytes(at, bytes.len())?.copy_from_slice(&bytes);
            }
        }
        Ok(())
    }
    /// The ranges of terms that are added separately; the first is empty if sums are not split.
    fn halves(&self) -> [std::ops::Range<usize>; 2] {
        let terms = self.product.terms as usize;
        let middle = if self.algorithm.workspace == 0 {
            0
        } else {
            terms / 2
        };
        [0..middle, middle..terms]
    }
    /// The sums of some terms, column by column.
    fn sums(&self, factors: &[(Layout, Vec<u8>); 2], terms: std::ops::Range<usize>) -> Vec<f64> {
        let turned = self.product.operation.turned;
        let element = |which: usize, line: usize, term: usize| {
            let (layout, bytes) = &factors[which];
            // Rows of the left factor and columns of the right one.
            let beside = (which == 0) == turned[which];
            let [row, column] = if beside { [term, line] } else { [line, term] };
            let at = (column * layout.apart as usize + row) * layout.dtype.bytes();
            layout.dtype.read(&bytes[at..at + layout.dtype.bytes()])
        };
        let [_, _, _, result] = self.product.layouts;
        let (rows, columns) = (result.rows as usize, result.columns as usize);
        let places = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
        let pairs = |(row, column): (usize, usize)| {
            let pair = move |term| (element(0, row, term), element(1, column, term));
            terms.clone().map(pair)
        };
        let sum = |place| match factors[0].0.dtype {
            Type::F64 => pairs(place).fold(0.0, |sum, (a, b)| f64::mul_add(a, b, sum)),
            Type::F32 => {
                let add = |sum: f32, (a, b): (f64, f64)| f32::mul_add(a as f32, b as f32, sum);
                pairs(place).fold(0.0, add).into()
            }
            Type::F16 | Type::Bf16 => {
                let pairs: Vec<(f32, f32)> =
                    pairs(place).map(|(a, b)| (a as f32, b as f32)).collect();
                let bits = pairs.chunks(TERMS).fold(0, accumulate);
                f32::from_bits(bits).into()
            }
        };
        places.map(sum).collect()
    }
    /// The first sums, by way of the workspace where others follow.
    fn kept(&self, device: &mut Device, sums: Vec<f64>) -> crate::device::Result<Vec<f64>> {
        if self.algorithm.workspace == 0 {
            return Ok(sums);
        }
        let scale = self.product.operation.scale;
        let bytes: Vec<u8> = sums.iter().flat_map(|sum| scale.write(*sum)).collect();
        let kept = device.bytes(self.workspace, bytes.len())?;
        kept.copy_from_slice(&bytes);
        Ok(kept
            .chunks(scale.bytes())
            .map(|bytes| scale.read(bytes))
            .collect())
    }
    /// Sums with the bias of their row.
    fn biased(&self, device: &mut Device, sums: Vec<f64>) -> crate::device::Result<Vec<f64>> {
        let Operation { scale, bias, .. } = self.product.operation;
        let [_, _, _, result] = self.product.layouts;
        let size = result.dtype.bytes();
        let bytes = device.bytes(bias, result.rows as usize * size)?.to_vec();
        let bias = bytes.chunks(size).map(|bytes| result.dtype.read(bytes));
        let pairs = sums.iter().zip(bias.cycle());
        Ok(pairs.map(|(sum, bias)| scale.rounded(sum + bias)).collect())
    }
    fn added(&self, sums: &[f64], others: &[f64]) -> Vec<f64> {
        let scale = self.product.operation.scale;
        let pairs = sums.iter().zip(others);
        pairs.map(|(a, b)| scale.rounded(a + b)).collect()
    }
}

/// Terms that tensor cores add at a time.
const TERMS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Options;

    /// The handles of all that a call describes; each test changes one thing.
    struct Case {
        known: Descriptions,
        library: Handle,
        /// The operation, both factors, the addend and the result.
        described: [Handle; 5],
        preference: Handle,
    }

    /// `[3, 5]` by `[5, 2]`, all column by column.
    fn case(dtype: u32, compute: u32, scale: u32) -> Case {
        let mut known = Descriptions::default();
        let result = known.layout(dtype, 3, 2, 3).unwrap();
        Case {
            library: known.add(Described::Library),
            described: [
                known.operation(compute, scale).unwrap(),
                known.layout(dtype, 3, 5, 3).unwrap(),
                known.layout(dtype, 5, 2, 5).unwrap(),
                result,
                result,
            ],
            preference: known.add(Described::Preference(Preference::default())),
            known,
        }
    }

    fn ordinary() -> Case {
        case(0, COMPUTE_32F, 0)
    }

    /// The algorithm that is chosen once `change` has been made.
    fn chosen(mut case: Case, change: impl FnOnce(&mut Case)) -> Result<Algorithm> {
        change(&mut case);
        case.known
            .choose(case.library, case.described, case.preference)
    }

    fn layout(case: &mut Case, which: usize, rows: u64, columns: u64, apart: i64) {
        case.described[which] = case.known.layout(0, rows, columns, apart).unwrap();
    }

    fn set(case: &mut Case, handle: Handle, attribute: u32, bytes: &[u8]) -> Result<()> {
        case.known.set(handle, |_| true, attribute, bytes)
    }

    #[test]
    fn arguments_that_contradict_each_other_are_invalid() {
        assert!(chosen(ordinary(), |_| {}).is_ok());
        let invalid = Err(Status::InvalidValue);
        // A leading dimension below the rows, none, sides that do not meet, another addend.
        assert_eq!(chosen(ordinary(), |case| layout(case, 1, 3, 5, 2)), invalid);
        assert_eq!(chosen(ordinary(), |case| layout(case, 1, 3, 0, 3)), invalid);
        assert_eq!(chosen(ordinary(), |case| layout(case, 2, 4, 2, 4)), invalid);
        assert_eq!(chosen(ordinary(), |case| layout(case, 3, 3, 2, 4)), invalid);
        // One factor in a batch of two, and results that lie over each other.
        let two = 2_i32.to_le_bytes();
        let batch = |case: &mut Case, all: &[usize]| {
            for which in all {
                let handle = case.described[*which];
                set(case, handle, BATCH_COUNT, &two).unwrap();
            }
        };
        assert_eq!(chosen(ordinary(), |case| batch(case, &[1])), invalid);
        assert_eq!(chosen(ordinary(), |case| batch(case, &[1, 2, 4])), invalid);
        let apart = |case: &mut Case| {
            batch(case, &[1, 2, 4]);
            let handle = case.described[4];
            set(case, handle, BATCH_STEP, &6_i64.to_le_bytes()).unwrap();
        };
        assert!(chosen(ordinary(), apart).is_ok());
        // Handles of nothing, or of something else.
        assert_eq!(chosen(ordinary(), |case| case.described[0] = 0), invalid);
        assert_eq!(
            chosen(ordinary(), |case| case.described[1] = case.library),
            invalid
        );
        assert_eq!(chosen(ordinary(), |case| case.preference = 0), invalid);
        let none = Err(Status::NotInitialized);
        assert_eq!(chosen(ordinary(), |case| case.library = 0), none);
    }

    #[test]
    fn types_beside_each_other_are_those_of_the_table() {
        let (bf16, f64) = (14, 1);
        for (dtype, compute, scale, known) in [
            (0, COMPUTE_32F, 0, true),
            (bf16, COMPUTE_32F, 0, true),
            (f64, COMPUTE_64F, f64, true),
            (f64, COMPUTE_32F, 0, false),
            (0, COMPUTE_64F, f64, false),
            (bf16, COMPUTE_32F, f64, false),
        ] {
            let found = chosen(case(dtype, compute, scale), |_| {});
            assert_eq!(found.is_ok(), known, "{dtype} {compute} {scale}");
            assert!(known || found == Err(Status::NotSupported));
        }
        assert_eq!(Type::numbered(3), Err(Status::NotSupported));
    }

    #[test]
    fn attributes_have_their_sizes() {
        let mut case = ordinary();
        let [operation, left, ..] = case.described;
        let preference = case.preference;
        let invalid = Err(Status::InvalidValue);
        assert_eq!(set(&mut case, operation, TURN_LEFT, &[1, 0, 0, 0]), Ok(()));
        assert_eq!(set(&mut case, operation, TURN_LEFT, &[1, 0]), invalid);
        assert_eq!(set(&mut case, operation, TURN_LEFT, &[9, 0, 0, 0]), invalid);
        assert_eq!(set(&mut case, left, BATCH_STEP, &[0; 4]), invalid);
        assert_eq!(set(&mut case, left, 99, &[0; 4]), invalid);
        assert_eq!(set(&mut case, preference, 5, &[3, 0, 0, 0]), invalid);
        assert_eq!(
            case.known.set(
                left,
                |d| matches!(d, Described::Library),
                BATCH_COUNT,
                &[0; 4]
            ),
            invalid
        );
        assert_eq!(
            case.known.remove(left, |d| matches!(d, Described::Library)),
            invalid
        );
        assert_eq!(case.known.remove(left, |_| true), Ok(()));
        assert_eq!(case.known.remove(left, |_| true), invalid);
    }

    /// A call of the ordinary product, with room for its sums.
    fn called(
        algorithm: Algorithm,
        pointers: [u64; 4],
        workspace: [u64; 2],
        one: f32,
    ) -> Result<Multiply> {
        let case = ordinary();
        let product = case.known.product(case.library, case.described)?;
        let scales = [one.to_le_bytes(), 0.0_f32.to_le_bytes()];
        Multiply::new(
            product,
            algorithm,
            [&scales[0], &scales[1]],
            pointers,
            workspace,
        )
    }

    #[test]
    fn pointers_and_the_workspace_are_as_promised() {
        let algorithm = chosen(ordinary(), |case| {
            let preference = case.preference;
            set(case, preference, MOST_WORKSPACE, &1024_u64.to_le_bytes()).unwrap();
            set(case, preference, 5, &64_u32.to_le_bytes()).unwrap();
        });
        let algorithm = algorithm.unwrap();
        assert_eq!(Algorithm::of(algorithm.words()), Ok(algorithm));
        assert_eq!(Algorithm::of([0; 8]), Err(Status::InvalidValue));
        assert_eq!(algorithm.workspace, 3 * 2 * 4);
        let (right, room) = ([64, 256, 512, 512], [768, 1024]);
        assert!(called(algorithm, right, room, 1.0).is_ok());
        let invalid = |pointers, workspace| {
            let found = called(algorithm, pointers, workspace, 1.0);
            assert_eq!(
                found,
                Err(Status::InvalidValue),
                "{pointers:?} {workspace:?}"
            );
        };
        invalid([32, 256, 512, 512], room);
        invalid([64, 64, 512, 512], room);
        invalid([0, 256, 512, 512], room);
        invalid(right, [800, 1024]);
        invalid(right, [768, 23]);
        invalid(right, [0, 24]);
        assert_eq!(
            called(algorithm, right, room, 2.0),
            Err(Status::NotSupported)
        );
    }

    #[test]
    fn a_bias_is_that_of_rows_in_the_type_of_the_result() {
        let biased = |case: &mut Case| {
            let operation = case.described[0];
            set(case, operation, EPILOGUE, &4_u32.to_le_bytes()).unwrap();
        };
        assert!(chosen(ordinary(), biased).is_ok());
        let double = case(1, COMPUTE_64F, 1);
        assert_eq!(chosen(double, biased), Err(Status::NotSupported));
        let mut relu = ordinary();
        let operation = relu.described[0];
        let set_relu = set(&mut relu, operation, EPILOGUE, &2_u32.to_le_bytes());
        assert_eq!(set_relu, Err(Status::NotSupported));
    }

    /// Halves of sums keep the computing type only if the preferences request it.
    #[test]
    fn parts_of_sums_are_rounded_unless_that_is_forbidden() {
        // 1 + 2^-8 as the first half, and 2^-8 as the second, of which each is a half of the last place of 1 in bf16.
        let (one, small) = (bf16::ONE, bf16::from_f32(2.0_f32.powi(-8)));
        for (schemes, expected) in [(7_u32, 1.0), (KEPT_IN_COMPUTED, 1.0 + 2.0_f32.powi(-7))] {
            let mut device = Device::new(Options::default());
            let [a, b, y, room] = [8, 8, 2, 4].map(|bytes| device.allocate(bytes).unwrap());
            let elements = [one, small, small, bf16::ZERO];
            let left: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
            device.bytes(a, 8).unwrap().copy_from_slice(&left);
            let right: Vec<u8> = [one; 4].iter().flat_map(|x| x.to_le_bytes()).collect();
            device.bytes(b, 8).unwrap().copy_from_slice(&right);
            let mut known = Descriptions::default();
            let library = known.add(Described::Library);
            let result = known.layout(14, 1, 1, 1).unwrap();
            let described = [
                known.operation(COMPUTE_32F, 0).unwrap(),
                known.layout(14, 1, 4, 1).unwrap(),
                known.layout(14, 4, 1, 4).unwrap(),
                result,
                result,
            ];
            let preference = known.add(Described::Preference(Preference {
                workspace: 4,
                schemes,
                ..Preference::default()
            }));
            let algorithm = known.choose(library, described, preference).unwrap();
            assert_eq!(algorithm.exact, schemes == KEPT_IN_COMPUTED);
            let product = known.product(library, described).unwrap();
            let (one, none) = (1.0_f32.to_le_bytes(), 0.0_f32.to_le_bytes());
            let multiply =
                Multiply::new(product, algorithm, [&one, &none], [a, b, y, y], [room, 4]);
            multiply.unwrap().run(&mut device).unwrap();
            let found = Type::Bf16.read(device.bytes(y, 2).unwrap());
            assert_eq!(found as f32, expected, "{schemes}");
        }
    }
}
