"use strict";

/* The panel of an opened call: its summary, the waterfall of its attempts, and the exchange of each attempt. */

class DetailPanel {
  constructor({ store, details, now, onClose, onMove }) {
    Object.assign(this, { store, details, now });
    this.title = element("h2", { id: "detail-title", tabindex: "-1" });
    this.content = element("div", { class: "detail-content" });
    const move = (label, text, step) => {
      const made = element("button", { type: "button", title: label, "aria-label": label }, text);
      made.addEventListener("click", () => onMove(step));
      return made;
    };
    const close = element("button", { type: "button", title: "Close (Escape)", "aria-label": "Close" }, "✕");
    close.addEventListener("click", onClose);
    this.node = element("section", { class: "detail", "aria-labelledby": "detail-title", hidden: "" },
      element("div", { class: "detail-head" }, this.title,
        element("span", { class: "tools" },
          move("Newer call (k)", "↑", -1), move("Older call (j)", "↓", 1), close)),
      this.content);
  }

  get isOpen() {
    return !this.node.hidden;
  }

  /** Opens a call. Its details are loaded afterwards. */
  open(entry) {
    const wasOpen = this.isOpen;
    const isOther = this.entry?.call.id !== entry.call.id;
    if (isOther) {
      this.detail = undefined;
      this.trouble = undefined;
      this.chosen = undefined;
      this.node.scrollTop = 0;
    }
    this.entry = entry;
    this.node.hidden = false;
    this.#draw();
    // If the panel covers the list, move the keyboard focus to it.
    if (!wasOpen && getComputedStyle(this.node).position === "fixed") this.title.focus();
    clearTimeout(this.timer);
    // Do not load the details of calls that are only passed while a key is held down.
    this.timer = setTimeout(() => this.#load(entry), isOther && this.details.record ? 0 : 60);
  }

  close() {
    this.node.hidden = true;
    this.entry = undefined;
    clearTimeout(this.timer);
  }

  /** Updates the panel if the open call has changed. */
  update() {
    if (!this.entry) return;
    const entry = this.store.byId.get(this.entry.call.id);
    if (!entry || entry === this.entry) return;
    if (DetailPanel.differsOnlyInMessages(entry.call, this.entry.call)) this.#updateMessages(entry);
    else this.open(entry);
  }

  static differsOnlyInMessages(one, other) {
    const text = (call) => JSON.stringify({ ...call, stream: call.stream !== undefined });
    return one.stream !== undefined && text(one) === text(other);
  }

  /** Shows new messages, and leaves the rest of the panel as it is. */
  async #updateMessages(entry) {
    this.entry = entry;
    this.#redraw();
    try {
      const detail = await this.details.get(entry.call.id);
      if (this.entry?.call.id !== entry.call.id) return;
      this.detail = detail;
      this.#showMessages();
    } catch {
      // The app has ended, or the call is no longer stored. The messages that are shown stay.
    }
  }

