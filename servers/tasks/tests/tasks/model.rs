//! Ten thousand random steps, including undo. After each step the account is compared with a simple model.

use std::collections::{BTreeMap, BTreeSet};

use failwell_emulator_rtm::Seed;
use serde_json::{Value, json};

use super::world::World;

const RUNS: u64 = 10;
const STEPS: usize = 1_000;

/// A realistic number of tasks.
const MOST_TASKS: usize = 12;
const MOST_LISTS: usize = 4;

/// A deterministic pseudo-random generator (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let index = self.roll(all.len());
        all.get(index)
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
struct MTask {
    name: String,
    list: String,
    priority: String,
    due: Option<String>,
    tags: BTreeSet<String>,
    notes: BTreeMap<String, (String, String)>,
    url: Option<String>,
    estimate: Option<String>,
    parent: Option<String>,
    is_completed: bool,
}

/// The expected state: tasks by id, lists by id with their name and archive flag.
#[derive(Debug, Clone, PartialEq, Default)]
struct Model {
    tasks: BTreeMap<String, MTask>,
    lists: BTreeMap<String, (String, bool)>,
}

impl Model {
    fn ids(&self, fits: impl Fn(&str, &MTask) -> bool) -> Vec<String> {
        self.tasks.iter().filter(|(id, task)| fits(id, task)).map(|(id, _)| id.clone()).collect()
    }

    /// The service treats parents and subtasks specially. Other tests cover them.
    fn is_alone(&self, id: &str) -> bool {
        let own = id.split('_').next_back();
        self.tasks[id].parent.is_none() && !self.tasks.values().any(|task| task.parent.as_deref() == own)
    }
}

struct Run {
    world: World,
    model: Model,
    /// The state before each change that can be undone.
    past: Vec<Model>,
    dice: Dice,
    made: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_steps_agree_with_the_model() {
    let mut running = tokio::task::JoinSet::new();
    for seed in 1..=RUNS {
        running.spawn(walk(seed));
    }
    while let Some(run) = running.join_next().await {
        run.expect("it agrees");
    }
}

async fn walk(seed: u64) {
    let mut run = Run::new(seed).await;
    for step in 0..STEPS {
        // The clock advances, so that earlier changes are not reported again.
        run.world.control().advance_clock(std::time::Duration::from_secs(3));
        let what = run.step().await;
        run.compare(&run.world, &format!("seed {seed} step {step}: {what}")).await;
        if step % 250 == 249 {
            // A server with an empty cache sees the same.
            run.compare(&run.world.afresh(), &format!("seed {seed} step {step}, afresh")).await;
        }
    }
}

impl Run {
    async fn new(seed: u64) -> Run {
        let world = World::seeded(Seed::empty()).await;
        let mut run = Run {
            world,
            model: Model::default(),
            past: Vec::new(),
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            made: 0,
        };
        let lists = run.world.done("rtm_getLists", json!({"archived": true})).await;
        for list in
            lists["lists"].as_array().expect("lists").iter().filter(|list| list["smart"] == json!(false))
        {
            run.model.lists.insert(text(&list["id"]), (text(&list["name"]), false));
        }
        run
    }

    async fn compare(&self, world: &World, when: &str) {
        let found = world.done("rtm_findTasks", json!({"completed": true, "limit": 500})).await;
        let seen: BTreeMap<String, MTask> = found["tasks"]
            .as_array()
            .expect("tasks")
            .iter()
            .map(|view| (text(&view["id"]), seen(view)))
            .collect();
        let different = |id: &&String| seen.get(*id) != self.model.tasks.get(*id);
        let ids: BTreeSet<&String> = seen.keys().chain(self.model.tasks.keys()).filter(different).collect();
        let shown = ids
            .iter()
            .map(|id| format!("{id}\n  seen {:?}\n  model {:?}", seen.get(*id), self.model.tasks.get(*id)));
        assert!(ids.is_empty(), "{when}\n{}", shown.collect::<Vec<_>>().join("\n"));
    }

