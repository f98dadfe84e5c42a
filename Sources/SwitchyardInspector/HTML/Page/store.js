"use strict";

/* The calls, events and servers of the last feed, with values that are derived once per call. */

/** A call with derived values for lists: its marks, servers and state, and the text that filters search. */
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

  /** Returns the state of a call: running, failed, or good, moved or bad according to its status. */
  static state(call) {
    if (!call.outcome) return call.end === undefined ? "running" : "failed";
    if (call.outcome.error !== undefined) return "failed";
    if (call.outcome.status >= 400) return "bad";
    return call.outcome.status >= 300 ? "moved" : "good";
  }

  /** The requested servers in order without direct repetitions, and whether each request was a hedge. */
  get route() {
    return this.call.attempts.filter(({ server }, place) => server !== this.servers[place - 1])
      .map(({ server, kind }) => ({ name: server, isHedge: kind === "hedge" }));
  }

  /** The server whose response the caller received. */
  get answeredBy() {
    if (this.state === "failed") return undefined;
    return this.call.attempts.filter(({ status, isCut }) => status !== undefined && !isCut).pop()?.server;
  }

  /** Returns the duration so far. */
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
    /** The latest time in the data. */
    this.latest = 0;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  /** Applies a feed. Calls beyond the limit of the feed are dropped, except in a record. A record cannot be
   * controlled. */
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

  /** Inserts a call by its number, or replaces the known call. */
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

  /** Returns the index of a server, which determines its shape and colour. A new server gets the next index. */
  place(name) {
    if (!this.names.includes(name)) this.names.push(name);
    return this.names.indexOf(name);
  }
}
