//! Registration of a foreign crate's reasons: they join the core's, and duplicate ids are refused.

use failwell_fault::{Condition, Fault, Kind, Origin, ReasonRegistry, RegistryError};

mod bakery {
    failwell_fault::reasons! {
        BAKERY_OVEN_COLD = "bakery/OVEN_COLD" {
            Precondition, ToolFailed, Server,
            title: "the oven is cold",
            detail: "the oven has {degrees} degrees",
            hint: "call preheat first, then bake again",
            about: "Bread is baked at 220 degrees or more.",
        }
        BAKERY_MILL_CLOSED = "bakery/MILL_CLOSED" {
            Unavailable, ExternalService, Upstream,
            title: "the mill is closed",
            session_message: "Failed to communicate with the mill.",
            hint: "come back when the mill is open",
            about: "Flour comes from a mill, which keeps hours of its own.",
        }
    }
}

mod impostor {
    failwell_fault::reasons! {
        RPC_NOT_JSON = "rpc/NOT_JSON" {
            Bug, Bug, Failwell,
            title: "an id of the core",
            hint: "choose an id of your own",
            about: "The core catalogue has this id.",
        }
    }
}

mod misspelt {
    failwell_fault::reasons! {
        SPACES = "bakery/two words" {
            Bug, Bug, Failwell,
            title: "not an id",
            hint: "write area/NAME instead",
            about: "Ids stand in URLs and labels of metrics.",
        }
    }
}

#[test]
fn a_strangers_reasons_follow_the_cores() {
    let core = ReasonRegistry::core();
    let all = core.with(bakery::REASONS).expect("new ids");
    assert_eq!(all.iter().count(), core.iter().count() + 2);
    assert_eq!(all.iter().last(), Some(&bakery::BAKERY_MILL_CLOSED));
    assert_eq!(all.find("Bakery/oven_cold"), Some(&bakery::BAKERY_OVEN_COLD));
    assert_eq!(all.find("rpc/not_json").map(|reason| reason.id), Some("rpc/NOT_JSON"));
    assert_eq!(core.find("bakery/OVEN_COLD"), None);
}

#[test]
fn a_row_says_what_was_declared() {
    let cold = &bakery::BAKERY_OVEN_COLD;
    assert_eq!((cold.kind, cold.condition), (Kind::Precondition, Condition::ToolFailed));
    assert_eq!((cold.origin, cold.area(), cold.session_message), (Origin::Server, "bakery", ""));
    assert_eq!(bakery::BAKERY_MILL_CLOSED.session_message, "Failed to communicate with the mill.");
    assert_eq!(Fault::new(cold).fact("degrees", 20u64).to_string(), "the oven has 20 degrees");
}

#[test]
fn an_id_is_registered_once() {
    let refused = ReasonRegistry::core().with(impostor::REASONS).expect_err("the core has it");
    assert_eq!(refused, RegistryError::Duplicate("rpc/NOT_JSON"));
    assert_eq!(refused.to_string(), "the reason rpc/NOT_JSON is registered twice");
    let once = ReasonRegistry::core().with(bakery::REASONS).expect("new ids");
    assert!(once.with(bakery::REASONS).is_err());
}

#[test]
fn an_id_is_an_area_and_a_name() {
    let refused = ReasonRegistry::core().with(misspelt::REASONS).expect_err("not an id");
    assert_eq!(refused, RegistryError::Malformed("bakery/two words"));
}