    /// One random step. Returns its description.
    async fn step(&mut self) -> String {
        let crowded = self.model.tasks.len() >= MOST_TASKS;
        match self.dice.roll(100) {
            0..=17 if !crowded => self.create().await,
            0..=17 => self.delete().await,
            18..=25 => self.complete().await,
            26..=31 => self.reopen().await,
            32..=35 => self.delete().await,
            36..=51 => self.update().await,
            52..=60 => self.tag().await,
            61..=68 => self.note().await,
            69..=74 => self.move_task().await,
            75..=78 => self.list().await,
            79..=82 => self.parent().await,
            83..=86 => self.batch().await,
            87..=90 => self.wrong().await,
            _ => self.undo().await,
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Model)) {
        self.past.push(self.model.clone());
        change(&mut self.model);
    }

    fn any(&mut self, fits: impl Fn(&Model, &str, &MTask) -> bool) -> Option<String> {
        let model = &self.model;
        let ids = model.ids(|id, task| fits(model, id, task));
        self.dice.pick(&ids).cloned()
    }

    fn open_list(&mut self) -> (String, String) {
        let open: Vec<(String, String)> = self
            .model
            .lists
            .iter()
            .filter(|(_, (name, archived))| !archived && name != "Sent")
            .map(|(id, (name, _))| (id.clone(), name.clone()))
            .collect();
        self.dice.pick(&open).cloned().expect("the Inbox")
    }

    fn new_name(&mut self) -> String {
        self.made += 1;
        // Occasionally an existing name.
        if self.dice.roll(10) == 0 { "twin".to_owned() } else { format!("task {}", self.made) }
    }

    async fn create(&mut self) -> String {
        let (name, (id, list)) = (self.new_name(), self.open_list());
        let given = if self.dice.roll(2) == 0 { id } else { list.clone() };
        let made =
            self.world.done("rtm_createTask", json!({"name": name, "list": given, "literal": true})).await;
        let task = MTask { name: name.clone(), list, priority: "none".to_owned(), ..MTask::default() };
        self.change(|model| {
            model.tasks.insert(text(&made["task"]["id"]), task);
        });
        format!("create {name}")
    }

    async fn complete(&mut self) -> String {
        let Some(id) = self.any(|model, id, task| !task.is_completed && model.is_alone(id)) else {
            return "nothing".to_owned();
        };
        self.world.done("rtm_completeTask", json!({"taskId": id})).await;
        self.change(|model| model.tasks.get_mut(&id).unwrap().is_completed = true);
        format!("complete {id}")
    }

    async fn reopen(&mut self) -> String {
        let Some(id) = self.any(|_, _, task| task.is_completed) else { return "nothing".to_owned() };
        self.world.done("rtm_reopenTask", json!({"task": id})).await;
        self.change(|model| model.tasks.get_mut(&id).unwrap().is_completed = false);
        format!("reopen {id}")
    }

    async fn delete(&mut self) -> String {
        let Some(id) = self.any(|model, id, _| model.is_alone(id)) else { return "nothing".to_owned() };
        self.world.done("rtm_deleteTask", json!({"task": id})).await;
        self.change(|model| {
            model.tasks.remove(&id);
        });
        format!("delete {id}")
    }

    /// Changes several fields at once and removes some.
    async fn update(&mut self) -> String {
        let Some(id) = self.any(|_, _, _| true) else { return "nothing".to_owned() };
        let mut task = self.model.tasks[&id].clone();
        let mut given = json!({"task": id});
        if self.dice.roll(3) == 0 {
            task.name = self.new_name();
            given["name"] = json!(task.name);
        }
        if self.dice.roll(3) == 0 {
            task.priority = ["1", "2", "3", "none"][self.dice.roll(4)].to_owned();
            given["priority"] = json!(task.priority);
        }
        if self.dice.roll(3) == 0 {
            task.due = (self.dice.roll(4) > 0)
                .then(|| format!("2031-0{}-1{}", self.dice.roll(9) + 1, self.dice.roll(10)));
            given["due"] = json!(task.due.clone().unwrap_or_default());
        }
        if self.dice.roll(5) == 0 {
            task.url = (self.dice.roll(3) > 0).then(|| format!("https://example.org/{}", self.dice.roll(9)));
            given["url"] = json!(task.url.clone().unwrap_or_default());
        }
        if self.dice.roll(5) == 0 {
            task.estimate = (self.dice.roll(3) > 0).then(|| format!("{} min", 5 * (self.dice.roll(9) + 1)));
            given["estimate"] = json!(task.estimate.clone().unwrap_or_default());
        }
        let shown = given.to_string();
        let changes = given.as_object().unwrap().len() > 1;
        let done = self.world.done("rtm_updateTask", given).await;
        assert_eq!(done["change"].is_null(), !changes, "{shown}");
        if changes {
            self.change(|model| {
                model.tasks.insert(id, task);
            });
        }
        format!("update {shown}")
    }

