"use strict";

/* Builds the page from the data that it contains. */

const themeListeners = [];

/** Adds a listener that is called after a change of colours: another theme, or printing. */
function onThemeChange(listener) {
  themeListeners.push(listener);
}

/** Returns the marks with a number: all except probes. */
function numbered(report) {
  return report.marks.filter(({ kind }) => kind !== "probe")
    .map((mark, place) => ({ mark, at: mark.at, number: place + 1 }));
}

function tileList(report) {
  return element("dl", { class: "tiles" }, tiles(report).map(([name, value, isBad]) =>
    element("div", { class: isBad ? "tile bad" : "tile" }, element("dt", {}, name), element("dd", {}, value))));
}

function tiles(report) {
  const all = report.phases.find(({ name }) => name === "all");
  const during = report.phases.find(({ name }) => name === "during");
  const switched = report.marks.filter(({ kind }) => kind === "switched");
  const returns = switched.filter(({ isReturn }) => isReturn).length;
  const switches = report.fleet
    ? [["switches", numbers.count(report.fleet.switches.reduce((sum, count) => sum + count, 0))]]
    : [["switches away", numbers.count(switched.length - returns)], ["returns", numbers.count(returns)]];
  const made = [
    [report.fleet ? "requests" : "calls", numbers.count(all.calls)],
    [failedTitle(all), `${numbers.count(all.failures)}`, all.failures > 0],
    ...switches,
    ...percentile("99 % ended within", all),
    ...(during ? percentile(`99 % during the ${faultWord(report)}`, during) : []),
    ["slowest in the whole run", numbers.wait(all.max)],
  ];
  return made;
}

/** Returns the name of the number of failed calls, which tells request errors from failures of servers. */
function failedTitle({ failures, requestErrors = 0 }) {
  if (requestErrors === 0) return "failed";
  if (requestErrors === failures) return "failed with a request error";
  return `failed (${numbers.count(requestErrors)} with a request error)`;
}

/** Returns the word for all faults of a report, in a sentence. */
function faultWord({ faults }) {
  return new Set(faults.map(({ from, until }) => `${from} ${until}`)).size > 1 ? "faults" : "fault";
}

/** Returns the tile of a 99th percentile, or nothing if there are too few calls for it. */
function percentile(name, phase) {
  if (phase.calls < leastForPercentiles) return [];
  return [[phase.failures > 0 ? `${name} (failed calls: until the error)` : name, numbers.wait(phase.p99)]];
}

// Charts

function callFigures(report, view, badges) {
  const calls = new CallPlot(view, report, badges);
  calls.figure.insertBefore(callLegend(report), calls.canvas);
  const bands = new BandPlot(view, report);
  bands.figure.append(bandLegend(report));
  const perSecond = (values) => values.map((count) => count / report.rates.step);
  const byServer = (counts) => report.servers.map((name, server) =>
    ({ name, server, style: "stack", values: perSecond(counts[server]) }));
  const series = (options) => new SeriesPlot(view, { step: report.rates.step, notes: report, ...options });
  const rates = series({
    title: "Calls per second, by responding server",
    series: [...byServer(report.rates.answered),
      { name: "failed", style: "stack", values: perSecond(report.rates.failed) }],
  });
  const attempts = report.rates.sent ? [series({
    title: "Attempts per second, by the server to which they were sent",
    height: 110,
    series: byServer(report.rates.sent),
  })] : [];
  const active = series({
    title: "Calls in flight",
    height: 110,
    series: [{ name: "mean number", style: "line", isBold: true, values: inFlight(report) }],
  });
  return [calls, bands, rates, ...attempts, active, new CurvePlot(view, report)];
}

/** Returns the mean number of calls in flight in each time step. */
function inFlight({ calls, rates, duration }) {
  const { step } = rates;
  const values = new Array(rates.failed.length).fill(0);
  for (let call = 0; call < calls.start.length; call += 1) {
    const [start, end] = [Math.max(0, calls.start[call]), calls.start[call] + calls.wait[call] / 1000];
    for (let place = Math.floor(start / step); place < values.length && place * step < end; place += 1) {
      values[place] += Math.max(0, Math.min(end, (place + 1) * step) - Math.max(start, place * step));
    }
  }
  return values.map((time, place) => time / Math.max(1e-6, Math.min(step, duration - place * step)));
}

function fleetFigures(report, view) {
  const { fleet, servers } = report;
  const series = (options) => new SeriesPlot(view, { step: fleet.step, notes: report, ...options });
  const most = Math.max(...fleet.servers.flatMap(({ load, capacity }) => [...load, ...capacity])) * 1.05;
  const loads = fleet.servers.map((server, place) => series({
    title: `Requests per second that ${servers[place]} received`,
    most,
    series: [
      { name: "as many as it can serve", server: place, style: "stack", values: server.load.map((load, second) =>
        Math.min(load, server.capacity[second])) },
      { name: "more than it can serve, or while it is down", style: "stack", isExcess: true, values: server.load.map((load, second) =>
        Math.max(0, load - server.capacity[second])) },
      { name: "what it can serve", style: "line", isBold: true, isDashed: true, values: server.capacity },
    ],
  }));
  const share = (counts) => counts.map((count, place) => count / Math.max(1, fleet.requests[place]));
  return [
    series({
      title: "Failed requests, as a share of the requests that arrived in the same second",
      text: numbers.percent,
      series: [{ name: "failed", style: "stack", values: share(fleet.failures) }],
    }),
    ...loads,
    series({
      title: "Servers preferred by the clients",
      text: numbers.percent,
      most: 1,
      series: servers.map((name, server) =>
        ({ name, server, style: "stack", values: fleet.servers[server].clients })),
    }),
    series({
      title: "Switches per second",
      series: [{ name: "switches", server: 0, style: "stack", values: fleet.switches }],
    }),
    series({
      title: "Duration of requests",
      text: numbers.wait,
      series: [
        { name: "50 % within", style: "line", isDashed: true, values: fleet.p50 },
        { name: "99 % within", style: "line", isBold: true, values: fleet.p99 },
      ],
    }),
  ];
}

