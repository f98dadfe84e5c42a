"use strict";

/* Small parts that every page of the tool can use: elements, numbers in words, tables, colours. They know nothing of
   reports. Text from data goes into the page as text alone, never as markup. */

/** Makes an element with attributes and children; children are elements or text, and what is missing is left out. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
}

const numbers = {
  /** A whole number with its thousands parted: 1,234,567. */
  count(value) {
    return Math.round(value).toLocaleString("en-US");
  },

  /** Milliseconds for a reader: 0.42 ms, 38 ms, 1.5 s; a dash for none. */
  wait(value) {
    if (value === null || value === undefined) return "–";
    if (value < 9.995) return `${value.toFixed(2)} ms`;
    if (value < 999.5) return `${value.toFixed(0)} ms`;
    return `${(value / 1000).toFixed(1)} s`;
  },

  /** Seconds since the beginning, as exactly as the part of the time that is shown needs it. */
  moment(value, span = 100) {
    const places = span >= 100 ? 0 : span >= 10 ? 1 : span >= 1 ? 2 : 3;
    return `${value.toFixed(places)} s`;
  },

  /** A share of 0 to 1 in percent. */
  percent(share) {
    const value = 100 * share;
    return `${value === 0 || value >= 9.95 ? value.toFixed(0) : value.toFixed(value < 0.1 ? 2 : 1)} %`;
  },

  /** A number that may be large, for an axis: 300, 12k, 1.5M. */
  short(value) {
    if (value >= 1e6) return `${Number((value / 1e6).toFixed(1))}M`;
    if (value >= 1e4) return `${Number((value / 1e3).toFixed(1))}k`;
    return `${Number(value.toPrecision(3))}`;
  },
};

/** A table below its title, in a frame that can be moved when the screen is too narrow; cells are text or elements. */
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

/** The colours of the page as they are now: they change with the theme, and on paper. */
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
