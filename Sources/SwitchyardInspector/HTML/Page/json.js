"use strict";

/* A foldable tree of JSON. Nodes are created when they are unfolded, and long lists are created in parts. */

/** A number with its source text, so that large numbers stay exact if the browser provides the source. */
class WrittenNumber {
  constructor(text) {
    this.text = text;
  }
}

/** Parses JSON, or returns `undefined` if the text is not JSON. */
function readJSON(text) {
  try {
    return JSON.parse(text, (key, value, context) =>
      typeof value === "number" && context?.source !== undefined ? new WrittenNumber(context.source) : value);
  } catch {
    return undefined;
  }
}

class JSONTree {
  static part = 100;
  /** The initially unfolded depth; `usual` is the maximum number of children of an initially unfolded node. */
  static depth = 3;
  static usual = 30;
  /** The maximum number of levels that are unfolded at the same time, as a limit for deeply nested data. */
  static levels = 50;

  constructor(value) {
    this.node = element("div", { class: "json" }, this.#line(null, value, 0, true));
  }

  /** Unfolds all nodes, or folds all except the outermost node. */
  fold(isFolded) {
    const all = () => [...this.node.querySelectorAll("details")];
    if (isFolded) {
      for (const details of all().slice(1)) details.open = false;
      return;
    }
    // The children of a node are created when it is unfolded.
    for (let level = 0; level < JSONTree.levels; level += 1) {
      for (const details of all().filter(({ open }) => !open)) {
        details.open = true;
        details.fill();
      }
    }
  }

  #line(name, value, depth, isLast) {
    const key = name === null ? [] : [element("span", { class: "key" }, JSON.stringify(name)), ": "];
    const comma = isLast ? "" : ",";
    if (value === null || typeof value !== "object" || value instanceof WrittenNumber) {
      return element("div", { class: "leaf" }, key, this.#scalar(value), comma);
    }
    const isList = Array.isArray(value);
    const names = isList ? value.map((_, place) => place) : Object.keys(value);
    const [open, close] = isList ? ["[", "]"] : ["{", "}"];
    if (names.length === 0) return element("div", { class: "leaf" }, key, open + close, comma);
    const size = words.some(names.length, isList ? "entry" : "field", isList ? "entries" : "fields");
    const details = element("details", {},
      element("summary", {}, key, open, element("span", { class: "folded" }, ` ${size} `, close, comma)));
    details.fill = () => {
      if (details.isFilled) return;
      details.isFilled = true;
      const children = element("div", { class: "children" });
      details.append(children, element("div", { class: "close" }, close, comma));
      this.#fill(children, value, names, depth + 1, isList);
    };
    details.addEventListener("toggle", () => { if (details.open) details.fill(); });
    if (depth < JSONTree.depth && names.length <= (depth === 0 ? Infinity : JSONTree.usual)) {
      details.open = true;
      details.fill();
    }
    return details;
  }

  #fill(children, value, names, depth, isList) {
    const add = (from) => {
      const until = Math.min(names.length, from + JSONTree.part);
      for (let place = from; place < until; place += 1) {
        const name = names[place];
        children.append(this.#line(isList ? null : name, value[name], depth, place === names.length - 1));
      }
      if (until === names.length) return;
      const more = element("button", { type: "button", class: "small more" },
        `${words.some(names.length - until, "more entry", "more entries")}`);
      more.addEventListener("click", () => {
        more.remove();
        add(until);
      });
      children.append(more);
    };
    add(0);
  }

  #scalar(value) {
    if (value instanceof WrittenNumber) return element("span", { class: "number" }, value.text);
    return element("span", { class: typeof value }, JSON.stringify(value));
  }
}
