//! API keys that nodes created: one Redis hash from the key's hash to its description. Adding and revoking
//! read the whole hash, which is rare; a request looks up one field.

use std::time::{SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::KeyHash;
use failwell_rpc::Caller;
use failwell_store::{AddKeyResult, ApiKey, KeyStore, RevokeKeyResult};
use failwell_toolbox::Work;
use redis::{Cmd, cmd};

use crate::redis_state::{RedisNode, RedisState};

const KEYS: &str = "failwell:keys";
/// The id of the first key ever, so that revoking all keys does not create a new first key.
const FIRST: &str = "failwell:keys-first";

/// Loads all keys and deletes expired ones.
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

/// Returns success if this key is already the first: its command may be a retry whose response was lost.
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

/// The current time in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn read(text: &str) -> Result<ApiKey, Fault> {
    serde_json::from_str(text).or_fault(&reason::SERVER_STATE)
}

impl RedisNode {
    async fn store_key(&self, text: &str, key: &ApiKey, hash: KeyHash) -> Result<String, Fault> {
        let mut command = script(text);
        command.arg(hash.to_string()).arg(&key.name);
        command.arg(serde_json::to_string(key).or_fault(&reason::SERVER_BUG)?);
        command.arg(ApiKey::MOST).arg(&key.id);
        self.redis.run(&command).await
    }
}

impl KeyStore for RedisState {
    fn holder(&self, hash: KeyHash) -> Work<Option<Caller>> {
        self.with(|inner| async move {
            let text: Option<String> = inner.redis.run(cmd("HGET").arg(KEYS).arg(hash.to_string())).await?;
            let key = text.as_deref().map(read).transpose()?;
            Ok(key.filter(|key| key.is_valid(now())).map(|key| key.holder()))
        })
    }

    fn add(&self, key: &ApiKey, hash: KeyHash) -> Work<AddKeyResult> {
        let key = key.clone();
        self.with(|inner| async move {
            Ok(match inner.store_key(ADD, &key, hash).await?.as_str() {
                "done" => AddKeyResult::Done,
                "taken" => AddKeyResult::Taken,
                _ => AddKeyResult::Full,
            })
        })
    }

    fn add_first(&self, key: &ApiKey, hash: KeyHash) -> Work<bool> {
        let key = key.clone();
        self.with(|inner| async move { Ok(inner.store_key(ADD_FIRST, &key, hash).await? == "done") })
    }

    fn all(&self) -> Work<Vec<ApiKey>> {
        self.with(|inner| async move {
            let texts: Vec<String> = inner.redis.run(cmd("HVALS").arg(KEYS)).await?;
            let mut all = texts.iter().map(|text| read(text)).collect::<Result<Vec<_>, _>>()?;
            all.retain(|key| key.is_valid(now()));
            all.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
            Ok(all)
        })
    }

    fn revoke(&self, id: &str) -> Work<RevokeKeyResult> {
        let mut command = script(REVOKE);
        command.arg(id);
        self.with(|inner| async move {
            let text: String = inner.redis.run(&command).await?;
            Ok(match text.as_str() {
                "" => RevokeKeyResult::Unknown,
                "last" => RevokeKeyResult::LastAdmin,
                key => RevokeKeyResult::Done(Box::new(read(key)?)),
            })
        })
    }
}
