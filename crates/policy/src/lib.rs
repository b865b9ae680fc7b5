//! Access control: API keys and tokens, rate limits, access rules, and content guards on messages.
//!
//! # Invariants
//!
//! * The crate is pure: it does no I/O and reads no clock. Callers pass the time as an argument.
//! * API keys are stored as hashes and compared in constant time. Tokens are verified with public keys that
//!   callers pass in.
//! * Every table is bounded.
//! * Scanning a message takes time proportional to its size, for any content.
//! * Rules and policies about resources compare URIs in their normal form.
//! * A finding holds a category and a place, never the content. A redacted message is still JSON, and a
//!   second scan of it finds nothing.

mod access_policy;
mod access_target;
mod cedar;
pub mod guard;
mod keys;
mod limits;
mod rate;
mod resource_uri;
mod rules;
mod token;

pub use access_policy::{AccessPolicy, KindVisibility, ViewKey};
pub use access_target::{AccessKind, AccessTarget};
pub use cedar::{CedarPolicies, PolicyTextError};
pub use guard::{GuardSettings, Guards};
pub use keys::{KeyHash, Keys};
pub use limits::{Allowance, Allowances, ConcurrencyPermit, Limits};
pub use rate::{Limiter, Rate, RateKey, TokenBucket};
pub use resource_uri::ResourceUri;
pub use rules::{
    AccessRule, AccessRules, ArgumentCheck, CallerMatcher, ItemKind, ItemRules, MatchedRules, Pattern,
    ServerView,
};
pub use token::{KeySet, TokenError, TokenRules};
