// What the inspector's page has to show of the scripted calls, live and as a record.

import { client, hostile, message, picture } from "./inspector-data.mjs";

/** True when everything of a page is on the screen. */
export const isDrawn = "document.documentElement?.dataset.drawnAfter !== undefined";
export const rowsShown = `document.querySelectorAll(".row.call").length`;

let failures = 0;

export function check(isTrue, text) {
  if (!isTrue) failures += 1;
  console.log(`${isTrue ? "  ok    " : "  FAILED"} ${text}`);
}

/** How many checks have failed so far. */
export function failed() {
  return failures;
}

/** Presses the button that can be seen and has this text. */
export const pressed = (text) => `[...document.querySelectorAll("button")]
  .find((button) => button.offsetParent && button.textContent === "${text}").click()`;

const opened = (id) => `inspector.detail.detail?.call.id === "${id}" && document.querySelector(".part-head") !== null`;

/** Opens a call, and one of its attempts. */
export async function show(page, id, tab) {
  await page.value(`(inspector.open(inspector.store.byId.get("${id}")), inspector.list.activate("call-${id}"))`);
  await page.waitFor(opened(id));
  if (tab) await page.value(`document.querySelector("[role=tab][data-attempt='${tab}']").click()`);
}

// Rows

export async function checkRows(page, made) {
  const rows = await page.value(`[...document.querySelectorAll(".row.call")].map((row) => ({
    key: row.dataset.key,
    number: row.querySelector(".number").textContent,
    path: row.querySelector(".path").textContent,
    method: row.querySelector(".method").textContent,
    outcome: row.querySelector(".outcome-text").textContent,
    marks: [...row.querySelectorAll(".marks .badge")].map((mark) => mark.getAttribute("aria-label")),
    servers: [...row.querySelectorAll(".route .server")].map((name) => name.textContent),
    bars: row.querySelectorAll(".bars .attempt").length,
    top: row.getBoundingClientRect().top,
  }))`);
  rows.sort((one, other) => one.top - other.top);
  check(rows.length === made.calls.length, `${rows.length} calls have their rows`);
  const newest = [...made.calls].reverse();
  check(newest.every(({ number }, place) => rows[place]?.number === `${number}`), "the newest call is on top");
  check(newest.every(({ path, method }, place) => rows[place].path.startsWith(path) && rows[place].method === method),
    "methods and paths are those of the data");
  check(newest.every(({ attempts }, place) => rows[place].bars === Math.max(1, attempts.length)),
    "each attempt has its bar");
  const row = (number) => rows.find(({ key }) => key === `call-${number}`);
  const marks = {
    1: "", 3: "failover", 4: "hedge", 5: "retry", 6: "redirect", 7: "from a cache", 8: "shared",
    9: "may have been executed", 13: "failover,hedge,refresh", 15: "",
  };
  for (const [number, wanted] of Object.entries(marks)) {
    const shown = row(number).marks.join();
    check(shown === wanted, `call ${number} has the marks: ${shown || "none"}`);
  }
  check(row(15).outcome === "running" && row(14).outcome === "servers exhausted (503)", "outcomes are in words");
  check(row(3).servers.join() === "a,b", "a row names who was asked, in order");
  check(await page.value("window.isHurt === undefined && !document.querySelector('.list b, .list img')"),
    "text that looks like markup is text");
  const strip = await page.value(`document.querySelector(".overview canvas").getAttribute("aria-label")`);
  check(/^15 calls within .*, 3 failed, the slowest took/.test(strip), `the strip says: ${strip}`);
  const events = await page.value(`document.querySelectorAll(".row.event").length`);
  check(events === made.events.filter(({ kind }) => kind !== "probe").length, "events stand between the calls");
  const cards = await page.value(`[...document.querySelectorAll(".card")].map((card) =>
    [card.dataset.server, card.querySelector(".state").textContent, card.querySelector(".evidence").textContent])`);
  const states = ["out of service", "in use", "on standby"];
  const wanted = client().servers.map(({ name, words }, place) => [name, states[place], words]);
  check(JSON.stringify(cards) === JSON.stringify(wanted), "each server has its card and its words");
  const since = await page.value(`document.querySelector("[data-server=a] .since").textContent`);
  check(/^Since \d\d:\d\d:\d\d \(\d+ s\):$/.test(since), `an outage has its start: ${since}`);
  const verdict = await page.value(`document.querySelector(".verdict-headline").textContent`);
  check(verdict === made.feed().verdict.headline, `the verdict is at the top: ${verdict}`);
  const listed = await page.value(`document.querySelectorAll(".happenings li").length`);
  check(listed === made.events.length, "events are listed");
}

