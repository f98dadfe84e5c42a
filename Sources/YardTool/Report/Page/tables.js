"use strict";

/* Tables and lists with the numbers of the charts. */

/* The number of calls from which percentiles of their durations are shown. */
const leastForPercentiles = 20;

function totalsTable(report) {
  const columns = ["server", "responses", "share", "50 %", "99 %", "hedged", "failed over"];
  const rows = report.totals.map((total) => [
    serverName(report, total.server),
    numbers.count(total.answered),
    numbers.percent(total.share),
    numbers.wait(total.answered < leastForPercentiles ? undefined : total.p50),
    numbers.wait(total.answered < leastForPercentiles ? undefined : total.p99),
    numbers.count(total.hedged),
    numbers.count(total.failedOver),
  ]);
  return table("Responses of each server, and the maximum waits for 50 and 99 % of these responses", columns, rows);
}

function fleetTable(report) {
  const columns = ["server", "highest load", "time with too much load", "fewest clients", "most clients"];
  const rows = report.fleet.servers.map((server, place) => [
    serverName(report, place),
    numbers.percent(server.peakLoad),
    `${server.secondsOverCapacity} s`,
    numbers.percent(Math.min(...server.clients)),
    numbers.percent(Math.max(...server.clients)),
  ]);
  const caption = "Load relative to what the server can serve, since the start of the trouble, but not while it is down";
  return table(caption, columns, rows);
}

function causeTable(report) {
  const { causes } = report.fleet;
  const total = causes.reduce((sum, { count }) => sum + count, 0);
  const rows = causes.map(({ text, count }) => [text, numbers.count(count), numbers.percent(count / total)]);
  return table("Reasons for switches", ["because", "switches", "share"], rows);
}

function serverName(report, server) {
  return element("span", {}, markIcon(server), ` ${report.servers[server]}`);
}

/** Returns the legend of the marks, with the number of calls of each kind. */
function callLegend(report) {
  const { calls, servers } = report;
  const [succeeded, failed] = [[0, 0, 0], [0, 0, 0]];
  for (let call = 0; call < calls.start.length; call += 1) {
    (calls.failure[call] > 0 ? failed : succeeded)[calls.way[call]] += 1;
  }
  const entries = servers.map((name, server) => [markIcon(server), `response from ${name}`]);
  const isSaved = new Set(calls.saved);
  const rescue = (way) => {
    const saved = [...isSaved].filter((call) => calls.way[call] === way).length;
    return isSaved.size > 0 && saved < succeeded[way] ? `${numbers.count(saved)} of them saved` : "";
  };
  const special = [
    [succeeded[hedged], markIcon(0, hedged), "hedged: also sent to a second server, because the first was slow", rescue(hedged)],
    [succeeded[failedOver], markIcon(0, failedOver), "failed over: another server responded, because one had failed", rescue(failedOver)],
    [failed[directly], markIcon(0, directly, true), "failed"],
    [failed[hedged], markIcon(0, hedged, true), "hedged, and failed"],
    [failed[failedOver], markIcon(0, failedOver, true), "tried at another server, and failed there too"],
  ];
  for (const [count, sign, text, more] of special) {
    if (count > 0) entries.push([sign, `${text} (${[numbers.count(count), more].filter(Boolean).join(", ")})`]);
  }
  return element("ul", { class: "legend" }, entries.map((parts) => element("li", {}, parts)));
}
