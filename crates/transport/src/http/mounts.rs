//! The mount points: all servers at `/mcp`, single servers at `/mcp/<server>`. Single servers can change at
//! run time.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use failwell_fault::{Fault, reason};
use failwell_pipeline::Pipeline;
use http::{Request, Response};
use hyper::body::Incoming;

use super::body::Body;
use super::request::RequestHead;
use super::router::Mount;
use super::settings::HttpSettings;

/// The pipelines to serve: all servers at `/mcp`, and single servers at `/mcp/<server>`.
#[derive(Clone)]
pub struct PipelineSet {
    main: Arc<Pipeline>,
    single: BTreeMap<String, Arc<Pipeline>>,
}

impl PipelineSet {
    /// Also serves a pipeline at `/mcp/<name>`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, pipeline: Arc<Pipeline>) -> PipelineSet {
        self.single.insert(name.into(), pipeline);
        self
    }
}

impl From<Arc<Pipeline>> for PipelineSet {
    fn from(main: Arc<Pipeline>) -> PipelineSet {
        PipelineSet { main, single: BTreeMap::new() }
    }
}

/// The mounts of all pipelines.
pub struct Mounts {
    main: Arc<Mount>,
    single: ArcSwap<BTreeMap<String, Arc<Mount>>>,
}

impl Mounts {
    pub fn new(pipelines: impl Into<PipelineSet>, settings: HttpSettings) -> Mounts {
        let PipelineSet { main, single } = pipelines.into();
        let mounts =
            Mounts { main: Arc::new(Mount::new(main, Arc::new(settings))), single: ArcSwap::default() };
        mounts.replace(single);
        mounts
    }

    /// Replaces the single servers. An unchanged pipeline keeps its mount and its sessions. A removed one
    /// completes its accepted requests, and then its sessions end.
    pub fn replace(&self, pipelines: BTreeMap<String, Arc<Pipeline>>) {
        let before = self.single.load_full();
        let mount = |name: &String, pipeline: Arc<Pipeline>| {
            let known = before.get(name).filter(|mount| Arc::ptr_eq(&mount.pipeline, &pipeline));
            known.cloned().unwrap_or_else(|| Arc::new(Mount::new(pipeline, self.main.settings.clone())))
        };
        let after: BTreeMap<String, Arc<Mount>> =
            pipelines.into_iter().map(|(name, pipeline)| (name.clone(), mount(&name, pipeline))).collect();
        let is_kept = |mount: &Arc<Mount>| after.values().any(|kept| Arc::ptr_eq(kept, mount));
        let gone: Vec<Arc<Mount>> = before.values().filter(|mount| !is_kept(mount)).cloned().collect();
        self.single.store(Arc::new(after));
        gone.into_iter().for_each(|mount| {
            tokio::spawn(close(mount));
        });
    }

    pub(super) fn settings(&self) -> &HttpSettings {
        &self.main.settings
    }

    pub(super) fn all(&self) -> Vec<Arc<Mount>> {
        std::iter::once(&self.main).chain(self.single.load().values()).cloned().collect()
    }

    /// The mount of a pipeline by name; the main pipeline has the empty name.
    pub(super) fn named(&self, pipeline: &str) -> Option<Arc<Mount>> {
        if pipeline.is_empty() { Some(self.main.clone()) } else { self.find(pipeline) }
    }

    pub(super) fn main(&self) -> &Arc<Mount> {
        &self.main
    }

    fn find(&self, server: &str) -> Option<Arc<Mount>> {
        self.single.load().get(server).cloned()
    }

    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
        on: &Arc<str>,
    ) -> Response<Body> {
        match server_of(request.uri().path()) {
            None => self.main.answer(request, peer, on).await,
            Some(server) => match self.find(server) {
                Some(mount) => mount.answer(request, peer, on).await,
                None => {
                    let (parts, _) = request.into_parts();
                    self.main
                        .refuse(
                            Fault::new(&reason::HTTP_UNKNOWN_PATH),
                            &RequestHead::of(&parts, peer, on, self.settings().routes),
                        )
                        .await
                }
            },
        }
    }
}

/// The server name in `/mcp/<server>`.
fn server_of(path: &str) -> Option<&str> {
    path.strip_prefix("/mcp/").filter(|server| !server.is_empty() && !server.contains('/'))
}

/// Refuses new requests, and ends sessions after the time that a shutdown allows.
async fn close(mount: Arc<Mount>) {
    mount.pipeline.close_doors();
    mount.sessions.finish_notices();
    tokio::time::sleep(mount.settings.drain).await;
    mount.sessions.end_all();
}
