//! Shapes: the inside of `tensor<...>`, `vector<...>`, `memref<...>` and `extents<...>`, which the lexer takes whole.
//!
//! ```text
//! shaped ::= ("tensor" | "vector" | "memref") "<" (dim "x")* dtype ("," space)? ">"
//! dim    ::= "b"? (digits | "?" | "[" sum "]")
//! sum    ::= "-"? product (("+" | "-") product)*
//! product ::= factor ("*" factor)*         factor ::= digits | word
//! ```
//!
//! Works on text, left to right, with no recursion. A mistake comes back with its place in the text.

use crate::elements;
use crate::intern::Sym;
use crate::ir::Ir;
use crate::limits::{Limits, MAX_EXTENT_TERMS};
use crate::types::{DType, Dim, Extent, ExtentExpr, MemSpace, TensorType, TypeId, TypeKind};

/// A malformed shape: the message and the bytes that it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeError {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The message.
    pub message: String,
    /// A replacement.
    pub help: Option<String>,
    /// True if a limit was exceeded.
    pub limit: bool,
}

type Result<T> = std::result::Result<T, ShapeError>;

/// A reader of one shape's text.
pub struct Reader<'a> {
    ir: &'a mut Ir,
    limits: &'a Limits,
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads `text`.
    pub fn new(ir: &'a mut Ir, limits: &'a Limits, text: &'a str) -> Self {
        Self {
            ir,
            limits,
            text,
            at: 0,
        }
    }

    /// `tensor<...>`, `vector<...>` or `memref<...>`, whole. `None`: a type of MLIR that is carried as text.
    pub fn shaped(&mut self) -> Result<Option<TypeId>> {
        let keyword = self.word();
        self.eat(b'<');
        // `vector<[4]xf32>` is a vector of a multiple of 4 lanes in MLIR.
        if keyword == "vector" && self.text.contains('[') {
            return Ok(None);
        }
        let kind = match keyword {
            "tensor" => self.tensor()?,
            "vector" => self.vector()?,
            _ => self.memref()?,
        };
        self.close()?;
        Ok(kind.map(|kind| self.ir.type_id(kind)))
    }
    /// The mistake in the extents of a `tensor<...>` that the lexer did not recognize as one of ours; `None` for types
    /// of MLIR that are carried as text.
    pub fn foreign(&mut self) -> Option<ShapeError> {
        let body = self.text.strip_prefix("tensor<")?;
        let odd = body.find(['/', '%', '(', '^', '&', '|', '<', '!', '#', '"', '@', '{'])?;
        let ours = matches!(
            body.as_bytes()[odd],
            b'/' | b'%' | b'(' | b'^' | b'&' | b'|'
        );
        if !ours {
            return None;
        }
        let error = self.shaped().err()?;
        let help = error.help.clone().or_else(|| separated(self.text));
        Some(ShapeError { help, ..error })
    }
    /// `tensor<4x[B]xf32`, the part before an encoding.
    pub fn tensor_prefix(&mut self) -> Result<Option<TensorType>> {
        self.word();
        self.eat(b'<');
        Ok(match self.tensor()? {
            Some(TypeKind::Tensor(tensor)) => Some(tensor),
            _ => None,
        })
    }
    /// `extents<[B], 4, ?>`, whole.
    pub fn extents(&mut self) -> Result<Vec<Dim>> {
        self.word();
        self.eat(b'<');
        let dims = self.dim_list(b'>')?;
        self.close()?;
        Ok(dims)
    }
    /// `[[B], 4, ?]`, whole.
    pub fn bracketed(&mut self) -> Result<Vec<Dim>> {
        self.eat(b'[');
        let dims = self.dim_list(b']')?;
        self.eat(b']');
        Ok(dims)
    }

    fn dim_list(&mut self, end: u8) -> Result<Vec<Dim>> {
        let mut dims = Vec::new();
        if self.peek() == Some(end) {
            return Ok(dims);
        }
        loop {
            dims.push(self.required_dim()?);
            self.check_rank(dims.len())?;
            if !self.eat(b',') {
                break;
            }
        }
        if self.peek() != Some(end) {
            return Err(self.unexpected("`,` and another extent, or the end of the list"));
        }
        Ok(dims)
    }
    fn required_dim(&mut self) -> Result<Dim> {
        match self.dim()? {
            Some(dim) => Ok(dim),
            None => {
                let error =
                    self.unexpected("an extent: `56`, `[B]`, `?`, or one of them after `b`");
                let rest = self.text.get(self.at..).unwrap_or("");
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let help = match &rest[..end.unwrap_or(rest.len())] {
                    "" if rest.starts_with('-') => {
                        "each extent is written out: none follows from the others".into()
                    }
                    "" => "a named extent stands in brackets: `[B]`".into(),
                    name => format!("a named extent stands in brackets of its own: `[{name}]`"),
                };
                Err(ShapeError {
                    help: Some(help),
                    ..error
                })
            }
        }
    }
    fn tensor(&mut self) -> Result<Option<TypeKind>> {
        if self.eat(b'*') {
            self.eat(b'x');
            return Ok(self.dtype()?.map(TypeKind::UnrankedTensor));
        }
        let dims = self.dims()?;
        let Some(dtype) = self.dtype()? else {
            return Ok(None);
        };
        self.check_size(&dims)?;
        Ok(Some(TypeKind::Tensor(TensorType {
            dims,
            dtype,
            encoding: None,
        })))
    }
    fn vector(&mut self) -> Result<Option<TypeKind>> {
        let dims = self.dims()?;
        let Some(dtype) = self.dtype()? else {
            return Ok(None);
        };
        let shape: Option<Vec<u64>> = dims.iter().map(fixed).collect();
        if shape.is_none() {
            return Err(self.at_end("a vector has static extents only"));
        }
        self.check_size(&dims)?;
        Ok(shape.map(|shape| TypeKind::Vector { shape, dtype }))
    }
    fn memref(&mut self) -> Result<Option<TypeKind>> {
        let dims = self.dims()?;
        let Some(dtype) = self.dtype()? else {
            return Ok(None);
        };
        if dims.iter().any(|d| d.broadcast) {
            return Err(self.at_end("a memref has no broadcast axes: all of it is memory"));
        }
        let space = match self.eat(b',') {
            true => self.space()?,
            false => Some(MemSpace::Global),
        };
        self.check_size(&dims)?;
        let dims = dims.iter().map(|d| d.extent).collect();
        Ok(space.map(|space| TypeKind::MemRef { dims, dtype, space }))
    }
    /// A memory space; `None` for other spaces of MLIR.
    fn space(&mut self) -> Result<Option<MemSpace>> {
        self.blank();
        let start = self.at;
        let word = self.word();
        let found = MemSpace::ALL.into_iter().find(|s| s.name() == word);
        if found.is_some() {
            return Ok(found);
        }
        self.at = self.text.trim_end_matches('>').len();
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let message = format!("unknown memory space `{word}`");
        let help = "memory spaces are global, tile, local";
        Err(self.error(start, start + word.len(), message, Some(help.into())))
    }

    fn dims(&mut self) -> Result<Vec<Dim>> {
        let mut dims = Vec::new();
        while let Some(dim) = self.dim()? {
            dims.push(dim);
            self.check_rank(dims.len())?;
            self.blank();
            if !self.eat(b'x') {
                let error = self.unexpected("`x` and the next extent or the element type");
                return Err(error);
            }
        }
        Ok(dims)
    }
    /// One extent, if there is one here; the `b` of `bf16` is none.
    fn dim(&mut self) -> Result<Option<Dim>> {
        self.blank();
        let bytes = self.text.as_bytes();
        let starts =
            |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_digit() || *b == b'?' || *b == b'[');
        let broadcast = bytes.get(self.at) == Some(&b'b') && starts(bytes.get(self.at + 1));
        if !broadcast && !starts(bytes.get(self.at)) {
            return Ok(None);
        }
        self.at += usize::from(broadcast);
        let extent = match bytes.get(self.at) {
            Some(b'?') => {
                self.at += 1;
                Extent::Unknown
            }
            Some(b'[') => self.named()?,
            _ => Extent::Static(self.number()?),
        };
        Ok(Some(Dim { extent, broadcast }))
    }
    fn number(&mut self) -> Result<u64> {
        let start = self.at;
        let digits = self.take(|b| b.is_ascii_digit());
        match digits.parse::<i64>() {
            Ok(value) => Ok(value.unsigned_abs()),
            Err(_) => {
                let end = self.at;
                let mut error = self.error(start, end, "the extent is too large", None);
                error.limit = true;
                Err(error)
            }
        }
    }
    fn named(&mut self) -> Result<Extent> {
        let start = self.at;
        self.eat(b'[');
        let sum = self.sum(start)?;
        if !self.eat(b']') {
            let error = self.unexpected("`]`, or `+`, `-`, `*` and another part of the extent");
            let help = self.extent_help(start);
            return Err(ShapeError { help, ..error });
        }
        let negative = "an extent cannot be negative";
        self.ir
            .extent(sum)
            .ok_or_else(|| ShapeError::new(start, self.at, negative))
    }
    /// Advice on the invalid part of an extent that comes next.
    fn extent_help(&self, start: usize) -> Option<String> {
        let before = self
            .text
            .get(start..self.at)
            .unwrap_or("")
            .trim_start_matches('[');
        let rest = self.text.get(self.at..).unwrap_or("");
        let word = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        Some(match rest.chars().next()? {
            '/' | '%' => "there is no division: name the quotient, `[M]`, and write the whole as `[2*M]`".into(),
            '(' => "there are no parentheses: `[(N+1)*2]` is `[2*N+2]`".into(),
            '^' => "a power is a product: `[N*N]`".into(),
            ',' => "each extent has brackets of its own, with `x` behind: `[N]x[M]x`".into(),
            c if c.is_ascii_alphabetic() && before.trim().bytes().all(|b| b.is_ascii_digit()) => {
                format!("a product has a `*`: `[{}*{}]`", before.trim(), &rest[..word])
            }
            c if c.is_ascii_alphabetic() => "there is no division, rounding or maximum: give the extent a name of its own, `[M]`".into(),
            _ => return None,
        })
    }
    fn sum(&mut self, start: usize) -> Result<ExtentExpr> {
        let mut sum = ExtentExpr::constant(0);
        let mut parts = 0;
        let mut sign = if self.eat(b'-') { -1 } else { 1 };
        loop {
            let product = self.product(start, sign, &mut parts)?;
            sum = sum.add(&product).ok_or_else(|| self.too_large(start))?;
            sign = match self.peek() {
                Some(b'+') => 1,
                Some(b'-') => -1,
                _ => return Ok(sum),
            };
            self.at += 1;
        }
    }
    fn product(&mut self, start: usize, sign: i64, parts: &mut usize) -> Result<ExtentExpr> {
        let mut product = ExtentExpr::constant(sign);
        loop {
            let factor = self.factor()?;
            *parts += 1;
            if *parts > MAX_EXTENT_TERMS {
                return Err(self.too_large(start));
            }
            product = product.mul(&factor).ok_or_else(|| self.too_large(start))?;
            if !self.eat(b'*') {
                return Ok(product);
            }
        }
    }
    fn factor(&mut self) -> Result<ExtentExpr> {
        self.blank();
        match self.text.as_bytes().get(self.at) {
            Some(b) if b.is_ascii_digit() => {
                let value = self.number()?;
                Ok(ExtentExpr::constant(
                    i64::try_from(value).unwrap_or(i64::MAX),
                ))
            }
            _ => {
                let word = self.word();
                if word.is_empty() {
                    let error = self.unexpected("the name of an extent or a number");
                    let help = self.extent_help(self.at);
                    return Err(ShapeError { help, ..error });
                }
                Ok(ExtentExpr::name(self.name(word)))
            }
        }
    }
    fn name(&mut self, word: &str) -> Sym {
        self.ir.sym(word)
    }
    /// The element type; `None` for one of MLIR's that is not ours.
    fn dtype(&mut self) -> Result<Option<DType>> {
        self.blank();
        let start = self.at;
        let word = self.word();
        if word == "complex" && self.text[self.at..].starts_with('<') {
            return Ok(self.complex());
        }
        match DType::from_name(word) {
            Some(dtype) => Ok(Some(dtype)),
            None if elements::is_carried(word) => {
                self.at = self.text.trim_end_matches('>').len();
                Ok(None)
            }
            None => Err(self.unknown_dtype(start, word)),
        }
    }
    /// `<f32>` after `complex`. `None` for parts that are not computed with: such a type is only carried.
    fn complex(&mut self) -> Option<DType> {
        self.eat(b'<');
        self.blank();
        let part = DType::from_name(self.word());
        self.blank();
        let dtype = part.and_then(DType::complex).filter(|_| self.eat(b'>'));
        if dtype.is_none() {
            self.at = self.text.len().saturating_sub(1);
        }
        dtype
    }
    fn unknown_dtype(&self, start: usize, word: &str) -> ShapeError {
        if word.is_empty() {
            let error = self.unexpected("an extent or the element type");
            let open = self
                .text
                .get(self.at..)
                .is_some_and(|rest| rest.starts_with('-'));
            let help = open.then(|| "an extent that is not known has a name: `[N]`".into());
            return ShapeError { help, ..error };
        }
        let (message, help) = elements::unknown("element type", word);
        // `BxSxf32`: a name without brackets.
        let named = word
            .rsplit_once('x')
            .filter(|(_, ty)| DType::from_name(ty).is_some());
        let help = match named.and_then(|(names, _)| names.split('x').next()) {
            Some(name) => format!("a named extent stands in brackets: `[{name}]`"),
            None => help,
        };
        self.error(start, start + word.len(), message, Some(help))
    }

    fn close(&mut self) -> Result<()> {
        match self.eat(b'>') && self.at == self.text.len() {
            true => Ok(()),
            false => Err(self.unexpected("`>`")),
        }
    }
    fn check_rank(&self, rank: usize) -> Result<()> {
        if rank <= self.limits.rank {
            return Ok(());
        }
        let message = format!("more than {} axes", self.limits.rank);
        Err(ShapeError {
            limit: true,
            ..self.error(0, self.text.len(), message, None)
        })
    }
    /// The number of elements along static axes fits an i64, so that no later product overflows.
    fn check_size(&self, dims: &[Dim]) -> Result<()> {
        let mut sizes = dims.iter().filter_map(fixed).filter(|d| *d != 0);
        let elements = sizes.try_fold(1i64, |n, d| n.checked_mul(i64::try_from(d).ok()?));
        match elements {
            Some(_) => Ok(()),
            None => Err(self.too_large(0)),
        }
    }
    fn too_large(&self, start: usize) -> ShapeError {
        ShapeError {
            limit: true,
            ..self.error(start, self.text.len(), "the shape is too large", None)
        }
    }

    fn blank(&mut self) {
        self.take(|b| b.is_ascii_whitespace());
    }
    fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.text.as_bytes().get(self.at).copied()
    }
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }
    fn word(&mut self) -> &'a str {
        match self.text.as_bytes().get(self.at) {
            Some(b'$') => "",
            _ => self.take(|b| b.is_ascii_alphanumeric() || b"_$".contains(&b)),
        }
    }
    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let length = rest.bytes().take_while(|b| wanted(*b)).count();
        self.at += length;
        rest.get(..length).unwrap_or("")
    }
    fn error(
        &self,
        start: usize,
        end: usize,
        message: impl Into<String>,
        help: Option<String>,
    ) -> ShapeError {
        ShapeError {
            help,
            ..ShapeError::new(start, end, message)
        }
    }
    fn at_end(&self, message: &str) -> ShapeError {
        ShapeError::new(0, self.text.len(), message)
    }
    fn unexpected(&self, wanted: &str) -> ShapeError {
        let rest = self.text.get(self.at..).unwrap_or("");
        let length = rest.chars().next().map_or(0, char::len_utf8);
        let found = match rest.chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end".into(),
        };
        let message = format!("expected {wanted}, found {found}");
        ShapeError::new(self.at, self.at + length, message)
    }
}

