//! The replay screen at every size and with every key.
