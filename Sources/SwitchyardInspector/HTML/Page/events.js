"use strict";

/* The list of server events, such as switches, ejections and probes. Each event links to the calls of its time. */

class EventList {
  /** The maximum number of listed events. Older events are visible only between the calls. */
  static most = 200;

  constructor({ store, onChoose }) {
    this.store = store;
    this.list = element("ol", { class: "happenings" });
    this.none = element("p", { class: "quiet" }, "No events yet.");
    this.left = element("p", { class: "quiet" });
    this.count = element("span", { class: "quiet" });
    this.node = element("section", { class: "events", "aria-labelledby": "events-title" },
      element("h2", { id: "events-title" }, "Events ", this.count), this.none, this.list, this.left);
    this.nodes = new Map();
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) onChoose(Number(button.dataset.time));
    });
  }

  refresh() {
    const { events } = this.store;
    const shown = events.slice(-EventList.most);
    this.none.hidden = events.length > 0;
    setText(this.left, events.length > shown.length ? `Older events are shown between the calls.` : "");
    const groups = EventList.folded(shown);
    setText(this.count, groups.length ? `${groups.length}` : "");
    const wanted = new Set(groups.map(({ first }) => first));
    for (const [event, { node }] of this.nodes) {
      if (wanted.has(event)) continue;
      node.remove();
      this.nodes.delete(event);
    }
    for (const group of groups) this.#show(group);
  }

  /** Returns the events in groups: the probes of a server with the same result between two other events are one group,
   * because probes are frequent. */
  static folded(events) {
    const groups = [];
    let probes = new Map();
    for (const event of events) {
      const key = `${event.server} ${event.text}`;
      const known = event.kind === "probe" ? probes.get(key) : undefined;
      if (known) {
        Object.assign(known, { last: event, count: known.count + 1 });
        continue;
      }
      const group = { first: event, last: event, count: 1 };
      groups.push(group);
      if (event.kind === "probe") probes.set(key, group);
      else probes = new Map();
    }
    return groups;
  }

  #show({ first, last, count }) {
    const known = this.nodes.get(first);
    if (known?.count === count) return;
    const times = count > 1 ? ` (${count} probes, the last at ${words.time(last.time, false)})` : "";
    const node = element("li", { class: `is-${first.kind}` },
      element("button", { type: "button", "data-time": first.time, title: "Show the calls of this time" },
        eventIcon(first.kind),
        element("time", {}, words.time(first.time, false)),
        element("span", {}, element("span", { class: "kind" }, eventWords[first.kind] ?? first.kind), first.text, times)));
    if (known) known.node.replaceWith(node);
    else this.list.prepend(node);
    this.nodes.set(first, { node, count });
  }
}
