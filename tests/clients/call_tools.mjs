// Lists the tools of a server and makes the calls that stdin names, with the SDK for TypeScript.
//
//   node call_tools.mjs stdio COMMAND ARGUMENT... < calls.json
//   node call_tools.mjs http URL TOKEN < calls.json
//
// calls.json: [[name, arguments], ...]. Prints one JSON object: tools, resources, prompts, and what each call answered.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, place, ...rest] = process.argv.slice(2);
const transport =
  kind === "stdio"
    ? new StdioClientTransport({ command: place, args: rest, env: process.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(place), {
        requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
      });
const client = new Client({ name: "call-tools", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
const answers = [];
for (const [name, given] of JSON.parse(readFileSync(0, "utf-8"))) {
  answers.push(await client.callTool({ name, arguments: given }));
}
console.log(JSON.stringify({ server: client.getServerVersion(), tools, resources, prompts, answers }));
await client.close();
