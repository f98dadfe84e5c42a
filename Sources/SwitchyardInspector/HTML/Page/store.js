"use strict";

/* The calls, events and servers as the last feed has them, and what is worked out of a call once for all. */

/** What a list needs to know of a call: its marks, who answered, how it ended, and the text that filters look at. */
class Entry {
  constructor(call) {
    this.call = call;
    this.key = `call-${call.id}`;
    this.time = call.start;
    this.marks = Entry.marks(call);
    this.servers = call.attempts.map(({ server }) => server);
    this.state = Entry.state(call);
    const urls = call.attempts.flatMap(({ url, redirects }) => [url, ...(redirects ?? []).map(({ to }) => to)]);
    this.text = [`#${call.number}`, call.method, call.path, ...urls, ...(call.tags ?? [])].join(" ").toLowerCase();
  }

  static marks(call) {
    const found = new Set(call.attempts.map(({ kind }) => kind));
    if (call.waits?.length && !found.has("refresh")) found.add("retry");
    if (call.attempts.some(({ redirects }) => redirects?.length)) found.add("redirect");
    if (call.from === "shared") found.add("shared");
    else if (call.from && call.from !== "network") found.add("cache");
    if (call.mayHaveBeenExecuted) found.add("executed");
    return callMarks.filter(({ kind }) => found.has(kind));
  }

  /** How a call stands: running, failed, or by its status good, moved or bad. */
  static state(call) {
    if (!call.outcome) return call.end === undefined ? "running" : "failed";
    if (call.outcome.error !== undefined) return "failed";
    if (call.outcome.status >= 400) return "bad";
    return call.outcome.status >= 300 ? "moved" : "good";
  }

  /** The servers in the order in which they were asked, each followed by another one, and why it was asked. */
  get route() {
    return this.call.attempts.filter(({ server }, place) => server !== this.servers[place - 1])
      .map(({ server, kind }) => ({ name: server, isHedge: kind === "hedge" }));
  }

  /** The server whose answer the caller got. */
  get answeredBy() {
    if (this.state === "failed") return undefined;
    return this.call.attempts.filter(({ status, isCut }) => status !== undefined && !isCut).pop()?.server;
  }

  /** How long it took, or takes so far. */
  duration(now) {
    return Math.max(0, (this.call.end ?? now) - this.call.start);
  }
}

class Store {
  constructor() {
    this.listeners = [];
    this.clear();
  }

  clear() {
    this.entries = [];
    this.byId = new Map();
    this.events = [];
    this.client = { service: "", environment: "", environments: [], current: "", mayControl: false, servers: [] };
    this.forgotten = 0;
    this.most = Infinity;
    this.names = [];
    /** The latest moment that the data knows of. */
    this.latest = 0;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  /** Takes a feed in. What is older than the limit of the feed is dropped, unless it is a record as a whole, which
   * nobody can control either. */
  take(feed, isRecord = false) {
    this.client = isRecord ? { ...feed.client, mayControl: false } : feed.client;
    this.forgotten = feed.forgotten;
    this.most = isRecord ? Infinity : feed.limits.calls;
    for (const { name } of feed.client.servers) this.place(name);
    for (const call of feed.calls) this.#put(call);
    while (this.entries.length > this.most) this.byId.delete(this.entries.shift().call.id);
    const last = this.events.length ? this.events[this.events.length - 1].number : -Infinity;
    this.events.push(...feed.events.filter(({ number }) => number > last));
    if (!isRecord && this.events.length > 1000) this.events.splice(0, this.events.length - 1000);
    for (const { time } of feed.events) this.latest = Math.max(this.latest, time);
    for (const listener of this.listeners) listener();
  }

  /** Puts a call where its number belongs, in place of what was known of it. */
  #put(call) {
    const entry = new Entry(call);
    this.latest = Math.max(this.latest, call.end ?? call.start);
    const known = this.byId.get(call.id);
    this.byId.set(call.id, entry);
    if (known) {
      this.entries[this.entries.lastIndexOf(known)] = entry;
      return;
    }
    let at = this.entries.length;
    while (at > 0 && this.entries[at - 1].call.number > call.number) at -= 1;
    this.entries.splice(at, 0, entry);
  }

  /** The place of a server, which its shape and its colour come from; one that is not in the list gets the next. */
  place(name) {
    if (!this.names.includes(name)) this.names.push(name);
    return this.names.indexOf(name);
  }
}
