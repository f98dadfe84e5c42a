"use strict";

/* The attempts of a call as small bars in its row, with their servers, times and outcomes. */

/** Returns the line of each attempt. Overlapping attempts, as in a hedge, are on different lines. */
function lanesOf(attempts, end, most = 2) {
  const ends = [];
  return attempts.map((attempt) => {
    let lane = ends.findIndex((until) => until <= attempt.start + 0.01);
    if (lane < 0) lane = Math.min(ends.length, most - 1);
    ends[lane] = Math.max(ends[lane] ?? 0, attempt.end ?? end);
    return lane;
  });
}

/** Returns the kind of end of an attempt's bar. */
function endKind(attempt) {
  if (attempt.isCut) return "cut";
  if (attempt.error !== undefined) return "error";
  if (attempt.status >= 400) return "bad";
  return attempt.status === undefined ? "open" : "answer";
}

/** Returns the bars of a call over `span` milliseconds from `origin`. */
function smallBars(entry, store, span, now, origin = entry.call.start) {
  const { call } = entry;
  const end = call.end ?? now;
  const last = entry.end(now);
  const share = (time) => `${Math.min(100, Math.max(0, 100 * (time - origin) / Math.max(span, 0.001)))}%`;
  const bar = (name, from, until) => {
    const made = element("span", { class: name });
    made.style.left = share(from);
    made.style.right = `calc(100% - ${share(until)})`;
    return made;
  };
  const lanes = lanesOf(call.attempts, end);
  const made = [bar("whole", call.start, last)];
  if (call.stream) made.push(bar("open", end, last));
  for (const { start, end: until } of call.waits ?? []) made.push(bar("pause", start, until ?? end));
  call.attempts.forEach((attempt, place) => {
    const server = store.place(attempt.server) % 6;
    const kinds = `attempt server-${server} ends-${endKind(attempt)} lane-${lanes[place]}`;
    made.push(bar(kinds, attempt.start, attempt.end ?? end));
    for (const { time } of attempt.redirects ?? []) made.push(bar(`turn lane-${lanes[place]}`, time, time));
  });
  if (call.attempts.length === 0) made.push(bar("attempt kept lane-0", call.start, end));
  const isFlat = lanes.every((lane) => lane === 0);
  const name = isFlat ? "bars flat" : "bars";
  return element("span", { class: name, "aria-hidden": "true", title: words.story(call) }, made);
}
