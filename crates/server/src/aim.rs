//! What a message is about, for custom guards that look at some servers or tools alone.

use failwell_policy::Caller;
use failwell_policy::guard::custom::Subject;

use crate::guarding::Whose;
use crate::house::House;

/// Server and tool, as far as they are known.
#[derive(Debug)]
pub(crate) struct Aim {
    server: Option<Box<str>>,
    tool: Aimed,
}

#[derive(Debug)]
enum Aimed {
    AtNoTool,
    AtSomeTool,
    At(Box<str>),
}

impl Aim {
    /// The same message, with what it is about.
    pub(crate) fn of<'a>(&'a self, whose: Whose<'a>) -> Whose<'a> {
        let on = self.server.as_deref().map_or(Subject::Unknown, Subject::Named);
        let tool = match &self.tool {
            Aimed::AtNoTool => Subject::Nothing,
            Aimed::AtSomeTool => Subject::Unknown,
            Aimed::At(tool) => Subject::Named(tool),
        };
        Whose { on, tool, ..whose }
    }
}

impl House {
    /// What a request and its answer are about. Names are those the servers use themselves, so that a tool is the same
    /// under whatever name it is called.
    pub(crate) fn aim(&self, method: Option<&str>, target: Option<&str>, caller: Option<&Caller>) -> Aim {
        let own = || self.room.info().name.into();
        let behind = |target| self.room.behind(target);
        match (method.unwrap_or_default(), target) {
            ("tools/call" | "execute_tool", Some(target)) => {
                match caller.and_then(|caller| self.room.own_tool(target, caller)) {
                    Some((server, tool)) => Aim { server: Some(server), tool: Aimed::At(tool) },
                    None => Aim { server: behind(target), tool: Aimed::AtSomeTool },
                }
            }
            // The result of a task is that of a tool.
            (method, _) if method.starts_with("tasks/") => Aim { server: None, tool: Aimed::AtSomeTool },
            (_, Some(target)) if self.room.has_others() => {
                Aim { server: behind(target), tool: Aimed::AtNoTool }
            }
            (_, None) if self.room.has_others() => Aim { server: None, tool: Aimed::AtNoTool },
            _ => Aim { server: Some(own()), tool: Aimed::AtNoTool },
        }
    }
}
