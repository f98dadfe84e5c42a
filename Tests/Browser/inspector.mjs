#!/usr/bin/env node
// Opens the inspector's page in a headless Chromium, live from a server with scripted data and as a record, uses it,
// and compares what it shows with that data.
//
//     node Tests/Browser/inspector.mjs [--pictures FOLDER] [--address http://127.0.0.1:PORT/TOKEN/ [--still FOLDER]]
//
// With --pictures it leaves pictures of the page: in both themes, on a phone, on paper, and without colours. With
// --address it opens the inspector of a program that runs instead, and checks that it shows that program's calls. With
// --still it waits until two servers are out of service, and leaves inspector.png and inspector~dark.png, for the
// article. With --record it opens a page that `yard inspect` has written, for example of an archive in the folder
// archives. Where no Chromium is installed it says so and ends with 0; CI does not need one. The exit code is 1 when a
// check failed.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser, findBrowser } from "./chromium.mjs";
import {
  check, checkAxis, checkBodies, checkCopying, checkDetail, checkFilters, checkFolding, checkKeys, checkMessages, checkRows, failed,
  isDrawn, pressed, rowsShown, show,
} from "./inspector-checks.mjs";
import { client, many, scripted, streaming } from "./inspector-data.mjs";
import { InspectorServer, wholePage } from "./inspector-server.mjs";

const looks = [
  { name: "light", width: 1440, height: 900 },
  { name: "dark", width: 1440, height: 900, isDark: true },
  { name: "usual", width: 1280, height: 800 },
  { name: "usual-dark", width: 1280, height: 800, isDark: true },
  { name: "narrow", width: 1080, height: 800 },
  { name: "phone-light", width: 390, height: 844 },
  { name: "phone-dark", width: 390, height: 844, isDark: true },
  { name: "phone-small", width: 320, height: 640 },
  { name: "phone-small-dark", width: 320, height: 640, isDark: true },
  { name: "without-green", width: 1440, height: 900, vision: "deuteranopia" },
  { name: "without-colours", width: 1440, height: 900, vision: "achromatopsia" },
  { name: "paper", width: 794, height: 1123, isDark: true, media: "print" },
];
const hasNoControls =
  `![...document.querySelectorAll(".use, .faults, .who select")].some((node) => node.offsetParent)`;
const rowsKnown = "inspector.store.entries.length";
const frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))";

function reading(words) {
  const options = {};
  for (const rest = [...words]; rest.length > 0;) {
    const word = rest.shift();
    if (word === "--pictures") options.pictures = resolve(rest.shift());
    else if (word === "--address") options.address = rest.shift();
    else if (word === "--record") (options.records ??= []).push(resolve(rest.shift()));
    else if (word === "--still") options.still = resolve(rest.shift());
    else throw new Error("usage: node Tests/Browser/inspector.mjs [--pictures FOLDER] [--address ADDRESS] [--record PAGE]");
  }
  return options;
}

// News

async function checkNews(page, server, made) {
  const running = made.calls[14];
  Object.assign(running, { end: running.start + 900, from: "network", outcome: { status: 200 } });
  Object.assign(running.attempts[0], { end: running.end, status: 200 });
  server.change(running);
  await page.waitFor(`document.getElementById("call-15").querySelector(".outcome-text").textContent === "200"`);
  check(await page.value(rowsShown) === 15, "a running call that ends changes its row and makes no other");
  await page.value(pressed("Pause"));
  const late = made.add("GET", "/late", 9000, (call) =>
    ({ from: "disk cache", outcome: { status: 200 }, end: call.start + 1 }));
  server.change(late);
  await page.waitFor(`[...document.querySelectorAll("button")]
    .some(({ textContent }) => textContent === "Resume (1 new)")`);
  check(await page.value(rowsShown) === 15, "a pause keeps the list as it is, and counts what is new");
  await page.value(pressed("Resume (1 new)"));
  check(await page.value(rowsShown) === 16, "and then the new calls come");
  await page.value(pressed("Clear view"));
  check(await page.value(rowsShown) === 0, "a cleared view is empty");
  await page.value(pressed("Show 16 cleared calls"));
  check(await page.value(rowsShown) === 16, "what was cleared can be shown again");
  server.forgotten = 7;
  server.client = client({ fault: "503 for the next 3 calls of server a" });
  server.change();
  await page.waitFor(`document.querySelector(".banner").offsetParent !== null`);
  const [banner, forgotten] = await page.value(`[".banner", ".forgotten"]
    .map((name) => document.querySelector(name).textContent)`);
  check(banner.includes("503 for the next 3 calls of server a"), "a fault has its banner");
  check(forgotten === "showing the last 16 of 23 calls", "dropped calls are counted");
}

