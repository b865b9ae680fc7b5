//! The cursors of `/mcp/<server>`: the upstream's own, with the number of the page. A client follows cursors to the
//! end, so an upstream whose cursors repeat would keep it busy for ever.

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::Json;
use failwell_toolbox::Page;
use serde_json::Value;

use crate::federation::member::MOST_PAGES;

/// A cursor of a page after the first.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::federation) struct PageCursor {
    page: usize,
    /// The upstream's cursor.
    pub(in crate::federation) own: String,
}

impl PageCursor {
    pub(in crate::federation) fn parse(text: &str) -> Result<PageCursor, Fault> {
        let (page, own) = text.split_once('.').ok_or_else(|| Fault::new(&reason::MCP_BAD_CURSOR))?;
        let page = page.parse().or_fault(&reason::MCP_BAD_CURSOR)?;
        Ok(PageCursor { page, own: own.to_owned() })
    }

    /// The cursor of the next page, or why the list ends here although the upstream has another one.
    pub(in crate::federation) fn after(
        asked: Option<&PageCursor>,
        next: Option<String>,
    ) -> (Option<PageCursor>, Option<&'static str>) {
        let Some(own) = next else { return (None, None) };
        let page = asked.map_or(1, |asked| asked.page.saturating_add(1));
        match asked {
            Some(asked) if asked.own == own => (None, Some("its cursors repeat")),
            _ if page >= MOST_PAGES => (None, Some("it has too many pages")),
            _ => (Some(PageCursor { page, own }), None),
        }
    }

    /// The page with this cursor for the next one.
    pub(in crate::federation) fn write(&self, page: Page) -> Result<Page, Fault> {
        let text = Json::from(&Value::from(format!("{}.{}", self.page, self.own)));
        let object = page.members.raw().as_object().or_fault(&reason::SERVER_BUG)?;
        Ok(Page { members: object.replacing("nextCursor", text.raw()), ..page })
    }
}

/// The last page.
pub(in crate::federation) fn without_cursor(page: Page) -> Result<Page, Fault> {
    let object = page.members.raw().as_object().or_fault(&reason::SERVER_BUG)?;
    match object.get("nextCursor").and_then(|_| object.without(&["nextCursor"])) {
        Some(members) => Ok(Page { members, ..page }),
        None => Ok(page),
    }
}

#[cfg(test)]
mod tests {
    use super::PageCursor;

    #[test]
    fn pages_are_counted_and_end() {
        let first = PageCursor::after(None, Some("a.b".to_owned())).0.expect("another page");
        assert_eq!(first, PageCursor::parse("1.a.b").expect("a cursor"));
        let (next, cut) = PageCursor::after(Some(&first), Some("c".to_owned()));
        assert_eq!((next, cut), (Some(PageCursor { page: 2, own: "c".to_owned() }), None));
        assert_eq!(PageCursor::after(Some(&first), Some("a.b".to_owned())).0, None, "repeated");
        assert_eq!(PageCursor::after(Some(&first), None), (None, None));
        let last = PageCursor { page: 99, own: "x".to_owned() };
        assert!(PageCursor::after(Some(&last), Some("y".to_owned())).1.is_some(), "endless");
        for wrong in ["", "x", "a.b"] {
            assert!(PageCursor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
