"use strict";

/* Icons for marks, outcomes, servers and states of servers. Each icon also has a text. */

const outcomePaths = {
  good: "M-6 0.5L-2 4.5L6 -4.5",
  moved: "M-6 4C-6 -3 0 -3 5 -3M1.5 -6.5L5.5 -3L1.5 0.5",
  bad: "M0 -6.5L0 2M0 5L0 6.5",
  failed: crossPath(5),
  running: "M-6 0L-5 0M-0.5 0L0.5 0M5 0L6 0",
};

const outcomeWords = {
  good: "succeeded",
  moved: "redirected or not modified",
  bad: "error status",
  failed: "failed",
  running: "running",
};

const stateColours = { good: "var(--good)", bad: "var(--bad)", failed: "var(--bad)" };

/** Returns the icon of an outcome: a check, an arrow, an exclamation mark, a cross or dots. */
function outcomeIcon(state) {
  const picture = icon([{ path: outcomePaths[state], stroke: stateColours[state] ?? "var(--quiet)" }], 16);
  picture.firstChild.setAttribute("stroke-width", "2.6");
  return picture;
}

/** Returns the letter of a mark in its frame, with the name of the mark if `isWordy` is true. */
function badge(mark, isWordy = false) {
  const letter = element("span", {
    class: `badge ${mark.kind}`, title: mark.text, role: "img", "aria-label": mark.name,
  }, mark.letter);
  return isWordy ? element("span", { class: "wordy" }, letter, mark.name) : letter;
}

/** Returns the requested servers in order, with the responding server highlighted. A plus precedes a hedge. */
function routeOf(entry, store) {
  const { route, answeredBy } = entry;
  const answer = route.map(({ name }) => name).lastIndexOf(answeredBy);
  const places = route.map((_, place) => place);
  const shown = route.length > 3 ? [0, null, ...places.slice(-1)] : places;
  const parts = shown.flatMap((place) => {
    if (place === null) return [element("span", { class: "to" }, "› …")];
    const { name, isHedge } = route[place];
    const lead = place > 0 ? [element("span", { class: "to", "aria-hidden": "true" }, isHedge ? "+" : "›")] : [];
    return [...lead, element("span", { class: place === answer ? "server answer" : "server" },
      serverIcon(store.place(name), 16), element("span", {}, name))];
  });
  const asked = route.length ? `sent to ${route.map(({ name }) => name).join(", then ")}` : "not sent to a server";
  return element("span", { class: "route", title: answeredBy ? `${asked}, response: ${answeredBy}` : asked }, parts);
}

/** Returns the icon of a server state: in use (full), on standby (bars), ejected (cross), probing (dashed ring). */
function serverStateIcon(state) {
  const ring = shapePath(0, 6);
  const parts = {
    inUse: [{ path: ring, fill: "var(--good)" }, { path: "M-3 0L-1 2.2L3.2 -2.6", stroke: "var(--paper)" }],
    standby: [{ path: "M-3 -6L-3 6M3 -6L3 6", stroke: "var(--quiet)" }],
    ejected: [{ path: ring, stroke: "var(--bad)" }, { path: crossPath(3.4), stroke: "var(--bad)" }],
    probing: [{ path: ring, stroke: "var(--ink)" }, { path: shapePath(0, 1.5), fill: "var(--ink)" }],
    offline: [{ path: ring, stroke: "var(--quiet)" }, { path: "M-4.3 4.3L4.3 -4.3", stroke: "var(--quiet)" }],
  }[state] ?? [{ path: ring, stroke: "var(--quiet)" }];
  const picture = icon(parts, 18);
  if (state === "probing") picture.firstChild.setAttribute("stroke-dasharray", "3 2.3");
  return picture;
}

/** Returns the icon of an event, such as arrows for a switch, a cross for an ejection, and a check for a recovery. */
function eventIcon(kind) {
  const parts = {
    switch: [{ path: "M-7 -3L6 -3M3 -6L6.5 -3M-6 3L7 3M-3 6L-6.5 3", stroke: "var(--ink)" }],
    ejection: [{ path: crossPath(5), stroke: "var(--bad)" }],
    probe: [{ path: shapePath(0, 3), stroke: "var(--quiet)" }],
    recovery: [{ path: outcomePaths.good, stroke: "var(--good)" }],
    environment: [{ path: shapePath(2, 4.5), stroke: "var(--ink)" }],
  }[kind] ?? [{ path: shapePath(3, 4), stroke: "var(--quiet)" }];
  return icon(parts, 16);
}

/** Sets the text of a node if it has changed. */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
