//! One self-contained page: no scripts, no external resources, light and dark colours.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Counts, escape, seconds};
use crate::steps::{SessionHistory, Step, StepPicture, Verdict};

/// Maximum total size of embedded pictures, in bytes. Further ones are only linked.
pub(super) const MOST_PICTURES: usize = 48 << 20;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
<meta name=\"color-scheme\" content=\"light dark\">\n";

const STYLE: &str = include_str!("page.css");

/// The session as an HTML page.
pub fn html(run: &SessionHistory) -> String {
    let counts = Counts::new(run);
    let title = escape(&run.title);
    let mut page = format!(
        "{HEAD}<title>{}: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        verdict_word(counts)
    );
    let first = run.steps.iter().find(|step| step.verdict != Verdict::Passed);
    if let Some(step) = first {
        let _ = writeln!(
            page,
            "<a class=\"skip\" href=\"#step-{}\">To the first step that did not pass</a>",
            step.number
        );
    }
    let _ = writeln!(
        page,
        "<header>\n<h1>{title}</h1>\n<p class=\"verdict {0}\">{1}</p>",
        class(counts),
        summary(counts)
    );
    about(run, &mut page);
    page.push_str("</header>\n<main>\n<h2>Steps</h2>\n");
    if run.forgotten > 0 {
        let _ = writeln!(page, "<p>{} earlier steps are no longer kept.</p>", run.forgotten);
    }
    if run.steps.is_empty() {
        page.push_str("<p>Nothing was done.</p>\n");
    } else {
        page.push_str("<ol>\n");
        let mut bytes_left = MOST_PICTURES;
        for step in &run.steps {
            write_step(step, &mut bytes_left, &mut page);
        }
        page.push_str("</ol>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn verdict_word(counts: Counts) -> &'static str {
    if counts.broken > 0 {
        "Broken"
    } else if counts.failed > 0 {
        "Failed"
    } else {
        "Passed"
    }
}

fn class(counts: Counts) -> &'static str {
    match verdict_word(counts) {
        "Broken" => "broken",
        "Failed" => "failed",
        _ => "passed",
    }
}

fn summary(counts: Counts) -> String {
    let Counts { passed, failed, broken } = counts;
    format!("{}: {passed} passed, {failed} failed, {broken} broken", verdict_word(counts))
}

fn about(run: &SessionHistory, page: &mut String) {
    page.push_str("<dl>\n");
    let took = format!("{} s", seconds(run.took));
    let all = [
        ("Device", run.device.as_str()),
        ("Driver", &run.driver),
        ("Session", &run.session),
        ("Began", &run.began),
        ("Took", &took),
    ];
    for (name, value) in all {
        let _ = writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
    }
    page.push_str("</dl>\n");
}

fn write_step(step: &Step, bytes_left: &mut usize, page: &mut String) {
    let (number, verdict) = (step.number, step.verdict.as_str());
    let (tool, about) = (escape(step.tool), escape(&step.about));
    let _ = writeln!(page, "<li id=\"step-{number}\" value=\"{number}\" class=\"{verdict}\">");
    let _ = writeln!(
        page,
        "<h3><span class=\"badge\">{} {verdict}</span> <code>{tool}</code> {about}</h3>",
        sign(step)
    );
    let _ = writeln!(page, "<p class=\"time\">at {} s, took {} s</p>", seconds(step.at), seconds(step.took));
    if !step.detail.is_empty() {
        let _ = writeln!(page, "<pre>{}</pre>", escape(&step.detail));
    }
    if let Some(hint) = &step.hint {
        let _ = writeln!(page, "<p><strong>Help:</strong> {}</p>", escape(hint));
    }
    if let Some(reason) = step.reason {
        let _ = writeln!(page, "<p>Reason: <code>{}</code></p>", escape(reason));
    }
    if let Some(picture) = &step.picture {
        shown(step, picture, bytes_left, page);
    }
    page.push_str("</li>\n");
}

/// A sign in addition to the colour.
fn sign(step: &Step) -> &'static str {
    match step.verdict {
        Verdict::Passed => "\u{2713}",
        Verdict::Failed => "\u{2717}",
        Verdict::Broken => "!",
    }
}

/// A failed step is expanded, a passed one is collapsed.
fn shown(step: &Step, picture: &StepPicture, bytes_left: &mut usize, page: &mut String) {
    let uri = escape(&picture.uri);
    let fits = picture.png.as_ref().filter(|png| png.len() <= *bytes_left);
    let Some(png) = fits else {
        let _ = writeln!(page, "<p>The screen is kept as <code>{uri}</code>; it is not in this page.</p>");
        return;
    };
    *bytes_left -= png.len();
    let open = if step.verdict == Verdict::Passed { "" } else { " open" };
    let data = STANDARD.encode(png);
    let _ = writeln!(
        page,
        "<details{open}><summary>The screen after step {0}</summary>\n<figure><img alt=\"The screen after step {0}, {1}\" \
         src=\"data:image/png;base64,{data}\"><figcaption><code>{uri}</code></figcaption></figure></details>",
        step.number,
        escape(step.tool),
    );
}
