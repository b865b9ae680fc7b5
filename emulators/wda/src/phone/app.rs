//! Pantry: a small app with a login, a list, a picker, alerts and tabs. This is what it knows; `screen` is how it looks.

use super::screen::Rect;

/// The initial items of the list, in order.
pub(crate) const GOODS: [&str; 24] = [
    "Almonds", "Apples", "Barley", "Beans", "Butter", "Capers", "Cheese", "Dates", "Eggs", "Flour", "Garlic",
    "Honey", "Lentils", "Milk", "Mustard", "Oats", "Olives", "Onions", "Pepper", "Raisins", "Rice", "Salt",
    "Sugar", "Yeast",
];
/// The values of the picker wheel.
pub(crate) const SIZES: [&str; 4] = ["Small", "Medium", "Large", "Family"];
/// The password that logs every user in.
pub(crate) const PASSWORD: &str = "sesame";
/// The app's name among apps.
pub(crate) const BUNDLE: &str = "org.example.pantry";
/// The longest text a field takes; more is ignored.
const LONGEST_TEXT: usize = 1_000;
/// How high one row of the list is, in points.
pub(crate) const ROW: i32 = 56;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppLife {
    NotRunning,
    Background,
    Foreground,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Username,
    Password,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Items,
    Order,
    Account,
}

impl Tab {
    pub(crate) const ALL: [Tab; 3] = [Tab::Items, Tab::Order, Tab::Account];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Tab::Items => "Items",
            Tab::Order => "Order",
            Tab::Account => "Account",
        }
    }
}

/// The effect of a touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TouchAction {
    Focus(Field),
    LogIn,
    Open(String),
    Back,
    Add,
    Select(Tab),
    Turn(i32),
    Order,
    Notifications,
    LogOut,
    Answer(usize),
    Return,
    Launch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlertTopic {
    Order,
    LogOut,
    Permission,
}

/// A question that is in the way of everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alert {
    pub(crate) title: String,
    pub(crate) message: String,
    /// The last one accepts, the first one dismisses.
    pub(crate) buttons: Vec<String>,
    pub(crate) about: AlertSubject,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AlertSubject {
    About(AlertTopic),
    Remove(String),
}

#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) life: AppLife,
    pub(crate) arguments: Vec<String>,
    pub(crate) user: Option<String>,
    pub(crate) username: String,
    pub(crate) password: String,
    pub(crate) message: Option<&'static str>,
    pub(crate) focus: Option<Field>,
    pub(crate) tab: Tab,
    pub(crate) goods: Vec<String>,
    pub(crate) scroll: i32,
    pub(crate) open: Option<String>,
    pub(crate) basket: u32,
    pub(crate) size: usize,
    pub(crate) status: Option<String>,
    pub(crate) notifications: bool,
    pub(crate) alert: Option<Alert>,
}

impl App {
    /// The app as installed: not running, no user logged in.
    pub(crate) fn new() -> App {
        App {
            life: AppLife::NotRunning,
            arguments: vec![],
            user: None,
            username: String::new(),
            password: String::new(),
            message: None,
            focus: None,
            tab: Tab::Items,
            goods: GOODS.iter().map(|&name| name.to_owned()).collect(),
            scroll: 0,
            open: None,
            basket: 0,
            size: 1,
            status: None,
            notifications: false,
            alert: None,
        }
    }

    /// Starts it afresh, or brings it back as it was.
    pub(crate) fn launch(&mut self, arguments: Vec<String>) {
        if self.life == AppLife::NotRunning {
            *self = App { arguments, ..App::new() };
        }
        self.life = AppLife::Foreground;
    }

    /// Ends it; true when it was running.
    pub(crate) fn terminate(&mut self) -> bool {
        let was = self.life != AppLife::NotRunning;
        *self = App::new();
        was
    }

    pub(crate) fn leave(&mut self) {
        if self.life == AppLife::Foreground {
            self.life = AppLife::Background;
            self.focus = None;
        }
    }

    pub(crate) fn can_log_in(&self) -> bool {
        !self.username.is_empty() && !self.password.is_empty()
    }

