//! The demo account.

use super::{Seed, SeedList, SeedLocation, SeedNote, SeedPerson, SeedTask};

fn task(name: &str) -> SeedTask {
    SeedTask { name: name.to_owned(), ..SeedTask::default() }
}

impl SeedTask {
    fn due(self, due: &str) -> SeedTask {
        SeedTask { due: Some(due.to_owned()), ..self }
    }

    fn tags(self, tags: &[&str]) -> SeedTask {
        SeedTask { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..self }
    }

    fn priority(self, priority: u8) -> SeedTask {
        SeedTask { priority: Some(priority), ..self }
    }

    fn estimate(self, estimate: &str) -> SeedTask {
        SeedTask { estimate: Some(estimate.to_owned()), ..self }
    }

    fn repeat(self, repeat: &str) -> SeedTask {
        SeedTask { repeat: Some(repeat.to_owned()), ..self }
    }
}

fn list(name: &str, tasks: Vec<SeedTask>) -> SeedList {
    SeedList { name: name.to_owned(), tasks, ..SeedList::default() }
}

fn smart(name: &str, filter: &str) -> SeedList {
    SeedList { name: name.to_owned(), filter: Some(filter.to_owned()), ..SeedList::default() }
}

pub(super) fn seed() -> Seed {
    Seed {
        default_list: Some("Personal".to_owned()),
        people: vec![
            SeedPerson { username: "ines".to_owned(), fullname: "Ines Okafor".to_owned(), contact: true },
            SeedPerson {
                username: "tomasz".to_owned(),
                fullname: "Tomasz Ekberg".to_owned(),
                contact: false,
            },
        ],
        locations: vec![
            place("Home", 52.5163, 13.3777),
            place("Office", 52.5251, 13.3694),
            place("Market", 52.5009, 13.4183),
        ],
        lists: vec![
            inbox(),
            personal(),
            work(),
            garden(),
            smart("Today", "due:today AND status:incomplete"),
            old(),
        ],
        ..Seed::empty()
    }
}

fn place(name: &str, latitude: f64, longitude: f64) -> SeedLocation {
    SeedLocation { name: name.to_owned(), latitude, longitude, address: String::new() }
}

fn inbox() -> SeedList {
    list(
        "Inbox",
        vec![task("Look up train times to the coast"), task("Return the library books").due("in 3 days")],
    )
}

fn personal() -> SeedList {
    let passport = SeedTask {
        notes: vec![SeedNote { title: "Bring".to_owned(), text: "Old passport and two photos.".to_owned() }],
        ..task("Renew the passport").due("next week").priority(1).tags(&["errand"])
    };
    let bread = SeedTask {
        location: Some("Market".to_owned()),
        ..task("Buy bread and coffee").due("today").tags(&["errand", "food"])
    };
    let dentist = task("Call the dentist").due("yesterday").priority(2).estimate("10 min").tags(&["call"]);
    let done = SeedTask { completed: Some("yesterday".to_owned()), ..task("Pay the electricity bill") };
    list("Personal", vec![passport, bread, dentist, done])
}

fn work() -> SeedList {
    let parts = vec![task("Collect the figures"), task("Write the summary").estimate("2 hours")];
    let report = SeedTask {
        start: Some("today".to_owned()),
        subtasks: parts,
        ..task("Quarterly report").due("next friday").priority(1).tags(&["writing"])
    };
    let review = task("Review Ines's draft").due("tomorrow 10am").estimate("1 hour").tags(&["writing"]);
    let review = SeedTask { shared_with: vec!["ines".to_owned()], ..review };
    let meeting = task("Prepare the team meeting").due("next monday 9am").repeat("every monday").priority(2);
    list("Work", vec![report, review, meeting])
}

fn garden() -> SeedList {
    let water = task("Water the tomatoes").due("today").repeat("after 2 days").estimate("15 min");
    list("Garden", vec![water, task("Order seeds").tags(&["online"]).priority(3)])
}

fn old() -> SeedList {
    SeedList { archived: true, ..list("Last year's holiday", vec![task("Pack the tent")]) }
}
