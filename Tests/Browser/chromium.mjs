// Drives a headless Chromium over a pipe, with what Node brings: no package, no port.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** The browser to use: the one that the variable CHROMIUM names, or the first one installed; null without any. */
export function findBrowser() {
  const wanted = process.env.CHROMIUM ? [process.env.CHROMIUM] : names;
  return wanted.find((name) => spawnSync(name, ["--version"]).status === 0) ?? null;
}

/** A browser that runs until it is closed. */
export class Browser {
  #process;
  #profile;
  #last = 0;
  #waiting = new Map();
  #rest = "";
  #listeners = new Set();

  constructor(program) {
    this.#profile = mkdtempSync(join(tmpdir(), "report-browser-"));
    this.#process = spawn(program, [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
      "--remote-debugging-pipe", `--user-data-dir=${this.#profile}`, "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#process.stdio[4].setEncoding("utf8");
    this.#process.stdio[4].on("data", (text) => this.#read(text));
  }

  #read(text) {
    const messages = (this.#rest + text).split("\0");
    this.#rest = messages.pop();
    for (const message of messages.map((line) => JSON.parse(line))) {
      if (message.id === undefined) {
        for (const listener of this.#listeners) listener(message);
        continue;
      }
      const { resolve, reject } = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    }
  }

  /** Sends a command of the DevTools protocol and returns its result. */
  send(method, params = {}, sessionId = undefined) {
    this.#last += 1;
    const id = this.#last;
    this.#process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Opens an empty page of its own. */
  async open() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.#listeners.add((message) => { if (message.sessionId === sessionId) page.hear(message); });
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.on("exit", resolve));
    await this.send("Browser.close");
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One page: what it shows, and what it complained of. */
class Page {
  /** Errors of its scripts, and entries of its console. */
  complaints = [];
  /** The addresses that it asked for. */
  requests = [];

  constructor(browser, session, target) {
    this.browser = browser;
    this.session = session;
    this.target = target;
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.session);
  }

  hear({ method, params }) {
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description);
    if (method === "Log.entryAdded" && params.entry.level === "error") this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  /** Sets size and theme; `media` is screen or print, `vision` is how somebody sees who sees other colours. */
  async dress({ width, height, isDark = false, media = "screen", vision = "none" }) {
    await this.send("Emulation.setEmulatedVisionDeficiency", { type: vision });
    await this.send("Emulation.setDeviceMetricsOverride", {
      width, height, deviceScaleFactor: width < 500 ? 2 : 1, mobile: width < 500,
    });
    await this.send("Emulation.setEmulatedMedia", {
      media, features: [{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }],
    });
  }

  /** Goes to an address and waits until an expression is true there. */
  async visit(url, until) {
    await this.send("Page.navigate", { url });
    await this.waitFor(until);
  }

  async waitFor(expression) {
    for (const start = Date.now(); Date.now() - start < 30_000;) {
      if (await this.value(expression)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`never true: ${expression}`);
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async press(key) {
    const text = key.length === 1 ? key : undefined;
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
  }

  async mouse(type, x, y, buttons = 0) {
    const button = buttons ? "left" : "none";
    await this.send("Input.dispatchMouseEvent", { type, x, y, button, buttons, clickCount: 1 });
  }

  /** A picture of the page, from its top down to a height or to its end. */
  async picture(height = undefined) {
    const { cssContentSize } = await this.send("Page.getLayoutMetrics");
    const clip = { x: 0, y: 0, width: cssContentSize.width, height: height ?? cssContentSize.height, scale: 1 };
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
    return Buffer.from(data, "base64");
  }

  /** The elements whose text has a contrast below 4.5 to its background (WCAG 2.2, 1.4.3), with the ratio. */
  async lowContrast() {
    return this.value(`(${findLowContrast})()`);
  }

  /** The marks and the borders of controls whose contrast is below 3 (WCAG 2.2, 1.4.11), with the ratio. */
  async lowMarks() {
    return this.value(`(${findLowMarks})()`);
  }

  /** The controls, images and regions without a name in the accessibility tree, as roles with their numbers. */
  async unnamed() {
    const wanted = new Set([
      "button", "link", "textbox", "searchbox", "combobox", "checkbox", "image", "img", "grid", "table", "region", "tab",
      "tablist", "tabpanel", "article", "toolbar", "search", "heading", "columnheader", "rowheader", "banner",
    ]);
    const { nodes } = await this.send("Accessibility.getFullAXTree");
    const found = new Map();
    for (const { ignored, role, name } of nodes) {
      if (ignored || !wanted.has(role?.value) || name?.value?.trim() || role.value === "banner") continue;
      found.set(role.value, (found.get(role.value) ?? 0) + 1);
    }
    return [...found].map(([role, count]) => `${count} ${role}`).join("; ");
  }

  async close() {
    await this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}

/** Runs in the page. */
function findLowMarks() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const luminance = (colour) => {
    probe.style.color = colour;
    const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g).map((value) => value / 255)
      .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((first, second) => first - second);
    return (high + 0.05) / (low + 0.05);
  };
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const found = [];
  const marks = ["ink", "quiet", "edge", "focus", "bad", "good", ...[0, 1, 2, 3, 4, 5].map((place) => `server-${place}`)];
  for (const mark of marks) {
    for (const ground of ["paper", "raised"]) {
      const ratio = contrast(colour(mark), colour(ground));
      if (!(ratio >= 3)) found.push(`${mark} on ${ground} ${ratio.toFixed(2)}`);
    }
  }
  for (const node of document.querySelectorAll("button, select, input:not([type=checkbox])")) {
    const { borderTopColor, borderTopWidth } = getComputedStyle(node);
    if (!node.offsetParent || borderTopWidth === "0px" || /, 0\)$/.test(borderTopColor)) continue;
    const ratio = contrast(borderTopColor, colour("paper"));
    if (!(ratio >= 3)) found.push(`border of ${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  probe.remove();
  return [...new Set(found)].join("; ");
}

/** Runs in the page. */
function findLowContrast() {
  const parts = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = parts(colour).map((value) => value / 255)
      .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (start) => {
    for (let node = start; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      const alpha = parts(colour)[3] ?? 1;
      if (alpha > 0.5) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.offsetParent || node.closest("script, style")) continue;
    const [one, other] = [luminance(getComputedStyle(node).color), luminance(ground(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) found.set(`${node.tagName}.${node.className}`, ratio.toFixed(2));
  }
  return [...found].map(([name, ratio]) => `${name} ${ratio}`).join("; ");
}
