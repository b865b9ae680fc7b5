// What a TypeScript client must see from the conformance fixture, whichever library it uses.

import { createRequire } from "node:module";
import process from "node:process";

// Loads a pinned package; they are installed outside the checkout, where a plain import does not look.
const tools = process.env.FAILWELL_TOOLS ?? new URL("../../.tools", import.meta.url).pathname;
export const load = createRequire(`${tools}/npm/package.json`);

export const LIMIT_MS = 90_000; // one client's whole visit
export const VERSION = { session: "2025-11-25", modern: "2026-07-28", auto: "2026-07-28" };
const ANSWERS = { username: "testuser", email: "test@example.com", name: "Alice" };
const TEXT = {
  simple: "This is a simple text response for testing.",
  resource: "This is the content of the static text resource.",
  prompt: "This is a simple prompt for testing.",
  promptArguments: "Prompt with arguments: arg1='hello', arg2='world'",
};

// [--list] --era E (--url URL | --stdio CMD ARG…); --stdio takes the rest of the line.
export function given() {
  const words = process.argv.slice(2);
  const after = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
  const stdio = words.includes("--stdio") ? words.slice(words.indexOf("--stdio") + 1) : undefined;
  const list = words.slice(0, words.indexOf("--era")).includes("--list");
  return { era: after("--era"), url: stdio ? undefined : after("--url"), stdio, list };
}

// Answers an elicitation form from the fixed answers.
export function answer(request) {
  const names = Object.keys(request.params.requestedSchema.properties);
  return { action: "accept", content: Object.fromEntries(names.map((name) => [name, ANSWERS[name]])) };
}

const codeOf = (call) => call.then(() => null, (error) => error.code ?? String(error));

// Walks the fixture with a connected client and reports. `callTool` hides how a library takes a progress callback;
// `missing` is the code the library shows for a resource that is not there.
export async function visit(name, era, client, version, callTool, missing) {
  const seen = {};
  const wrong = [];
  const check = (what, found, expected) => {
    seen[what] = found;
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      wrong.push(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
    }
  };
  const has = (what, names, expected) => {
    seen[what] = names.length;
    if (!names.includes(expected)) wrong.push(`${what}: ${expected} is missing`);
  };

  check("version", version, VERSION[era]);
  has("tools", (await client.listTools()).tools.map((tool) => tool.name), "test_simple_text");
  check("simple_text", (await callTool("test_simple_text", {})).content[0].text, TEXT.simple);
  check("error_handling", (await callTool("test_error_handling", {})).isError, true);
  check("unknown_tool", await codeOf(callTool("no_such_tool", {})), -32602);

  const steps = [];
  await callTool("test_tool_with_progress", {}, (step) => steps.push([step.progress, step.total]));
  check("progress", steps, [[0, 100], [50, 100], [100, 100]]);

  has("resources", (await client.listResources()).resources.map((entry) => entry.uri), "test://static-text");
  check("resource", (await client.readResource({ uri: "test://static-text" })).contents[0].text, TEXT.resource);
  check("unknown_resource", await codeOf(client.readResource({ uri: "test://no-such" })), missing);

  has("prompts", (await client.listPrompts()).prompts.map((prompt) => prompt.name), "test_simple_prompt");
  const text = async (params) => (await client.getPrompt(params)).messages[0].content.text;
  check("prompt", await text({ name: "test_simple_prompt" }), TEXT.prompt);
  const both = { arg1: "hello", arg2: "world" };
  check("prompt_arguments", await text({ name: "test_prompt_with_arguments", arguments: both }), TEXT.promptArguments);
  const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  const completion = await client.complete({ ref, argument: { name: "arg1", value: "test" } });
  check("completion", Array.isArray(completion.completion.values), true);

  if (era === "session") {
    const result = await callTool("test_elicitation", { message: "Who are you?" });
    seen.elicitation = result.content[0].text;
    if (!seen.elicitation.includes("testuser")) wrong.push(`elicitation: no answer in ${seen.elicitation}`);
  } else {
    const result = await callTool("test_input_required_result_elicitation", {});
    check("input_required", result.content[0].text, "Hello, Alice!");
  }
  console.log(JSON.stringify({ client: name, ok: wrong.length === 0, wrong, seen }));
  return wrong.length === 0;
}

// Lists every tool with a connected client and reports their names.
export async function listing(name, client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools.map((tool) => tool.name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  console.log(JSON.stringify({ client: name, ok: true, wrong: [], seen: { tools } }));
  return true;
}

// Runs a client's whole visit under the limit; the exit code says whether everything matched.
export function run(main) {
  setTimeout(() => {
    console.error(`the visit did not end within ${LIMIT_MS} ms`);
    process.exit(1);
  }, LIMIT_MS).unref();
  main().then((ok) => process.exit(ok ? 0 : 1), (error) => {
    console.error(error);
    process.exit(1);
  });
}
