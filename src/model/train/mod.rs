//! Training: forward and backward of the network by hand, in f32, and the optimizer.
//!
//! At the built-in agent's size a hand-written backward pass is several times as fast as a general autograd, and all of its
//! buffers are kept from step to step. Tests hold its gradients to differences of the naive f64 network.

mod adam;
mod matrix;
mod net;

pub use adam::{Adam, AdamSettings, clip_norm};
pub use net::{Batch, Example, LossSum, Network, Tape};
