//! Keys that nodes made: one hash, from what is kept of a key to what is known of it. Making and taking back look at all of
//! them, which is rare; every request looks up one.

use std::time::{SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::{Caller, KeyHash};
use failwell_server::{Added, KeyRing, MadeKey, Revoked, Work};
use redis::{Cmd, cmd};

use crate::redis_state::{Inner, RedisState};

const KEYS: &str = "failwell:keys";
/// The id of the first key there ever was, so that taking all of them back makes no new one.
const FIRST: &str = "failwell:keys-first";

/// All keys; those that do not count any more are forgotten on the way.
const PRELUDE: &str = "
local now, all = tonumber(ARGV[1]), {}
local raw = redis.call('HGETALL', KEYS[1])
for i = 1, #raw, 2 do
  local key = cjson.decode(raw[i + 1])
  if key.expires_ms and key.expires_ms <= now then
    redis.call('HDEL', KEYS[1], raw[i])
  else
    all[raw[i]] = key
  end
end
local function is_admin(key)
  if key.expires_ms then return false end
  for _, role in ipairs(key.roles) do if role == 'admin' then return true end end
  return false
end
";

const ADD: &str = "
local count = 0
for hash, key in pairs(all) do
  count = count + 1
  if key.name == ARGV[3] and hash ~= ARGV[2] then return 'taken' end
end
if not all[ARGV[2]] and count >= tonumber(ARGV[5]) then return 'full' end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
redis.call('SET', KEYS[2], ARGV[6], 'NX')
return 'done'";

/// A first key that was kept already, and whose answer was lost on the way, is still the first.
const ADD_FIRST: &str = "
local first = redis.call('GET', KEYS[2])
if first then return first == ARGV[6] and 'done' or 'no' end
redis.call('SET', KEYS[2], ARGV[6])
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
return 'done'";

const REVOKE: &str = "
local found, others
for hash, key in pairs(all) do
  if key.id == ARGV[2] then found = hash elseif is_admin(key) then others = true end
end
if not found then return '' end
if is_admin(all[found]) and not others then return 'last' end
local text = redis.call('HGET', KEYS[1], found)
redis.call('HDEL', KEYS[1], found)
return text";

fn script(text: &str) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg([PRELUDE, text].concat()).arg(2).arg(KEYS).arg(FIRST).arg(now());
    command
}

/// Now, in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn read(text: &str) -> Result<MadeKey, Fault> {
    serde_json::from_str(text).or_fault(&reason::SERVER_STATE)
}

impl Inner {
    async fn keep_key(&self, text: &str, key: &MadeKey, hash: KeyHash) -> Result<String, Fault> {
        let mut command = script(text);
        command.arg(hash.to_string()).arg(&key.name);
        command.arg(serde_json::to_string(key).or_fault(&reason::SERVER_BUG)?);
        command.arg(MadeKey::MOST).arg(&key.id);
        self.link.run(&command).await
    }
}

impl KeyRing for RedisState {
    fn holder(&self, hash: KeyHash) -> Work<Option<Caller>> {
        self.with(|inner| async move {
            let text: Option<String> = inner.link.run(cmd("HGET").arg(KEYS).arg(hash.to_string())).await?;
            let key = text.as_deref().map(read).transpose()?;
            Ok(key.filter(|key| key.counts(now())).map(|key| key.holder()))
        })
    }

    fn add(&self, key: &MadeKey, hash: KeyHash) -> Work<Added> {
        let key = key.clone();
        self.with(|inner| async move {
            Ok(match inner.keep_key(ADD, &key, hash).await?.as_str() {
                "done" => Added::Done,
                "taken" => Added::Taken,
                _ => Added::Full,
            })
        })
    }

    fn add_first(&self, key: &MadeKey, hash: KeyHash) -> Work<bool> {
        let key = key.clone();
        self.with(|inner| async move { Ok(inner.keep_key(ADD_FIRST, &key, hash).await? == "done") })
    }

    fn all(&self) -> Work<Vec<MadeKey>> {
        self.with(|inner| async move {
            let texts: Vec<String> = inner.link.run(cmd("HVALS").arg(KEYS)).await?;
            let mut all = texts.iter().map(|text| read(text)).collect::<Result<Vec<_>, _>>()?;
            all.retain(|key| key.counts(now()));
            all.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
            Ok(all)
        })
    }

    fn revoke(&self, id: &str) -> Work<Revoked> {
        let mut command = script(REVOKE);
        command.arg(id);
        self.with(|inner| async move {
            let text: String = inner.link.run(&command).await?;
            Ok(match text.as_str() {
                "" => Revoked::Unknown,
                "last" => Revoked::LastAdmin,
                key => Revoked::Done(Box::new(read(key)?)),
            })
        })
    }
}