/** Checks the totals of the shown calls, and the bars on a time axis. */
export async function checkAxis(page) {
  const totals = await page.value(`document.querySelector(".totals").textContent`);
  check(/^3 failed, \d+\.\d kB$/.test(totals), `the totals of the shown calls: ${totals}`);
  await page.value(`inspector.filter.set({ scale: "axis" })`);
  const bars = await page.value(`[...document.querySelectorAll(".row.call")].map((row) => ({
    time: inspector.store.byId.get(row.dataset.key.slice(5)).time,
    left: parseFloat(row.querySelector(".bars .whole").style.left),
    top: row.getBoundingClientRect().top,
  }))`);
  bars.sort((one, other) => one.time - other.time);
  check(bars.every(({ left }, place) => place === 0 || left >= bars[place - 1].left),
    "on the time axis, a later call begins farther to the right");
  check(bars.at(-1).left > bars[0].left, "the time axis spans the visible rows");
  const head = await page.value(`document.querySelector(".head .attempts").textContent`);
  check(/^\d\d:\d\d:\d\d \+ /.test(head), `the heading names the start and the length: ${head}`);
  await page.value(`inspector.filter.set({ scale: "own" })`);
}

/** Checks that probes of a server are one item of the list of events until another event happens. */
export async function checkFolding(page) {
  const counts = await page.value(`EventList.folded([
    { kind: "probe", server: "a", text: "no" }, { kind: "probe", server: "b", text: "no" },
    { kind: "probe", server: "a", text: "no" }, { kind: "probe", server: "a", text: "yes" },
    { kind: "recovery", server: "a", text: "back" }, { kind: "probe", server: "a", text: "yes" },
  ]).map(({ count }) => count)`);
  check(counts.join() === "2,1,1,1,1", `equal probes are folded: ${counts}`);
}

// Filters and keys

export async function checkFilters(page) {
  const shown = async (changes) => {
    await page.value(`(inspector.filter.clear(), inspector.filter.set(${JSON.stringify(changes)}))`);
    return page.value(`[document.querySelectorAll(".row.call").length, document.getElementById("shown").textContent]`);
  };
  const cases = [
    [{ text: "topics" }, 6], [{ text: "SORT=new" }, 1], [{ text: "badge poll" }, 1], [{ text: "#12" }, 1],
    [{ server: "c" }, 3], [{ status: "4" }, 1], [{ status: "failed" }, 3], [{ status: "running" }, 0],
    [{ kind: "failover" }, 3], [{ kind: "hedge" }, 2], [{ kind: "retry" }, 1], [{ kind: "cache" }, 2],
    [{ text: "status:404" }, 1], [{ text: "status:50 server:c" }, 1], [{ text: "method:put" }, 1],
    [{ text: "slower-than:600ms" }, 2], [{ text: "larger-than:10k" }, 0], [{ text: "larger-than:1k method:post" }, 0],
    [{ kind: "redirect" }, 1], [{ kind: "failover", server: "c", status: "failed" }, 1],
  ];
  for (const [changes, wanted] of cases) {
    const [rows, words] = await shown(changes);
    check(rows === wanted && words === `${wanted} of 17`, `${JSON.stringify(changes)}: ${words}`);
  }
  // The details are loaded in the background, so the number of calls that are found grows.
  for (const [text, wanted] of [["header:forum/4.2", 13], ["body:unavailable", 4], ["body:nowhere", 0]]) {
    await shown({ text });
    await page.waitFor(`${rowsShown} === ${wanted}`);
    check(true, `${text}: ${wanted} of 17`);
  }
  await shown({ kind: "hedge", text: "search" });
  const hash = await page.value("location.hash");
  await page.send("Page.reload");
  await page.waitFor(`${isDrawn} && ${rowsShown} === 1`);
  const kept = await page.value("[location.hash, document.getElementById('text').value, "
    + "document.getElementById('filter-kind').value]");
  check(kept.join() === [hash, "search", "hedge"].join(), `a reload keeps ${hash}`);
  await page.value("(inspector.filter.clear(), location.hash)");
  await page.waitFor(`${rowsShown} === 17`);
}

