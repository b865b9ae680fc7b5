//! A type is named for what it is: a noun, not a participle, a verb or a preposition.

use super::definitions::Definition;
use crate::problem::Problem;

/// Participles that do not end in -ed or -ing.
const IRREGULAR: &[&str] = &[
    "Became",
    "Begun",
    "Borne",
    "Bought",
    "Bound",
    "Broken",
    "Brought",
    "Built",
    "Caught",
    "Chosen",
    "Cut",
    "Done",
    "Drawn",
    "Driven",
    "Fallen",
    "Felt",
    "Forgotten",
    "Found",
    "Given",
    "Gone",
    "Grown",
    "Heard",
    "Held",
    "Hidden",
    "Kept",
    "Known",
    "Laid",
    "Led",
    "Left",
    "Lent",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Paid",
    "Put",
    "Read",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Shut",
    "Sold",
    "Sought",
    "Spent",
    "Split",
    "Spoken",
    "Stood",
    "Struck",
    "Stuck",
    "Taken",
    "Taught",
    "Thrown",
    "Told",
    "Torn",
    "Understood",
    "Unheard",
    "Unknown",
    "Unsaid",
    "Won",
    "Worn",
    "Written",
];

/// Nouns that only look like participles.
const NOUNS: &[&str] = &[
    "Anything",
    "Bed",
    "Being",
    "Binding",
    "Bleed",
    "Breed",
    "Building",
    "Ceiling",
    "Deed",
    "Drawing",
    "Embed",
    "Encoding",
    "Evening",
    "Everything",
    "Feed",
    // As in hyper: one message on its way in.
    "Incoming",
    "Finding",
    "Framing",
    "Heading",
    "King",
    "Listing",
    "Mapping",
    "Meaning",
    "Meeting",
    "Morning",
    "Need",
    "Nothing",
    "Opening",
    "Padding",
    "Ping",
    "Rating",
    "Reed",
    "Ring",
    "Rounding",
    "Routing",
    "Seed",
    "Setting",
    "Shed",
    "Something",
    "Spacing",
    "Speed",
    "Spelling",
    "Spring",
    "String",
    "Thing",
    "Timing",
    "Warning",
    "Weed",
    "Wing",
    "Wording",
];

/// Words of other kinds, as whole names.
const NO_NOUNS: &[&str] = &[
    "About", "Alone", "Also", "At", "Before", "Behind", "Below", "Beside", "Big", "By", "Does", "Due", "For",
    "Gives", "Has", "How", "Idle", "In", "Is", "Late", "Must", "Of", "Offers", "On", "Ran", "Small",
    "Speaks", "Takes", "Ten", "Then", "To", "Wants", "Which", "Whose", "With",
];

/// Words that no name ends with, but for [`NAMED_ELSEWHERE`].
const NO_ENDINGS: &[&str] = &["As", "At", "By", "Do", "For", "From", "In", "Is", "Of", "To", "With"];

/// Names that others gave: the arguments of the tools `waitFor` and `scrollTo`, and the header Reply-To.
const NAMED_ELSEWHERE: &[&str] = &["ReplyTo", "ScrollTo", "WaitFor"];

pub(super) fn in_definition(path: &str, definition: &Definition<'_>) -> Option<Problem> {
    let name = definition.name;
    let fault = if is_participle(name) {
        "a bare participle"
    } else if NO_NOUNS.contains(&name) || ends_without_noun(name) {
        "no noun"
    } else {
        return None;
    };
    let what = format!("{path}:{}: the type `{name}` is {fault}", definition.line);
    Some(Problem::new(what, "say what it is: a noun, as in `StoredFile` or `LookupResult`"))
}

fn is_participle(name: &str) -> bool {
    let one_word = !name.chars().skip(1).any(|letter| letter.is_uppercase() || letter == '_');
    let looks_so = name.ends_with("ed") || name.ends_with("ing") || IRREGULAR.contains(&name);
    one_word && looks_so && !NOUNS.contains(&name)
}

fn ends_without_noun(name: &str) -> bool {
    let is_word =
        |ending: &str| name.strip_suffix(ending).is_some_and(|before| before.ends_with(char::is_lowercase));
    !NAMED_ELSEWHERE.contains(&name) && NO_ENDINGS.iter().any(|ending| is_word(ending))
}
