"use strict";

/* The long poll, and commands. A lost connection is tried again, at first soon, then every ten seconds. */

class Feed {
  static shortest = 500;
  static longest = 10_000;
  /** Changes within this time come together, so that a busy app is not asked without a pause. */
  static gap = 100;
  /** The other side answers within twenty seconds; without an answer by then it is gone. */
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
    for (const listener of this.listeners) listener(state);
  }

  /** Asks for what is new until it is stopped. */
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
        // What a browser says of a connection that failed helps nobody; what the other side answered does.
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
      if (!answer.ok) throw new Error(`the inspector answered ${answer.status}`);
      const feed = await answer.json();
      if (feed.version !== 1) throw new Error(`this page cannot read version ${feed.version} of the data`);
      if (feed.cursor < this.cursor) {
        // The other side has begun anew: what it has now is asked for from its beginning.
        this.store.clear();
        this.cursor = 0;
        return;
      }
      this.cursor = feed.cursor;
      this.store.take(feed);
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

  /** Tries a lost connection at once. */
  tryNow() {
    this.wake?.();
  }

  stop() {
    this.isStopped = true;
    this.abort?.abort();
    this.wake?.();
  }
}

/** Sends a command; throws what the other side has against it. */
async function command(body) {
  const answer = await fetch("command", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Inspector": "1" },
    body: JSON.stringify(body),
  });
  if (answer.ok) return;
  const { error } = await answer.json().catch(() => ({}));
  throw new Error(error ?? `the inspector answered ${answer.status}`);
}

/** What is kept of a call, live from the other side, in a record from the page. */
class Details {
  constructor(record) {
    this.record = record;
  }

  async get(id) {
    if (this.record) {
      if (!this.record.details[id]) throw new Error("The record has no more of this call.");
      return this.record.details[id];
    }
    const answer = await fetch(`calls/${encodeURIComponent(id)}`, { cache: "no-store" });
    if (answer.status === 404) throw new Error("This call is no longer kept: newer ones took its place.");
    if (!answer.ok) throw new Error(`The inspector answered ${answer.status}.`);
    return answer.json();
  }

  /** One call, or everything when there is no id, as the text of a HAR archive. */
  async archive(id) {
    if (this.record) {
      const details = id === undefined ? Object.values(this.record.details) : [await this.get(id)];
      return JSON.stringify(makeArchive(details), null, 2);
    }
    const answer = await fetch(id === undefined ? "archive.har" : `calls/${encodeURIComponent(id)}.har`);
    if (!answer.ok) throw new Error(`The inspector answered ${answer.status}.`);
    return answer.text();
  }
}