// Zoom

function toolbar(view, plots) {
  const shown = element("output", { "aria-live": "polite", id: "shown" });
  const button = (text, label, action) => {
    const made = element("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", action);
    return made;
  };
  const calls = plots.find((plot) => plot instanceof CallPlot);
  const tell = () => {
    const part = `${numbers.moment(view.from, view.span)} to ${numbers.moment(view.until, view.span)}`;
    const count = calls ? `, ${numbers.count(calls.shown)} calls` : "";
    shown.textContent = part + count;
  };
  if (calls) calls.onDrawn = tell;
  view.onChange(tell);
  tell();
  return element("div", { class: "toolbar", role: "toolbar", "aria-label": "Time range" },
    button("+", "Zoom in", () => view.zoom(0.5)),
    button("−", "Zoom out", () => view.zoom(2)),
    button("←", "Earlier", () => view.move(-0.25)),
    button("→", "Later", () => view.move(0.25)),
    button("0", "Show everything", () => view.reset()),
    shown);
}

function listenToKeys(area, view) {
  const actions = {
    "+": () => view.zoom(0.5),
    "=": () => view.zoom(0.5),
    "-": () => view.zoom(2),
    "0": () => view.reset(),
    "Home": () => view.reset(),
    "ArrowLeft": () => view.move(-0.25),
    "ArrowRight": () => view.move(0.25),
  };
  area.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}

/** Handles a pointer: dragging selects a time range, the wheel with Ctrl zooms, a double click shows everything. */
function listenToPointer(plot, view) {
  const { canvas } = plot;
  let start = null;
  canvas.addEventListener("pointerdown", (event) => { start = event.offsetX; });
  canvas.addEventListener("pointercancel", () => { start = null; });
  canvas.addEventListener("pointerup", (event) => {
    if (start !== null && Math.abs(event.offsetX - start) > 8) {
      const [from, until] = [start, event.offsetX].map((x) => plot.moment(x)).sort((one, other) => one - other);
      view.show(Math.max(from, view.from), Math.min(until, view.until));
    }
    start = null;
  });
  canvas.addEventListener("dblclick", () => view.reset());
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    view.zoom(event.deltaY > 0 ? 1.25 : 0.8, plot.moment(event.offsetX));
  }, { passive: false });
}

// The page

const usage = "Keys: + and − zoom, the arrows move, and 0 shows everything. Pointer: drag to select a time range, turn "
  + "the wheel with Ctrl to zoom, or double-click to show everything.";
const thinning = "A grey background marks a fault, a dashed line marks a switch, and the numbers refer to the list of "
  + "events. Equal marks at the same place are drawn once. Zoom in to see every call.";

function build(report) {
  const view = new TimeView(report.duration);
  const badges = numbered(report);
  const isFleet = report.kind === "fleet";
  const plots = isFleet ? fleetFigures(report, view) : callFigures(report, view, badges);
  const attributes = { class: "charts", tabindex: "0", role: "group", "aria-label": `Figures. ${usage}` };
  // The states of the servers, or the failures of a fleet, follow the verdict, so that they are on the first screen even
  // on a phone.
  const lanes = isFleet ? plots.slice(0, 1) : plots.filter((plot) => plot instanceof BandPlot);
  const others = plots.filter((plot) => !lanes.includes(plot));
  document.getElementById("lanes").append(...lanes.map(({ figure }) => figure));
  const charts = element("section", attributes, toolbar(view, plots), others.map(({ figure }) => figure));
  listenToKeys(charts, view);
  for (const plot of plots) listenToPointer(plot, view);
  onThemeChange(() => { for (const plot of plots) plot.draw(); });
  document.title = `${report.title}: ${report.facts[0]?.value ?? ""}`;
  document.getElementById("figures").append(tileList(report), charts,
    element("p", { class: "quiet" }, isFleet ? usage : `${usage} ${thinning}`));
  document.getElementById("numbers").append(
    ...(isFleet ? [fleetTable(report), causeTable(report)] : [totalsTable(report)]),
    element("p", { class: "quiet" }, `${report.format}, version ${report.version}`));
  window.report = { view, plots, data: report };
}

function start() {
  const data = document.getElementById("report");
  // A page of simulated worlds (random scenarios) has no charts and no data for them.
  if (!data) return;
  const report = JSON.parse(data.textContent);
  if (report.format !== "switchyard-report" || report.version !== 1) {
    document.getElementById("page").append(element("p", {}, "The format of the data is unknown."));
    return;
  }
  build(report);
  const tellTheme = () => { for (const listener of themeListeners) listener(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellTheme);
  matchMedia("print").addEventListener("change", tellTheme);
  // After two frames, everything is on the screen.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    document.documentElement.dataset.drawnAfter = `${Math.round(performance.now())}`;
  }));
}

start();
