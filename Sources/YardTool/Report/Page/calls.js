"use strict";

/* The plot of all calls: a mark for each call, at the time at which it was due and the time until it ended. */

/** Returns the text of a power of ten of milliseconds: 10 ms, 1 s. */
function tenText(power) {
  const value = 10 ** power;
  return value >= 1000 ? `${value / 1000} s` : `${value} ms`;
}

/** A plot with a mark for each call. If several marks cover each other, one of them is drawn.
 *
 * Two marks cover each other if they have the same kind and server and are in the same field of two by two pixels.
 * The extremes and every kind of mark are always visible, and a sufficiently short period shows every call. */
class CallPlot extends Plot {
  static field = 2;
  /** The margin around the frame for marks at its edges. */
  static margin = 8;
  /** The drawing order. Rare marks are drawn last, so they are on top. */
  static order = [directly, hedged, failedOver];

  top = 24;

  constructor(view, report, badges) {
    super(view, { title: "All calls: time until the call ended, by the time at which it was due", height: 320, notes: report });
    this.report = report;
    this.badges = badges;
    this.#read(report.calls, report.servers.length);
    this.shown = 0;
    this.drawn = 0;
    this.onDrawn = () => {};
    this.#listen();
  }

  /** Copies the data of the calls to typed arrays, and assigns each call to the group of calls with the same mark. */
  #read(calls, servers) {
    const count = calls.start.length;
    this.start = Float64Array.from(calls.start);
    this.level = new Float32Array(count);
    this.group = new Uint8Array(count);
    this.groups = servers * 3 * 2;
    let low = Infinity;
    let high = 0;
    for (let call = 0; call < count; call += 1) {
      const wait = Math.max(0.01, calls.wait[call]);
      low = Math.min(low, wait);
      high = Math.max(high, wait);
      this.level[call] = Math.log10(wait);
      const isFailure = calls.failure[call] > 0 ? 1 : 0;
      const server = isFailure ? 0 : Math.max(0, calls.server[call]);
      this.group[call] = (isFailure * servers + server) * 3 + calls.way[call];
    }
    this.lowest = count ? Math.floor(Math.log10(low) * 2) / 2 : 0;
    this.highest = count ? Math.max(this.lowest + 1, Math.ceil(Math.log10(high * 1.1) * 4) / 4) : 3;
  }

  describeGroup(group) {
    const servers = this.report.servers.length;
    const way = group % 3;
    const server = Math.floor(group / 3) % servers;
    return { way, server, isFailure: group >= servers * 3 };
  }

  y(level) {
    const { top, bottom } = this.box;
    return bottom - 6 - (bottom - 6 - top) * (level - this.lowest) / (this.highest - this.lowest);
  }

  drawContent(context) {
    this.#drawLevels(context);
    this.drawSwitches(context);
    this.clipped(context, () => this.#drawCalls(context), CallPlot.margin);
    this.#drawBadges(context);
    this.onDrawn();
  }

  #drawLevels(context) {
    const tens = Math.ceil(this.lowest);
    for (let power = tens; power <= this.highest; power += 1) {
      this.drawLevel(context, Math.round(this.y(power)) + 0.5, tenText(power));
    }
    this.drawLimits(context, this.report.limits, (wait) => this.y(Math.log10(wait)));
  }

  /** Collects at most one mark per field of the screen and group, then draws one group after the other. */
  #drawCalls(context) {
    const { left, top, right, bottom } = this.box;
    const field = CallPlot.field;
    const columns = Math.ceil((right - left) / field) + 1;
    const rows = Math.ceil((bottom - top) / field) + 1;
    const taken = new Uint8Array(columns * rows * this.groups);
    const places = Array.from({ length: this.groups }, () => []);
    const first = firstPlace(this.start, this.view.from);
    let call = first;
    for (; call < this.start.length && this.start[call] <= this.view.until; call += 1) {
      const x = this.x(this.start[call]);
      const y = this.y(this.level[call]);
      const group = this.group[call];
      const column = Math.floor((x - left) / field);
      const row = Math.max(0, Math.floor((y - top) / field));
      const key = (group * rows + row) * columns + column;
      if (taken[key]) continue;
      taken[key] = 1;
      places[group].push(x, y);
    }
    this.shown = call - first;
    this.drawn = places.reduce((sum, list) => sum + list.length / 2, 0);
    this.#putDown(context, places);
  }

  #putDown(context, places) {
    const groups = places.map((_, group) => group).filter((group) => places[group].length > 0);
    const rank = (group) => {
      const { way, isFailure } = this.describeGroup(group);
      return (isFailure ? 3 : 0) + CallPlot.order.indexOf(way);
    };
    const { margin } = CallPlot;
    const [left, top] = [this.box.left - margin, this.box.top - margin];
    const [right, bottom] = [this.box.right + margin, this.box.bottom + margin];
    const pad = new StampPad(Math.round((right - left) * this.scale), Math.round((bottom - top) * this.scale));
    for (const group of groups.sort((one, other) => rank(one) - rank(other))) {
      const { server, way, isFailure } = this.describeGroup(group);
      const stamp = markStamp(this.theme, server, way, isFailure, this.scale);
      const list = places[group];
      for (let place = 0; place < list.length; place += 2) {
        pad.put(stamp, Math.round((list[place] - left) * this.scale), Math.round((list[place + 1] - top) * this.scale));
      }
    }
    context.drawImage(pad.canvas, left, top, right - left, bottom - top);
  }

  /** Draws the numbers of the events in the list below. Numbers that are too close to each other share a badge. */
  #drawBadges(context) {
    const shown = this.badges.filter(({ at }) => at >= this.view.from && at <= this.view.until);
    const clusters = [];
    for (const badge of shown) {
      const x = this.x(badge.at);
      const last = clusters.at(-1);
      if (last && x - last.x < 48) last.until = badge.number;
      else clusters.push({ x, from: badge.number, until: badge.number });
    }
    context.textBaseline = "middle";
    context.textAlign = "center";
    for (const { x, from, until } of clusters) {
      const text = from === until ? `${from}` : `${from}–${until}`;
      const width = Math.max(18, context.measureText(text).width + 10);
      const middle = Math.min(Math.max(x, this.box.left + width / 2), this.box.right - width / 2);
      context.fillStyle = this.theme.ink;
      context.beginPath();
      context.roundRect(middle - width / 2, 2, width, 18, 9);
      context.fill();
      context.fillStyle = this.theme.paper;
      context.fillText(text, middle, 11.5);
    }
  }

  // Pointer

  #listen() {
    this.hint = element("div", { class: "hint", hidden: "", "aria-hidden": "true" });
    this.figure.append(this.hint);
    this.canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.canvas.addEventListener("pointerleave", () => { this.hint.hidden = true; });
  }

  #point(event) {
    const call = event.buttons ? -1 : this.nearest(event.offsetX, event.offsetY);
    this.hint.hidden = call < 0;
    if (call < 0) return;
    this.hint.textContent = this.describe(call);
    const isRight = event.clientX > window.innerWidth / 2;
    this.hint.style.left = isRight ? "auto" : `${event.clientX + 14}px`;
    this.hint.style.right = isRight ? `${window.innerWidth - event.clientX + 14}px` : "auto";
    this.hint.style.top = `${event.clientY + 14}px`;
  }

  /** Returns the call with the nearest mark within twelve pixels of a point, or -1 if there is none. */
  nearest(x, y) {
    if (!this.box) return -1;
    let best = -1;
    let least = 12 * 12;
    let call = firstPlace(this.start, this.moment(x - 12));
    const last = this.moment(x + 12);
    for (; call < this.start.length && this.start[call] <= last; call += 1) {
      const distance = (this.x(this.start[call]) - x) ** 2 + (this.y(this.level[call]) - y) ** 2;
      if (distance < least) {
        least = distance;
        best = call;
      }
    }
    return best;
  }

  /** Returns a description of a call. */
  describe(call) {
    const { calls, servers } = this.report;
    const server = servers[calls.server[call]];
    const failure = (calls.reasons ?? calls.failures)[calls.failure[call] - 1];
    const end = failure ? `failed: ${failure}${server ? `, last at ${server}` : ""}` : `response from ${server ?? "?"}`;
    const way = [
      "",
      ", a second server was requested in parallel to a slow server",
      ", another server had failed or was taken out of service",
    ];
    const when = numbers.moment(calls.start[call], 0.5);
    return `due at ${when}, ${numbers.wait(calls.wait[call])}, ${end}${way[calls.way[call]]}`;
  }
}
