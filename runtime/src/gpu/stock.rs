//! What a session keeps on the device from batch to batch.

use super::{
    buffers::{Buffers, Inputs, Table},
    reduce::Reducer,
};
use std::sync::Arc;

/// Buffers, tables and inputs that the next batch may use again.
#[derive(Default)]
pub(super) struct Stock {
    /// Buffers that are not in use.
    pub(super) spare: Vec<Buffers>,
    pub(super) tables: Vec<Table>,
    /// The inputs of runs that have the same.
    pub(super) inputs: Option<Arc<Inputs>>,
    /// Most agents of a chunk, once memory was short.
    pub(super) most: Option<u32>,
    /// Made for the first run that needs it.
    pub(super) reducer: Option<Reducer>,
}

impl Stock {
    /// Most agents of a chunk, where the device's limits allow `limit` and the caller asks for no more than `asked`.
    pub(super) fn most(&self, limit: u32, asked: Option<u32>) -> u32 {
        let asked = asked.unwrap_or(u32::MAX).max(1);
        limit.min(self.most.unwrap_or(u32::MAX)).min(asked)
    }

    /// Gives up what was made for another kernel.
    pub(super) fn clear_buffers(&mut self) {
        self.spare.clear();
    }
}
