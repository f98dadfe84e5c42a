// Calls as an app would make them, in the inspector's format: one of each kind that the page has to show.

const host = { a: "http://127.0.0.1:8081/v1", b: "http://127.0.0.1:8082/v1", c: "http://127.0.0.1:8083/v1" };

/** A picture of two by two pixels. */
export const picture = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP4z8DAAMIM/xn+MzAwAAAe"
  + "7gP+kw0vSgAAAABJRU5ErkJggg==";

/** What would be markup or the end of a script, if a page took it for that. */
export const hostile = "</script><img src=x onerror=\"window.isHurt=true\"><b>bold</b>";

const verdict = {
  level: "bad", headline: "Server a is out of service, and calls go to b. 3 of 14 calls failed.",
  details: ["Errors: 1 × connection reset, 1 × 404 Not Found, 1 × 503 Service Unavailable.", "3 calls were saved."],
};

export function client(changes = {}) {
  return {
    service: "forum", environment: "test", environments: ["test", "release"], current: "b", mayControl: true,
    servers: [
      { name: "a", url: host.a, state: "ejected", since: Date.now() - 14_000,
        words: "ejected 14 s ago after 3 refused connections in a row; probed every 5 s" },
      { name: "b", url: host.b, state: "inUse",
        words: "in use for 14 s, 99.4 % of its calls succeed" },
      { name: "c", url: host.c, state: "standby",
        words: "on standby, last used 2 min ago as a hedge" },
    ],
    ...changes,
  };
}

/** Phases one after the other, each so many milliseconds long. */
function phases(start, lengths) {
  let at = start;
  return Object.entries(lengths).map(([name, length]) => {
    const phase = { name, start: at, end: at + length };
    at += length;
    return phase;
  });
}

const usual = { send: 0.3, wait: 9, receive: 1.2 };
const fresh = { lookup: 2.5, connect: 4, tls: 11, send: 0.6, wait: 38, receive: 5 };

/** An attempt from some milliseconds after the start of its call, as long as its phases are. */
function attempt(call, number, server, kind, offset, lengths, ending, more = {}) {
  const start = call.start + offset;
  const parts = phases(start, lengths);
  const end = parts.length ? parts[parts.length - 1].end : start + 1.1;
  return {
    number, round: more.round ?? 1, server, method: call.method, url: `${host[server]}${call.path}${more.query ?? ""}`,
    start, end, kind, phases: parts, ...ending, reused: !("connect" in lengths), protocol: "HTTP/1.1", sent: 212,
    ...(ending.status ? { received: 1840 } : {}), ...(more.fields ?? {}),
  };
}

/** One call of each kind, and after them as many plain ones as wanted. */
export class Calls {
  constructor(start) {
    this.start = start;
    this.calls = [];
    this.details = {};
    this.events = [];
  }

  /** Adds a call; `make` gives its attempts and what else it has. */
  add(method, path, offset, make, bodies = {}) {
    const number = this.calls.length + 1;
    const call = { id: `${number}`, number, start: this.start + offset, method, path, rounds: 1, attempts: [] };
    Object.assign(call, { tags: [] }, make(call));
    if (call.outcome && call.end === undefined) {
      call.end = Math.max(...call.attempts.filter(({ isCut }) => !isCut).map(({ end }) => end)) + 0.2;
    }
    this.calls.push(call);
    this.details[call.id] = { call, attempts: call.attempts.map((made) => exchange(call, made, bodies)) };
    return call;
  }

  event(offset, kind, server, text) {
    this.events.push({ number: this.events.length + 1, time: this.start + offset, kind, server, text });
  }

  feed(changes = {}) {
    return {
      version: 1, cursor: 100, forgotten: 0, session: "first", verdict, limits: { calls: 500, bodyBytes: 65536 }, client: client(),
      calls: this.calls, events: this.events, ...changes,
    };
  }

  record(changes) {
    return { version: 1, name: "forum.inspector", feed: this.feed(changes), details: this.details };
  }
}

function exchange(call, made, bodies) {
  const body = made.status >= 400 ? { type: "text/plain", bytes: 19, text: "Service Unavailable" } : bodies.response;
  return {
    number: made.number, round: made.round, curl: `curl -X ${call.method} '${made.url}' -H 'Accept: */*'`,
    request: {
      line: `${call.method} ${made.url}`,
      fields: [["Accept", "*/*"], ["Authorization", "<redacted>"], ["User-Agent", "forum/4.2 (Linux)"],
        ...(bodies.request ? [["Content-Type", bodies.request.type]] : [])],
      body: bodies.request ?? { bytes: 0 },
    },
    ...(made.status && !made.isCut ? {
      response: {
        line: `HTTP/1.1 ${made.status}`,
        fields: [["Content-Type", body?.type ?? "text/plain"], ["Date", "Thu, 26 Nov 2026 15:00:00 GMT"],
          ["Set-Cookie", "<redacted>"]],
        body: body ?? { bytes: 0 },
      },
    } : {}),
  };
}

