//! What two episodes, or two recordings, have in common and what not.