async function checkLoss(page, server, made) {
  server.goDown();
  await page.waitFor(`document.querySelector(".connection").textContent.includes("connection lost")`);
  check(await page.value(rowsShown) === 16, "a lost connection is told, and the calls stay");
  const offered = `[...document.querySelectorAll(".use, .faults, .who select")].filter(({ hidden }) => !hidden).length`;
  await page.waitFor(`${offered} === 0`);
  const states = await page.value(`[...document.querySelectorAll(".card .state")].map((text) => text.textContent).join()`);
  check(states === "was out of service,was in use,was on standby", `no command is offered, and states are past: ${states}`);
  const before = server.polls.length;
  server.isDown = false;
  const late = made.add("GET", "/back", 9500, (call) =>
    ({ from: "shared", outcome: { status: 200 }, end: call.start + 1 }));
  server.change(late);
  await page.waitFor(`document.querySelector(".connection .words").textContent === "live"`);
  await page.waitFor(`${rowsShown} === 17`);
  check(await page.value(offered) > 0, "commands are offered again");
  check(server.polls[before] === server.cursor - 1, "it is found again and asked for what is new alone");
  page.complaints = page.complaints.filter((text) => !/ERR_|Failed to load resource/.test(text));
}

/** A program that restarts at the same address begins with new numbers. The calls of its earlier run stay. */
async function checkRestart(page, server) {
  const made = scripted(Date.now());
  made.calls.splice(2);
  made.events.splice(1);
  made.events[0].text = "another run";
  const before = await page.value(rowsKnown);
  Object.assign(server, { made, cursor: 0, session: "second", versions: new Map(made.calls.map(({ id }) => [id, 1])) });
  server.goDown();
  server.isDown = false;
  server.cursor = 1;
  await page.waitFor(`${rowsKnown} === ${before + 2}`);
  const numbers = await page.value(`inspector.list.shown.map(({ call }) => call.shownNumber ?? call.number).slice(-3)`);
  check(numbers.join() === `${before},1,2`, `the calls of the earlier run stay: ${numbers}`);
  const events = await page.value(`[...document.querySelectorAll(".happenings li")].map((item) => item.textContent)`);
  check(events.at(0).endsWith("another run"), "the events of the new run are added");
  await page.value(`inspector.open(inspector.store.byId.get("run1-3"))`);
  await page.waitFor(`document.querySelector(".part-head") !== null`);
  check(true, "a call of the earlier run can be opened");
  const archive = JSON.parse(await page.value("inspector.details.archive()"));
  check(archive.log.entries.length > 15, `the page saves the calls of both runs (${archive.log.entries.length} attempts)`);
  page.complaints = page.complaints.filter((text) => !/ERR_|Failed to load resource/.test(text));
}

// Commands