export async function checkKeys(page) {
  const active = () => page.value("inspector.list.active");
  await page.value("document.activeElement.blur()");
  await page.press("j");
  check(await active() === "call-17", "j leads to the newest call");
  await page.press("j");
  await page.press("ArrowDown");
  await page.press("k");
  check(await active() === "call-16", "j, k and the arrows move");
  const named = await page.value("document.querySelector('[role=grid]').getAttribute('aria-activedescendant')");
  check(named === "call-16", "the grid names its active row");
  await page.press("End");
  check(await active() === "call-1", "End leads to the oldest");
  await page.press("Enter");
  await page.waitFor(opened("1"));
  check((await page.value("location.hash")).includes("call=1"), "Enter opens, and the address names the call");
  check(await page.value("document.activeElement.id") === "detail-title", "Enter moves the focus to the call");
  await page.press("k");
  await page.waitFor(opened("2"));
  check(true, "moving takes the open call along");
  await page.press("Escape");
  check(await page.value("document.querySelector('.detail').hidden && document.activeElement.matches('[role=grid]')"),
    "Escape closes it and leads back to the list");
  await page.press("/");
  check(await page.value("document.activeElement.id") === "text", "/ leads to the filter");
  await page.press("Escape");
  await page.value("document.querySelector('.happenings .is-switch button').click()");
  check(await active() === "event-2", "an event leads to its place between the calls");
}

// One call

export async function checkDetail(page, made) {
  await show(page, "13");
  const call = made.calls[12];
  const lines = await page.value(`[...document.querySelectorAll(".fall-line")].map((line) => ({
    isWait: line.classList.contains("waiting"), words: line.querySelector(".caption").textContent,
    phases: line.querySelectorAll(".track .phase").length,
    left: parseFloat(line.querySelector(".track > span").style.left),
  }))`);
  check(lines.length === call.attempts.length + call.waits.length, "each attempt and each wait has its line");
  const span = call.end - call.start;
  const inOrder = [...call.attempts, ...call.waits].sort((one, other) => one.start - other.start);
  check(inOrder.every(({ start }, place) => Math.abs(lines[place].left - 100 * (start - call.start) / span) < 0.5),
    "lines begin where their times are");
  check(inOrder.every(({ phases }, place) => !phases || lines[place].phases === phases.length), "phases are all there");
  check(lines.some(({ words }) => words.includes("cancelled because another server responded")),
    "a cut attempt says so");
  const story = await page.value(`document.querySelector(".story").textContent`);
  const expected =
    /^Sent the request to a: timed out after .*failed over to b: 401 Unauthorized.*refreshed.*hedged with c: cancelled/;
  check(expected.test(story), `the story: ${story}`);
  const next = () => page.value(`[...document.querySelectorAll(".caption .next")].map((text) => text.textContent)`);
  const followed = ["then the next server", "then sent again with another credential", "then a hedge"];
  check((await next()).join() === followed.join(), `each attempt names what followed: ${(await next()).join(", ")}`);
  await show(page, "14");
  check((await next()).at(-1) === "no failover: no server left", "the last attempt names what stopped the failover");
  await show(page, "9");
  const stopped = await page.value(`document.querySelector(".story").textContent`);
  check(stopped.endsWith("no failover: must not be sent again."), `the story names what stopped it: ${stopped}`);
  check((await page.value(`document.querySelector("p.executed").textContent`)).includes("may have executed it"),
    "a write that may have been executed says so");
  check(await page.value(`document.querySelector(".response").textContent.includes("There was no response.")`),
    "an attempt without a response says so");
}

/** Checks the messages of an event stream and of an open WebSocket, and that new messages leave the panel as it is. */
export async function checkMessages(page, made, server) {
  const marks = await page.value(`[...document.querySelectorAll(".row.call")].map((row) =>
    row.querySelector(".marks .badge").getAttribute("aria-label"))`);
  check(marks.join() === "messages,messages", `calls with messages have a mark: ${marks}`);
  const rows = () => page.value(`[...document.querySelectorAll(".messages tbody tr")].map((row) =>
    [...row.cells].map(({ textContent }) => textContent))`);
  const title = () => page.value(`document.querySelector("#stream-title").textContent`);
  await show(page, "1");
  const events = await rows();
  check(events.map(([direction, , type, , text]) => `${direction} ${type} ${text}`).join("; ")
    === `received message ${JSON.stringify({ text: hostile })}; received price 7.25`, `two events: ${events.length}`);
  check(/^Messages 2 received, \d+ B, ended$/.test(await title()), `the title: ${await title()}`);
  check(await page.value("window.isHurt === undefined"), "no text became markup");
  await show(page, "2");
  const talk = await rows();
  check(talk.length === 40 && talk[0].join().startsWith("sent,") && talk[0][3] === "3.0 kB" && talk[0][4] === "–",
    `a binary message has a size and no text: ${talk[0].join(", ")}`);
  check(/open$/.test(await title()), `an open WebSocket: ${await title()}`);
  const open = await page.value(`document.querySelector("#call-2 .took").textContent`);
  check(/ s$/.test(open), `the row of an open stream shows how long it is open: ${open}`);
  await page.value(`document.querySelector(".field-fold").open = false`);
  const [, call] = made.calls;
  const all = made.details["2"].messages;
  all.shift();
  all.push(message(call, 41, "received", "text", "the newest"));
  call.stream = { ...call.stream, received: call.stream.received + 1 };
  server.change(call);
  await page.waitFor(`document.querySelector(".messages tbody tr:last-child td:last-child").textContent === "the newest"`);
  const seen = await page.value(`(({ scrollTop, scrollHeight, clientHeight }) =>
    scrollTop + clientHeight >= scrollHeight - 8)(document.querySelector(".messages-frame"))`);
  check(seen && (await rows()).length === 40, "a new message is shown at the end, and the oldest is dropped");
  check(await page.value(`document.querySelector(".stream > p").textContent`) === "showing the last 40 messages",
    "dropped messages are counted");
  check(await page.value(`!document.querySelector(".field-fold").open`), "a new message leaves the rest as it is");
  await page.value(`inspector.filter.set({ text: "body:newest" })`);
  await page.waitFor(`${rowsShown} === 1`);
  check(true, "the filter finds the text of a message");
  await page.value(`inspector.filter.set({ text: "" })`);
}

