#!/usr/bin/env node
// Opens reports of `yard … --report` in a headless Chromium, uses them, and compares what they show with their data.
//
//     node Tests/Browser/report.mjs [--pictures FOLDER] [--calls N] [--still FOLDER] REPORT.html ...
//
// With --pictures it leaves pictures of each page: in both themes, on a phone, on paper, and without colours. With
// --calls it also makes a page of so many calls from the first report with calls, and says how long that takes to load
// and to zoom. With --still it leaves the upper part of the first page as report.png and report~dark.png, for the
// article. Where no Chromium is installed it says so and ends with 0; CI does not need one. The exit code is 1 when a
// check failed.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser, findBrowser } from "./chromium.mjs";

const looks = [
  { name: "light", width: 1280, height: 900 },
  { name: "dark", width: 1280, height: 900, isDark: true },
  { name: "phone-light", width: 390, height: 844 },
  { name: "phone-dark", width: 390, height: 844, isDark: true },
  { name: "phone-small", width: 320, height: 640 },
  { name: "phone-small-dark", width: 320, height: 640, isDark: true },
  { name: "without-green", width: 1200, height: 900, vision: "deuteranopia" },
  { name: "without-colours", width: 1200, height: 900, vision: "achromatopsia" },
  { name: "paper", width: 794, height: 1123, isDark: true, media: "print" },
];
const isDrawn = "document.documentElement?.dataset.drawnAfter !== undefined";
const dataPattern = /(<script type="application\/json" id="report">)([^<]*)(<\/script>)/;

let failures = 0;

function check(isTrue, text) {
  if (!isTrue) failures += 1;
  console.log(`${isTrue ? "  ok    " : "  FAILED"} ${text}`);
}

function reading(words) {
  const options = { files: [] };
  for (const rest = [...words]; rest.length > 0;) {
    const word = rest.shift();
    if (word === "--pictures") options.pictures = resolve(rest.shift());
    else if (word === "--still") options.still = resolve(rest.shift());
    else if (word === "--calls") options.calls = Number(rest.shift());
    else options.files.push(resolve(word));
  }
  return options;
}

// What a page shows

async function checkPage(page, file) {
  const data = JSON.parse(readFileSync(file, "utf8").match(dataPattern)[2]);
  await page.dress(looks[0]);
  await page.visit(pathToFileURL(file).href, isDrawn);
  const shown = await page.value(`((tables) => (([phases, totals]) => ({
    summary: document.querySelector(".summary").textContent,
    verdict: document.querySelector(".verdict-headline").textContent,
    faults: document.querySelectorAll("header tbody tr").length,
    colours: [...new Set([...document.querySelectorAll("header tbody tr")].map(({ className }) => className))].sort(),
    title: document.querySelector("h1").textContent,
    phases: phases.querySelectorAll("tbody tr").length,
    calls: [...phases.querySelectorAll("tbody tr")].map((row) => row.cells[1].textContent),
    servers: [...totals.querySelectorAll("tbody th")].map((cell) => cell.textContent.trim()),
    scripts: document.querySelectorAll("script").length,
    canvases: document.querySelectorAll("canvas[role=img][aria-label]").length,
    happenings: document.querySelectorAll(".happenings .major").length,
    probes: document.querySelectorAll("details .minor").length,
  }))([tables[0], tables.find((made) => /^(Responses|Load) /.test(made.getAttribute("aria-label")))]))([...document.querySelectorAll("#numbers table")])`);
  const count = (number) => number.toLocaleString("en-US");
  check(shown.title === data.title && shown.summary === data.summary, "title and sentence are those of the data");
  check(shown.verdict === data.verdict.headline, `the verdict is at the top: ${shown.verdict}`);
  // Servers that failed together without an ejection share a row.
  const faults = new Set(data.impacts.map((impact, place) =>
    impact.noticedAfter === undefined ? JSON.stringify({ ...impact, server: 0 }) : place));
  check(shown.faults === faults.size, "every fault has a row");
  // The colour of a row has the meaning of the verdict's colour: a fault that has not ended is never green.
  const isOver = ({ length, isUntried }) => length !== undefined && !isUntried;
  const colours = [...new Set(data.impacts.map((impact) => impact.failed > 0 && data.verdict.level === "bad" ? "is-bad"
    : isOver(impact) ? "is-good" : "is-ongoing"))].sort();
  check(JSON.stringify(shown.colours) === JSON.stringify(colours), `the rows are ${colours.join() || "none"}`);
  const isOpen = data.impacts.some((impact) => !isOver(impact));
  check(!(isOpen && data.verdict.level === "good"), `the verdict is ${data.verdict.level}, as the faults are`);
  const saved = data.calls?.saved?.length ?? 0;
  check(saved === 0 || data.verdict.details.some((text) => text.startsWith(`${saved.toLocaleString("en-US")} call`)),
    `the verdict counts ${saved} saved calls`);
  check(shown.phases === data.phases.length, "the table has every phase");
  check(data.phases.every(({ calls }, place) => shown.calls[place] === count(calls)), "the phases have their calls");
  const { calls: made } = data;
  const switched = made?.way.filter((way, place) => way === 2 && made.failure[place] === 0).length;
  const all = data.phases.find(({ name }) => name === "all");
  const ofServers = data.totals.reduce((sum, { failedOver }) => sum + failedOver, 0);
  if (made) {
    check(all.failedOver === switched && ofServers === switched, `tables and legend count ${switched} failovers`);
  }
  check(data.servers.every((name, place) => shown.servers[place] === name.trim()), "every server is named");
  check(shown.scripts === 2, "the data has made no element");
  const figures = data.kind === "fleet" ? data.servers.length + 4 : data.rates.sent ? 6 : 5;
  check(shown.canvases === figures, "every figure is there and has a name");
  check(shown.happenings === data.marks.filter(({ kind }) => kind !== "probe").length, "every event is listed");
  check(shown.probes === data.marks.filter(({ kind }) => kind === "probe").length, "every probe is listed");
  return data;
}

