#!/usr/bin/env node
// A small MCP server over stdio: one tool that says where and as whom it runs.

import { createInterface } from "node:readline";

const tool = { name: "whereabouts", description: "Says where this runs.", inputSchema: { type: "object", properties: {} } };

const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "whereabouts", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": () => ({ content: [{ type: "text", text: `node ${process.version} as ${process.getuid()}` }] }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const outcome = answer ? { result: answer(params) } : { error: { code: -32601, message: "method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }) + "\n");
}
