//! Sessions of the REST dialect. Each is a Redis hash with an expiry. The script that changes a session also
//! checks its owner, so that no caller can change the session of another.

use failwell_controls::{Item, RestSession, RestSessions, SessionTerms};
use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Json, Limits};
use failwell_toolbox::Work;
use redis::{Cmd, cmd};

use crate::redis_state::{RedisNode, RedisState, random};

/// Common functions of all scripts: the time, the size of a session without one field, and renewing the
/// expiry.
const PRELUDE: &str = "
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local function held(but)
  local all, bytes, keys = redis.call('HGETALL', KEYS[1]), 0, 0
  for i = 1, #all, 2 do
    if all[i] ~= but and all[i] == 'metadata' then bytes = bytes + #all[i + 1] end
    if all[i] ~= but and string.sub(all[i], 1, 2) == 'c:' then
      bytes = bytes + #all[i] - 2 + #all[i + 1]
      keys = keys + 1
    end
  end
  return bytes, keys
end
local function keep(id, longest)
  local lasts = redis.call('HGET', KEYS[1], 'ttl') * 1000
  redis.call('PEXPIRE', KEYS[1], lasts)
  for place = 2, 3 do
    redis.call('ZADD', KEYS[place], now + lasts, id)
    redis.call('PEXPIRE', KEYS[place], longest)
  end
end
";

const OPEN: &str = "
for place = 2, 3 do redis.call('ZREMRANGEBYSCORE', KEYS[place], '-inf', now) end
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[6]) then return -1 end
  if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[7]) then return -2 end
end
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'created', now, 'ttl', ARGV[4], 'metadata', ARGV[5])
keep(ARGV[1], ARGV[3])
return 1";

const RENEW: &str = "
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
if ARGV[5] ~= '' then
  if held('metadata') + #ARGV[5] > tonumber(ARGV[6]) then return -1 end
  redis.call('HSET', KEYS[1], 'metadata', ARGV[5])
end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'ttl', ARGV[4]) end
keep(ARGV[1], ARGV[3])
return 1";

const PUT: &str = "
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
local bytes, keys = held(ARGV[4])
if bytes + #ARGV[4] - 2 + #ARGV[5] > tonumber(ARGV[6]) or keys >= tonumber(ARGV[7]) then return -1 end
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5])
keep(ARGV[1], ARGV[3])
return 1";

const END: &str = "
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
for place = 2, 3 do redis.call('ZREM', KEYS[place], ARGV[1]) end
return 1";

const READ: &str = "return { now, redis.call('PTTL', KEYS[1]), redis.call('HGETALL', KEYS[1]) }";
const LIST: &str = "return redis.call('ZRANGEBYSCORE', KEYS[2], now, '+inf')";

/// A script call for one session of an owner.
fn script(text: &str, owner: &str, id: &str) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg([PRELUDE, text].concat()).arg(3).arg(format!("failwell:rest:{id}"));
    command.arg(format!("failwell:rest-of:{owner}")).arg("failwell:rest-all");
    command.arg(id).arg(owner).arg(RestSession::LONGEST_TTL * 1_000);
    command
}

/// The fields of a stored session.
#[derive(Default)]
struct SessionFields {
    owner: String,
    created: i64,
    ttl: u64,
    metadata: String,
    context: Vec<(String, String)>,
}

impl SessionFields {
    fn parse(fields: Vec<String>) -> SessionFields {
        let mut found = SessionFields::default();
        let mut fields = fields.into_iter();
        while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
            match name.as_str() {
                "owner" => found.owner = value,
                "created" => found.created = value.parse().unwrap_or_default(),
                "ttl" => found.ttl = value.parse().unwrap_or_default(),
                "metadata" => found.metadata = value,
                other => found.context.extend(other.strip_prefix("c:").map(|key| (key.to_owned(), value))),
            }
        }
        found.context.sort();
        found
    }
}

impl RedisNode {
    async fn change(&self, command: &Cmd) -> Result<i64, Fault> {
        self.redis.run(command).await
    }

    /// Reads a session and its expiry, if it belongs to this owner.
    async fn read(&self, owner: &str, id: &str) -> Result<Option<(SessionFields, i64)>, Fault> {
        let (now, left, fields): (i64, i64, Vec<String>) = self.redis.run(&script(READ, owner, id)).await?;
        let fields = SessionFields::parse(fields);
        Ok((left > 0 && fields.owner == owner).then_some((fields, now.saturating_add(left))))
    }

