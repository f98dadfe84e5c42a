"use strict";

/* The waterfall of one call: a line for each attempt with its phases, and for each wait between attempts. */

/** Returns the attempts and waits of a call in order of their start. */
function fallLines(call) {
  const lines = [
    ...call.attempts.map((attempt) => ({ attempt, start: attempt.start })),
    ...(call.waits ?? []).map((wait) => ({ wait, start: wait.start })),
  ];
  return lines.sort((one, other) => one.start - other.start);
}

/** Returns a step of 1, 2 or 5 times a power of ten that divides a span into at most `most` parts. */
function evenStep(span, most) {
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw);
}

/** Formats milliseconds for an axis: 0, 50 ms, 1.5 s. */
function axisText(value) {
  if (value === 0) return "0";
  return value < 1000 ? `${Number(value.toPrecision(3))} ms` : `${Number((value / 1000).toPrecision(3))} s`;
}

class Waterfall {
  constructor(call, store, now, onChoose) {
    this.call = call;
    this.store = store;
    this.onChoose = onChoose;
    this.start = call.start;
    this.end = Math.max(call.end ?? now, ...call.attempts.map(({ start, end }) => end ?? start), call.start + 0.01);
    this.now = now;
    /** The distance between two lines of the axis. */
    this.step = evenStep(this.end - this.start, 5);
  }

  #share(time) {
    return Math.min(100, Math.max(0, 100 * (time - this.start) / (this.end - this.start)));
  }

  /** Returns an element on a track, from one time to another. */
  #on(name, from, until, ...children) {
    const made = element("span", { class: name }, children);
    made.style.left = `${this.#share(from)}%`;
    if (until !== undefined) made.style.width = `${Math.max(0, this.#share(until) - this.#share(from))}%`;
    return made;
  }

  get node() {
    const lines = fallLines(this.call);
    if (lines.length === 0) return element("p", { class: "quiet" }, "No request was sent to a server.");
    const made = element("div", { class: "fall" },
      this.#axis(),
      element("ol", { class: "fall-lines" },
        lines.map(({ attempt, wait }) => attempt ? this.#attempt(attempt) : this.#wait(wait))),
      this.#legend());
    made.style.setProperty("--step", `${100 * this.step / (this.end - this.start)}%`);
    return made;
  }

  #axis() {
    const span = this.end - this.start;
    const { step } = this;
    const ticks = [];
    for (let value = 0; value <= span * 0.93; value += step) {
      ticks.push(this.#on("tick", this.start + value, undefined, element("span", {}, axisText(value))));
    }
    return element("div", { class: "fall-axis", "aria-hidden": "true" },
      element("span", { class: "fall-name" }), element("span", { class: "track" }, ticks));
  }

  #attempt(attempt) {
    const place = this.store.place(attempt.server);
    const end = attempt.end ?? (attempt.isCut ? this.end : Math.max(this.now, attempt.start));
    const kind = endKind(attempt);
    const mark = markOfKind[attempt.kind];
    const phases = (attempt.phases ?? []).map((phase) =>
      this.#phase(phase, Math.min(phase.end ?? end, end)));
    const turns = (attempt.redirects ?? []).map(({ time, status, to }) =>
      this.#on("turn", time, undefined, element("span", { title: `${status} to ${to}` })));
    const track = element("span", { class: `track server-${place % 6}` },
      this.#on(`attempt ends-${kind}`, attempt.start, end),
      phases, turns,
      this.#on(`end ends-${kind}`, end, undefined, endIcon(kind)));
    const name = element("button", {
      type: "button", class: "fall-name", "data-attempt": `${attempt.round}.${attempt.number}`,
      title: "Show the request and the response",
    },
    element("span", { class: "ordinal" }, `${this.call.attempts.indexOf(attempt) + 1}`),
    serverIcon(place), element("strong", {}, attempt.server),
    mark ? badge(mark, true) : element("span", { class: "quiet" }, attempt.kind));
    name.addEventListener("click", () => this.onChoose(attempt));
    return element("li", { class: "fall-line" }, name, track, this.#caption(attempt, end));
  }

  #phase(phase, end) {
    const share = this.#share(end) - this.#share(phase.start);
    const text = `${phaseWords[phase.name] ?? phase.name} ${numbers.wait(end - phase.start)}`;
    const made = this.#on(`phase ${phase.name}`, phase.start, end,
      share > 16 ? element("span", { class: "label" }, phaseWords[phase.name] ?? phase.name) : null);
    made.title = text;
    return made;
  }

  #caption(attempt, end) {
    const offset = attempt.start - this.start;
    const took = numbers.wait(end - attempt.start);
    const lead = [
      element("strong", {}, words.attemptEnd(attempt)),
      attempt.isCut ? ` because another server responded, after ${took}`
        : attempt.end === undefined ? ` for ${took}` : ` after ${took}`,
      offset > 0.005 ? `, started after ${numbers.wait(offset)}` : "",
    ];
    const phases = (attempt.phases ?? []).map((phase) =>
      element("span", { class: `part server-${this.store.place(attempt.server) % 6}` },
        element("span", { class: `sample phase ${phase.name}`, "aria-hidden": "true" }),
        `${phaseWords[phase.name] ?? phase.name} ${numbers.wait((phase.end ?? end) - phase.start)}`));
    const facts = [
      attempt.reused ? "connection reused" : null,
      attempt.protocol ?? null,
      attempt.sent === undefined ? null : `${words.bytes(attempt.sent)} sent`,
      attempt.received === undefined ? null : `${words.bytes(attempt.received)} received`,
    ].filter(Boolean);
    const turns = (attempt.redirects ?? []).map((turn) => element("span", { class: "turn-words" },
      element("span", { class: "turn-sample", "aria-hidden": "true" }), ` ${turn.status} to `,
      element("code", {}, turn.to)));
    return element("div", { class: "caption" },
      element("span", { class: "lead" }, lead),
      attempt.next ? element("span", { class: "next" }, words.next(attempt)) : null, phases,
      facts.length ? element("span", { class: "quiet" }, facts.join(", ")) : null, turns);
  }

  #wait(wait) {
    const end = wait.end ?? Math.max(this.now, wait.start);
    return element("li", { class: "fall-line waiting" },
      element("span", { class: "fall-name" }, element("span", { class: "ordinal" }, "…"), "wait"),
      element("span", { class: "track" }, this.#on("pause", wait.start, end)),
      element("div", { class: "caption" }, element("span", {}, element("strong", {}, numbers.wait(end - wait.start)),
        `, ${wait.why}`)));
  }

  /** Returns the legend of the patterns of the phases in use. */
  #legend() {
    const used = new Set(this.call.attempts.flatMap(({ phases }) => (phases ?? []).map(({ name }) => name)));
    const entries = Object.keys(phaseWords).filter((name) => used.has(name)).map((name) =>
      element("li", { class: "server-4" }, element("span", { class: `sample phase ${name}` }), phaseWords[name]));
    if (entries.length === 0) return null;
    return element("ul", { class: "legend quiet", "aria-label": "Patterns of the phases" }, entries);
  }
}

/** Returns the icon at the end of an attempt: that of its outcome, or a double bar for a cancellation. */
function endIcon(kind) {
  if (kind === "cut") return icon([{ path: "M-2 -7L-2 7M2 -7L2 7", stroke: "var(--ink)" }], 16);
  return outcomeIcon({ error: "failed", bad: "bad", answer: "good", open: "running" }[kind]);
}
