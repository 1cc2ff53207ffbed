//! Types: the actions of the grammar that make them.

use super::actions::Parser;
use super::shape::{Reader, ShapeError};
use crate::attr::AttrId;
use crate::codes;
use crate::elements;
use crate::span::Span;
use crate::types::{DType, TypeId, TypeKind};

/// The code of a shape's mistake.
pub fn shape_code(error: &ShapeError) -> &'static crate::diag::CodeDef {
    match error.limit {
        true => &codes::LIMIT_SHAPE,
        false => &codes::BAD_SHAPE,
    }
}

impl Parser<'_> {
    fn no_type(&mut self) -> TypeId {
        self.ir.type_id(TypeKind::None)
    }
    /// `f32`, `index`, `i4`, `none`
    pub fn word_type(&mut self, span: Span) -> TypeId {
        let word = self.text(span);
        if let Some(&ty) = self.shapes.get(word) {
            return ty;
        }
        match self.type_of_word(word) {
            Some(ty) => {
                self.shapes.insert(word, ty);
                ty
            }
            None => {
                let (message, help) = elements::unknown("type", word);
                self.error_with_help(&codes::UNKNOWN_TYPE, span, message, help);
                self.no_type()
            }
        }
    }
    /// The type that a word names.
    pub fn type_of_word(&mut self, word: &str) -> Option<TypeId> {
        if let Some(dtype) = DType::from_name(word) {
            return Some(self.ir.scalar(dtype));
        }
        let kind = match elements::integer(word) {
            Some((width, signed)) => TypeKind::Integer { width, signed },
            None if word == "none" => TypeKind::None,
            None if elements::is_carried(word) => TypeKind::Opaque {
                text: self.ir.sym(word),
            },
            None => return None,
        };
        Some(self.ir.type_id(kind))
    }
    /// `tensor<...>`, `vector<...>` or `memref<...>`
    pub fn shaped_type(&mut self, span: Span) -> TypeId {
        let text = self.text(span);
        if let Some(&ty) = self.shapes.get(text) {
            return ty;
        }
        let ty = match Reader::new(self.ir, &self.options.limits, text).shaped() {
            Ok(Some(ty)) => ty,
            Ok(None) => self.opaque_type(span),
            Err(error) => {
                self.shape_error(span, error);
                return self.no_type();
            }
        };
        self.shapes.insert(text, ty);
        ty
    }
    /// `tensor<4xf32, #layout>`
    pub fn encoded_type(&mut self, span: Span, encoding: AttrId) -> TypeId {
        let text = self.text(span);
        match Reader::new(self.ir, &self.options.limits, text).tensor_prefix() {
            Ok(Some(mut tensor)) => {
                tensor.encoding = Some(encoding);
                let ty = self.ir.type_id(TypeKind::Tensor(tensor));
                self.weigh(ty, &[encoding.into()], span);
                ty
            }
            Ok(None) => {
                let message = "a tensor with an encoding needs an element type of ours";
                self.error(&codes::BAD_SHAPE, span, message);
                self.no_type()
            }
            Err(error) => {
                self.shape_error(span, error);
                self.no_type()
            }
        }
    }
    /// Reports a mistake inside the shape at `span`.
    pub fn shape_error(&mut self, span: Span, error: ShapeError) {
        let place = |at: usize| span.start + at as u32;
        let at = Span::new(place(error.start), place(error.end));
        let code = shape_code(&error);
        match error.help {
            Some(help) => self.error_with_help(code, at, error.message, help),
            None => self.error(code, at, error.message),
        }
    }
    /// `complex<f32>`; `!dialect.type<...>`, `complex<i32>`: kept as text.
    pub fn opaque_type(&mut self, span: Span) -> TypeId {
        let text = self.text(span);
        let compact: String = text.split_ascii_whitespace().collect();
        if let Some(dtype) = DType::from_name(&compact) {
            return self.ir.scalar(dtype);
        }
        if let Some(error) = Reader::new(self.ir, &self.options.limits, text).foreign() {
            self.shape_error(span, error);
            return self.no_type();
        }
        self.check_string(span);
        let text = self.ir.sym(text);
        self.ir.type_id(TypeKind::Opaque { text })
    }
    /// `tuple<T, T>`
    pub fn tuple_type(&mut self, span: Span, items: Vec<TypeId>) -> TypeId {
        let parts: Vec<_> = items.iter().map(|t| (*t).into()).collect();
        let ty = self.ir.type_id(TypeKind::Tuple(items));
        self.weigh(ty, &parts, span);
        ty
    }
    /// `(T) -> T`
    pub fn function_type(
        &mut self,
        span: Span,
        inputs: Vec<TypeId>,
        results: Vec<TypeId>,
    ) -> TypeId {
        let parts: Vec<_> = inputs.iter().chain(&results).map(|t| (*t).into()).collect();
        let ty = self.ir.function_type(inputs, results);
        self.weigh(ty, &parts, span);
        ty
    }
}