async function checkCommands(page, server) {
  await page.value("inspector.close()");
  const sent = async (count) => {
    for (const start = Date.now(); server.commands.length < count && Date.now() - start < 5000;) {
      await new Promise((wake) => setTimeout(wake, 10));
    }
    return server.commands[count - 1];
  };
  await page.value(`document.querySelector("[data-server=c] .use").click()`);
  const first = await sent(1);
  check(JSON.stringify(first?.body) === '{"do":"server","name":"c"}', "a server can be chosen");
  check(first.method === "POST" && first.inspector === "1", "a command has the field X-Inspector");
  await page.value(`(() => {
    const choice = document.querySelector(".who select");
    choice.value = "release";
    choice.dispatchEvent(new Event("change"));
  })()`);
  check(JSON.stringify((await sent(2))?.body) === '{"do":"environment","name":"release"}', "an environment too");
  await page.waitFor(`document.querySelector(".notice").textContent === "The environment release is locked."`);
  check(await page.value(`document.querySelector(".who select").value`) === "test",
    "what is refused is said, and undone");
  const fault = (kind, calls) => page.value(`(() => {
    const form = document.querySelector(".fault-form");
    form.kind.value = "${kind}";
    form.kind.dispatchEvent(new Event("change"));
    form.calls.value = "${calls}";
    form.server.value = "a";
    form.requestSubmit();
  })()`);
  await fault("status", 4);
  check(JSON.stringify((await sent(3))?.body) === '{"do":"fault","kind":"status","status":503,"calls":4,"server":"a"}',
    "a fault can be simulated");
  await fault("slow", 2);
  check(JSON.stringify((await sent(4))?.body) === '{"do":"fault","kind":"slow","calls":2,"server":"a"}',
    "a slow server too");
  await page.value(pressed("End"));
  check(JSON.stringify((await sent(5))?.body) === '{"do":"fault","kind":"none"}', "and it can be ended");
  server.client = client({ mayControl: false });
  server.change();
  await page.waitFor(hasNoControls);
  check(true, "who may not control sees no controls");
  page.complaints = page.complaints.filter((text) => !/403/.test(text));
}

/** Whoever has scrolled down keeps what they look at when a call comes. */
async function checkScroll(page, server, made) {
  const place = () => page.value(`document.getElementById("call-5").getBoundingClientRect().top`);
  await page.value(`(document.querySelector(".list").scrollTop = 150, ${frames})`);
  const before = await place();
  server.change(made.add("GET", "/more", 9900, (call) =>
    ({ from: "shared", outcome: { status: 200 }, end: call.start + 1 })));
  await page.waitFor("inspector.list.shown.length === 18");
  check(await place() === before, "a new call moves nothing for who has scrolled down");
  await page.value(`document.querySelector(".list").scrollTop = 0`);
}

async function checkArchive(page, folder, entries) {
  await page.browser.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
  await page.value(pressed("Save HAR"));
  const file = join(folder, "archive.har");
  for (const start = Date.now(); !existsSync(file) && Date.now() - start < 5000;) {
    await new Promise((wake) => setTimeout(wake, 20));
  }
  const isThere = existsSync(file);
  check(isThere && JSON.parse(readFileSync(file)).log.entries.length === entries, "everything is saved as archive.har");
  rmSync(file, { force: true });
}

// Looks

async function checkLooks(page, folder) {
  await page.value(`document.querySelector(".list").scrollTop = 0`);
  for (const look of looks) {
    await page.dress(look);
    for (const id of ["", "3", "13", "1"]) {
      if (id) await show(page, id);
      else await page.value("(inspector.close(), document.activeElement.blur())");
      await page.value(`(scrollTo(0, 0), ${frames})`);
      const width = await page.value(`Math.max(document.documentElement.scrollWidth,
        ...[...document.querySelectorAll(".detail, .list")].map((part) =>
          part.scrollWidth > part.clientWidth ? 9999 : 0))`);
      const place = id ? `${look.name}, call ${id}` : look.name;
      const low = await page.lowContrast();
      check(low === "", `${place}: every text has a contrast of at least 4.5 ${low}`);
      const marks = await page.lowMarks();
      check(marks === "", `${place}: every mark has a contrast of at least 3 ${marks}`);
      const unnamed = await page.unnamed();
      check(unnamed === "", `${place}: every control, image and table has a name ${unnamed}`);
      check(width <= look.width, `${place}: nothing is wider than the screen (${width})`);
      const height = look.media === "print" ? undefined : id ? look.height : undefined;
      const name = `inspector-${look.name}${id ? `-call-${id}` : ""}.png`;
      if (folder) writeFileSync(join(folder, name), await page.picture(height));
    }
  }
  await page.dress(looks[0]);
  await page.value("inspector.close()");
}

