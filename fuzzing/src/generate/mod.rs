//! Generators: a source of choices gives a case.
//!
//! | module | what |
//! |---|---|
//! | `fusion/` | random fusions: programs of tensor ops with inputs, to be executed |
//! | `kernels/` | programs of launches, with the kernels that they run |
//! | `tasks` | boundaries around the ops of a fusion |
//! | `case` | what a program to be executed consists of |
//! | `inputs` | the data |

pub mod case;
pub mod fusion;
pub mod inputs;
pub mod kernels;
pub mod tasks;
pub mod text;

pub use case::{Case, Input, Tier};