const topics = {
  page: 2, total: 9007199254740993, next: null, isOpen: true, title: hostile,
  topics: Array.from({ length: 4 }, (_, place) => ({
    id: place + 1, title: `How do I fail over? (${place + 1})`, author: { name: "Ada", roles: ["admin", "author"] },
    replies: [],
  })),
  counts: Array.from({ length: 260 }, (_, place) => place),
};

const json = (value) => {
  const text = JSON.stringify(value).replace("9007199254740992", "9007199254740993");
  return { type: "application/json; charset=utf-8", bytes: Buffer.byteLength(text), text };
};

/** The calls that the checks know by their places. */
export function scripted(start) {
  const made = new Calls(start);
  const one = (method, path, offset, server, bodies, lengths = usual, status = 200) => made.add(method, path, offset,
    (call) => ({
      from: "network", outcome: { status }, attempts: [attempt(call, 1, server, "first", 0, lengths, { status })],
    }), bodies);
  one("GET", "/topics", 0, "a", { response: json(topics) }, fresh);
  one("GET", "/avatars/17.png", 180, "a", { response: { type: "image/png", bytes: 79, base64: picture } });
  // 3: failed over.
  made.add("GET", "/topics", 900, (call) => ({
    from: "network", tags: ["list"], outcome: { status: 200 },
    attempts: [
      attempt(call, 1, "a", "first", 0, { connect: 2.1 }, { error: "connectionRefused", next: "next server" },
        { query: "?page=2&sort=new" }),
      attempt(call, 2, "b", "failover", 2.4, fresh, { status: 200 }, { query: "?page=2&sort=new" }),
    ],
  }), { response: json(topics) });
  made.event(905, "ejection", "a", "a is out of service: 3 connections in a row were refused");
  made.event(906, "switch", "b", "calls go to b now, a is out of service");
  // 4: a hedge, the slow attempt is cancelled.
  made.add("GET", "/search", 1400, (call) => ({
    from: "network", outcome: { status: 200 }, end: call.start + 84,
    attempts: [
      attempt(call, 1, "b", "first", 0, { send: 0.4, wait: 83.4 }, { isCut: true, next: "hedge" }),
      attempt(call, 2, "c", "hedge", 55, { connect: 3, send: 0.4, wait: 22, receive: 3 }, { status: 200 }),
    ],
  }), { response: { type: "text/html", bytes: hostile.length, text: hostile } });
  // 5: tried again after waits.
  made.add("PUT", "/topics/4", 2000, (call) => ({
    from: "network", rounds: 3, outcome: { status: 204 },
    waits: [{ start: call.start + 12, end: call.start + 112, why: "retry after 503" },
      { start: call.start + 124, end: call.start + 324, why: "retry after 503" }],
    attempts: [
      attempt(call, 1, "b", "first", 0, usual, { status: 503, next: "retry" }),
      attempt(call, 1, "b", "retry", 112.2, usual, { status: 503, next: "retry" }, { round: 2 }),
      attempt(call, 1, "b", "retry", 324.2, usual, { status: 204 }, { round: 3 }),
    ],
  }), { request: { type: "application/x-www-form-urlencoded", bytes: 28, text: "title=Switch+yard&open=true" } });
  // 6: redirected.
  made.add("GET", "/latest", 2600, (call) => ({
    from: "network", outcome: { status: 200 },
    attempts: [attempt(call, 1, "b", "first", 0, { send: 0.3, wait: 21, receive: 2 }, { status: 200 }, {
      fields: {
        redirects: [{ time: call.start + 9, status: 302, from: `${host.b}/latest`, to: `${host.b}/topics/99` }],
      },
    })],
  }), { response: json([]) });
  // 7 and 8: from a cache, and shared.
  made.add("GET", "/topics", 2700, (call) =>
    ({ from: "memory cache", outcome: { status: 200 }, end: call.start + 0.08 }));
  made.add("GET", "/me", 2720, (call) => ({ from: "shared", outcome: { status: 200 }, end: call.start + 8.5 }));
  // 9: failed, and may have been executed.
  made.add("POST", "/replies", 3200, (call) => ({
    from: "network", mayHaveBeenExecuted: true,
    outcome: {
      error: "connectionLost",
      words: "The connection was lost after the request had been sent. The server may have executed it.",
    },
    attempts: [attempt(call, 1, "b", "first", 0, { connect: 2, send: 1.4, wait: 640 },
      { error: "connectionLost", next: "must not be sent again" })],
  }), { request: json({ topic: 4, text: "Thanks, that works." }) });
  // 10: bytes, 11: a name of a path that looks like markup, 12: not found.
  const bytes = Buffer.from(Array.from({ length: 1500 }, (_, place) => place * 7 % 256));
  one("GET", "/files/backup.bin", 3900, "b", {
    response: { type: "application/octet-stream", bytes: 120000, base64: bytes.toString("base64"), isCut: true },
  }, { send: 0.3, wait: 14, receive: 96 });
  one("GET", `/${hostile}`, 4300, "b", { response: { type: "text/plain", bytes: 9, text: "plain \u2028 ok" } });
  one("GET", "/topics/0", 4500, "b", {}, usual, 404);
  made.event(4700, "probe", "a", "a did not respond to a probe: connection refused");
  // 13: refreshed credentials, then failed over and hedged, three servers.
  made.add("GET", "/notifications/unread", 5000, (call) => ({
    from: "network", rounds: 2, tags: ["poll", "badge"], outcome: { status: 200 },
    waits: [{ start: call.start + 51, end: call.start + 90, why: "refresh of the credentials" }],
    attempts: [
      attempt(call, 1, "a", "first", 0, { connect: 30 }, { error: "timedOut", next: "next server" }),
      attempt(call, 2, "b", "failover", 30.2, { send: 0.3, wait: 20 },
        { status: 401, next: "sent again with another credential" }),
      attempt(call, 1, "b", "refresh", 90, { send: 0.3, wait: 118, receive: 2 }, { status: 200, next: "hedge" },
        { round: 2 }),
      attempt(call, 2, "c", "hedge", 150, { lookup: 6, connect: 22, send: 0.3, wait: 32 }, { isCut: true },
        { round: 2 }),
    ],
  }), { response: json({ unread: 3 }) });
  // 14: failed everywhere.
  made.add("GET", "/stats", 5600, (call) => ({
    from: "network",
    outcome: {
      error: "serversExhausted", status: 503,
      words: "No server succeeded: a refused the connection, b and c responded with 503.",
    },
    attempts: [
      attempt(call, 1, "a", "first", 0, { connect: 1.9 }, { error: "connectionRefused", next: "next server" }),
      attempt(call, 2, "b", "failover", 2.2, usual, { status: 503, next: "next server" }),
      attempt(call, 3, "c", "failover", 13, { connect: 5, send: 0.4, wait: 30 },
        { status: 503, next: "no server left" }),
    ],
  }));
  // 15: still running.
  made.add("GET", "/events", 6000, (call) => ({
    attempts: [{
      number: 1, round: 1, server: "b", method: "GET", url: `${host.b}/events`, start: call.start, kind: "first",
      phases: [{ name: "send", start: call.start, end: call.start + 0.4 }], reused: true, protocol: "HTTP/1.1",
    }],
  }));
  return made;
}