// Streams

/** Calls that have opened streams of messages, in every look. */
async function checkStreams(browser, folder) {
  console.log("streams of messages");
  const made = streaming(Date.now() - 20_000);
  const server = new InspectorServer(made, client());
  await server.start();
  const page = await browser.open();
  await page.dress(looks[0]);
  await page.visit(server.address, `${isDrawn} && ${rowsShown} === 2`);
  await checkMessages(page, made, server);
  for (const look of looks) {
    await page.dress(look);
    await page.value(`(scrollTo(0, 0), ${frames})`);
    const low = await page.lowContrast() + await page.lowMarks();
    check(low === "", `${look.name}: texts and marks have enough contrast ${low}`);
    check(await page.unnamed() === "", `${look.name}: everything has a name ${await page.unnamed()}`);
    const width = await page.value("document.documentElement.scrollWidth");
    check(width <= look.width, `${look.name}: nothing is wider than the screen (${width})`);
    const height = look.media === "print" ? undefined : look.height;
    if (folder) writeFileSync(join(folder, `inspector-${look.name}-stream.png`), await page.picture(height));
  }
  checkQuiet(page, server.address);
  server.stop();
  await page.close();
}

// A record

async function checkRecord(browser, folder) {
  console.log("a record");
  const made = scripted(Date.UTC(2026, 10, 26, 15));
  const file = join(folder, "record.html");
  writeFileSync(file, wholePage(made.record()));
  const page = await browser.open();
  await page.dress(looks[0]);
  await page.visit(pathToFileURL(file).href, isDrawn);
  await checkRows(page, made);
  check(await page.value(`document.querySelector(".connection .words").textContent`) === "offline record",
    "it says what it is");
  check(await page.value(hasNoControls), "a record cannot be controlled");
  await checkDetail(page, made);
  await checkCopying(page, made);
  await checkArchive(page, folder, made.calls.flatMap(({ attempts }) => attempts).length);
  checkQuiet(page);
  await page.close();
}

/** A record of real calls: the file that the tests of the inspector write. */
async function checkRecorded(browser, folder) {
  console.log("a record of real calls");
  const record = JSON.parse(readFileSync(new URL("recorded.json", import.meta.url), "utf8"));
  const file = join(folder, "recorded.html");
  writeFileSync(file, wholePage(record));
  const page = await browser.open();
  await page.dress({ width: 1440, height: 2000 });
  await page.visit(pathToFileURL(file).href, isDrawn);
  const { calls, verdict, client: state } = record.feed;
  check(await page.value(rowsShown) === calls.length, "every call has its row");
  check(await page.value(`document.querySelector(".verdict-headline").textContent`) === verdict.headline,
    `the verdict: ${verdict.headline}`);
  const cards = await page.value(`[...document.querySelectorAll(".card .evidence")].map((text) => text.textContent)`);
  check(JSON.stringify(cards) === JSON.stringify(state.servers.map(({ words }) => words)), `cards: ${cards.join(" | ")}`);
  const failed = calls.filter(({ outcome }) => outcome?.error !== undefined || outcome?.status >= 400).length;
  const own = calls.filter(({ outcome }) => outcome?.isRequestError).length;
  const totals = await page.value(`document.querySelector(".totals").textContent`);
  check(own === 1 && totals.startsWith(`${failed} failed (${own} request error: 404), `),
    `request errors are named apart: ${totals}`);
  const sentence = "1 call failed with a request error: 404 Not Found.";
  check(verdict.details.includes(sentence), `the verdict names them too: ${verdict.details.join(" ")}`);
  const text = await page.value("document.querySelector('.inspector').textContent");
  check(!/undefined|null|NaN/.test(text), "no value is missing");
  for (const { id } of calls) await show(page, id);
  check(!/undefined|NaN/.test(await page.value("document.querySelector('.detail').textContent")), "every call opens");
  checkQuiet(page);
  await page.close();
}

