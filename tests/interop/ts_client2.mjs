// The TypeScript SDK 2.x client against the conformance fixture.

import { answer, given, listing, load, run, visit } from "./expected.mjs";

const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
const MODE = { session: "legacy", modern: { pin: "2026-07-28" }, auto: "auto" };

run(async () => {
  const { era, url, stdio, list } = given();
  const client = new Client(
    { name: "interop-ts-client2", version: "1.0.0" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: MODE[era] } },
  );
  client.setRequestHandler("elicitation/create", async (request) => answer(request));
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command: stdio[0], args: stdio.slice(1), stderr: "ignore" });
  await client.connect(transport);
  if (list) return listing("ts_client2", client);
  const callTool = (name, args, onprogress) => client.callTool({ name, arguments: args }, { onprogress });
  // In the session era too: the library folds -32002 with `data.uri` into its own ResourceNotFound error, -32602.
  const ok = await visit("ts_client2", era, client, client.getNegotiatedProtocolVersion(), callTool, -32602);
  await client.close();
  return ok;
});
