"use strict";

/* JSON as a tree that folds. Its nodes are made when they are unfolded, and long lists in parts. */

/** A number as it was written: what is larger than a script can hold stays exact where the browser tells its source. */
class WrittenNumber {
  constructor(text) {
    this.text = text;
  }
}

/** Reads JSON; undefined when it is none. */
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
  /** How deep the tree is unfolded at first, and how many children a node may have for that. */
  static depth = 3;
  static usual = 30;
  /** How many levels are unfolded at once, whoever sent a thousand brackets. */
  static levels = 50;

  constructor(value) {
    this.node = element("div", { class: "json" }, this.#line(null, value, 0, true));
  }

  /** Unfolds all of it, or folds all but the outermost. */
  fold(isFolded) {
    const all = () => [...this.node.querySelectorAll("details")];
    if (isFolded) {
      for (const details of all().slice(1)) details.open = false;
      return;
    }
    // Children come into being as their node is unfolded.
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
