"use strict";

/* A strip with all shown calls over time, which shows their start, duration and server. A click scrolls to the calls of
   that time. */

class Overview {
  static height = 72;
  /** The size in pixels of the fields in which equal marks are drawn once. */
  static field = 3;

  constructor({ store, now, onChoose }) {
    Object.assign(this, { store, now });
    this.canvas = element("canvas", { role: "img", title: "Click to show the calls of a time" });
    this.from = element("span");
    this.until = element("span");
    this.legend = element("span", { class: "words" });
    /** The marker of the active call. */
    this.here = element("span", { class: "here", hidden: "" });
    this.node = element("figure", { class: "overview", hidden: "" }, this.canvas, this.here,
      element("figcaption", { class: "quiet" }, this.from,
        this.legend, this.until));
    this.canvas.addEventListener("click", (event) => onChoose(this.#moment(event.offsetX)));
    new ResizeObserver(() => this.draw()).observe(this.node);
    for (const media of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(media).addEventListener("change", () => this.draw());
    }
  }

  /** Updates the strip with the shown calls, oldest first. */
  refresh(entries) {
    this.entries = entries;
    this.node.hidden = entries.length < 2;
    if (this.node.hidden) return;
    this.begin = entries[0].time;
    const last = entries[entries.length - 1];
    this.end = Math.max(this.begin + 1, last.time);
    const took = entries.map((entry) => Math.max(0.05, entry.duration(this.now())));
    this.took = took;
    const [fastest, slowest] = [Math.min, Math.max].map((choose) => took.reduce((one, other) => choose(one, other)));
    this.least = Math.log(fastest);
    this.most = Math.max(this.least + 1, Math.log(slowest));
    setText(this.from, words.time(this.begin, false));
    setText(this.until, words.time(this.end, false));
    setText(this.legend, `height: duration, ${numbers.wait(fastest)} to ${numbers.wait(slowest)}, cross: failed, `
      + "ring: failover or hedge, line: switch");
    this.canvas.setAttribute("aria-label", `${words.some(entries.length, "call")} within `
      + `${numbers.wait(this.end - this.begin)}, ${words.failures(entries)}, `
      + `the slowest took ${numbers.wait(slowest)}`);
    this.draw();
  }

  /** Moves the marker to a call, or hides the marker without a call. */
  point(entry) {
    this.active = entry;
    this.here.hidden = !entry || entry.time < this.begin || entry.time > this.end;
    if (!this.here.hidden) this.here.style.left = `${this.#x(entry.time)}px`;
  }

  #x(time) {
    return 8 + (this.width - 16) * (time - this.begin) / (this.end - this.begin);
  }

  #y(took) {
    return Overview.height - 9 - (Overview.height - 18) * (Math.log(took) - this.least) / (this.most - this.least);
  }

  #moment(x) {
    return this.begin + (this.end - this.begin) * (x - 8) / (this.width - 16);
  }

  draw() {
    this.width = this.canvas.clientWidth;
    if (this.node.hidden || !this.width) return;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(Overview.height * scale);
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    this.scale = scale;
    this.theme = readTheme();
    this.#drawSwitches(context);
    this.#drawCalls(context);
    this.point(this.active);
  }

  #drawSwitches(context) {
    context.strokeStyle = this.theme.quiet;
    context.setLineDash([3, 3]);
    for (const { kind, time } of this.store.events) {
      if (kind !== "switch" || time < this.begin || time > this.end) continue;
      const x = Math.round(this.#x(time)) + 0.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, Overview.height);
      context.stroke();
    }
    context.setLineDash([]);
  }

  /** Draws the calls, with failures last so that no other mark covers them. */
  #drawCalls(context) {
    const taken = new Set();
    const shapes = new Map();
    const shape = (place, radius) => {
      const key = `${place}/${radius}`;
      if (!shapes.has(key)) shapes.set(key, new Path2D(place < 0 ? crossPath(radius) : shapePath(place, radius)));
      return shapes.get(key);
    };
    for (const isFailed of [false, true]) {
      this.entries.forEach((entry, at) => {
        if (entry.hasFailed !== isFailed) return;
        const [x, y] = [this.#x(entry.time), this.#y(this.took[at])];
        const server = entry.answeredBy ?? entry.servers[entry.servers.length - 1];
        const place = isFailed ? -1 : server === undefined ? 6 : this.store.place(server) % 6;
        const isSpecial = !isFailed && entry.marks.some(({ kind }) => kind === "failover" || kind === "hedge");
        const key = `${Math.floor(x / Overview.field)} ${Math.floor(y / Overview.field)} ${place} ${isSpecial}`;
        if (taken.has(key)) return;
        taken.add(key);
        context.setTransform(this.scale, 0, 0, this.scale, x * this.scale, y * this.scale);
        context.strokeStyle = context.fillStyle = isFailed ? this.theme.bad
          : place === 6 ? this.theme.quiet : this.theme.server(place);
        context.lineWidth = isFailed ? 2.2 : 1.2;
        if (isFailed) context.stroke(shape(-1, 4));
        else if (place === 6 || entry.state === "running") context.stroke(shape(place % 6, 2.6));
        else context.fill(shape(place, 2.6));
        if (isSpecial) context.stroke(shape(0, 6));
      });
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  }
}