    async fn tag(&mut self) -> String {
        let Some(id) = self.any(|_, _, _| true) else { return "nothing".to_owned() };
        let mut tags = self.model.tasks[&id].tags.clone();
        let some: BTreeSet<String> =
            (0..=self.dice.roll(2)).map(|_| format!("tag{}", self.dice.roll(4))).collect();
        let how = ["add", "remove", "set"][self.dice.roll(3)];
        match how {
            "add" => tags.extend(some.clone()),
            "remove" => tags.retain(|tag| !some.contains(tag)),
            _ => tags.clone_from(&some),
        }
        self.world.done("rtm_tagTask", json!({"task": id, how: some})).await;
        self.change(|model| model.tasks.get_mut(&id).unwrap().tags = tags);
        format!("tag {id} {how} {some:?}")
    }

    async fn note(&mut self) -> String {
        let Some(id) = self.any(|_, _, _| true) else { return "nothing".to_owned() };
        let notes: Vec<String> = self.model.tasks[&id].notes.keys().cloned().collect();
        let (title, body) = (format!("title {}", self.dice.roll(9)), format!("text {}", self.made));
        let note = self.dice.pick(&notes).cloned();
        match (self.dice.roll(3), note) {
            (0, Some(note)) => {
                self.world.done("rtm_editNote", json!({"note": note, "title": title, "text": body})).await;
                self.change(|model| {
                    model.tasks.get_mut(&id).unwrap().notes.insert(note, (title, body));
                });
                "edit a note".to_owned()
            }
            (1, Some(note)) => {
                self.world.done("rtm_deleteNote", json!({"note": note})).await;
                self.change(|model| {
                    model.tasks.get_mut(&id).unwrap().notes.remove(&note);
                });
                "delete a note".to_owned()
            }
            _ => {
                let made =
                    self.world.done("rtm_addNote", json!({"task": id, "title": title, "text": body})).await;
                let after = seen(&made["task"]).notes;
                self.change(|model| model.tasks.get_mut(&id).unwrap().notes = after.clone());
                assert_eq!(after.len(), notes.len() + 1);
                "add a note".to_owned()
            }
        }
    }

    async fn move_task(&mut self) -> String {
        let Some(id) = self.any(|model, id, _| model.is_alone(id)) else { return "nothing".to_owned() };
        let (_, list) = self.open_list();
        self.world.done("rtm_moveTask", json!({"task": id, "to": list})).await;
        if self.model.tasks[&id].list != list {
            let there = list.clone();
            self.change(|model| model.tasks.get_mut(&id).unwrap().list = there);
        }
        format!("move {id} to {list}")
    }

    /// Adds, renames, archives and restores lists.
    async fn list(&mut self) -> String {
        let own: Vec<(String, (String, bool))> = self
            .model
            .lists
            .iter()
            .filter(|(_, (name, _))| name != "Inbox" && name != "Sent")
            .map(|(id, list)| (id.clone(), list.clone()))
            .collect();
        let chosen = self.dice.pick(&own).cloned();
        match (self.dice.roll(3), chosen) {
            (0, Some((id, (old, archived)))) => {
                self.made += 1;
                let name = format!("list {}", self.made);
                self.world.done("rtm_renameList", json!({"list": id, "name": name})).await;
                let new = name.clone();
                self.change(|model| {
                    model
                        .tasks
                        .values_mut()
                        .filter(|task| task.list == old)
                        .for_each(|task| task.list.clone_from(&new));
                    model.lists.insert(id, (new, archived));
                });
                format!("rename {old} to {name}")
            }
            (1, Some((id, (name, archived)))) => {
                self.world.done("rtm_archiveList", json!({"list": id, "archived": !archived})).await;
                self.change(|model| {
                    model.lists.insert(id, (name.clone(), !archived));
                });
                format!("archive {name}")
            }
            _ if own.len() < MOST_LISTS => {
                self.made += 1;
                let name = format!("list {}", self.made);
                let made = self.world.done("rtm_createList", json!({"name": name})).await;
                self.change(|model| {
                    model.lists.insert(text(&made["list"]["id"]), (name.clone(), false));
                });
                "make a list".to_owned()
            }
            _ => "nothing".to_owned(),
        }
    }