export async function checkBodies(page, made) {
  await show(page, "1");
  const json = await page.value(`(() => {
    const tree = document.querySelector(".response .json");
    return { text: tree.textContent, count: tree.querySelectorAll("details").length,
      open: tree.querySelectorAll("details[open]").length };
  })()`);
  check(json.text.includes("9007199254740993"), "a number larger than a script can hold is as it was sent");
  check(json.text.includes(JSON.stringify(hostile)), "a text in JSON is text");
  check(json.open > 3 && json.open < json.count, `${json.open} of ${json.count} nodes are unfolded at first`);
  await page.value(pressed("Fold"));
  check(await page.value(`document.querySelectorAll(".response .json details[open]").length`) === 1, "Fold folds");
  await page.value(pressed("Unfold all"));
  check(await page.value(`[...document.querySelectorAll(".response .json details")].every(({ open }) => open)`),
    "Unfold all unfolds");
  await page.value(pressed("160 more entries"));
  check(await page.value(pressed("60 more entries")) === undefined, "a long list comes in parts");
  await page.value(pressed("As sent"));
  const raw = await page.value(`document.querySelector(".response pre").textContent`);
  check(raw === made.details["1"].attempts[0].response.body.text, "As sent shows the very text");
  await show(page, "2");
  await page.waitFor(`document.querySelector(".response img")?.naturalWidth === 2`);
  check(await page.value(`document.querySelector(".response img").src`) === `data:image/png;base64,${picture}`,
    "an image is shown");
  await show(page, "4");
  check(await page.value(`document.querySelector(".response pre").textContent`) === hostile, "HTML is shown as text");
  await show(page, "5");
  check(await page.value(`document.querySelector(".request .body .fields").textContent`) === "titleSwitch yardopentrue",
    "a form is a table");
  await show(page, "5", "1.1");
  check(await page.value(`document.querySelector(".response pre").textContent`) === "Service Unavailable",
    "another attempt is a tab away");
  await show(page, "10");
  const bytes = await page.value(`document.querySelector(".response .dump").textContent`);
  check(bytes.startsWith("00000000  00 07 0e 15 1c 23 2a 31  38 3f 46 4d 54 5b 62 69  ·····#*18?FMT[bi\n"),
    "bytes are a dump");
  check(await page.value("window.isHurt === undefined"), "no text became markup");
}

export async function checkCopying(page, made, server) {
  await page.value(`Object.defineProperty(navigator, "clipboard",
    { value: { writeText: async (text) => { window.copied = text; } }, configurable: true })`);
  const copied = async (label) => {
    await page.value(`window.copied = undefined`);
    await page.value(pressed(label));
    await page.waitFor("window.copied !== undefined");
    return page.value("window.copied");
  };
  await show(page, "3");
  check(await copied("Copy as cURL") === made.details["3"].attempts[1].curl, "cURL is copied");
  check(await copied("Copy body") === made.details["3"].attempts[1].response.body.text, "a body is copied");
  const archive = JSON.parse(await copied("Copy as HAR"));
  if (server) {
    check(archive.log.entries[0].comment === "3", "HAR of a call comes from the other side");
    return;
  }
  const [first, second] = archive.log.entries;
  check(archive.log.version === "1.2" && archive.log.entries.length === 2, "HAR has an entry for each attempt");
  check(first.response._error === "connectionRefused" && first.response.status === 0,
    "HAR has the attempt that failed");
  const { dns, connect, ssl, send, wait, receive } = second.timings;
  check(Math.abs(dns + connect + send + wait + receive - second.time) < 0.01 && ssl === 11, "times in HAR add up");
  check(second.request.queryString.length === 2 && second.response.content.mimeType.startsWith("application/json"),
    "HAR has the query and the body's type");
}
