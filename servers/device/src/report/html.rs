//! One page with everything in it: no script, nothing from elsewhere, by day and by night.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Counts, escaped, seconds};
use crate::steps::{Picture, Run, Step, Verdict};

/// The most bytes of pictures in one page; those beyond are named, not shown.
pub(super) const MOST_PICTURES: usize = 48 << 20;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
<meta name=\"color-scheme\" content=\"light dark\">\n";

const STYLE: &str = include_str!("page.css");

/// The run as a page.
pub fn html(run: &Run) -> String {
    let counts = Counts::of(run);
    let title = escaped(&run.title);
    let mut page = format!(
        "{HEAD}<title>{}: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        word(counts)
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
        let mut room = MOST_PICTURES;
        for step in &run.steps {
            one(step, &mut room, &mut page);
        }
        page.push_str("</ol>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn word(counts: Counts) -> &'static str {
    if counts.broken > 0 {
        "Broken"
    } else if counts.failed > 0 {
        "Failed"
    } else {
        "Passed"
    }
}

fn class(counts: Counts) -> &'static str {
    match word(counts) {
        "Broken" => "broken",
        "Failed" => "failed",
        _ => "passed",
    }
}

fn summary(counts: Counts) -> String {
    let Counts { passed, failed, broken } = counts;
    format!("{}: {passed} passed, {failed} failed, {broken} broken", word(counts))
}

fn about(run: &Run, page: &mut String) {
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
        let _ = writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value));
    }
    page.push_str("</dl>\n");
}

fn one(step: &Step, room: &mut usize, page: &mut String) {
    let (number, verdict) = (step.number, step.verdict.as_str());
    let (tool, about) = (escaped(step.tool), escaped(&step.about));
    let _ = writeln!(page, "<li id=\"step-{number}\" value=\"{number}\" class=\"{verdict}\">");
    let _ = writeln!(
        page,
        "<h3><span class=\"badge\">{} {verdict}</span> <code>{tool}</code> {about}</h3>",
        sign(step)
    );
    let _ = writeln!(page, "<p class=\"time\">at {} s, took {} s</p>", seconds(step.at), seconds(step.took));
    if !step.detail.is_empty() {
        let _ = writeln!(page, "<pre>{}</pre>", escaped(&step.detail));
    }
    if let Some(hint) = &step.hint {
        let _ = writeln!(page, "<p><strong>Help:</strong> {}</p>", escaped(hint));
    }
    if let Some(reason) = step.reason {
        let _ = writeln!(page, "<p>Reason: <code>{}</code></p>", escaped(reason));
    }
    if let Some(picture) = &step.picture {
        shown(step, picture, room, page);
    }
    page.push_str("</li>\n");
}

/// Not by colour alone.
fn sign(step: &Step) -> &'static str {
    match step.verdict {
        Verdict::Passed => "\u{2713}",
        Verdict::Failed => "\u{2717}",
        Verdict::Broken => "!",
    }
}

/// What did not pass is shown at once; the rest unfolds.
fn shown(step: &Step, picture: &Picture, room: &mut usize, page: &mut String) {
    let uri = escaped(&picture.uri);
    let fits = picture.png.as_ref().filter(|png| png.len() <= *room);
    let Some(png) = fits else {
        let _ = writeln!(page, "<p>The screen is kept as <code>{uri}</code>; it is not in this page.</p>");
        return;
    };
    *room -= png.len();
    let open = if step.verdict == Verdict::Passed { "" } else { " open" };
    let data = STANDARD.encode(png);
    let _ = writeln!(
        page,
        "<details{open}><summary>The screen after step {0}</summary>\n<figure><img alt=\"The screen after step {0}, {1}\" \
         src=\"data:image/png;base64,{data}\"><figcaption><code>{uri}</code></figcaption></figure></details>",
        step.number,
        escaped(step.tool),
    );
}