    pub(crate) fn size_name(&self) -> &'static str {
        SIZES.get(self.size).copied().unwrap_or_default()
    }

    pub(crate) fn press(&mut self, press: &TouchAction) {
        match press {
            TouchAction::Focus(field) => self.focus = Some(*field),
            TouchAction::LogIn => self.log_in(),
            TouchAction::Open(name) => self.open = Some(name.clone()),
            TouchAction::Back => self.open = None,
            TouchAction::Add => self.basket += 1,
            TouchAction::Select(tab) => {
                self.tab = *tab;
                self.open = None;
            }
            TouchAction::Turn(by) => self.turn(*by),
            TouchAction::Order => self.ask(
                "Place the order?",
                format!("One {} box", self.size_name().to_lowercase()),
                ["Cancel", "Place"],
                AlertSubject::About(AlertTopic::Order),
            ),
            TouchAction::Notifications => self.notifications = !self.notifications,
            TouchAction::LogOut => {
                self.ask(
                    "Log out?",
                    String::new(),
                    ["Stay", "Log out"],
                    AlertSubject::About(AlertTopic::LogOut),
                );
            }
            TouchAction::Answer(index) => self.answer(*index),
            TouchAction::Return => self.enter(),
            TouchAction::Launch => self.life = AppLife::Foreground,
        }
    }

    /// A touch that lasts.
    pub(crate) fn hold(&mut self, press: &TouchAction) {
        match press {
            TouchAction::Open(name) => {
                let title = format!("Remove {name}?");
                self.ask(&title, String::new(), ["Keep", "Remove"], AlertSubject::Remove(name.clone()));
            }
            other => self.press(other),
        }
    }

    fn log_in(&mut self) {
        self.focus = None;
        if self.password == PASSWORD {
            self.user = Some(std::mem::take(&mut self.username));
            self.message = None;
        } else {
            self.message = Some("Wrong name or password");
        }
        self.password.clear();
    }

    pub(crate) fn turn(&mut self, by: i32) {
        let last = i32::try_from(SIZES.len()).unwrap_or(i32::MAX) - 1;
        let now = i32::try_from(self.size).unwrap_or_default();
        self.size = usize::try_from((now + by).clamp(0, last)).unwrap_or_default();
    }

    fn enter(&mut self) {
        match self.focus {
            Some(Field::Username) => self.focus = Some(Field::Password),
            Some(Field::Password) if self.can_log_in() => self.log_in(),
            _ => self.focus = None,
        }
    }

    pub(crate) fn ask(&mut self, title: &str, message: String, buttons: [&str; 2], about: AlertSubject) {
        let buttons = buttons.map(str::to_owned).to_vec();
        self.alert = Some(Alert { title: title.to_owned(), message, buttons, about });
    }

    /// The system asks for a permission, whenever it likes.
    pub(crate) fn ask_permission(&mut self) {
        let title = "\"Pantry\" Would Like to Send You Notifications";
        self.ask(title, String::new(), ["Don't Allow", "Allow"], AlertSubject::About(AlertTopic::Permission));
    }

    pub(crate) fn answer(&mut self, index: usize) {
        let Some(alert) = self.alert.take() else { return };
        let accepted = index + 1 == alert.buttons.len();
        match alert.about {
            AlertSubject::About(AlertTopic::Permission) => self.notifications = accepted,
            _ if !accepted => {}
            AlertSubject::About(AlertTopic::Order) => {
                self.status = Some(format!("Ordered: {}", self.size_name()))
            }
            AlertSubject::About(AlertTopic::LogOut) => {
                let (life, arguments) = (self.life, std::mem::take(&mut self.arguments));
                *self = App { life, arguments, ..App::new() };
            }
            AlertSubject::Remove(name) => self.goods.retain(|other| *other != name),
        }
    }

    pub(crate) fn text(&mut self, field: Field) -> &mut String {
        match field {
            Field::Username => &mut self.username,
            Field::Password => &mut self.password,
        }
    }

    /// Types into what has the focus; false when nothing has. Return and backspace are keys.
    pub(crate) fn type_text(&mut self, text: &str) -> bool {
        if self.focus.is_none() {
            return false;
        }
        for character in text.chars() {
            match (character, self.focus) {
                ('\n' | '\r', _) => self.enter(),
                ('\u{8}' | '\u{7f}' | '\u{e003}', Some(field)) => drop(self.text(field).pop()),
                (_, Some(field)) if self.text(field).len() < LONGEST_TEXT => self.text(field).push(character),
                _ => {}
            }
        }
        true
    }

    /// Moves the list by so many points, as far as it goes.
    pub(crate) fn scroll_by(&mut self, points: i32, view: Rect) {
        let content = i32::try_from(self.goods.len()).unwrap_or(i32::MAX / ROW) * ROW;
        self.scroll = (self.scroll + points).clamp(0, (content - view.height).max(0));
    }

    /// Opens what a link names: `pantry://order`, `pantry://items/Apples`. False when it names nothing.
    pub(crate) fn follow(&mut self, link: &str) -> bool {
        let Some(path) = link.strip_prefix("pantry://") else { return false };
        let (place, rest) = path.split_once('/').unwrap_or((path, ""));
        let Some(tab) = Tab::ALL.into_iter().find(|tab| tab.title().eq_ignore_ascii_case(place)) else {
            return false;
        };
        self.launch(vec![]);
        self.tab = tab;
        self.open = self.goods.iter().find(|name| tab == Tab::Items && *name == rest).cloned();
        true
    }
}