  #showMessages() {
    const { call, messages } = this.detail ?? {};
    if (call?.stream && this.messages) this.messages.show(call.stream, messages ?? []);
  }

  async #load(entry) {
    try {
      const detail = await this.details.get(entry.call.id);
      if (this.entry !== entry) return;
      this.detail = detail;
      this.trouble = undefined;
    } catch (error) {
      if (this.entry !== entry) return;
      this.trouble = error.message;
    }
    this.#draw();
  }

  #draw() {
    const { call, marks } = this.entry;
    const now = call.end ?? this.now();
    this.title.replaceChildren(element("span", { class: "quiet" }, `#${call.shownNumber ?? call.number} `),
      element("span", { class: "method" }, call.method), ` ${call.path}`);
    this.summary = this.#summary(call, marks, now);
    this.fall = this.#waterfall(call, now);
    this.messages = call.stream ? new MessageTable() : undefined;
    this.content.replaceChildren(this.summary, element("h3", {}, "Attempts"), this.fall, ...(this.messages
      ? [this.messages.node] : []), this.#exchange(call));
    this.#showMessages();
    this.#showChosen();
  }

  #waterfall(call, now) {
    return new Waterfall(call, this.store, now, (attempt) => this.#choose(attempt)).node;
  }

  /** Redraws the growing parts of a running call or of an open stream. */
  grow() {
    if (this.entry?.isOpen) this.#redraw();
  }

  /** Redraws the summary and the waterfall, unless a button in the waterfall has the focus. */
  #redraw() {
    if (this.fall.contains(document.activeElement)) return;
    const { call, marks } = this.entry;
    const now = call.end ?? this.now();
    const [summary, fall] = [this.#summary(call, marks, now), this.#waterfall(call, now)];
    this.summary.replaceWith(summary);
    this.fall.replaceWith(fall);
    Object.assign(this, { summary, fall });
    this.#markChosen();
  }

  #summary(call, marks, now) {
    const took = numbers.wait(now - call.start);
    const facts = [
      `started at ${words.time(call.start)}`,
      call.end === undefined ? `running for ${took}` : call.stream ? `response after ${took}` : `took ${took}`,
      call.stream ? `${call.stream.end === undefined ? "open for" : "ended after"} `
        + numbers.wait(this.entry.duration(this.now())) : null,
      call.from && call.from !== "network" ? `from: ${call.from}` : null,
      call.rounds > 1 ? `${call.rounds} rounds` : null,
      call.tags?.length ? `tags: ${call.tags.join(", ")}` : null,
    ].filter(Boolean);
    return element("div", { class: `summary is-${this.entry.state}` },
      element("p", { class: "outcome" }, outcomeIcon(this.entry.state),
        element("strong", {}, words.fullOutcome(call.outcome))),
      element("p", { class: "story" }, words.story(call)),
      call.mayHaveBeenExecuted
        ? element("p", { class: "executed" }, badge(markOfKind.executed), ` It ${markOfKind.executed.text}.`) : null,
      element("ul", { class: "facts quiet" }, facts.map((fact) => element("li", {}, fact)),
        marks.filter(({ kind }) => kind !== "executed").map((mark) => element("li", {}, badge(mark, true)))));
  }

  // Exchange

  #exchange(call) {
    if (this.trouble) return element("p", { class: "trouble" }, this.trouble);
    if (!this.detail) return element("p", { class: "quiet" }, "Loading the request and the response …");
    const { attempts } = this.detail;
    const tools = element("div", { class: "tools" },
      copyButton("Copy as HAR", "HAR", () => this.details.archive(call.id)));
    if (attempts.length === 0) return element("div", {}, element("p", { class: "quiet" }, "No request sent."), tools);
    this.chosen = this.chosen ?? this.#usual(call);
    this.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "Attempts" },
      attempts.map((kept, place) => this.#tab(call, kept, place + 1)));
    this.tabs.addEventListener("keydown", (event) => this.#moveTab(event));
    this.panel = element("div", { role: "tabpanel", id: "exchange", tabindex: "-1" });
    return element("div", { class: "exchange" },
      element("div", { class: "exchange-head" }, element("h3", {}, "Request and response"), tools),
      this.tabs, this.panel);
  }

  /** Returns the initially shown attempt: the one whose response the caller received, otherwise the last one. */
  #usual(call) {
    const answered = call.attempts.filter(({ status, isCut }) => status !== undefined && !isCut).pop();
    const attempt = answered ?? call.attempts[call.attempts.length - 1] ?? this.detail.attempts[0];
    return DetailPanel.name(attempt);
  }

  static name({ round, number }) {
    return `${round}.${number}`;
  }

  #attempt(call, kept) {
    return call.attempts.find((attempt) => DetailPanel.name(attempt) === DetailPanel.name(kept));
  }

  #tab(call, kept, ordinal) {
    const attempt = this.#attempt(call, kept);
    const name = DetailPanel.name(kept);
    const made = element("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "exchange", "data-attempt": name,
    }, `${ordinal}`, attempt ? [serverIcon(this.store.place(attempt.server), 16), attempt.server,
      element("span", { class: "quiet" }, attempt.error ? words.attemptEnd(attempt)
      : `${attempt.status ?? words.attemptEnd(attempt)}`)] : null);
    made.addEventListener("click", () => this.#choose(kept));
    return made;
  }

  #choose(attempt) {
    this.chosen = DetailPanel.name(attempt);
    this.#showChosen();
  }

  #moveTab(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const tabs = [...this.tabs.children];
    const at = tabs.findIndex(({ dataset }) => dataset.attempt === this.chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    this.chosen = next.dataset.attempt;
    this.#showChosen();
    next.focus();
    event.stopPropagation();
  }

  #markChosen() {
    for (const name of this.content.querySelectorAll(".fall-name[data-attempt]")) {
      name.classList.toggle("chosen", name.dataset.attempt === this.chosen);
    }
  }

  #showChosen() {
    this.#markChosen();
    if (!this.detail || !this.panel?.isConnected) return;
    for (const tab of this.tabs.children) {
      const isChosen = tab.dataset.attempt === this.chosen;
      tab.setAttribute("aria-selected", `${isChosen}`);
      tab.tabIndex = isChosen ? 0 : -1;
    }
    const kept = this.detail.attempts.find((attempt) => DetailPanel.name(attempt) === this.chosen);
    this.panel.setAttribute("aria-labelledby", `tab-${this.chosen}`);
    const nothing = element("p", { class: "quiet" }, "Nothing is stored for this attempt.");
    this.panel.replaceChildren(...(kept ? exchangeView(kept) : [nothing]));
  }
}

/** Returns the view of the request and the response of an attempt. */
function exchangeView(kept) {
  const part = (title, message, what, ...tools) => element("section", { class: what },
    element("div", { class: "part-head" }, element("h4", {}, title), element("span", { class: "tools" }, tools)),
    message ? [
      element("p", { class: "line" }, element("code", {}, message.line)),
      what === "request" ? pairsView(queryOf(message.line), "query parameter") : null,
      pairsView(cookiesOf(message.fields ?? [], what), "cookie"),
      message.fields?.length
        ? element("details", { class: "field-fold", open: "" },
          element("summary", {}, words.some(message.fields.length, "field")),
          fieldTable(message.fields, `Fields of the ${what}`))
        : element("p", { class: "quiet none" }, "No fields."),
      bodyView(message.body, what),
    ] : element("p", { class: "quiet none" }, "There was no response."));
  return [
    part("Request", kept.request, "request", copyButton("Copy as cURL", "cURL", () => kept.curl)),
    part("Response", kept.response, "response"),
  ];
}

/** Returns the decoded parameters of the query in a request line. */
function queryOf(line) {
  const url = line.slice(line.indexOf(" ") + 1);
  const start = url.indexOf("?");
  return start < 0 ? [] : [...new URLSearchParams(url.slice(start + 1).split("#")[0])];
}

/** Returns the names and values of the cookies in header fields. */
function cookiesOf(fields, what) {
  const wanted = what === "request" ? "cookie" : "set-cookie";
  const values = fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  const pairs = what === "request" ? values.flatMap((value) => value.split(";")) : values.map((value) => value.split(";")[0]);
  return pairs.map((pair) => pair.trim()).filter((pair) => pair.includes("=")).map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

/** Returns a folded table of names and values, or null if there are none. */
function pairsView(pairs, name) {
  if (pairs.length === 0) return null;
  return element("details", { class: "field-fold" },
    element("summary", {}, words.some(pairs.length, name)), fieldTable(pairs, `${name}s`));
}
