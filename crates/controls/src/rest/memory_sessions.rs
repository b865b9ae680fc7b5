//! REST sessions in the memory of one node. They end with the process.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant, SystemTime};

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::Moment;
use failwell_rpc::Json;
use serde_json::{Map, Value};

use crate::rest::rest_session::{Item, RestSession, RestSessions, SessionTerms};
use failwell_toolbox::Work;
use parking_lot::Mutex;

/// The maximum size of all sessions together, in bytes.
const MOST_BYTES: usize = 64 << 20;

#[derive(Debug, Default)]
pub struct MemorySessions(Mutex<HashMap<String, StoredSession>>);

#[derive(Debug)]
struct StoredSession {
    owner: Box<str>,
    metadata: Map<String, Value>,
    /// The size of the serialized metadata.
    metadata_bytes: usize,
    context: BTreeMap<String, Json>,
    began: SystemTime,
    ttl: Duration,
    ends: Instant,
}

impl StoredSession {
    fn bytes(&self) -> usize {
        let context = self.context.iter().map(|(key, value)| key.len() + value.text().len());
        self.metadata_bytes + context.sum::<usize>()
    }

    fn is_over(&self) -> bool {
        self.ends <= Instant::now()
    }

    fn keep(&mut self, terms: SessionTerms) -> Result<(), Fault> {
        if let Some(metadata) = terms.metadata {
            let bytes = written(&metadata)?;
            if bytes + self.bytes().saturating_sub(self.metadata_bytes) > RestSession::LARGEST {
                return Err(RestSession::too_large());
            }
            (self.metadata, self.metadata_bytes) = (metadata, bytes);
        }
        if let Some(ttl) = terms.ttl_s {
            self.ttl = Duration::from_secs(ttl);
        }
        self.ends = Instant::now() + self.ttl;
        Ok(())
    }

    fn shown(&self, id: &str) -> RestSession {
        let left = self.ends.saturating_duration_since(Instant::now());
        RestSession {
            id: id.to_owned(),
            ttl_s: self.ttl.as_secs(),
            created_ms: Moment::from(self.began).unix_millis(),
            expires_ms: Moment::from(SystemTime::now() + left).unix_millis(),
            metadata: self.metadata.clone(),
            context_keys: self.context.keys().cloned().collect(),
        }
    }
}

fn written(metadata: &Map<String, Value>) -> Result<usize, Fault> {
    serde_json::to_vec(metadata).map(|text| text.len()).or_fault(&reason::SERVER_BUG)
}

/// Creates an unguessable id.
fn fresh_id() -> Result<String, Fault> {
    let mut random = [0u8; 16];
    getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
    Ok(hex::encode(random))
}

impl MemorySessions {
    /// Applies a function to a session of this owner, unless the session has expired.
    fn with<T>(&self, owner: &str, id: &str, work: impl FnOnce(&mut StoredSession) -> T) -> Option<T> {
        let mut all = self.0.lock();
        let held = all.get_mut(id).filter(|held| *held.owner == *owner)?;
        if held.is_over() {
            all.remove(id);
            return None;
        }
        Some(work(held))
    }

    fn begin(&self, owner: &str, terms: SessionTerms) -> Result<RestSession, Fault> {
        let ttl = Duration::from_secs(RestSession::USUAL_TTL);
        let (now, id) = (Instant::now(), fresh_id()?);
        let (metadata, context) = (Map::new(), BTreeMap::new());
        let (owner, began) = (Box::from(owner), SystemTime::now());
        let mut held =
            StoredSession { owner, metadata, metadata_bytes: 2, context, began, ttl, ends: now + ttl };
        held.keep(terms)?;
        let mut all = self.0.lock();
        all.retain(|_, other| !other.is_over());
        if all.len() >= RestSession::MOST {
            return Err(RestSession::one_too_many(RestSession::MOST));
        }
        if all.values().filter(|other| other.owner == held.owner).count() >= RestSession::MOST_OF_CALLER {
            return Err(RestSession::one_too_many(RestSession::MOST_OF_CALLER));
        }
        check_space(&all, held.bytes())?;
        let shown = held.shown(&id);
        all.insert(id, held);
        Ok(shown)
    }

    fn set(&self, owner: &str, id: &str, key: &str, value: Json) -> Result<Option<RestSession>, Fault> {
        let new = key.len() + value.text().len();
        // The size check comes first, because it reads all sessions.
        check_space(&self.0.lock(), new)?;
        let set = self.with(owner, id, |held| {
            let old = held.context.get(key).map_or(0, |old| key.len() + old.text().len());
            let is_new = !held.context.contains_key(key);
            if is_new && held.context.len() >= RestSession::MOST_KEYS
                || held.bytes() - old + new > RestSession::LARGEST
            {
                return Err(RestSession::too_large());
            }
            held.context.insert(key.to_owned(), value);
            held.keep(SessionTerms::default())?;
            Ok(held.shown(id))
        });
        set.transpose()
    }
}

fn check_space(all: &HashMap<String, StoredSession>, more: usize) -> Result<(), Fault> {
    let held: usize = all.values().map(StoredSession::bytes).sum();
    if held + more > MOST_BYTES { Err(RestSession::one_too_many(all.len())) } else { Ok(()) }
}

