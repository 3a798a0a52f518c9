//! Troubles that are provoked, and what the rules that ship say of them.

pub mod fed;
pub mod lab;
pub mod outside;
pub mod rows;
pub mod tale;
pub mod watch;
