"use strict";

/* The long poll and commands. A lost connection is retried with growing pauses of up to ten seconds. */

class Feed {
  static shortest = 500;
  static longest = 10_000;
  /** The pause in milliseconds between two polls, so that a busy app is not polled continuously. */
  static gap = 100;
  /** The timeout of a poll in milliseconds. The server responds within twenty seconds. */
  static patience = 30_000;

  constructor(store) {
    this.store = store;
    this.cursor = 0;
    this.state = { kind: "connecting" };
    this.listeners = [];
    this.isStopped = true;
  }

  onState(listener) {
    this.listeners.push(listener);
  }

  #tell(state) {
    this.state = state;
    this.store.setLost(state.kind === "lost");
    for (const listener of this.listeners) listener(state);
  }

  /** Polls for changes until the feed is stopped. */
  async run() {
    if (!this.isStopped) return;
    this.isStopped = false;
    let pause = Feed.shortest;
    while (!this.isStopped) {
      try {
        await this.#ask();
        pause = Feed.shortest;
        if (this.state.kind !== "live") this.#tell({ kind: "live" });
        await this.#sleep(Feed.gap);
      } catch (error) {
        if (this.isStopped) return;
        // A browser's message for a failed connection is not helpful, but an error of the server is.
        const why = error instanceof TypeError || error.name === "AbortError" ? undefined : error.message;
        this.#tell({ kind: "lost", why, again: Date.now() + pause });
        await this.#sleep(pause);
        pause = Math.min(2 * pause, Feed.longest);
      }
    }
  }

  async #ask() {
    this.abort = new AbortController();
    const timer = setTimeout(() => this.abort.abort(), Feed.patience);
    try {
      const answer = await fetch(`feed?after=${this.cursor}`, { cache: "no-store", signal: this.abort.signal });
      if (!answer.ok) throw new Error(`the inspector responded with ${answer.status}`);
      const feed = await answer.json();
      if (feed.version !== 1) throw new Error(`this page cannot read version ${feed.version} of the data`);
      if (this.session !== undefined && feed.session !== this.session) {
        // The app has restarted. Its data is requested again, and the calls of the earlier run stay.
        this.session = feed.session;
        this.store.restart();
        this.details?.restart(this.store.runs);
        this.cursor = 0;
        return;
      }
      this.session = feed.session;
      this.cursor = feed.cursor;
      this.store.take(feed);
      this.details?.prefetch(feed.calls);
    } finally {
      clearTimeout(timer);
    }
  }

  #sleep(time) {
    return new Promise((wake) => {
      this.wake = wake;
      setTimeout(wake, time);
    });
  }

  /** Retries a lost connection immediately. */
  tryNow() {
    this.wake?.();
  }

  stop() {
    this.isStopped = true;
    this.abort?.abort();
    this.wake?.();
  }
}

/** Sends a command, and throws the error of the server if it rejects the command. */
async function command(body) {
  const answer = await fetch("command", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Inspector": "1" },
    body: JSON.stringify(body),
  });
  if (answer.ok) return;
  const { error } = await answer.json().catch(() => ({}));
  throw new Error(error ?? `the inspector responded with ${answer.status}`);
}

/** The source of details of calls: the server of a live page, or the record in the page. */
class Details {
  /** The maximum number of calls whose details the page keeps, so that they can be shown when the app has ended. */
  static most = 1000;

  static #nothing = { fields: "", bodies: "" };

  #kept = new Map();
  #texts = new WeakMap();
  #wanted = [];
  #isLoading = false;

  constructor(record, store) {
    this.record = record;
    this.store = store;
    /** Called when the details of a call were loaded. */
    this.onLoad = () => {};
  }

