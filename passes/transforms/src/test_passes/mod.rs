//! Passes that misbehave on purpose, for the tests of the tool. Hidden from the lists.

pub mod test_crash;
pub mod test_miscompile;
pub mod test_ping_pong;
pub mod test_remark;
