//! One section per reason, area by area.

use failwell_fault::{Condition, Reason, ReasonRegistry};
use failwell_render::codes::{Answer, row, shown_to_the_model};

/// All sections.
pub(super) fn sections(registry: &ReasonRegistry) -> String {
    let mut text = "## Reasons\n".to_owned();
    let mut area = "";
    for reason in registry.iter() {
        if reason.area() != area {
            area = reason.area();
            text.push_str(&format!("\n### {area}\n"));
        }
        text.push_str(&section(reason));
    }
    text
}

fn section(reason: &Reason) -> String {
    let Reason { id, title, hint, about, .. } = reason;
    format!(
        "\n<a id=\"{anchor}\"></a>\n#### {id}\n\n**{title}**\n\n{about}\n\n\
         * kind: `{kind}` · retry: {retry} · origin: `{origin}`\n\
         * what to do: {hint}\n\
         * {codes}\n",
        anchor = reason.anchor(),
        kind = reason.kind.as_str(),
        retry = super::retry(reason.kind.retry()),
        origin = reason.origin.as_str(),
        hint = hint.replace('{', "‹").replace('}', "›"),
        codes = codes(reason),
    )
}

fn codes(reason: &Reason) -> String {
    let row = row(reason);
    let rest = format!("REST {}", answer(row.rest));
    if reason.condition == Condition::Cancelled {
        return format!("{rest} · MCP: silence");
    }
    let (session, modern) = (answer(row.session), answer(row.modern));
    let shown = if shown_to_the_model(reason) { " · from a tool call: an `isError` result" } else { "" };
    format!("{rest} · MCP session {session} · MCP modern {modern}{shown}")
}

fn answer(answer: Answer) -> String {
    format!("{} (HTTP {})", answer.code, answer.status)
}