async function checkDots(page, data) {
  if (data.kind === "fleet") return;
  const shown = await page.value("({ shown: report.plots[0].shown, drawn: report.plots[0].drawn })");
  check(shown.shown === data.calls.start.length, "all calls are shown");
  check(shown.drawn > 0 && shown.drawn <= shown.shown, `${shown.drawn} marks stand for ${shown.shown} calls`);
  // The extremes and the failures of a thinned picture: each has ink where its mark belongs.
  const missing = await page.value(`(() => {
    const plot = report.plots[0];
    const context = plot.canvas.getContext("2d");
    const calls = report.data.calls;
    const slowest = calls.wait.indexOf(Math.max(...calls.wait));
    const wanted = [slowest, 0, calls.start.length - 1, ...calls.failure.flatMap((kind, call) => kind ? [call] : [])];
    return wanted.filter((call) => {
      const x = plot.x(calls.start[call]) * plot.scale;
      const y = plot.y(plot.level[call]) * plot.scale;
      const near = context.getImageData(Math.max(0, x - 3), Math.max(0, y - 3), 7, 7).data;
      return !near.some((value) => value !== 0);
    }).length;
  })()`);
  check(missing === 0, "the slowest call and every failure have their marks");
  // Zoomed in to the least part that holds twenty calls, each of them is drawn on its own field.
  await page.value(`(({ start }) =>
    report.view.show(...[100, 106].map((place) => start[Math.min(place, start.length - 1)])))(report.data.calls)`);
  await page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const near = await page.value("({ shown: report.plots[0].shown, drawn: report.plots[0].drawn })");
  check(near.drawn >= 0.6 * near.shown, `zoomed in, ${near.drawn} marks stand for ${near.shown} calls`);
  const words = await page.value(`(([plot]) =>
    plot.describe(plot.nearest(plot.x(plot.start[0]), plot.y(plot.level[0]))))(report.plots)`);
  check(/^due at 0.000 s, .*(response from|failed)/.test(words), `a call under the pointer says: ${words}`);
  await page.value("report.view.reset()");
  await page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const rising = await page.value(`(() => {
    const plot = report.plots.at(-1);
    const image = plot.canvas.getContext("2d");
    const ink = (share, wait) => {
      const [x, y] = [plot.share(share) * plot.scale, plot.y(Math.log10(wait)) * plot.scale];
      return image.getImageData(Math.max(0, x - 4), Math.max(0, y - 4), 9, 9).data.some((value) => value !== 0);
    };
    return ink(1, Math.max(...report.data.calls.wait));
  })()`);
  check(rising, "the distribution ends with the slowest call");
}

// What a page does

async function checkUse(page, data) {
  const part = () => page.value("[report.view.from, report.view.until]");
  const whole = JSON.stringify(await part());
  await page.value("document.querySelector('.charts').focus()");
  await page.press("+");
  const [from, until] = await part();
  check(Math.abs(until - from - data.duration / 2) < 1e-6, "+ shows a half");
  await page.press("ArrowRight");
  check((await part())[0] > from, "an arrow moves on");
  await page.press("0");
  check(JSON.stringify(await part()) === whole, "0 shows everything again");
  await page.press("-");
  check(JSON.stringify(await part()) === whole, "- shows no more than everything");
  await page.value("document.querySelector('.toolbar button').click()");
  check((await part())[1] - (await part())[0] < data.duration * 0.51, "a button zooms too");
  await page.press("0");
  await checkDrag(page, data, part);
}

async function checkDrag(page, data, part) {
  await page.value("report.plots[0].canvas.scrollIntoView({ block: 'center' })");
  const box = await page.value("report.plots[0].canvas.getBoundingClientRect().toJSON()");
  const middle = box.y + box.height / 2;
  await page.mouse("mouseMoved", box.x + 200, middle);
  await page.mouse("mousePressed", box.x + 200, middle, 1);
  await page.mouse("mouseMoved", box.x + 400, middle, 1);
  await page.mouse("mouseReleased", box.x + 400, middle, 1);
  const [from, until] = await part();
  check(from > 0 && until < data.duration && until > from, "dragging over a part shows it");
  await page.press("0");
}

