//! The jobs of a batch: the chunks of its runs, one run after the other.

use super::chunk::Chunk;
use crate::{batch::Batch, bind::Launch, error::Error};
use std::sync::Arc;

/// One chunk of one run.
#[derive(Clone)]
pub(crate) struct Job {
    /// The number of the run.
    pub(crate) run: usize,
    pub(crate) launch: Arc<Launch>,
    pub(crate) chunk: Chunk,
}

/// The jobs that are not submitted yet.
pub(crate) struct Jobs<'a> {
    batch: &'a Batch<'a>,
    /// The run of the next job, its launch, and its first agent that no job has.
    run: usize,
    launch: Arc<Launch>,
    first_agent: u32,
    /// The number of runs whose launches are valid.
    runs: usize,
    /// The error of the launch after them.
    failed: Option<Error>,
}

impl<'a> Jobs<'a> {
    /// The jobs of a batch whose first launch is given.
    pub(crate) fn new(batch: &'a Batch<'a>, launch: Arc<Launch>) -> Jobs<'a> {
        Jobs {
            batch,
            run: 0,
            launch,
            first_agent: 0,
            runs: batch.runs,
            failed: None,
        }
    }

    /// The launch of the next job; that of the last one if none is left. All have the same agents and steps.
    pub(crate) fn launch(&self) -> &Arc<Launch> {
        &self.launch
    }

    /// The number of runs that have jobs left.
    pub(crate) fn runs_left(&self) -> usize {
        self.runs - self.run
    }

    /// The next job, of at most `agents` agents.
    pub(crate) fn next(&mut self, agents: u32) -> Option<Job> {
        if self.runs_left() == 0 {
            return None;
        }
        let job = Job {
            run: self.run,
            launch: Arc::clone(&self.launch),
            chunk: Chunk {
                first: self.first_agent,
                count: agents.min(self.launch.agents - self.first_agent),
            },
        };
        self.first_agent += job.chunk.count;
        if self.first_agent == self.launch.agents {
            self.run += 1;
            self.first_agent = 0;
            self.load_launch();
        }
        Some(job)
    }

    /// Makes a job the next one again, and all after it.
    pub(crate) fn rewind(&mut self, to: &Job) {
        self.run = to.run;
        self.launch = Arc::clone(&to.launch);
        self.first_agent = to.chunk.first;
    }

    fn load_launch(&mut self) {
        if self.runs_left() == 0 {
            return;
        }
        match (self.batch.complete_launch)(self.run) {
            Ok(launch) => self.launch = launch,
            // The runs before it are finished and delivered first.
            Err(error) => {
                self.runs = self.run;
                self.failed = Some(error);
            }
        }
    }

    /// The error that ended the batch early, if any.
    pub(crate) fn into_result(self) -> Result<(), Error> {
        self.failed.map_or(Ok(()), Err)
    }
}
