"use strict";

/* The shown time range, and the base class of all charts. */

/** The time range that all charts show. */
class TimeView {
  #listeners = [];

  constructor(end) {
    this.end = Math.max(end, 0.001);
    this.from = 0;
    this.until = this.end;
  }

  get span() {
    return this.until - this.from;
  }

  onChange(listener) {
    this.#listeners.push(listener);
  }

  /** Shows a range, which is limited to the whole time and to at least one millisecond. */
  show(from, until) {
    const span = Math.min(this.end, Math.max(0.001, until - from));
    const start = Math.min(Math.max(0, from), this.end - span);
    if (start === this.from && start + span === this.until) return;
    this.from = start;
    this.until = start + span;
    for (const listener of this.#listeners) listener();
  }

  /** Multiplies the length of the shown range by a factor, around a point. */
  zoom(factor, centre = (this.from + this.until) / 2) {
    const before = (centre - this.from) / this.span;
    const span = this.span * factor;
    this.show(centre - before * span, centre + (1 - before) * span);
  }

  /** Moves by a share of the shown range. */
  move(share) {
    this.show(this.from + share * this.span, this.until + share * this.span);
  }

  reset() {
    this.show(0, this.end);
  }
}

/** A chart over time: a canvas with an axis, redrawn if the shown range, the size or the theme changes. */
class Plot {
  #isDue = false;

  constructor(view, { title, height, notes = [] }) {
    this.view = view;
    this.height = height;
    this.notes = notes;
    this.canvas = element("canvas", { role: "img", "aria-label": `${title}. The tables below contain the numbers.` });
    this.caption = element("figcaption", {}, element("h3", {}, title));
    this.figure = element("figure", {}, this.caption, this.canvas);
    view.onChange(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.canvas);
  }

  /** Draws once with the next frame, even after several calls. */
  drawSoon() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.#isDue = false;
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    const scale = Math.min(3, window.devicePixelRatio || 1);
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.theme = readTheme();
    this.scale = scale;
    this.box = { left: 54, top: this.top ?? 8, right: width - 8, bottom: this.height - 22 };
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, this.height);
    context.font = `12px ${this.theme.family}`;
    this.drawAxis(context);
    this.drawContent(context);
  }

  /** Draws the background of the faults and the axis of times. A chart with another axis draws its own. */
  drawAxis(context) {
    this.#drawFaults(context);
    this.#drawTimes(context);
  }

  /** Returns the x position of a time. */
  x(moment) {
    const { left, right } = this.box;
    return left + (right - left) * (moment - this.view.from) / this.view.span;
  }

  /** Returns the time at an x position. */
  moment(x) {
    const { left, right } = this.box;
    return this.view.from + this.view.span * (x - left) / (right - left);
  }

  /** Whether the shown range contains a time. */
  shows(moment) {
    return moment >= this.view.from && moment <= this.view.until;
  }

  /** Clips the drawing of `body` to the frame and a margin around it, in which marks at an edge are not cut. */
  clipped(context, body, margin = 0) {
    const { left, top, right, bottom } = this.box;
    context.save();
    context.beginPath();
    context.rect(left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin);
    context.clip();
    body();
    context.restore();
  }

  /** Draws a horizontal line with its value on the left. */
  drawLevel(context, y, text) {
    context.strokeStyle = this.theme.line;
    context.lineWidth = 1;
    line(context, this.box.left, y, this.box.right, y);
    context.fillStyle = this.theme.quiet;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(text, this.box.left - 6, y);
  }

  /** Draws the periods of faults in the background. */
  #drawFaults(context) {
    this.clipped(context, () => {
      for (const fault of this.notes.faults ?? []) {
        const from = this.x(fault.from);
        const until = this.x(fault.until ?? this.view.end);
        context.fillStyle = this.theme.raised;
        context.fillRect(from, this.box.top, until - from, this.box.bottom - this.box.top);
        context.fillStyle = hatching(context, this.theme.line);
        context.globalAlpha = 0.35;
        context.fillRect(from, this.box.top, until - from, this.box.bottom - this.box.top);
        context.globalAlpha = 1;
      }
    });
  }

  #drawTimes(context) {
    const { left, right, bottom } = this.box;
    const step = niceStep(this.view.span, Math.max(2, (right - left) / 90));
    context.strokeStyle = this.theme.line;
    context.lineWidth = 1;
    line(context, left, bottom, right, bottom);
    context.fillStyle = this.theme.quiet;
    context.textBaseline = "top";
    for (let tick = Math.ceil(this.view.from / step); tick * step <= this.view.until; tick += 1) {
      const x = this.x(tick * step);
      line(context, x, bottom, x, bottom + 4);
      context.textAlign = x > right - 16 ? "right" : x < left + 16 ? "left" : "center";
      context.fillText(numbers.moment(tick * step, step * 100), x, bottom + 6);
    }
  }

  /** Draws the waits that the report marks, such as a deadline, as dotted lines with their names. */
  drawLimits(context, limits, place) {
    const { left, right, top, bottom } = this.box;
    for (const { name, wait } of limits ?? []) {
      const y = Math.round(place(wait)) + 0.5;
      if (!(y >= top && y <= bottom)) continue;
      context.strokeStyle = this.theme.bad;
      context.lineWidth = 1.5;
      context.setLineDash([2, 3]);
      line(context, left, y, right, y);
      context.setLineDash([]);
      context.fillStyle = this.theme.bad;
      context.textAlign = "right";
      context.textBaseline = y - top < 16 ? "top" : "bottom";
      context.fillText(`${name}: ${numbers.wait(wait)}`, right - 4, y + (y - top < 16 ? 3 : -2));
    }
  }

  /** Draws vertical lines at changes of the preferred server, the same in every chart. */
  drawSwitches(context) {
    context.strokeStyle = this.theme.ink;
    context.lineWidth = 1;
    context.setLineDash([4, 3]);
    for (const mark of this.notes.marks ?? []) {
      if (mark.kind !== "switched" || mark.at < this.view.from || mark.at > this.view.until) continue;
      const x = Math.round(this.x(mark.at)) + 0.5;
      line(context, x, this.box.top, x, this.box.bottom);
    }
    context.setLineDash([]);
  }
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Returns the smallest step of 1, 2 or 5 times a power of ten that divides a span into at most `most` parts. */
function niceStep(span, most) {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999) ?? 10 * power;
}

/** Returns the first index in an ascending list whose value is at least `bound`. */
function firstPlace(values, bound) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
