// The TypeScript SDK 1.x client against the conformance fixture. It speaks the session era only.

import { answer, given, listing, load, run, visit } from "./expected.mjs";

const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ElicitRequestSchema } = load("@modelcontextprotocol/sdk/types.js");

run(async () => {
  const { era, url, stdio, list } = given();
  if (era !== "session") throw new Error("this client speaks the session era only");
  const client = new Client({ name: "interop-ts-sdk1", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async (request) => answer(request));
  let version;
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command: stdio[0], args: stdio.slice(1), stderr: "ignore" });
  // The client tells its transport the negotiated version and keeps no copy of its own.
  const keep = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (value) => {
    version = value;
    keep?.(value);
  };
  await client.connect(transport);
  const callTool = (name, args, onprogress) => client.callTool({ name, arguments: args }, undefined, { onprogress });
  if (list) return listing("ts_sdk1", client);
  const ok = await visit("ts_sdk1", era, client, version, callTool, -32002);
  await client.close();
  return ok;
});
