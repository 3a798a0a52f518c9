//! What can end a training or an evaluation.

use crate::agent::PolicyError;
use crate::env::EnvError;
use crate::model::ModelError;

#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    #[error(transparent)]
    Env(#[from] EnvError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error("the teacher succeeded in none of {episodes} episodes: there is nothing to clone")]
    NoTeacher { episodes: usize },
    #[error("the loss is not finite at update {update}: lower the learning rate")]
    Diverged { update: u64 },
    #[error("checkpoint {id}: {reason}")]
    Checkpoint { id: String, reason: String },
    #[error("cancelled after update {update}")]
    Cancelled { update: u64 },
}