  /** Returns the header fields and the bodies of a call as text in lower case, or empty texts before they are loaded. */
  text(id) {
    const detail = this.record ? this.record.details[id] : this.#kept.get(id);
    if (!detail) return Details.#nothing;
    const known = this.#texts.get(detail);
    if (known) return known;
    const messages = detail.attempts.flatMap(({ request, response }) => [request, response]).filter(Boolean);
    const lines = messages.flatMap(({ fields }) => fields ?? []).map(([name, value]) => `${name}: ${value}`);
    const bodies = [...messages.map(({ body }) => body?.text ?? ""), ...(detail.messages ?? []).map(({ text }) => text ?? "")];
    const text = { fields: lines.join("\n").toLowerCase(), bodies: bodies.join("\n").toLowerCase() };
    this.#texts.set(detail, text);
    return text;
  }

  /** Loads the details of calls in the background, the newest first. */
  prefetch(calls) {
    this.#wanted = [...this.#wanted, ...calls.map(({ id }) => id)].slice(-200);
    if (!this.#isLoading) this.#loadNext();
  }

  async #loadNext() {
    this.#isLoading = true;
    for (let id = this.#wanted.pop(); id !== undefined; id = this.#wanted.pop()) {
      try {
        await this.#load(id);
      } catch {
        // The call is no longer stored, or the app has ended.
        if (this.store.byId.has(id)) break;
      }
      await new Promise((wake) => setTimeout(wake, 5));
    }
    this.#isLoading = false;
  }

  /** Renames the kept details after a restart of the app, because the new run uses the same numbers again. */
  restart(run) {
    this.#wanted = [];
    const kept = [...this.#kept].map(([id, detail]) => [`${id}`.startsWith("run") ? id : `run${run}-${id}`, detail]);
    this.#kept = new Map(kept);
  }

  async get(id) {
    if (this.record) {
      if (!this.record.details[id]) throw new Error("The record contains no details of this call.");
      return this.record.details[id];
    }
    const kept = this.#kept.get(id);
    if (`${id}`.startsWith("run")) {
      if (!kept) throw new Error("The app has ended, and the details of this call were not loaded before.");
      return kept;
    }
    try {
      return await this.#load(id);
    } catch (error) {
      if (kept) return kept;
      throw error instanceof TypeError ? new Error("The app has ended, and the details were not loaded before.") : error;
    }
  }

  async #load(id) {
    const detail = await this.#fetch(id);
    this.#kept.delete(id);
    this.#kept.set(id, detail);
    if (this.#kept.size > Details.most) this.#kept.delete(this.#kept.keys().next().value);
    this.onLoad();
    return detail;
  }

  async #fetch(id) {
    const answer = await fetch(`calls/${encodeURIComponent(id)}`, { cache: "no-store" });
    if (answer.status === 404) throw new Error("This call is no longer stored because newer calls replaced it.");
    if (!answer.ok) throw new Error(`The inspector responded with ${answer.status}.`);
    return answer.json();
  }

  /** Returns a HAR archive of one call as text, or of all calls without an id. */
  async archive(id) {
    if (this.record) {
      const details = id === undefined ? Object.values(this.record.details) : [await this.get(id)];
      return JSON.stringify(makeArchive(details), null, 2);
    }
    const isEarlier = id === undefined ? this.store.entries.some(({ call }) => call.isEarlier) : `${id}`.startsWith("run");
    if (!isEarlier) {
      try {
        const answer = await fetch(id === undefined ? "archive.har" : `calls/${encodeURIComponent(id)}.har`);
        if (!answer.ok) throw new Error(`The inspector responded with ${answer.status}.`);
        return await answer.text();
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
    }
    // The app has ended, so the page writes what it has seen. A call whose details are unknown has no fields or bodies.
    const entries = id === undefined ? this.store.entries : [this.store.byId.get(id)];
    const details = entries.filter(Boolean).map(({ call }) => {
      const { attempts = [], messages } = this.#kept.get(call.id) ?? {};
      return { call, attempts, messages };
    });
    return JSON.stringify(makeArchive(details), null, 2);
  }
}
