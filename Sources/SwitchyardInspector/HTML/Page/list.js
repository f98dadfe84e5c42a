"use strict";

/* The list of calls, newest first. Only visible rows exist, so ten thousand calls scroll as smoothly as ten. */

/** Returns a time of day, with milliseconds in an element that a narrow list hides. */
function clock(moment) {
  const [time, rest] = words.time(moment).split(".");
  return [time, element("span", { class: "rest" }, `.${rest}`)];
}

class CallList {
  /** The maximum number of printed rows. */
  static onPaper = 200;
  /** The number of rows that exist beyond each edge of the visible area. */
  static margin = 6;

  #active = null;

  constructor({ store, filter, now, onOpen, onCount, onActive }) {
    Object.assign(this, { store, filter, now, onOpen, onCount, onActive });
    this.items = [];
    this.drawn = new Map();
    this.clearedUpTo = -Infinity;
    this.#build();
  }

  #build() {
    const columns = ["#", "time", "call", "servers", "outcome", "marks", "type", "size", "took", "attempts"];
    this.head = element("div", { class: "row head", role: "row", "aria-rowindex": "1" },
      columns.map((name) => this.#heading(name)));
    this.rows = element("div", { class: "rows", role: "rowgroup" });
    this.nothing = element("p", { class: "nothing quiet" });
    this.grid = element("div", {
      class: "list", role: "grid", tabindex: "0", "aria-label": "Calls, newest first", "aria-colcount": columns.length,
    }, element("div", { role: "rowgroup", class: "heads" }, this.head), this.rows);
    this.frame = element("div", { class: "list-frame" }, this.grid, this.nothing);
    this.grid.addEventListener("scroll", () => this.draw(), { passive: true });
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest("[data-key]");
      if (!row) return;
      this.activate(row.dataset.key);
      if (!row.classList.contains("event")) this.onOpen(this.activeEntry);
    });
    new ResizeObserver(() => this.#measure()).observe(this.frame);
  }