fn at_once<T: Send + 'static>(done: Result<T, Fault>) -> Work<T> {
    Box::pin(std::future::ready(done))
}

impl RestSessions for MemorySessions {
    fn open(&self, owner: &str, terms: SessionTerms) -> Work<RestSession> {
        at_once(self.begin(owner, terms))
    }

    fn all(&self, owner: &str) -> Work<Vec<RestSession>> {
        let all = self.0.lock();
        let own = all.iter().filter(|(_, held)| *held.owner == *owner && !held.is_over());
        let mut own: Vec<RestSession> = own.map(|(id, held)| held.shown(id)).collect();
        own.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        at_once(Ok(own))
    }

    fn find(&self, owner: &str, id: &str) -> Work<Option<RestSession>> {
        at_once(Ok(self.with(owner, id, |held| held.shown(id))))
    }

    fn renew(&self, owner: &str, id: &str, terms: SessionTerms) -> Work<Option<RestSession>> {
        let renewed = self.with(owner, id, |held| held.keep(terms).map(|()| held.shown(id)));
        at_once(renewed.transpose())
    }

    fn end(&self, owner: &str, id: &str) -> Work<bool> {
        let is_there = self.with(owner, id, |_| ()).is_some();
        at_once(Ok(is_there && self.0.lock().remove(id).is_some()))
    }

    fn item(&self, owner: &str, id: &str, key: &str) -> Work<Item> {
        let found = self.with(owner, id, |held| held.context.get(key).cloned());
        at_once(Ok(match found {
            None => Item::NoSession,
            Some(None) => Item::Nothing,
            Some(Some(value)) => Item::Found(value),
        }))
    }

    fn put(&self, owner: &str, id: &str, key: &str, value: Json) -> Work<Option<RestSession>> {
        at_once(self.set(owner, id, key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::MemorySessions;
    use crate::rest::rest_session::{Item, RestSession, RestSessions, SessionTerms};
    use failwell_rpc::Json;
    use std::time::Instant;

    fn lasting(ttl_s: u64) -> SessionTerms {
        SessionTerms { ttl_s: Some(ttl_s), metadata: None }
    }

    impl MemorySessions {
        /// Moves the end of a session to now.
        fn expire(&self, id: &str) {
            self.0.lock().get_mut(id).expect("a session").ends = Instant::now();
        }
    }

    #[tokio::test]
    async fn a_session_is_its_owners_alone_and_ends_in_time() {
        let sessions = MemorySessions::default();
        let long = sessions.open("ann", lasting(600)).await.expect("open");
        let short = sessions.open("ann", lasting(1)).await.expect("open");
        assert!(sessions.find("bob", &long.id).await.is_ok_and(|found| found.is_none()));
        assert!(sessions.end("bob", &long.id).await.is_ok_and(|ended| !ended));
        let put = sessions.put("bob", &long.id, "k", Json::string("v")).await;
        assert!(put.is_ok_and(|put| put.is_none()));
        assert_eq!(sessions.item("bob", &long.id, "k").await.ok(), Some(Item::NoSession));
        assert_eq!(sessions.item("ann", &long.id, "k").await.ok(), Some(Item::Nothing));
        sessions.expire(&short.id);
        assert!(sessions.find("ann", &short.id).await.is_ok_and(|found| found.is_none()));
        let left: Vec<String> =
            sessions.all("ann").await.expect("all").into_iter().map(|one| one.id).collect();
        assert_eq!(left, std::slice::from_ref(&long.id));
        assert!(sessions.end("ann", &long.id).await.is_ok_and(|ended| ended));
        assert!(sessions.renew("ann", &long.id, lasting(5)).await.is_ok_and(|found| found.is_none()));
    }

    #[tokio::test]
    async fn what_it_holds_is_bounded() {
        let sessions = MemorySessions::default();
        let id = sessions.open("ann", lasting(600)).await.expect("open").id;
        let half = Json::string(&"x".repeat(RestSession::LARGEST / 2));
        sessions.put("ann", &id, "a", half.clone()).await.expect("fits");
        sessions.put("ann", &id, "a", half.clone()).await.expect("replaced");
        let reason = |put: Result<_, failwell_fault::Fault>| put.err().map(|fault| fault.reason().id);
        let put = sessions.put("ann", &id, "b", half).await;
        assert_eq!(reason(put), Some("server/SESSION_TOO_LARGE"));
        for key in 1..RestSession::MOST_KEYS {
            sessions.put("ann", &id, &format!("{key}"), Json::string("")).await.expect("room");
        }
        let put = sessions.put("ann", &id, "one more", Json::string("")).await;
        assert_eq!(reason(put), Some("server/SESSION_TOO_LARGE"));
        for _ in 1..RestSession::MOST_OF_CALLER {
            sessions.open("ann", lasting(600)).await.expect("room");
        }
        let open = sessions.open("ann", lasting(600)).await;
        assert_eq!(open.err().map(|fault| fault.reason().id), Some("server/SESSIONS_FULL"));
        assert!(sessions.open("bob", lasting(600)).await.is_ok());
    }
}
