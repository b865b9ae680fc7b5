//! One address, many servers: everything at `/mcp`, single servers at `/mcp/<server>`, which may come and go.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use failwell_fault::{Fault, reason};
use failwell_server::House;
use http::{Request, Response};
use hyper::body::Incoming;

use super::body::Body;
use super::request::Head;
use super::router::Door;
use super::settings::HttpSettings;

/// What is served: everything at `/mcp`, and single servers at `/mcp/<server>`.
#[derive(Clone)]
pub struct Houses {
    main: Arc<House>,
    single: BTreeMap<String, Arc<House>>,
}

impl Houses {
    /// Also serves a house at `/mcp/<name>`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, house: Arc<House>) -> Houses {
        self.single.insert(name.into(), house);
        self
    }
}

impl From<Arc<House>> for Houses {
    fn from(main: Arc<House>) -> Houses {
        Houses { main, single: BTreeMap::new() }
    }
}

/// A door to each house.
pub struct Doors {
    main: Arc<Door>,
    single: ArcSwap<BTreeMap<String, Arc<Door>>>,
}

impl Doors {
    /// Doors to these houses.
    pub fn new(houses: impl Into<Houses>, settings: HttpSettings) -> Doors {
        let Houses { main, single } = houses.into();
        let doors = Doors { main: Arc::new(Door::new(main, Arc::new(settings))), single: ArcSwap::default() };
        doors.replace(single);
        doors
    }

    /// From now on these are the single servers. A house that was there keeps its door and its sessions; one that is
    /// gone answers what it has accepted, and then its sessions end.
    pub fn replace(&self, houses: BTreeMap<String, Arc<House>>) {
        let before = self.single.load_full();
        let door = |name: &String, house: Arc<House>| {
            let known = before.get(name).filter(|door| Arc::ptr_eq(&door.house, &house));
            known.cloned().unwrap_or_else(|| Arc::new(Door::new(house, self.main.settings.clone())))
        };
        let after: BTreeMap<String, Arc<Door>> =
            houses.into_iter().map(|(name, house)| (name.clone(), door(&name, house))).collect();
        let is_kept = |door: &Arc<Door>| after.values().any(|kept| Arc::ptr_eq(kept, door));
        let gone: Vec<Arc<Door>> = before.values().filter(|door| !is_kept(door)).cloned().collect();
        self.single.store(Arc::new(after));
        gone.into_iter().for_each(|door| {
            tokio::spawn(close(door));
        });
    }

    pub(super) fn settings(&self) -> &HttpSettings {
        &self.main.settings
    }

    pub(super) fn all(&self) -> Vec<Arc<Door>> {
        std::iter::once(&self.main).chain(self.single.load().values()).cloned().collect()
    }

    /// The door to a house by its name; the main one has none.
    pub(super) fn named(&self, house: &str) -> Option<Arc<Door>> {
        if house.is_empty() { Some(self.main.clone()) } else { self.find(house) }
    }

    pub(super) fn main(&self) -> &Arc<Door> {
        &self.main
    }

    fn find(&self, server: &str) -> Option<Arc<Door>> {
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
                Some(door) => door.answer(request, peer, on).await,
                None => {
                    let (parts, _) = request.into_parts();
                    self.main
                        .refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), &Head::of(&parts, peer, on))
                        .await
                }
            },
        }
    }
}

/// The one server that is meant by `/mcp/<server>`.
fn server_of(path: &str) -> Option<&str> {
    path.strip_prefix("/mcp/").filter(|server| !server.is_empty() && !server.contains('/'))
}

/// Nobody new comes in; who is inside has the time a shutdown would give.
async fn close(door: Arc<Door>) {
    door.house.close_doors();
    door.sessions.finish_notices();
    tokio::time::sleep(door.settings.drain).await;
    door.sessions.end_all();
}
