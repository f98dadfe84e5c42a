"use strict";

/* Small parts that all pages share: elements, number formats, tables and colours. They do not depend on reports. Text
   from data is inserted as text, never as markup. */

/** Creates an element with attributes and children. Children are elements or text, and `null` is skipped. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
}

const numbers = {
  /** Formats an integer with thousands separators: 1,234,567. */
  count(value) {
    return Math.round(value).toLocaleString("en-US");
  },

  /** Formats milliseconds: 0.42 ms, 38 ms, 1.5 s, or a dash if there is no value. */
  wait(value) {
    if (value === null || value === undefined) return "–";
    if (value < 9.995) return `${value.toFixed(2)} ms`;
    if (value < 999.5) return `${value.toFixed(0)} ms`;
    return `${(value / 1000).toFixed(1)} s`;
  },

  /** Formats seconds since the start, with the precision that the shown time range needs. */
  moment(value, span = 100) {
    const places = span >= 100 ? 0 : span >= 10 ? 1 : span >= 1 ? 2 : 3;
    return `${value.toFixed(places)} s`;
  },

  /** Formats a share from 0 to 1 in percent. */
  percent(share) {
    const value = 100 * share;
    return `${value === 0 || value >= 9.95 ? value.toFixed(0) : value.toFixed(value < 0.1 ? 2 : 1)} %`;
  },

  /** Formats a number for an axis: 300, 12k, 1.5M. */
  short(value) {
    if (value >= 1e6) return `${Number((value / 1e6).toFixed(1))}M`;
    if (value >= 1e4) return `${Number((value / 1e3).toFixed(1))}k`;
    return `${Number(value.toPrecision(3))}`;
  },
};

/** Returns a table with a title, which scrolls if the screen is too narrow. Cells are text or elements. */
function table(title, columns, rows) {
  const head = element("tr", {}, columns.map((column) => element("th", { scope: "col" }, column)));
  const body = rows.map((cells) =>
    element("tr", {}, cells.map((cell, place) =>
      place === 0 ? element("th", { scope: "row" }, cell) : element("td", {}, cell))));
  const made = element("table", { "aria-label": title }, element("thead", {}, head), element("tbody", {}, body));
  return element("section", { class: "tabled" },
    element("h3", { class: "quiet" }, title),
    element("div", { class: "scroller", role: "region", tabindex: "0", "aria-label": title }, made));
}

/** Returns the current colours of the page, which depend on the theme and on printing. */
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: colour("paper"),
    raised: colour("raised"),
    ink: colour("ink"),
    quiet: colour("quiet"),
    line: colour("line"),
    bad: colour("bad"),
    good: colour("good"),
    focus: colour("focus"),
    server: (place) => colour(`server-${place % 6}`),
    family: style.fontFamily,
  };
}
