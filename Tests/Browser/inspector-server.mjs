// The other side of the inspector's page, with scripted data: what a client serves, without a client.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const folder = new URL("../../Sources/SwitchyardInspector/HTML/Page/", import.meta.url).pathname;

const styles = ["shared", "inspector", "servers", "list", "detail", "messages"];
const scripts = [
  "parts", "shapes", "words", "store", "feed", "filter", "badges", "bars", "overview", "list", "waterfall", "copying",
  "json", "bodies", "har", "messages", "detail", "servers", "faults", "events", "header", "inspector",
];

/** The page as one text; with a record it is the page offline. */
export function wholePage(record) {
  const read = (names, kind) => names.map((name) => readFileSync(join(folder, `${name}.${kind}`), "utf8")).join("\n");
  const data = record ? JSON.stringify(record).replaceAll("<", "\\u003c") : undefined;
  const parts = {
    "<!-- style -->": `<style>\n${read(styles, "css")}</style>`,
    "<!-- text -->": "",
    "<!-- data -->": data ? `<script type="application/json" id="record">${data}</script>` : "",
    "<!-- script -->": `<script>\n${read(scripts, "js")}</script>`,
  };
  return read(["inspector"], "html").split("\n").map((line) => parts[line.trim()] ?? line).join("\n");
}

/** Answers at addresses below a token, keeps what it was asked, and says nothing while it is down. */
export class InspectorServer {
  constructor(made, client) {
    this.token = "0123456789abcdef0123456789abcdef";
    this.made = made;
    this.client = client;
    this.versions = new Map(made.calls.map(({ id }) => [id, 1]));
    this.cursor = 1;
    this.session = "first";
    this.waiting = new Set();
    this.commands = [];
    this.polls = [];
    this.isDown = false;
    this.server = createServer((request, response) => this.#answer(request, response));
  }

  async start() {
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.address = `http://127.0.0.1:${this.server.address().port}/${this.token}/`;
  }

  /** Says that calls are new or have changed, and answers who waits for that. */
  change(...calls) {
    this.cursor += 1;
    for (const call of calls) this.versions.set(call.id, this.cursor);
    for (const wake of this.waiting) wake();
  }

  goDown() {
    this.isDown = true;
    this.server.closeAllConnections();
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }

  async #answer(request, response) {
    if (this.isDown) return request.socket.destroy();
    const send = (status, body, type = "application/json") => {
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    const [path, query] = request.url.split("?");
    if (!path.startsWith(`/${this.token}/`)) return send(404, { error: "There is nothing here." });
    const rest = path.slice(this.token.length + 2);
    if (rest === "") return send(200, wholePage(), "text/html; charset=utf-8");
    if (rest === "feed") return this.#feed(Number(new URLSearchParams(query).get("after")), response, send);
    if (rest === "archive.har") return send(200, { log: { version: "1.2", entries: [{}] } });
    if (rest === "command") return this.#command(request, send);
    const id = rest.match(/^calls\/(\w+?)(\.har)?$/);
    const detail = this.made.details[id?.[1]];
    if (!detail) return send(404, { error: "This call is not kept." });
    return send(200, id[2] ? { log: { version: "1.2", entries: [{ comment: id[1] }] } } : detail);
  }

  async #feed(after, response, send) {
    this.polls.push(after);
    if (after >= this.cursor) {
      await new Promise((wake) => {
        this.waiting.add(wake);
        const timer = setTimeout(wake, 20_000);
        response.on("close", () => {
          clearTimeout(timer);
          this.waiting.delete(wake);
          wake();
        });
      });
    }
    if (response.destroyed) return undefined;
    const { cursor, client, session, forgotten = 0 } = this;
    const calls = this.made.calls.filter(({ id }) => this.versions.get(id) > after);
    return send(200, this.made.feed({ cursor, client, session, calls, forgotten }));
  }

  async #command(request, send) {
    let text = "";
    for await (const part of request) text += part;
    const body = JSON.parse(text);
    this.commands.push({ method: request.method, inspector: request.headers["x-inspector"], body });
    if (body.name === "release") return send(403, { error: "The environment release is locked." });
    return send(204, "");
  }
}
