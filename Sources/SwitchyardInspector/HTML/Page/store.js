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
    const last = call.attempts[call.attempts.length - 1];
    /** The number of body bytes of the last response, or undefined if unknown. */
    this.size = call.stream?.bytes ?? last?.received;
    this.type = last?.type ?? "";
    const outcome = words.outcome(call.outcome);
    this.text = [`#${call.shownNumber ?? call.number}`, call.method, call.path, ...urls, ...urls.map(decoded), outcome, this.type,
      ...(call.tags ?? [])].join(" ").toLowerCase();
  }

  /** Whether the call failed, as the verdict counts it: it received no response, or a status of at least 400. A call that
   * the app cancelled has not failed. */
  get hasFailed() {
    return (this.state === "failed" || this.state === "bad") && this.call.outcome?.error !== "cancelled";
  }

  /** Whether the call failed, was sent more than once, was slow, or is still running. Such calls are kept longer. */
  get isSpecial() {
    const { call } = this;
    return call.end === undefined || this.isOpen || this.hasFailed || call.attempts.length > 1
      || call.end - call.start >= 1000;
  }

  /** Whether the call is running, or its stream of messages is open. */
  get isOpen() {
    return this.state === "running" || (this.call.stream !== undefined && this.call.stream.end === undefined);
  }

  /** Returns the end of the call and of its stream, or `now` if it is open. */
  end(now) {
    const { end, stream } = this.call;
    if (end !== undefined && stream === undefined) return end;
    return this.isOpen ? Math.max(now, end ?? now) : Math.max(stream?.end ?? -Infinity, end ?? now);
  }

  static marks(call) {
    const found = new Set(call.attempts.map(({ kind }) => kind));
    if (call.waits?.length && !found.has("refresh")) found.add("retry");
    if (call.attempts.some(({ redirects }) => redirects?.length)) found.add("redirect");
    if (call.from === "shared") found.add("shared");
    else if (call.from && call.from !== "network") found.add("cache");
    if (call.stream) found.add("stream");
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
    return Math.max(0, this.end(now) - this.call.start);
  }
}

/** Returns a URL without percent encoding, or the URL itself if its encoding is invalid. */
function decoded(url) {
  try {
    return decodeURIComponent(url.replaceAll("+", " "));
  } catch {
    return url;
  }
}

class Store {
  constructor() {
    this.listeners = [];
    this.isLost = false;
    this.clear();
  }

  clear() {
    this.entries = [];
    this.byId = new Map();
    this.events = [];
    this.client = { service: "", environment: "", environments: [], current: "", mayControl: false, servers: [] };
    this.forgotten = 0;
    this.verdict = undefined;
    this.most = Infinity;
    this.names = [];
    /** The latest time in the data. */
    this.latest = 0;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  /** Records whether the connection to the app is lost, so that the data is the last known state. */
  setLost(isLost) {
    if (this.isLost === isLost) return;
    this.isLost = isLost;
    for (const listener of this.listeners) listener();
  }

  /** Whether commands can be sent to the app. */
  get mayControl() {
    return this.client.mayControl && !this.isLost;
  }

  /** Applies a feed. Calls beyond the limit of the feed are dropped, except in a record. A record cannot be
   * controlled. */
  take(feed, isRecord = false) {
    this.client = isRecord ? { ...feed.client, mayControl: false } : feed.client;
    this.forgotten = feed.forgotten;
    this.verdict = feed.verdict;
    this.most = isRecord ? Infinity : feed.limits.calls;
    for (const { name } of feed.client.servers) this.place(name);
    for (const call of feed.calls) this.#put(call);
    this.#drop();
    const last = this.events.length ? this.events[this.events.length - 1].number : -Infinity;
    this.events.push(...feed.events.filter(({ number }) => number > last));
    if (!isRecord && this.events.length > 1000) this.events.splice(0, this.events.length - 1000);
    for (const { time } of feed.events) this.latest = Math.max(this.latest, time);
    for (const listener of this.listeners) listener();
  }

  /** Drops calls beyond the limit. Special calls are kept longer: up to half of the limit is for them. */
  #drop() {
    const surplus = this.entries.length - this.most;
    if (surplus <= 0) return;
    const special = this.entries.filter((entry) => entry.isSpecial).slice(-Math.floor(this.most / 2));
    const isKept = new Set(special);
    let left = surplus;
    this.entries = this.entries.filter((entry) => {
      if (left === 0 || isKept.has(entry)) return true;
      left -= 1;
      this.byId.delete(entry.call.id);
      return false;
    });
  }

  /** Keeps the calls of an earlier run of the app, in front of the calls of the new run. */
  restart() {
    this.runs = (this.runs ?? 0) + 1;
    for (const entry of this.entries) {
      this.byId.delete(entry.call.id);
      const { call } = entry;
      entry.call = { ...call, id: call.isEarlier ? call.id : `run${this.runs}-${call.id}`, isEarlier: true,
        number: call.number - 1e6, shownNumber: call.shownNumber ?? call.number };
      if (call.end === undefined) Object.assign(entry.call, { end: this.latest, wasCut: true });
      if (call.stream) entry.call.stream = { ...call.stream, end: call.stream.end ?? this.latest };
      entry.key = `call-${entry.call.id}`;
      entry.state = Entry.state(entry.call);
      this.byId.set(entry.call.id, entry);
    }
    this.events = this.events.map((event) => ({ ...event, number: event.number - 1e6 }));
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