/** A page that `yard inspect` has written. */
async function checkPage(browser, file) {
  console.log(file);
  const page = await browser.open();
  await page.dress(looks[0]);
  await page.visit(pathToFileURL(file).href, isDrawn);
  const ids = await page.value("inspector.store.entries.map(({ call }) => call.id)");
  check(ids.length > 0 && await page.value(rowsShown) === ids.length, `${ids.length} calls have their rows`);
  for (const id of ids) await show(page, id);
  const text = await page.value("document.querySelector('.inspector').textContent");
  check(!/undefined|NaN|\bnil\b|\bnull\b/.test(text), "no value is missing");
  for (const look of looks.filter(({ name }) => /^(usual|phone)/.test(name))) {
    await page.dress(look);
    await page.value(frames);
    const width = await page.value("document.documentElement.scrollWidth");
    check(width <= look.width, `${look.name}: nothing is wider than the screen (${width})`);
  }
  checkQuiet(page);
  await page.close();
}

async function checkMany(browser, folder, count) {
  console.log(`a record of ${count} calls`);
  const file = join(folder, "many.html");
  const long = client();
  long.servers.push(...["production-eu-west-1.of-a-provider.example.com", "fallback", "office"].map((name) =>
    ({ name, url: `https://${name}:8443/api/v1`, state: "probing", words: "probed just now", calls: 2, failures: 1 })));
  writeFileSync(file, wholePage(many(Date.UTC(2026, 10, 26, 15), count).record({ client: long })));
  const page = await browser.open();
  await page.dress(looks[0]);
  await page.visit(pathToFileURL(file).href, isDrawn);
  const loaded = Number(await page.value("document.documentElement.dataset.drawnAfter"));
  check(loaded < 6000, `they were on the screen after ${loaded} ms`);
  const rows = await page.value(`document.querySelectorAll(".rows .row").length`);
  check(rows < 80, `${rows} rows exist`);
  const measured = (step) => page.value(`(async () => {
    const times = [];
    for (let turn = 0; turn < 30; turn += 1) {
      const start = performance.now();
      (${step})(turn);
      await ${frames};
      times.push(performance.now() - start);
    }
    times.sort((one, other) => one - other);
    return [times[15], times[29]].map(Math.round);
  })()`);
  const scrolled = await measured(`(turn) => { document.querySelector(".list").scrollTop = turn * 9000; }`);
  check(scrolled[0] < 50, `scrolling takes ${scrolled[0]} ms a turn in the middle, ${scrolled[1]} ms at most`);
  await page.value(`inspector.filter.set({ scale: "axis" })`);
  const onAxis = await measured(`(turn) => { document.querySelector(".list").scrollTop = turn * 9000; }`);
  check(onAxis[0] < 50, `with a time axis, scrolling takes ${onAxis[0]} ms a turn, ${onAxis[1]} ms at most`);
  await page.value(`inspector.filter.set({ scale: "own" })`);
  const filtered = await measured(`(turn) => inspector.filter.set({ text: turn % 2 ? "" : "topics/" + turn })`);
  check(filtered[0] < 50, `filtering takes ${filtered[0]} ms a turn in the middle, ${filtered[1]} ms at most`);
  await page.press("End");
  check(await page.value("inspector.list.active") === "call-1", "End leads to the oldest of them");
  for (const width of [1440, 1080, 390]) {
    await page.dress({ width, height: 800 });
    await page.value(frames);
    const shown = await page.value("document.documentElement.scrollWidth");
    check(shown <= width, `six servers, one with a long name, fit ${width} (${shown})`);
  }
  checkQuiet(page);
  await page.close();
}

function checkQuiet(page, address) {
  check(page.complaints.length === 0, `no complaint: ${page.complaints.join("; ") || "none"}`);
  const isOwn = (url) => /^(file|data|blob):/.test(url) || (address && url.startsWith(address));
  const fetched = page.requests.filter((url) => !isOwn(url));
  check(fetched.length === 0, `nothing was fetched from elsewhere: ${fetched.join(", ") || "nothing"}`);
}

