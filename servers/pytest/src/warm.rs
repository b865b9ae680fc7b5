//! Warm workers: pytest and its plugins are imported once, and each run is a fork of that.
//!
//! Nothing of a project is ever loaded in a worker. A worker that is not certain to be like a fresh process says so,
//! and the run is a cold one.

mod fork;
mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use failwell_process::{EventReader, Launcher};

pub(crate) use fork::Fork;
use worker::Worker;

use crate::run::Order;

/// More workers than this are not kept: each is a process of some 40 MB.
const MOST_WORKERS: usize = 4;

type Key = (PathBuf, PathBuf);

/// The workers of a server, one for each interpreter and project.
#[derive(Debug)]
pub(crate) struct Pool {
    launcher: Launcher,
    folder: PathBuf,
    places: Arc<Mutex<HashMap<Key, Place>>>,
}

#[derive(Debug)]
enum Place {
    /// On its way.
    Starting,
    /// Ready to fork.
    Ready(Arc<Worker>),
    /// Not to be had for this project.
    Unfit,
}

impl Pool {
    /// A pool without workers. Their sockets go into this folder.
    pub(crate) fn new(launcher: Launcher, folder: PathBuf) -> Pool {
        Pool { launcher, folder, places: Arc::default() }
    }

    fn key(order: &Order) -> Key {
        (order.interpreter.path.clone(), order.project.root().to_owned())
    }

    /// A fork for this run, if a worker is ready and still fit.
    pub(crate) async fn fork(&self, order: &Order) -> Option<(Fork, EventReader)> {
        let key = Pool::key(order);
        let worker = match self.places.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            Some(Place::Ready(worker)) => worker.clone(),
            _ => return None,
        };
        let forked = worker.fork(order).await;
        if forked.is_none() {
            self.forget(&key);
        }
        forked
    }

    /// Lets go of a worker; runs that are forked from it go on until they end.
    fn forget(&self, key: &Key) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// A run that lost its overseer may have left something behind, which only the worker's own supervisor can end.
    pub(crate) fn discard(&self, order: &Order) {
        self.forget(&Pool::key(order));
    }

    /// Starts a worker in the background, unless there is one, or cannot be one.
    pub(crate) fn prepare(&self, order: &Order) {
        let key = Pool::key(order);
        {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            if places.contains_key(&key) {
                return;
            }
            if places.len() >= MOST_WORKERS {
                let settled = places.iter().find(|(_, place)| !matches!(place, Place::Starting));
                let Some(oldest) = settled.map(|(key, _)| key.clone()) else { return };
                places.remove(&oldest);
            }
            places.insert(key.clone(), Place::Starting);
        }
        let (launcher, folder, places) =
            (self.launcher.clone(), self.folder.clone(), Arc::downgrade(&self.places));
        let order = order.clone();
        tokio::spawn(async move {
            let worker = Worker::start(&launcher, &folder, &order).await;
            let Some(places) = places.upgrade() else { return };
            let place = worker.map_or(Place::Unfit, |worker| Place::Ready(Arc::new(worker)));
            places.lock().unwrap_or_else(PoisonError::into_inner).insert(key, place);
        });
    }
}
