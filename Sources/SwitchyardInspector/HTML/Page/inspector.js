"use strict";

/* Builds the page, and updates its parts after changes. */

const usage = [
  ["j k ↑ ↓", "move between calls"], ["Enter", "opens a call"], ["Escape", "closes the call"],
  ["/", "moves to the filter"],
  ["Home End", "move to the newest or oldest call"],
];

class Inspector {
  constructor(record) {
    this.record = record;
    this.store = new Store();
    this.filter = new Filter();
    this.feed = new Feed(this.store);
    this.details = new Details(record, this.store);
    this.feed.details = this.details;
    this.filter.details = this.details;
    this.details.onLoad = () => this.#searchAgain();
    this.isPaused = false;
    const now = () => record ? this.store.latest : Date.now();
    const { store, filter, feed, details } = this;
    const control = (body) => command(body);
    this.bar = filterBar(filter, store);
    this.faults = new FaultForm({ store, control });
    this.header = new PageHeader({
      store, feed, record, control, faults: this.faults.node,
      onPause: () => this.pause(),
      onClear: () => this.clear(),
      onSave: async () => saveText("archive.har", await details.archive(), "application/json"),
    });
    this.servers = new ServerCards({ store, control });
    this.list = new CallList({
      store, filter, now, onOpen: (entry) => this.open(entry),
      onCount: (shown, hidden) => this.#count(shown, hidden),
      onActive: (item) => this.overview.point(item),
    });
    this.overview = new Overview({ store, now, onChoose: (time) => this.list.showTime(time) });
    this.events = new EventList({ store, onChoose: (time) => this.list.showTime(time) });
    this.detail = new DetailPanel({
      store, details, now, onClose: () => this.close(),
      onMove: (step) => this.move(step),
    });
    this.#listen();
  }

  get node() {
    const hidden = element("button", { type: "button", class: "small", hidden: "" });
    hidden.addEventListener("click", () => this.clear(false));
    this.hidden = hidden;
    this.bar.shown.after(hidden);
    this.layout = element("main", { class: "layout" },
      element("div", { class: "calls" }, this.bar.bar, this.overview.node, this.list.frame,
        element("div", { class: "list-foot" }, legend(), this.bar.ticks)),
      element("div", { class: "side" }, this.events.node, this.detail.node));
    this.verdict = element("section", { class: "verdict", "aria-label": "Result" });
    return element("div", { class: "inspector" }, this.header.node, this.verdict, this.faults.banner,
      this.servers.node, this.layout, notice.node);
  }

