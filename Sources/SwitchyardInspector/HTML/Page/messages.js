"use strict";

/* The messages of an event stream or a WebSocket, in the panel of its call. */

/** Returns the arrow of a direction: up for a sent message, down for a received message. */
function directionIcon(direction) {
  const path = direction === "sent" ? "M0 6.5L0 -6M-4.5 -1.5L0 -6L4.5 -1.5" : "M0 -6.5L0 6M-4.5 1.5L0 6L4.5 1.5";
  return icon([{ path, stroke: direction === "sent" ? "var(--ink)" : "var(--good)" }], 16);
}

/** A table of messages, which is updated in place, so that a reader keeps the place in it. */
class MessageTable {
  constructor() {
    this.count = element("span", { class: "quiet" });
    this.left = element("p", { class: "quiet" });
    this.none = element("p", { class: "quiet none" }, "No messages yet.");
    // On a narrow screen, a row is a block, so the roles are written explicitly.
    this.body = element("tbody", { role: "rowgroup" });
    const heads = ["direction", "time", "type", "size", "text"].map((name) =>
      element("th", { scope: "col", role: "columnheader" }, name));
    this.table = element("table", { class: "messages", role: "table", "aria-label": "Messages" },
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, heads)), this.body);
    this.frame = element("div", { class: "messages-frame", tabindex: "0", role: "region", "aria-label": "Messages" },
      this.table);
    this.node = element("section", { class: "stream", "aria-labelledby": "stream-title" },
      element("h3", { id: "stream-title" }, "Messages ", this.count), this.left, this.none, this.frame);
    this.rows = new Map();
  }

  /** Shows messages in order of time. If the end of the table is visible, it stays visible. */
  show(stream, messages) {
    const { frame } = this;
    const isAtEnd = frame.scrollTop + frame.clientHeight >= frame.scrollHeight - 8;
    setText(this.count, words.stream(stream));
    const dropped = stream.received + stream.sent - messages.length;
    this.left.hidden = dropped <= 0;
    setText(this.left, `showing the last ${numbers.count(messages.length)} messages`);
    this.none.hidden = messages.length > 0;
    frame.hidden = messages.length === 0;
    const wanted = new Set(messages.map(({ number }) => number));
    for (const [number, row] of this.rows) {
      if (wanted.has(number)) continue;
      row.remove();
      this.rows.delete(number);
    }
    messages.forEach((message, place) => {
      const row = this.rows.get(message.number) ?? this.#row(message);
      if (this.body.children[place] !== row) this.body.insertBefore(row, this.body.children[place] ?? null);
    });
    if (isAtEnd) frame.scrollTop = frame.scrollHeight;
  }

  #row(message) {
    const { number, direction, time, type, size, text, isCut } = message;
    const shown = text === undefined ? null : element("code", {}, isCut ? `${text}…` : text);
    const cell = (content) => element("td", { role: "cell" }, content);
    const row = element("tr", { role: "row" },
      cell(element("span", { class: "wordy" }, directionIcon(direction), direction)), cell(words.time(time)), cell(type),
      cell(words.bytes(size)), cell(shown ?? element("span", { class: "quiet" }, "–")));
    this.rows.set(number, row);
    return row;
  }
}