impl ShapeError {
    fn new(start: usize, end: usize, message: impl Into<String>) -> Self {
        Self {
            start,
            end,
            message: message.into(),
            help: None,
            limit: false,
        }
    }
}

/// The correct form of `text`, if it begins with a type that has commas between its extents: `tensor<4x8xf32>` for
/// `tensor<4, 8, f32>`. `None` for any other mistake.
pub fn separated(text: &str) -> Option<String> {
    let inside = text.strip_prefix("tensor<")?;
    let general =
        || Some("extents are separated by `x`, the element type is last: `tensor<4x8xf32>`".into());
    let Some((inside, _)) = inside.split_once('>') else {
        return general();
    };
    if inside.contains(['<', '#', '!', '"', ':']) {
        return None;
    }
    let parts = inside
        .split([',', ' ', '(', ')'])
        .filter(|part| !part.is_empty());
    let (mut extents, mut dtype) = (Vec::new(), None);
    for part in parts {
        // `8xf32` after a comma.
        let (extent, element) = match part.rsplit_once('x') {
            Some((extent, element)) if elements::ours(element).is_some() => (extent, Some(element)),
            _ if elements::ours(part).is_some() => ("", Some(part)),
            _ => (part, None),
        };
        dtype = dtype.or(element.and_then(elements::ours));
        let pieces = extent.split('x').map(|e| e.trim_matches(['[', ']']));
        extents.extend(pieces.filter(|e| !e.is_empty()).map(bracketed));
    }
    let word = |e: &String| {
        e.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"[]?_$".contains(&b))
    };
    match dtype.filter(|_| extents.iter().all(word)) {
        Some(dtype) if inside.contains([',', ' ']) => {
            let extents: String = extents.iter().map(|e| format!("{e}x")).collect();
            Some(format!(
                "extents are separated by `x`: `tensor<{extents}{dtype}>`"
            ))
        }
        Some(_) => None,
        None => general(),
    }
}

/// An extent as it is written: a name in brackets.
pub fn bracketed(extent: &str) -> String {
    match extent {
        "-1" | "None" | ":" => "[N]".into(),
        name if name.starts_with(|c: char| c.is_ascii_alphabetic()) => format!("[{name}]"),
        number => number.into(),
    }
}

fn fixed(dim: &Dim) -> Option<u64> {
    match dim.extent {
        Extent::Static(v) if !dim.broadcast => Some(v),
        _ => None,
    }
}