async function checkLive(browser, folder, options) {
  console.log("live, with scripted data");
  const made = scripted(Date.now() - 20_000);
  const server = new InspectorServer(made, client());
  await server.start();
  const page = await browser.open();
  await page.dress(looks[0]);
  await page.visit(server.address, `${isDrawn} && ${rowsShown} === 15`);
  await checkRows(page, made);
  await checkAxis(page);
  await checkFolding(page);
  await checkNews(page, server, made);
  await checkLoss(page, server, made);
  await checkFilters(page);
  await checkKeys(page);
  await checkDetail(page, made);
  await checkBodies(page, made);
  await checkCopying(page, made, server);
  await checkLooks(page, options.pictures);
  await checkCommands(page, server);
  await checkScroll(page, server, made);
  await checkArchive(page, folder, 1);
  await checkRestart(page, server);
  checkQuiet(page, server.address);
  await page.close();
  server.stop();
}

/** Waits until two servers are out of service, opens a call that failed over, and leaves pictures in both themes. */
async function leaveStill(page, folder) {
  await page.waitFor(`inspector.store.client.servers.filter(({ state }) => state === "ejected").length === 2`);
  const id = `inspector.store.entries.find(({ marks }) => marks.some(({ kind }) => kind === "failover"))?.call.id`;
  await page.waitFor(`${id} !== undefined`);
  await page.value(`(inspector.pause(), inspector.filter.set({ events: "yes" }))`);
  await show(page, await page.value(id));
  await page.value(`inspector.list.showTime(inspector.store.byId.get(inspector.filter.call).time)`);
  for (const [name, isDark] of [["inspector.png", false], ["inspector~dark.png", true]]) {
    await page.dress({ width: 1280, height: 800, isDark });
    await page.value(frames);
    writeFileSync(join(folder, name), await page.picture(800));
  }
  await page.value(`(inspector.pause(), inspector.close())`);
  await page.dress(looks[0]);
}

/** Opens the inspector of a program that runs. */
async function checkAddress(browser, options) {
  console.log(options.address);
  const page = await browser.open();
  await page.dress(looks[0]);
  await page.visit(options.address, `${isDrawn} && ${rowsShown} > 0`);
  const state = await page.value(`document.querySelector(".connection .words").textContent`);
  check(state === "live", `it is ${state}, with ${await page.value("inspector.store.entries.length")} calls`);
  const cards = await page.value(`[...document.querySelectorAll(".card")].map((card) => card.dataset.server)`);
  check(cards.length > 0, `servers: ${cards.join(", ")}`);
  const id = await page.value("inspector.store.entries[inspector.store.entries.length - 1].call.id");
  await show(page, id);
  check(await page.value(`document.querySelectorAll(".request, .response").length`) > 0, `call ${id} can be opened`);
  if (options.still) await leaveStill(page, options.still);
  const status = await page.value(`fetch("archive.har").then(({ status }) => status)`);
  check(status === 200, "there is an archive");
  if (options.pictures) {
    for (const look of looks.filter(({ media }) => media !== "print")) {
      await page.dress(look);
      await page.value(frames);
      writeFileSync(join(options.pictures, `address-${look.name}.png`), await page.picture());
    }
  }
  checkQuiet(page, options.address);
  await page.close();
}

async function main() {
  const options = reading(process.argv.slice(2));
  const program = findBrowser();
  if (!program) {
    console.log("No Chromium is installed (nor named by the variable CHROMIUM): the page was not looked at.");
    return 0;
  }
  if (options.pictures) mkdirSync(options.pictures, { recursive: true });
  const browser = new Browser(program);
  const folder = mkdtempSync(join(tmpdir(), "inspector-pages-"));
  try {
    if (options.address) await checkAddress(browser, options);
    else if (options.records) for (const file of options.records) await checkPage(browser, file);
    else {
      await checkLive(browser, folder, options);
      await checkStreams(browser, options.pictures);
      await checkRecord(browser, folder);
      await checkRecorded(browser, folder);
      await checkMany(browser, folder, 20_000);
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
  console.log(failed() === 0 ? "All of it holds." : `${failed()} checks failed.`);
  return failed() === 0 ? 0 : 1;
}

process.exitCode = await main();