async function checkLooks(page, name, pictures) {
  for (const look of looks) {
    await page.dress(look);
    await page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const width = await page.value("document.documentElement.scrollWidth");
    check(width <= look.width, `${look.name}: nothing is wider than the screen (${width} of ${look.width})`);
    const low = await page.lowContrast();
    check(low === "", `${look.name}: every text has a contrast of at least 4.5 ${low}`);
    const marks = await page.lowMarks();
    check(marks === "", `${look.name}: every mark has a contrast of at least 3 ${marks}`);
    const unnamed = await page.unnamed();
    check(unnamed === "", `${look.name}: every control, figure and table has a name ${unnamed}`);
    const paper = await page.value("report.plots[0].theme.paper");
    const wanted = look.isDark && look.media !== "print" ? "#14171b" : "#ffffff";
    check(paper === wanted, `${look.name}: the figures have its colours`);
    if (pictures) writeFileSync(join(pictures, `${name}-${look.name}.png`), await page.picture());
  }
}

/** Leaves the upper part of a page, down to the end of the states of the servers and of the figure of all calls. */
async function leaveStill(page, folder) {
  for (const [name, isDark] of [["report.png", false], ["report~dark.png", true]]) {
    await page.dress({ width: 1000, height: 900, isDark });
    await page.value("document.activeElement.blur()");
    await page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const end = await page.value("document.querySelector('.charts figure').getBoundingClientRect().bottom + window.scrollY");
    writeFileSync(join(folder, name), await page.picture(Math.ceil(end) + 12));
  }
}

// Many calls

function manyCalls(file, count) {
  const html = readFileSync(file, "utf8");
  const data = JSON.parse(html.match(dataPattern)[2]);
  const calls = { start: [], wait: [], server: [], way: [], failure: [], failures: ["timeout"] };
  for (let call = 0; call < count; call += 1) {
    const chance = (call * 2654435761 % 4294967296) / 4294967296;
    calls.start.push(Number((data.duration * call / count).toFixed(4)));
    calls.wait.push(Number((1 + 4 * chance + (chance > 0.99 ? 100 * chance : 0)).toFixed(3)));
    calls.server.push(Math.floor(3 * call / count) % data.servers.length);
    calls.way.push(chance > 0.99 ? 1 : chance > 0.985 ? 2 : 0);
    calls.failure.push(chance > 0.999 ? 1 : 0);
  }
  data.calls = calls;
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return html.replace(dataPattern, (_, begin, __, end) => begin + json + end);
}

async function checkMany(page, file, count) {
  const folder = mkdtempSync(join(tmpdir(), "report-many-"));
  const many = join(folder, "many.html");
  writeFileSync(many, manyCalls(file, count));
  await page.dress(looks[0]);
  await page.visit(pathToFileURL(many).href, isDrawn);
  const loaded = Number(await page.value("document.documentElement.dataset.drawnAfter"));
  check(loaded < 3000, `${count} calls were on the screen after ${loaded} ms`);
  const frames = await page.value(`(async () => {
    const times = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const start = performance.now();
      if (turn < 10) report.view.zoom(0.8); else report.view.zoom(1.25);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      times.push(performance.now() - start);
    }
    return times.sort((one, other) => one - other);
  })()`);
  const [usual, longest] = [frames[10], frames.at(-1)].map((time) => time.toFixed(0));
  check(longest < 200, `zooming takes ${usual} ms a frame in the middle, ${longest} ms at most`);
  rmSync(folder, { recursive: true });
}

async function main() {
  const options = reading(process.argv.slice(2));
  if (options.files.length === 0) {
    const known = "[--pictures FOLDER] [--calls N] [--still FOLDER]";
    console.error(`usage: node Tests/Browser/report.mjs ${known} REPORT.html ...`);
    return 2;
  }
  const program = findBrowser();
  if (!program) {
    console.log("No Chromium is installed (nor named by the variable CHROMIUM): the pages were not looked at.");
    return 0;
  }
  if (options.pictures) mkdirSync(options.pictures, { recursive: true });
  const browser = new Browser(program);
  for (const file of options.files) {
    console.log(basename(file));
    const page = await browser.open();
    const data = await checkPage(page, file);
    await checkDots(page, data);
    await checkUse(page, data);
    await checkLooks(page, basename(file, ".html"), options.pictures);
    if (options.still) await leaveStill(page, options.still);
    options.still = undefined;
    if (options.calls && data.kind === "calls") {
      await checkMany(page, file, options.calls);
      options.calls = 0;
    }
    check(page.complaints.length === 0, `no complaint: ${page.complaints.join("; ") || "none"}`);
    const fetched = page.requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"));
    check(fetched.length === 0, `nothing was fetched: ${fetched.join(", ") || "nothing"}`);
    await page.close();
  }
  await browser.close();
  console.log(failures === 0 ? "All of it holds." : `${failures} checks failed.`);
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main();