    async fn shown(&self, owner: &str, id: &str) -> Result<Option<RestSession>, Fault> {
        let Some((fields, ends)) = self.read(owner, id).await? else { return Ok(None) };
        Ok(Some(RestSession {
            id: id.to_owned(),
            ttl_s: fields.ttl,
            created_ms: fields.created,
            expires_ms: ends,
            metadata: serde_json::from_str(&fields.metadata).unwrap_or_default(),
            context_keys: fields.context.into_iter().map(|(key, _)| key).collect(),
        }))
    }

    /// Runs a change and returns the changed session.
    async fn changed(&self, owner: &str, id: &str, command: Cmd) -> Result<Option<RestSession>, Fault> {
        match self.change(&command).await? {
            0 => Ok(None),
            1 => self.shown(owner, id).await,
            _ => Err(RestSession::too_large()),
        }
    }

    async fn open_session(&self, owner: &str, terms: SessionTerms) -> Result<RestSession, Fault> {
        let id = random(16)?;
        let metadata = written(&terms)?.unwrap_or_else(|| "{}".to_owned());
        if metadata.len() > RestSession::LARGEST {
            return Err(RestSession::too_large());
        }
        let mut command = script(OPEN, owner, &id);
        command.arg(terms.ttl_s.unwrap_or(RestSession::USUAL_TTL)).arg(metadata);
        command.arg(RestSession::MOST_OF_CALLER).arg(RestSession::MOST);
        match self.change(&command).await? {
            -1 => Err(RestSession::one_too_many(RestSession::MOST_OF_CALLER)),
            -2 => Err(RestSession::one_too_many(RestSession::MOST)),
            _ => self.shown(owner, &id).await?.ok_or_else(RestSession::unknown),
        }
    }
}

fn written(terms: &SessionTerms) -> Result<Option<String>, Fault> {
    let metadata = terms.metadata.as_ref().map(serde_json::to_string);
    metadata.transpose().or_fault(&reason::SERVER_BUG)
}

impl RestSessions for RedisState {
    fn open(&self, owner: &str, terms: SessionTerms) -> Work<RestSession> {
        let owner = owner.to_owned();
        self.with(|inner| async move { inner.open_session(&owner, terms).await })
    }

    fn all(&self, owner: &str) -> Work<Vec<RestSession>> {
        let owner = owner.to_owned();
        self.with(|inner| async move {
            let ids: Vec<String> = inner.redis.run(&script(LIST, &owner, "")).await?;
            let mut all = Vec::new();
            for id in ids {
                all.extend(inner.shown(&owner, &id).await?);
            }
            all.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
            Ok(all)
        })
    }

    fn find(&self, owner: &str, id: &str) -> Work<Option<RestSession>> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        self.with(|inner| async move { inner.shown(&owner, &id).await })
    }

    fn renew(&self, owner: &str, id: &str, terms: SessionTerms) -> Work<Option<RestSession>> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        self.with(|inner| async move {
            let mut command = script(RENEW, &owner, &id);
            command.arg(terms.ttl_s.map(|ttl| ttl.to_string()).unwrap_or_default());
            command.arg(written(&terms)?.unwrap_or_default()).arg(RestSession::LARGEST);
            inner.changed(&owner, &id, command).await
        })
    }

    fn end(&self, owner: &str, id: &str) -> Work<bool> {
        let command = script(END, owner, id);
        self.with(|inner| async move { Ok(inner.change(&command).await? == 1) })
    }

    fn item(&self, owner: &str, id: &str, key: &str) -> Work<Item> {
        let (owner, id, key) = (owner.to_owned(), id.to_owned(), key.to_owned());
        self.with(|inner| async move {
            let Some((fields, _)) = inner.read(&owner, &id).await? else { return Ok(Item::NoSession) };
            let found = fields.context.into_iter().find(|(known, _)| *known == key);
            Ok(match found.and_then(|(_, text)| Json::read(&text, &Limits::default()).ok()) {
                Some(value) => Item::Found(value),
                None => Item::Nothing,
            })
        })
    }

    fn put(&self, owner: &str, id: &str, key: &str, value: Json) -> Work<Option<RestSession>> {
        let (owner, id, field) = (owner.to_owned(), id.to_owned(), format!("c:{key}"));
        self.with(|inner| async move {
            let mut command = script(PUT, &owner, &id);
            command.arg(field).arg(value.text());
            command.arg(RestSession::LARGEST).arg(RestSession::MOST_KEYS);
            inner.changed(&owner, &id, command).await
        })
    }
}
