#!/usr/bin/env node
// Draws the picture of the README and of the article on switching from the figures in outage.json.
//
//     node Tests/Pictures/outage.mjs           writes outage.svg and outage~dark.svg into the catalogue's resources
//     node Tests/Pictures/outage.mjs --check   writes nothing; the exit code is 1 when a picture is not what it draws

import { existsSync, readFileSync, writeFileSync } from "node:fs";

const resources = new URL("../../Sources/Switchyard/Switchyard.docc/Resources/", import.meta.url);
const data = JSON.parse(readFileSync(new URL("outage.json", import.meta.url), "utf8"));

const themes = {
  "outage.svg": {
    paper: "#ffffff", ink: "#16191d", quiet: "#5a626d", line: "#d5dae0", bad: "#c4001a", wait: "#0072b2", own: "#eef5fb",
  },
  "outage~dark.svg": {
    paper: "#14171b", ink: "#e8ebef", quiet: "#a2abb7", line: "#3a414b", bad: "#ff7a70", wait: "#56b4e9", own: "#1c2a36",
  },
};

const width = 880;
const label = 132;
const gap = 22;
const panel = (width - label - 20 - 2 * gap) / 3;
const top = 104;
const row = 50;
const room = 84;
const height = top + data.systems.length * row + 30 + 16 * data.notes.length;
const longest = 2_100;

const escaped = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const text = (x, y, words, attributes = "") => `<text x="${x}" y="${y}"${attributes}>${escaped(words)}</text>`;
const bar = (x, y, length, attributes) =>
  `<rect x="${x.toFixed(1)}" y="${y}" width="${length.toFixed(1)}" height="13" rx="2"${attributes}/>`;

/** Waits stand on a scale of tens: what is three times as long looks as much longer anywhere. */
const share = (milliseconds) => Math.log10(milliseconds) / Math.log10(longest);

const left = (fault) => label + fault * (panel + gap);

function wait(milliseconds) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${Math.round(milliseconds)} ms`;
}

function cell(system, fault, y, theme) {
  const x = left(fault);
  const failures = system.failures[fault];
  const failed = Math.min(1, failures / data.calls) * (panel - room);
  const waited = share(system.p99[fault]) * (panel - room);
  const isMostlyFailed = failures > data.calls / 2;
  const style = isMostlyFailed ? ` fill="none" stroke="${theme.wait}" stroke-width="1.5"` : ` fill="${theme.wait}"`;
  const words = failures === 0 ? "none failed" : `${failures.toLocaleString("en-US")} failed`;
  return [
    failures > 0 ? bar(x, y + 9, failed, ' fill="url(#failed)"') : "",
    text((x + (failures > 0 ? failed + 6 : 0)).toFixed(1), y + 20, words,
      failures > 0 ? ` class="bad"` : ` class="good"`),
    bar(x, y + 27, waited, style),
    text((x + waited + 6).toFixed(1), y + 38, wait(system.p99[fault])),
  ].join("");
}

function rows(theme) {
  return data.systems.map((system, place) => {
    const y = top + place * row;
    const frame = `x="8" y="${y + 2}" width="${width - 16}" height="${row - 4}" rx="6"`;
    const ground = system.isOwn ? `<rect ${frame} fill="${theme.own}"/>` : "";
    const name = text(label - 16, y + 30, system.name, ` text-anchor="end"${system.isOwn ? ' class="strong"' : ""}`);
    const cells = data.faults.map((_, fault) => cell(system, fault, y, theme));
    return ground + name + cells.join("\n");
  });
}

function legend() {
  const y = 74;
  return [
    bar(label, y - 11, 26, ' fill="url(#failed)"'), text(label + 32, y, "failed calls"),
    bar(label + 122, y - 11, 26, ' class="wait"'),
    text(label + 154, y, "99 in 100 took at most (log scale); hollow where most calls failed"),
  ].join("");
}

function description() {
  const cells = data.systems.map(({ name, failures, p99 }) => {
    const parts = data.faults.map((fault, place) => `${fault}: ${failures[place]} failed, ${wait(p99[place])}`);
    return `${name}: ${parts.join("; ")}`;
  });
  return `${data.subtitle}. ${cells.join(". ")}.`;
}

function picture(theme) {
  const last = top + data.systems.length * row;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" \
role="img" aria-labelledby="title desc">
<title id="title">${escaped(data.title)}</title>
<desc id="desc">${escaped(description())}</desc>
<style>
text { font: 12.5px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; fill: ${theme.ink}; }
.title { font-size: 17px; font-weight: 600; }
.head, .strong { font-weight: 600; }
.quiet { font-size: 11px; fill: ${theme.quiet}; }
.bad { fill: ${theme.bad}; }
.good { fill: ${theme.quiet}; }
.wait { fill: ${theme.wait}; }
</style>
<defs><pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="6" height="6" fill="${theme.bad}"/><rect width="1.6" height="6" fill="${theme.paper}"/></pattern></defs>
<rect width="${width}" height="${height}" rx="8" fill="${theme.paper}"/>
${text(20, 32, data.title, ' class="title"')}
${text(20, 52, data.subtitle, ' class="quiet"')}
${legend()}
${data.faults.map((fault, place) => text(left(place), top - 8, fault, ' class="head"')).join("\n")}
<path d="M20 ${top - 1}H${width - 20}" stroke="${theme.line}"/>
${rows(theme).join("\n")}
<path d="M20 ${last + 4}H${width - 20}" stroke="${theme.line}"/>
${data.notes.map((note, place) => text(20, last + 24 + place * 16, note, ' class="quiet"')).join("\n")}
</svg>
`;
}

for (const [name, theme] of Object.entries(themes)) {
  const file = new URL(name, resources);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, picture(theme));
  } else if (!existsSync(file) || readFileSync(file, "utf8") !== picture(theme)) {
    console.error(`${name} is not what the figures make of it: node Tests/Pictures/outage.mjs`);
    process.exitCode = 1;
  }
}
