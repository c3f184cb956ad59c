//! The `debate` command.
fn main() {}