/** A message of a stream, so many milliseconds after the start of its call. */
export function message(call, number, direction, type, text, offset = 100 * number) {
  return { number, direction, time: call.start + offset, type, size: text?.length ?? 3000, ...(text ? { text } : {}) };
}

/** An event stream that has ended, and an open WebSocket. */
export function streaming(start) {
  const made = new Calls(start);
  const stream = (path, offset, status, messages, more) => {
    const call = made.add("GET", path, offset, (call) => ({
      from: "network", outcome: { status }, attempts: [attempt(call, 1, "b", "first", 0, usual, { status })],
    }));
    const all = messages(call);
    const count = (wanted) => all.filter(({ direction }) => direction === wanted).length;
    const bytes = all.reduce((sum, { size }) => sum + size, 0);
    call.stream = { received: count("received"), sent: count("sent"), bytes, ...more(call) };
    made.details[call.id].messages = all;
  };
  stream("/prices", 0, 200, (call) => [
    message(call, 1, "received", "message", JSON.stringify({ text: hostile })),
    message(call, 2, "received", "price", "7.25"),
  ], (call) => ({ end: call.start + 700 }));
  stream("/live", 1000, 101, (call) => Array.from({ length: 40 }, (_, place) =>
    message(call, place + 1, place % 4 ? "received" : "sent", place % 5 ? "text" : "binary",
      place % 5 ? `message ${place + 1} of a talk that is long enough for two lines on a phone` : undefined)), () => ({}));
  return made;
}

/** Many calls of an app that runs through an outage, for lists that are long. */
export function many(start, count) {
  const made = new Calls(start);
  for (let place = 0; place < count; place += 1) {
    const chance = (place * 2654435761 % 4294967296) / 4294967296;
    const isOut = place > count * 0.4 && place < count * 0.6;
    const server = isOut ? "b" : "a";
    made.add(["GET", "GET", "GET", "POST"][place % 4], `/topics/${place % 97}`, place * 12, (call) => {
      const lengths = { send: 0.2, wait: 4 + 30 * chance, receive: 1 };
      if (chance > 0.995) {
        return { from: "network", outcome: { error: "timedOut", words: "The call took too long." },
          attempts: [attempt(call, 1, server, "first", 0, { send: 0.2, wait: 400 }, { error: "timedOut" })] };
      }
      const first = chance > 0.97
        ? [attempt(call, 1, server, "first", 0, { connect: 2 }, { error: "connectionRefused" })] : [];
      const kind = first.length ? "failover" : "first";
      const next = attempt(call, first.length + 1, first.length ? "c" : server, kind, first.length * 2.2, lengths,
        { status: 200 });
      return { from: "network", outcome: { status: 200 }, attempts: [...first, next] };
    });
  }
  made.event(count * 0.4 * 12, "switch", "b", "calls go to b now, a is out of service");
  made.event(count * 0.6 * 12, "switch", "a", "calls go to a again");
  return made;
}
