"use strict";

/* The part of the time that is shown, and the frame that every figure is drawn in. */

/** Which part of the time all figures show. */
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

  /** Shows a part; it is kept within the whole, and never shorter than a millisecond. */
  show(from, until) {
    const span = Math.min(this.end, Math.max(0.001, until - from));
    const start = Math.min(Math.max(0, from), this.end - span);
    if (start === this.from && start + span === this.until) return;
    this.from = start;
    this.until = start + span;
    for (const listener of this.#listeners) listener();
  }

  /** Shows so many times as much, around a point of the part that is shown. */
  zoom(factor, centre = (this.from + this.until) / 2) {
    const before = (centre - this.from) / this.span;
    const span = this.span * factor;
    this.show(centre - before * span, centre + (1 - before) * span);
  }

  /** Moves by a share of what is shown. */
  move(share) {
    this.show(this.from + share * this.span, this.until + share * this.span);
  }

  reset() {
    this.show(0, this.end);
  }
}

/** A figure over time: a canvas with an axis, drawn anew when the part shown, the size or the theme changes. */
class Plot {
  #isDue = false;

  constructor(view, { title, height, notes = [] }) {
    this.view = view;
    this.height = height;
    this.notes = notes;
    this.canvas = element("canvas", { role: "img", "aria-label": `${title}; the tables below have the numbers` });
    this.caption = element("figcaption", {}, element("h3", {}, title));
    this.figure = element("figure", {}, this.caption, this.canvas);
    view.onChange(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.canvas);
  }

  /** Draws with the next frame, once however often it was asked for. */
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
    this.#drawFaults(context);
    this.#drawTimes(context);
    this.drawContent(context);
  }

  /** Where a moment stands. */
  x(moment) {
    const { left, right } = this.box;
    return left + (right - left) * (moment - this.view.from) / this.view.span;
  }

  /** Which moment stands there. */
  moment(x) {
    const { left, right } = this.box;
    return this.view.from + this.view.span * (x - left) / (right - left);
  }

  /** Draws within the frame only. */
  clipped(context, body) {
    const { left, top, right, bottom } = this.box;
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    body();
    context.restore();
  }

  /** Draws a line across with its value before it. */
  drawLevel(context, y, text) {
    context.strokeStyle = this.theme.line;
    context.lineWidth = 1;
    line(context, this.box.left, y, this.box.right, y);
    context.fillStyle = this.theme.quiet;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(text, this.box.left - 6, y);
  }

  /** The times in which a server was not well stand behind everything. */
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

  /** Upright lines where the preferred server changed, the same in every figure. */
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

/** The step of 1, 2 or 5 times a power of ten that parts a span into at most so many. */
function niceStep(span, most) {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999) ?? 10 * power;
}

/** The first place in a rising list whose value is not below a bound. */
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
