//! Warm workers: pytest and its plugins are imported once, and each run is a fork of that process.
//!
//! A worker never loads code of a project. A worker that may differ from a fresh process reports this, and
//! the run starts cold.

mod fork;
mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use failwell_process::{EventReader, Launcher};
use parking_lot::Mutex;

pub(crate) use fork::Fork;
use worker::Worker;

use crate::run::RunRequest;

/// Maximum number of workers. Each is a process of about 40 MB.
const MOST_WORKERS: usize = 4;

type WorkerKey = (PathBuf, PathBuf);

/// The workers of a server, one per interpreter and project.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    launcher: Launcher,
    folder: PathBuf,
    slots: Arc<Mutex<HashMap<WorkerKey, WorkerSlot>>>,
}

#[derive(Debug)]
enum WorkerSlot {
    Starting,
    /// The worker can fork.
    Ready(Arc<Worker>),
    /// This project cannot have a worker.
    Unusable,
}

impl WorkerPool {
    /// A pool without workers. Their sockets are in this folder.
    pub(crate) fn new(launcher: Launcher, folder: PathBuf) -> WorkerPool {
        WorkerPool { launcher, folder, slots: Arc::default() }
    }

    fn key(request: &RunRequest) -> WorkerKey {
        (request.interpreter.path.clone(), request.project.root().to_owned())
    }

    /// Forks for a run, if a worker is ready and still fit.
    pub(crate) async fn fork(&self, request: &RunRequest) -> Option<(Fork, EventReader)> {
        let key = WorkerPool::key(request);
        let worker = match self.slots.lock().get(&key) {
            Some(WorkerSlot::Ready(worker)) => worker.clone(),
            _ => return None,
        };
        let forked = worker.fork(request).await;
        if forked.is_none() {
            self.forget(&key);
        }
        forked
    }

    /// Removes a worker. Its forks continue until they end.
    fn forget(&self, key: &WorkerKey) {
        self.slots.lock().remove(key);
    }

    /// Discards the worker of a run without its overseer. Only the worker's supervisor can end the remaining
    /// descendants.
    pub(crate) fn discard(&self, request: &RunRequest) {
        self.forget(&WorkerPool::key(request));
    }

    /// Starts a worker in the background, unless there is one or cannot be one.
    pub(crate) fn prepare(&self, request: &RunRequest) {
        let key = WorkerPool::key(request);
        {
            let mut slots = self.slots.lock();
            if slots.contains_key(&key) {
                return;
            }
            if slots.len() >= MOST_WORKERS {
                let settled = slots.iter().find(|(_, slot)| !matches!(slot, WorkerSlot::Starting));
                let Some(oldest) = settled.map(|(key, _)| key.clone()) else { return };
                slots.remove(&oldest);
            }
            slots.insert(key.clone(), WorkerSlot::Starting);
        }
        let (launcher, folder, slots) =
            (self.launcher.clone(), self.folder.clone(), Arc::downgrade(&self.slots));
        let request = request.clone();
        tokio::spawn(async move {
            let worker = Worker::start(&launcher, &folder, &request).await;
            let Some(slots) = slots.upgrade() else { return };
            let slot = worker.map_or(WorkerSlot::Unusable, |worker| WorkerSlot::Ready(Arc::new(worker)));
            slots.lock().insert(key, slot);
        });
    }
}
