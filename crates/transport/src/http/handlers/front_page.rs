//! The page for a person who opens the address in a browser. To programs, `/` is an unknown path.

use failwell_pipeline::Pipeline;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue, VARY};
use http::{Method, Response};

use crate::http::body::{Body, whole};
use crate::http::request::RequestHead;

/// No scripts, no foreign addresses, no frames.
const INERT: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'";

/// The page, if a browser asks for `/`. The host of the request was checked.
pub(in crate::http) fn front_page(pipeline: &Pipeline, head: &RequestHead<'_>) -> Option<Response<Body>> {
    let is_read = matches!(*head.method, Method::GET | Method::HEAD);
    // A program that takes everything (`*/*`) gets JSON.
    let wants_page = head.get("accept").is_some_and(|accept| accept.contains("text/html"));
    if head.path != "/" || !is_read || !wants_page {
        return None;
    }
    let host = head.host().unwrap_or("127.0.0.1:8484");
    let info = pipeline.server().info();
    let mut response = whole(200, "text/html; charset=utf-8", page(info.title, info.version, host));
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(INERT));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    Some(response)
}

fn page(title: &str, version: &str, host: &str) -> String {
    let (title, version, host) = (escaped(title), escaped(version), escaped(host));
    format!(
        r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body{{font:16px/1.5 sans-serif;max-width:44em;margin:3em auto;padding:0 1em}}pre{{background:#eee;padding:.6em;overflow:auto}}@media(prefers-color-scheme:dark){{body{{background:#111;color:#ddd}}pre{{background:#222}}a{{color:#8cf}}}}</style>
<h1>{title} {version}</h1>
<p>This address serves tools over the Model Context Protocol (MCP). It is made for programs, so most paths answer with JSON.</p>
<h2>Connect a client</h2>
<pre>claude mcp add --transport http failwell http://{host}/mcp</pre>
<pre>{{"mcpServers": {{"failwell": {{"type": "http", "url": "http://{host}/mcp"}}}}}}</pre>
<p>Where callers need a key, clients send it in the header <code>X-API-Key</code>.</p>
<h2>Look around</h2>
<ul>
<li><a href="/openapi.json">/openapi.json</a> describes every path
<li><a href="/v1/tools">/v1/tools</a> lists the tools
<li><a href="/readyz?verbose">/readyz?verbose</a> says whether requests are served, and what does not work
<li><a href="/metrics">/metrics</a> has the metrics for Prometheus
</ul>
<p>At a terminal, <code>failwell status</code> shows the servers, and <code>failwell explain REF</code> tells the story of a failure.</p>
</html>
"#
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn the_page_has_the_address_and_neither_scripts_nor_foreign_markup() {
        let text = page("A<b>", "1.2.3", "127.0.0.1:1\"><script>");
        assert!(text.contains("<h1>A&lt;b&gt; 1.2.3</h1>"), "{text}");
        assert!(text.contains("http://127.0.0.1:1&quot;&gt;&lt;script&gt;/mcp"), "{text}");
        assert!(!text.contains("<script") && !text.contains("src="), "{text}");
    }
}
