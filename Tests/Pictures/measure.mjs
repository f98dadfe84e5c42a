#!/usr/bin/env node
// Measures the figures of outage.json in one sitting: each fault with each policy, one after another on this machine.
//
//     swift build -c release && node Tests/Pictures/measure.mjs .build/release/yard
//
// It starts three servers, lets the first one fail for ten seconds, and counts the calls of `yard load`. It takes about
// four minutes, and writes outage.json. Afterwards outage.mjs draws the picture.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const port = 18081;
const file = new URL("outage.json", import.meta.url);
const faults = ["refuse", "hang", "truncate"];
const policies = ["off", "published", "recommended"];
const [begin, length, whole] = [6, 10, 19];

const yard = resolve(process.argv[2] ?? ".build/release/yard");
const admin = `http://127.0.0.1:${port + 5}/admin/fault`;
const folder = mkdtempSync(join(tmpdir(), "outage-"));
const service = join(folder, "topics.json");
const pause = (seconds) => new Promise((wake) => setTimeout(wake, 1000 * seconds));

function writeService() {
  const servers = ["primary", "secondary", "tertiary"].map((name, place) =>
    ({ name, baseURLs: { test: `http://127.0.0.1:${port + place}/v1` } }));
  writeFileSync(service, JSON.stringify({ service: "topics", defaultEnvironment: "test", servers }));
}

/** Runs the load while the first server has a fault, and returns the lines of the calls. */
async function run(fault, policy) {
  await fetch(admin, { method: "DELETE" });
  const words = ["load", "--service", service, "--path", "topics", "--rate", "60", "--concurrency", "4", "--think", "0.05",
    "--duration", `${whole}`, "--timeout", "2", "--policy", policy, "--json"];
  const load = spawn(yard, words, { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  load.stdout.setEncoding("utf8");
  load.stdout.on("data", (part) => { text += part; });
  const ended = new Promise((done) => load.on("close", done));
  await pause(begin);
  await fetch(`${admin}?server=topics/primary&fault=${fault}&for=${length}`, { method: "PUT" });
  await ended;
  return text.trim().split("\n").map((line) => JSON.parse(line)).filter(({ load: kind }) => kind !== undefined);
}

/** Returns the number of failed calls, and the 99th percentile of the calls of the open loop during the fault. */
function figures(calls) {
  const start = Math.min(...calls.map(({ due }) => due));
  const during = calls.filter(({ due }) => due - start >= begin && due - start < begin + length);
  const waits = during.filter(({ load }) => load === "open").map(({ due, done }) => 1000 * (done - due))
    .sort((one, other) => one - other);
  const p99 = waits[Math.max(0, Math.ceil(0.99 * waits.length) - 1)];
  return { calls: during.length, failures: calls.filter(({ ok }) => !ok).length, p99: Number(p99.toFixed(1)) };
}

async function main() {
  execFileSync(yard, ["load", "--help"]);
  writeService();
  const serve = spawn(yard, ["serve", "--port", `${port}`], { stdio: "ignore" });
  await pause(2);
  const data = JSON.parse(readFileSync(file, "utf8"));
  for (const [place, policy] of policies.entries()) Object.assign(data.systems[place], { failures: [], p99: [], policy });
  for (const fault of faults) {
    for (const system of data.systems) {
      const measured = figures(await run(fault, system.policy));
      console.log(fault, system.name, measured);
      system.failures.push(measured.failures);
      system.p99.push(measured.p99);
    }
  }
  for (const system of data.systems) delete system.policy;
  serve.kill();
  rmSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(data, null, 2)}\n`);
}

await main();
