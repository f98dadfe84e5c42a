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
    setText(this.count, events.length ? `${events.length}` : "");
    setText(this.left, events.length > shown.length ? `Older events are shown between the calls.` : "");
    const wanted = new Set(shown);
    for (const [event, node] of this.nodes) {
      if (wanted.has(event)) continue;
      node.remove();
      this.nodes.delete(event);
    }
    for (const event of shown) if (!this.nodes.has(event)) this.#add(event);
  }

  #add(event) {
    const node = element("li", { class: `is-${event.kind}` },
      element("button", { type: "button", "data-time": event.time, title: "Show the calls of this time" },
        eventIcon(event.kind),
        element("time", {}, words.time(event.time, false)),
        element("span", {}, element("span", { class: "kind" }, eventWords[event.kind] ?? event.kind), event.text)));
    this.nodes.set(event, node);
    this.list.prepend(node);
  }
}