  /** Returns a column heading. A click on a heading that can be sorted by sorts the list. */
  #heading(name) {
    const made = element("span", { role: "columnheader", class: `cell ${name === "#" ? "number" : name}` });
    if (!CallList.orders[name]) {
      made.append(name);
      if (name === "attempts") this.axis = made;
      return made;
    }
    const button = element("button", { type: "button", class: "sort", "data-sort": name,
      title: `Sort by ${name}, largest first` }, name);
    button.addEventListener("click", () =>
      this.filter.set({ sort: this.filter.sort === name || name === "time" ? "" : name }));
    made.append(button);
    return made;
  }

  /** The values by which the list can be sorted, the largest first. Without a choice, the newest call is the first. */
  static orders = {
    time: ({ time }) => time,
    size: ({ size }) => size ?? -1,
    took: (entry) => entry.isOpen ? Infinity : entry.duration(0),
    outcome: ({ call, state }) => state === "failed" ? 1000 : call.outcome?.status ?? 0,
  };

  /** Reads the height of a row from the style, because a narrow list has rows of two lines. */
  #measure() {
    this.rowHeight = parseFloat(getComputedStyle(this.rows).getPropertyValue("--row")) || 34;
    this.draw();
  }

  /** Updates the shown items. If the list is scrolled down, the visible rows stay in place. */
  refresh() {
    const { grid, filter } = this;
    const row = this.rowHeight ?? 34;
    const top = Math.floor(grid.scrollTop / row);
    const anchor = grid.scrollTop > row / 2 ? this.items[top] : undefined;
    const kept = this.entries.filter(({ call }) => call.number > this.clearedUpTo);
    const shown = kept.filter((entry) => filter.matches(entry));
    this.shown = shown.slice();
    this.items = shown.reverse();
    const order = filter.sort ? CallList.orders[filter.sort] : undefined;
    if (order) this.items = shown.slice().sort((one, other) => order(other) - order(one));
    else if (filter.events === "yes") this.items = this.#withEvents(shown, kept);
    for (const button of this.head.querySelectorAll("[data-sort]")) {
      const isChosen = button.dataset.sort === (order ? filter.sort : "time");
      button.parentNode.setAttribute("aria-sort", isChosen ? "descending" : "none");
    }
    this.count = shown.length;
    this.longest = shown.reduce((most, entry) => Math.max(most, entry.duration(this.now())), 0);
    const isEmpty = this.items.length === 0;
    this.nothing.textContent = this.entries.length === 0 ? "No calls yet. A call appears here when it starts."
      : kept.length === 0 ? "The view was cleared. New calls appear here." : "No call matches the filter.";
    this.nothing.hidden = !isEmpty;
    grid.setAttribute("aria-rowcount", this.items.length + 1);
    this.rows.style.height = `${this.items.length * row}px`;
    if (anchor) {
      const at = this.items.findIndex(({ key }) => key === anchor.key);
      if (at >= 0) grid.scrollTop += (at - top) * row;
    }
    this.onCount(this.shown, this.entries.length - kept.length);
    this.draw();
  }

  /** Inserts events between the calls by time, without events before the first stored call. */
  #withEvents(calls, kept) {
    if (kept.length === 0) return calls;
    const first = kept[0].time;
    // Probes are frequent, so they are only in the list of events.
    const events = this.store.events.filter(({ time, kind }) => time >= first && kind !== "probe");
    const made = [];
    let place = events.length - 1;
    for (const entry of calls) {
      for (; place >= 0 && events[place].time >= entry.time; place -= 1) made.push(this.#item(events[place]));
      made.push(entry);
    }
    for (; place >= 0; place -= 1) made.push(this.#item(events[place]));
    return made;
  }

  #item(event) {
    return { key: `event-${event.number}`, event, time: event.time };
  }

  /** The calls that can be shown. A frozen list keeps the calls of the time when it was frozen. */
  get entries() {
    return this.frozen ?? this.store.entries;
  }

  /** The number of the newest call in `entries`. */
  get last() {
    const { entries } = this;
    return entries.length ? entries[entries.length - 1].call.number : -Infinity;
  }

  freeze(isFrozen) {
    this.frozen = isFrozen ? this.store.entries.slice() : undefined;
  }

  /** The key of the active row. */
  get active() {
    return this.#active;
  }

  set active(key) {
    this.#active = key;
    this.onActive(this.activeEntry);
  }

  get activeEntry() {
    return this.items.find(({ key }) => key === this.active);
  }

  /** Makes a row active. */
  activate(key) {
    this.active = key;
    this.draw();
  }

  /** Moves the active row by a number of calls, or to the first or last call. */
  move(step) {
    const places = this.items.flatMap(({ event }, place) => event ? [] : [place]);
    if (places.length === 0) return;
    const at = this.items.findIndex(({ key }) => key === this.active);
    const now = at < 0 ? (step > 0 ? -1 : 0) : places.findIndex((place) => place >= at);
    const next = places[Math.max(0, Math.min(places.length - 1, now + step))];
    this.active = this.items[next].key;
    this.show(next);
  }

  /** Scrolls until a row is visible. */
  show(place, isCentered = false) {
    const { grid, rowHeight } = this;
    const room = grid.clientHeight - this.head.offsetHeight;
    const top = place * rowHeight;
    if (isCentered) grid.scrollTop = top - room / 2;
    else if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + rowHeight > grid.scrollTop + room) grid.scrollTop = top + rowHeight - room;
    this.draw();
  }

  /** Scrolls to the calls of a time, and activates the nearest row. */
  showTime(time) {
    if (this.items.length === 0) return;
    let place = this.items.findIndex((item) => item.time <= time);
    if (place < 0) place = this.items.length - 1;
    this.active = this.items[place].key;
    this.show(place, true);
  }

  /** Creates the visible rows and removes the others. */
  draw() {
    const { grid, items } = this;
    const row = this.rowHeight ?? 34;
    const isPaper = matchMedia("print").matches;
    const first = isPaper ? 0 : Math.max(0, Math.floor(grid.scrollTop / row) - CallList.margin);
    const rows = Math.ceil(Math.max(grid.clientHeight, 100) / row) + 2 * CallList.margin;
    const last = Math.min(items.length, isPaper ? CallList.onPaper : first + rows);
    const wanted = new Set();
    const scale = this.#scale(isPaper ? 0 : Math.floor(grid.scrollTop / row), isPaper ? last : Math.ceil(
      (grid.scrollTop + grid.clientHeight - this.head.offsetHeight) / row));
    for (let place = first; place < last; place += 1) {
      const item = items[place];
      wanted.add(item.key);
      this.#drawRow(item, place, row, scale);
    }
    for (const [key, { node }] of this.drawn) {
      if (wanted.has(key)) continue;
      node.remove();
      this.drawn.delete(key);
    }
    if (isPaper) for (const item of items.slice(0, last)) this.rows.append(this.drawn.get(item.key).node);
    if (this.active && wanted.has(this.active)) grid.setAttribute("aria-activedescendant", this.active);
    else grid.removeAttribute("aria-activedescendant");
    const left = isPaper ? items.length - last : 0;
    this.rows.dataset.left = left > 0 ? `and ${numbers.count(left)} older rows` : "";
  }

  /** Returns the scale of the bars: nothing for bars that fill their cells, the longest duration for one scale, or the
   * time of the calls in the visible rows. */
  #scale(first, last) {
    const { scale } = this.filter;
    const calls = scale === "axis" ? this.items.slice(first, last).filter(({ call }) => call) : [];
    if (calls.length === 0) {
      setText(this.axis, "attempts");
      return scale === "common" ? { name: `${this.longest}`, span: this.longest } : { name: "" };
    }
    const now = this.now();
    const origin = calls.reduce((least, { call }) => Math.min(least, call.start), Infinity);
    const end = calls.reduce((most, entry) => Math.max(most, entry.end(now)), origin + 1);
    setText(this.axis, `${words.time(origin, false)} + ${numbers.wait(end - origin)}`);
    return { name: `${origin} ${end}`, span: end - origin, origin };
  }

  #drawRow(item, place, height, scale) {
    const known = this.drawn.get(item.key);
    const isSame = known && known.item.call === item.call && known.item.event === item.event
      && known.scale === scale.name && !item.isOpen;
    let node = known?.node;
    if (!isSame) {
      node = item.event ? this.#eventRow(item) : this.#callRow(item, scale);
      if (known) known.node.replaceWith(node);
      else this.rows.append(node);
      this.drawn.set(item.key, { node, item, scale: scale.name });
    }
    node.style.transform = `translateY(${place * height}px)`;
    node.setAttribute("aria-rowindex", place + 2);
    const isActive = item.key === this.active;
    node.classList.toggle("active", isActive);
    if (isActive) node.setAttribute("aria-selected", "true");
    else node.removeAttribute("aria-selected");
  }

  #callRow(entry, scale) {
    const { call } = entry;
    const took = entry.duration(this.now());
    const cell = (name, ...children) => element("span", { class: `cell ${name}`, role: "gridcell" }, children.flat());
    const url = call.attempts[0]?.url ?? "";
    const query = call.path.includes("?") || !url.includes("?") ? "" : url.slice(url.indexOf("?"));
    return element("div", { class: `row call is-${entry.state}`, role: "row", id: entry.key, "data-key": entry.key },
      cell("number", `${call.shownNumber ?? call.number}`),
      cell("time", clock(call.start)),
      cell("call", element("span", { class: "method" }, call.method),
        element("span", { class: "path", title: url || call.path }, call.path,
          query ? element("span", { class: "query" }, query) : null)),
      cell("servers", routeOf(entry, this.store)),
      cell("outcome", element("span", { class: "outcome-box", title: words.whole(call) },
        outcomeIcon(entry.state), element("span", { class: "outcome-text" }, words.outcome(call.outcome)))),
      cell("marks", entry.marks.map((mark) => badge(mark))),
      cell("type", element("span", { title: entry.type }, words.type(entry.type))),
      cell("size", entry.size === undefined ? "–" : words.bytes(entry.size)),
      cell("took", numbers.wait(took)),
      cell("attempts", smallBars(entry, this.store, scale.span || took, this.now(), scale.origin)));
  }

  #eventRow({ key, event }) {
    return element("div", { class: `row event is-${event.kind}`, role: "row", id: key, "data-key": key },
      element("span", { class: "cell time", role: "gridcell" }, clock(event.time)),
      element("span", { class: "cell words", role: "gridcell", "aria-colspan": "9" },
        eventIcon(event.kind), element("span", { class: "sentence", title: event.text }, event.text)));
  }
}
