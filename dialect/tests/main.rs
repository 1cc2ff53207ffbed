//! The op tables, their documentation, and the code beside them.

mod codes;
mod docs;
mod errors;
mod examples;
mod folds;
mod hostile;
mod infer;
mod robust;
mod support;
mod syntax;
mod tables;
mod task;
mod verify;
