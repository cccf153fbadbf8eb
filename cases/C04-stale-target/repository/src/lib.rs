//! Arithmetic for the till.

/// The sum of two amounts.
pub fn add(a: i64, b: i64) -> i64 {
    a - b
}
