"use strict";

/* Plots of numbers over time in steps: stacked areas and lines. */

/** A plot of series with one number for each time step. A series has `values`, a `name`, and a `style`:
 *
 * - `stack`: an area on top of the previous stacks, filled with the pattern of its `server`, or without one
 *   hatched or, with `isExcess`, filled with a grid
 * - `line`: a line in the colour of its `server`, or in ink without one; `isDashed` and `isBold` change the stroke */
class SeriesPlot extends Plot {
  constructor(view, { title, step, series, most, text = numbers.short, height = 150, notes }) {
    super(view, { title, height, notes });
    this.step = step;
    this.series = series;
    this.text = text;
    this.most = most ?? (this.#highest() * 1.08 || 1);
    this.caption.append(element("ul", { class: "legend" }, series.map((entry) => legendEntry(entry))));
  }

  #highest() {
    const stacks = this.series.filter(({ style }) => style === "stack");
    const lines = this.series.filter(({ style }) => style === "line");
    let highest = 0;
    const steps = Math.max(0, ...this.series.map(({ values }) => values.length));
    for (let place = 0; place < steps; place += 1) {
      const sum = stacks.reduce((total, { values }) => total + (values[place] ?? 0), 0);
      highest = Math.max(highest, sum, ...lines.map(({ values }) => values[place] ?? 0));
    }
    return highest;
  }

  y(value) {
    const { top, bottom } = this.box;
    return bottom - (bottom - top) * Math.min(1, value / this.most);
  }

  drawContent(context) {
    const step = niceStep(this.most, 5);
    for (let level = step; level <= this.most; level += step) {
      this.drawLevel(context, Math.round(this.y(level)) + 0.5, this.text(level));
    }
    this.clipped(context, () => {
      this.#drawStacks(context);
      for (const entry of this.series) if (entry.style === "line") this.#drawLine(context, entry);
      this.drawSwitches(context);
    });
  }

  /** The range of steps that are at least partly shown. */
  #places() {
    const count = Math.max(0, ...this.series.map(({ values }) => values.length));
    const first = Math.max(0, Math.floor(this.view.from / this.step));
    const last = Math.min(count - 1, Math.floor(this.view.until / this.step));
    return { first, last };
  }

  #drawStacks(context) {
    const { first, last } = this.#places();
    const ground = new Float64Array(Math.max(0, last - first + 1));
    for (const entry of this.series) {
      if (entry.style !== "stack") continue;
      context.fillStyle = areaFill(context, this.theme, entry);
      context.beginPath();
      context.moveTo(this.x(first * this.step), this.y(ground[0] ?? 0));
      for (let place = first; place <= last; place += 1) {
        const y = this.y(ground[place - first] + (entry.values[place] ?? 0));
        context.lineTo(this.x(place * this.step), y);
        context.lineTo(this.x((place + 1) * this.step), y);
      }
      for (let place = last; place >= first; place -= 1) {
        const y = this.y(ground[place - first]);
        context.lineTo(this.x((place + 1) * this.step), y);
        context.lineTo(this.x(place * this.step), y);
        ground[place - first] += entry.values[place] ?? 0;
      }
      context.fill();
    }
  }

  #drawLine(context, entry) {
    const { first, last } = this.#places();
    context.strokeStyle = entry.server === undefined ? this.theme.ink : this.theme.server(entry.server);
    context.lineWidth = entry.isBold ? 2.5 : 1.5;
    context.setLineDash(entry.isDashed ? [5, 4] : []);
    context.beginPath();
    let isDown = false;
    for (let place = first; place <= last; place += 1) {
      const value = entry.values[place];
      if (value === null || value === undefined) {
        isDown = false;
        continue;
      }
      const y = this.y(value);
      if (isDown) context.lineTo(this.x(place * this.step), y);
      else context.moveTo(this.x(place * this.step), y);
      context.lineTo(this.x((place + 1) * this.step), y);
      isDown = true;
    }
    context.stroke();
    context.setLineDash([]);
  }
}

/** Returns a legend entry: a sample and the name of a series. */
function legendEntry(entry) {
  return element("li", {}, sampleOf((context, theme) => drawSample(context, theme, entry)), entry.name);
}

/** Returns a sample of 24 by 14 pixels for a legend, which is drawn again after a change of the theme. */
function sampleOf(paint) {
  const sample = element("canvas", { class: "mark", width: 48, height: 28, "aria-hidden": "true" });
  sample.style.width = "24px";
  sample.style.height = "14px";
  const draw = () => {
    const context = sample.getContext("2d");
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, 24, 14);
    paint(context, readTheme());
  };
  draw();
  onThemeChange(draw);
  return sample;
}

/** Returns the fill of the area of a series. */
function areaFill(context, theme, { server, isExcess }) {
  if (isExcess) return grid(context, theme.quiet);
  return server === undefined ? hatching(context, theme.bad) : serverFill(context, theme, server);
}

function drawSample(context, theme, entry) {
  if (entry.style === "stack") {
    context.fillStyle = areaFill(context, theme, entry);
    context.fillRect(0, 0, 24, 14);
    return;
  }
  context.strokeStyle = entry.server === undefined ? theme.ink : theme.server(entry.server);
  context.lineWidth = entry.isBold ? 2.5 : 1.5;
  context.setLineDash(entry.isDashed ? [5, 4] : []);
  line(context, 0, 7, 24, 7);
}
