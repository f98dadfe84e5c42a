"use strict";

/* The filter of the shown calls. It is stored in the URL, so a reload preserves it. */

class Filter {
  static empty = { text: "", server: "", status: "", kind: "", scale: "own", events: "yes", sort: "" };
  static statuses = [
    ["", "any outcome"], ["2", "2xx"], ["3", "3xx"], ["4", "4xx"], ["5", "5xx"],
    ["failed", "failed"], ["running", "running"],
  ];

  constructor() {
    this.listeners = [];
    this.read();
    addEventListener("hashchange", () => {
      this.read();
      this.#tell();
    });
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  #tell() {
    this.needles = this.text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const listener of this.listeners) listener();
  }

  read() {
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const [key, value] of Object.entries(Filter.empty)) this[key] = kept.get(key) ?? value;
    /** The identifier of the open call. */
    this.call = kept.get("call") ?? "";
    this.needles = this.text.toLowerCase().split(/\s+/).filter(Boolean);
  }

  set(changes) {
    Object.assign(this, changes);
    this.#write();
    this.#tell();
  }

  /** Records the open call without a change of the shown calls. */
  open(id) {
    this.call = id;
    this.#write();
  }

  #write() {
    const kept = new URLSearchParams();
    for (const [key, value] of Object.entries(Filter.empty)) if (this[key] !== value) kept.set(key, this[key]);
    if (this.call) kept.set("call", this.call);
    try {
      history.replaceState(null, "", `#${kept}`);
    } catch {
      // Some browsers limit the rate of URL changes. The next change corrects the URL.
    }
  }

  clear() {
    this.set({ text: "", server: "", status: "", kind: "" });
  }

  /** Whether the text searches header fields or bodies, which are loaded in the background. */
  get searchesDetails() {
    return this.needles.some((needle) => /^(header|body):./.test(needle));
  }

  /** Tests the calls again, because more details are loaded. */
  refresh() {
    this.#tell();
  }

  get isNarrow() {
    return Boolean(this.text.trim() || this.server || this.status || this.kind);
  }

  matches(entry) {
    const { call } = entry;
    if (this.server && !entry.servers.includes(this.server)) return false;
    if (this.kind && !entry.marks.some(({ kind }) => kind === this.kind)) return false;
    if (this.status === "failed") {
      if (!entry.hasFailed) return false;
    } else if (this.status === "running") {
      if (entry.state !== "running") return false;
    } else if (this.status && Math.floor((call.outcome?.status ?? 0) / 100) !== Number(this.status)) return false;
    return this.needles.every((needle) => this.#test(entry, needle));
  }

  /** Returns whether a call matches one word of the text, which may have the form `name:value`. */
  #test(entry, needle) {
    const [, name, value] = needle.match(/^([a-z-]+):(.+)$/) ?? [];
    const number = Filter.number(value);
    const { call } = entry;
    switch (name) {
      case "status": return `${call.outcome?.status ?? ""}`.startsWith(value) || words.outcome(call.outcome).includes(value);
      case "method": return call.method.toLowerCase() === value;
      case "server": return entry.servers.some((server) => server?.toLowerCase().includes(value));
      case "type": return entry.type.includes(value);
      case "header": return this.details?.text(call.id).fields.includes(value) ?? false;
      case "body": return this.details?.text(call.id).bodies.includes(value) ?? false;
      case "larger-than": return number !== undefined && (entry.size ?? 0) > number;
      case "slower-than": return number !== undefined && (call.end ?? Infinity) - call.start > number;
      default: return entry.text.includes(needle);
    }
  }

  /** Returns the number of bytes or milliseconds in a text such as `500`, `10k`, `2M`, `200ms` or `1.5s`. */
  static number(text) {
    const [, digits, unit] = text?.match(/^(\d+(?:\.\d+)?)(k|m|ms|s)?$/) ?? [];
    const scale = { k: 1e3, m: 1e6, ms: 1, s: 1e3 }[unit] ?? 1;
    return digits === undefined ? undefined : Number(digits) * scale;
  }
}

/** Returns the controls of a filter. `shown` is the output for the number of shown calls. */
function filterBar(filter, store) {
  const field = element("input", {
    type: "search", id: "text", placeholder: "path, tag, #number", "aria-label": "Text in path or URL",
    title: "Press / to focus this field. status:500, method:post, server:NAME, type:json, header:etag, body:error, "
      + "larger-than:10k and slower-than:1s are possible too.", autocomplete: "off", spellcheck: "false",
  });
  const choice = (label, key, options) => {
    const made = element("select", { "aria-label": label, title: label, id: `filter-${key}` });
    made.addEventListener("change", () => filter.set({ [key]: made.value }));
    fillSelect(made, options);
    return made;
  };
  const server = choice("Server", "server", [["", "any server"]]);
  const status = choice("Outcome", "status", Filter.statuses);
  const kind = choice("Kind", "kind", [["", "any kind"], ...callMarks.map((mark) => [mark.kind, mark.name])]);
  const tick = (id, label, title, key, yes, no) => {
    const box = element("input", { type: "checkbox", id });
    box.addEventListener("change", () => filter.set({ [key]: box.checked ? yes : no }));
    return { box, node: element("label", { class: "choice", title }, box, label) };
  };
  const events = tick("events-in-list", "events", "Show server events between the calls",
    "events", "yes", "no");
  const scale = choice("Scale of the bars", "scale", [
    ["own", "each bar fills its cell"], ["common", "one scale for all bars"], ["axis", "time axis of the shown rows"],
  ]);
  const clear = element("button", { type: "button", class: "small", hidden: "" }, "Clear filter");
  const shown = element("output", { class: "count", id: "shown", "aria-live": "off" });
  const totals = element("span", { class: "totals quiet" });
  field.addEventListener("input", () => filter.set({ text: field.value }));
  clear.addEventListener("click", () => {
    filter.clear();
    field.focus();
  });
  const show = () => {
    fillSelect(server, [["", "any server"], ...store.names.map((name) => [name, name])]);
    if (field.value !== filter.text) field.value = filter.text;
    for (const [select, key] of [[server, "server"], [status, "status"], [kind, "kind"]]) {
      select.value = filter[key];
      select.classList.toggle("chosen", filter[key] !== Filter.empty[key]);
    }
    events.box.checked = filter.events === "yes";
    scale.value = filter.scale;
    clear.hidden = !filter.isNarrow;
  };
  filter.onChange(show);
  const bar = element("form", { class: "filters", role: "search", "aria-label": "Filter of calls" },
    field, status, server, kind, clear, shown, totals);
  bar.addEventListener("submit", (event) => event.preventDefault());
  const ticks = element("span", { class: "ticks" }, events.node, scale);
  return { bar, ticks, field, shown, totals, show };
}

/** Sets the options of a select if they have changed, so an open select stays open. */
function fillSelect(select, options) {
  const text = JSON.stringify(options);
  if (select.dataset.options === text) return;
  const { value } = select;
  select.dataset.options = text;
  select.replaceChildren(...options.map(([key, name]) => element("option", { value: key }, name)));
  if (options.some(([key]) => key === value)) select.value = value;
}