    /// Moves a task below another one of the same list, or out again.
    async fn parent(&mut self) -> String {
        if let Some(id) = self.any(|_, _, task| task.parent.is_some())
            && self.dice.roll(2) == 0
        {
            self.world.done("rtm_setParent", json!({"task": id})).await;
            self.change(|model| model.tasks.get_mut(&id).unwrap().parent = None);
            return format!("take {id} out");
        }
        let Some(id) = self.any(|model, id, task| !task.is_completed && model.is_alone(id)) else {
            return "nothing".to_owned();
        };
        let list = self.model.tasks[&id].list.clone();
        let above = self.any(|_, other, task| {
            other != id && task.list == list && !task.is_completed && task.parent.is_none()
        });
        let Some(above) = above else { return "nothing".to_owned() };
        self.world.done("rtm_setParent", json!({"task": id, "parent": above})).await;
        let own = above.split('_').next_back().unwrap().to_owned();
        self.change(|model| model.tasks.get_mut(&id).unwrap().parent = Some(own));
        format!("put {id} below {above}")
    }

    /// Several changes in one call.
    async fn batch(&mut self) -> String {
        let Some(id) = self.any(|model, id, task| !task.is_completed && model.is_alone(id)) else {
            return "nothing".to_owned();
        };
        let (name, (_, list)) = (self.new_name(), self.open_list());
        let done = self
            .world
            .done(
                "rtm_batch",
                json!({"operations": [
                    {"op": "update", "task": id, "priority": "1"},
                    {"op": "create", "name": name, "list": list, "literal": true},
                    {"op": "complete", "task": id},
                ]}),
            )
            .await;
        let made = text(&done["results"][1]["task"]["id"]);
        self.change(|model| {
            let task = model.tasks.get_mut(&id).unwrap();
            task.priority = "1".to_owned();
            task.is_completed = true;
            model.tasks.insert(made, MTask { name, list, priority: "none".to_owned(), ..MTask::default() });
        });
        format!("a batch with {id}")
    }

    /// A refused call changes nothing.
    async fn wrong(&mut self) -> String {
        match self.dice.roll(4) {
            0 => {
                self.world
                    .refused("rtm_completeTask", json!({"taskId": "999999_999999"}), "tasks/NO_SUCH_TASK")
                    .await
            }
            1 => {
                self.world
                    .refused(
                        "rtm_createTask",
                        json!({"name": "x", "list": "no such list"}),
                        "tasks/NO_SUCH_LIST",
                    )
                    .await
            }
            2 => {
                self.world
                    .refused(
                        "rtm_renameList",
                        json!({"list": "Inbox", "name": "Sent"}),
                        "tasks/INVALID_LIST_NAME",
                    )
                    .await
            }
            _ => {
                let twins = self.model.ids(|_, task| task.name == "twin").len();
                let reason = if twins > 1 { "tasks/AMBIGUOUS" } else { "tasks/NO_SUCH_TASK" };
                let name = if twins > 1 { "TWIN" } else { "nobody" };
                self.world.refused("rtm_deleteTask", json!({"task": name}), reason).await
            }
        };
        "something wrong".to_owned()
    }

    async fn undo(&mut self) -> String {
        let count = self.dice.roll(3) + 1;
        if self.past.is_empty() {
            self.world.refused("rtm_undo", json!({"count": count}), "tasks/NOTHING_TO_UNDO").await;
            return "nothing to undo".to_owned();
        }
        let undone = self.world.done("rtm_undo", json!({"count": count})).await;
        let expected = count.min(self.past.len());
        assert_eq!(undone["count"], json!(expected));
        for _ in 0..expected {
            self.model = self.past.pop().expect("a past");
        }
        format!("undo {count}")
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn seen(view: &Value) -> MTask {
    let some = |name: &str| view[name].as_str().map(str::to_owned);
    let notes = view["notes"].as_array().expect("notes").iter();
    MTask {
        name: text(&view["name"]),
        list: text(&view["list"]),
        priority: text(&view["priority"]),
        due: some("due"),
        tags: view["tags"].as_array().expect("tags").iter().map(text).collect(),
        notes: notes.map(|note| (text(&note["id"]), (text(&note["title"]), text(&note["text"])))).collect(),
        url: some("url"),
        estimate: some("estimate"),
        parent: some("parent_task_id"),
        is_completed: view["completed"].is_string(),
    }
}
