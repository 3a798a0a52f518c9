//! The diff screen by its keys.