  /** Searches again after details were loaded, at most ten times per second. */
  #searchAgain() {
    if (this.searching || !this.filter.searchesDetails) return;
    this.searching = setTimeout(() => {
      this.searching = undefined;
      this.filter.refresh();
    }, 100);
  }

  // Updates

  #listen() {
    this.store.onChange(() => this.refreshSoon());
    this.filter.onChange(() => this.list.refresh());
    document.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("click", ({ target }) => {
      if (!this.faults.node.contains(target)) this.faults.node.open = false;
    });
    document.addEventListener("visibilitychange", () => this.refreshSoon());
    matchMedia("print").addEventListener("change", () => this.list.draw());
    addEventListener("pagehide", () => this.feed.stop());
    addEventListener("pageshow", ({ persisted }) => { if (persisted && !this.record) this.feed.run(); });
    // Running calls and outages grow even without an update from the server.
    setInterval(() => {
      if (!this.isPaused && !this.record && !this.store.isLost) this.servers.grow();
      if (this.record || document.hidden || this.isPaused) return;
      if (this.store.entries.some(({ isOpen }) => isOpen)) this.list.draw();
      this.detail.grow();
    }, 500);
  }

  /** Redraws with the next frame. A hidden page redraws when it becomes visible. */
  refreshSoon() {
    if (document.hidden || this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.refresh();
    });
  }

  refresh() {
    this.#showVerdict();
    if (!this.isPaused) {
      this.bar.show();
      this.servers.refresh();
      this.events.refresh();
      this.list.refresh();
      this.detail.update();
      this.#reopen();
    }
    this.faults.refresh();
    const seen = this.list.last;
    const waiting = this.isPaused ? this.store.entries.filter(({ call }) => call.number > seen).length : 0;
    this.header.refresh(waiting, this.isPaused);
  }

  #showVerdict() {
    const { verdict } = this.store;
    this.verdict.hidden = !verdict;
    if (!verdict) return;
    this.verdict.className = `verdict is-${verdict.level}`;
    const text = [verdict.headline, ...verdict.details].join("\n");
    if (this.verdict.dataset.text === text) return;
    this.verdict.dataset.text = text;
    this.verdict.replaceChildren(element("p", { class: "verdict-headline" }, verdict.headline),
      ...verdict.details.map((detail) => element("p", { class: "verdict-detail" }, detail)));
  }

  #count(entries, hidden) {
    this.overview.refresh(entries);
    const [shown, all] = [entries.length, this.list.entries.length];
    const isNarrow = this.filter.isNarrow || hidden > 0;
    setText(this.bar.shown, isNarrow ? `${numbers.count(shown)} of ${numbers.count(all)}` : words.some(all, "call"));
    const bytes = entries.reduce((sum, { size }) => sum + (size ?? 0), 0);
    setText(this.bar.totals, shown > 0 ? `${words.failures(entries)}, ${words.bytes(bytes)}` : "");
    this.hidden.hidden = hidden === 0;
    setText(this.hidden, `Show ${words.some(hidden, "cleared call")}`);
  }

  pause() {
    this.isPaused = !this.isPaused;
    this.list.freeze(this.isPaused);
    this.refresh();
  }

  /** Hides the current calls, or shows hidden calls again. */
  clear(isCleared = true) {
    this.list.clearedUpTo = isCleared ? this.list.last : -Infinity;
    this.list.refresh();
  }

  // Open call

  open(entry) {
    if (!entry?.call) return;
    this.filter.open(entry.call.id);
    this.layout.classList.add("is-open");
    document.body.classList.toggle("has-detail", true);
    this.detail.open(entry);
  }

  close() {
    if (!this.detail.isOpen) return;
    this.filter.open("");
    this.layout.classList.remove("is-open");
    document.body.classList.toggle("has-detail", false);
    this.detail.close();
    this.list.grid.focus();
  }

  /** Opens the call in the URL as soon as it is available. */
  #reopen() {
    if (this.detail.isOpen || !this.filter.call) return;
    const entry = this.store.byId.get(this.filter.call);
    if (!entry) return;
    this.list.active = entry.key;
    this.open(entry);
    const place = this.list.items.findIndex(({ key }) => key === entry.key);
    if (place >= 0) this.list.show(place);
  }

  move(step) {
    this.list.move(step);
    if (this.detail.isOpen) this.open(this.list.activeEntry);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target, key } = event;
    if (key === "Escape") {
      if (this.faults.node.open) {
        this.faults.node.open = false;
        return undefined;
      }
      if (target === this.bar.field && target.value) return this.filter.set({ text: "" });
      if (target === this.bar.field) return this.list.grid.focus();
      return this.close();
    }
    if (target.closest("input, select, textarea")) return undefined;
    const inList = target === document.body || target === this.list.grid;
    const page = Math.max(1, Math.floor(this.list.grid.clientHeight / this.list.rowHeight) - 2);
    const actions = {
      "/": () => this.bar.field.focus(),
      "j": () => this.move(1),
      "k": () => this.move(-1),
      ...(inList ? {
        "ArrowDown": () => this.move(1),
        "ArrowUp": () => this.move(-1),
        "PageDown": () => this.move(page),
        "PageUp": () => this.move(-page),
        "Home": () => this.move(-Infinity),
        "End": () => this.move(Infinity),
        "Enter": () => {
          this.open(this.list.activeEntry);
          if (this.detail.isOpen) this.detail.title.focus();
        },
      } : {}),
    };
    if (!actions[key]) return undefined;
    event.preventDefault();
    return actions[key]();
  }

  start() {
    document.getElementById("page").replaceChildren(this.node);
    if (this.record) this.store.take(this.record.feed, true);
    this.refresh();
    if (!this.record) this.feed.run();
  }
}

/** Returns the legend of the marks and keys. */
function legend() {
  return element("details", { class: "help" }, element("summary", {}, "Marks and keys"),
    element("ul", { class: "legend" }, callMarks.map((mark) => element("li", {}, badge(mark), mark.text))),
    element("ul", { class: "legend" }, Object.entries(outcomeWords).map(([state, text]) =>
      element("li", {}, outcomeIcon(state), text))),
    element("ul", { class: "legend" }, usage.map(([keys, text]) => element("li", {}, element("kbd", {}, keys), text))));
}

function start() {
  const data = document.getElementById("record");
  const record = data ? JSON.parse(data.textContent) : undefined;
  if (record && record.version !== 1) {
    document.getElementById("page").append(element("p", {}, "The version of the data is unknown."));
    return;
  }
  window.inspector = new Inspector(record);
  window.inspector.start();
  // After two frames, everything is on the screen.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    document.documentElement.dataset.drawnAfter = `${Math.round(performance.now())}`;
  }));
}

start();
