//! One address, many servers: everything at `/mcp`, single servers at `/mcp/<server>`.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_server::House;
use http::{Request, Response};
use hyper::body::Incoming;

use super::body::Body;
use super::request::{Head, Place};
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
pub(super) struct Doors {
    main: Arc<Door>,
    single: BTreeMap<String, Arc<Door>>,
}

impl Doors {
    pub(super) fn new(houses: Houses, settings: HttpSettings) -> Doors {
        let settings = Arc::new(settings);
        let door = |house| Arc::new(Door::new(house, settings.clone()));
        let single = houses.single.into_iter().map(|(name, house)| (name, door(house))).collect();
        Doors { main: door(houses.main), single }
    }

    pub(super) fn settings(&self) -> &HttpSettings {
        &self.main.settings
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Door>> {
        std::iter::once(&self.main).chain(self.single.values())
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        match Place::server_of(request.uri().path()) {
            None => self.main.answer(request).await,
            Some(server) => match self.single.get(server) {
                Some(door) => door.answer(request).await,
                None => {
                    let (parts, _) = request.into_parts();
                    self.main.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), Head::of(&parts).face()).await
                }
            },
        }
    }
}
