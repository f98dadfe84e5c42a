"use strict";

/* The states of the servers over time: a band for each server with its probes, and an arrow for each switch. */

const stateWords = {
  inUse: "in use",
  standby: "on standby",
  out: "out of service",
  probing: "on trial",
  failing: "failing",
};

class BandPlot extends Plot {
  static row = 40;

  constructor(view, report) {
    const height = 30 + report.servers.length * BandPlot.row;
    super(view, { title: "States of the servers", height, notes: report });
    this.report = report;
  }

  drawContent(context) {
    this.clipped(context, () => {
      for (const state of this.report.states) this.#drawState(context, state);
    });
    const marks = this.report.marks.filter(({ at }) => this.shows(at));
    this.clipped(context, () => {
      for (const mark of marks) if (mark.kind === "probe") this.#drawProbe(context, mark);
      for (const mark of marks) if (mark.kind === "switched") this.#drawArrow(context, mark);
    }, 6);
    this.report.servers.forEach((name, server) => this.#drawName(context, name, server));
  }

  /** Returns the upper edge of a server's bar. */
  #bar(server) {
    return this.box.top + server * BandPlot.row + 17;
  }

  #drawName(context, name, server) {
    context.textAlign = "left";
    context.textBaseline = "bottom";
    context.fillStyle = this.theme.ink;
    context.fillText(name, this.box.left + 14, this.#bar(server) - 2);
    context.save();
    context.translate(this.box.left + 6, this.#bar(server) - 9);
    context.fillStyle = this.theme.server(server);
    context.fill(new Path2D(shapePath(server, 4)));
    context.restore();
  }

  #drawState(context, { server, from, until, state }) {
    const left = this.x(from);
    const width = this.x(until) - left;
    const top = this.#bar(server);
    drawBand(context, this.theme, { server, state, left, top, width, height: 18 });
    this.#drawWord(context, stateWords[state], left, width, top + 9, state);
  }

  /** Draws the name of a state in its bar if there is enough room. */
  #drawWord(context, text, left, width, middle, state) {
    const start = Math.max(left, this.box.left);
    const room = Math.min(left + width, this.box.right) - start;
    const length = context.measureText(text).width;
    if (room < length + 12) return;
    context.textAlign = "left";
    context.textBaseline = "middle";
    if (state !== "inUse") {
      context.fillStyle = this.theme.paper;
      context.fillRect(start + 4, middle - 8, length + 6, 16);
    }
    context.fillStyle = state === "inUse" ? this.theme.paper : this.theme.ink;
    context.fillText(text, start + 7, middle + 0.5);
  }

  /** Draws a probe below the bar: a dot for a success, a cross for a failure. */
  #drawProbe(context, mark) {
    drawProbe(context, this.theme, mark.isGood, this.x(mark.at), this.#bar(mark.server) + 18);
  }

  #drawArrow(context, mark) {
    if (mark.server === undefined || mark.to === undefined) return;
    const x = this.x(mark.at);
    const from = this.#bar(mark.server) + 9;
    const to = this.#bar(mark.to) + 9;
    drawArrow(context, this.theme, x, from, to);
  }
}

/** Draws a part of a band in the style of a state. */
function drawBand(context, theme, { server, state, left, top, width, height }) {
  const colour = theme.server(server);
  context.lineWidth = 1.5;
  context.strokeStyle = colour;
  const fill = (style) => {
    context.fillStyle = style;
    context.fillRect(left, top, width, height);
  };
  switch (state) {
    case "inUse":
      fill(colour);
      break;
    case "standby":
      context.fillStyle = colour;
      context.fillRect(left, top + height / 2 - 1.5, width, 3);
      break;
    case "out":
      fill(theme.paper);
      fill(hatching(context, theme.bad));
      context.strokeStyle = theme.bad;
      context.strokeRect(left, top, width, height);
      break;
    case "failing":
      fill(theme.paper);
      fill(hatching(context, colour));
      context.strokeRect(left, top, width, height);
      break;
    default:
      fill(theme.paper);
      context.setLineDash([3, 3]);
      context.strokeRect(left, top, width, height);
      context.setLineDash([]);
  }
}

/** Draws a probe: a dot for a success, a cross for a failure. */
function drawProbe(context, theme, isGood, x, y) {
  context.save();
  context.translate(x, y);
  context.fillStyle = theme.paper;
  context.fill(new Path2D(shapePath(0, 5)));
  context.lineWidth = 2;
  context.fillStyle = theme.good;
  context.strokeStyle = theme.bad;
  if (isGood) context.fill(new Path2D(shapePath(0, 3)));
  else context.stroke(new Path2D(crossPath(3)));
  context.restore();
}

/** Draws an arrow from one height to another. */
function drawArrow(context, theme, x, from, to) {
  const tip = Math.sign(to - from) * 6;
  context.strokeStyle = context.fillStyle = theme.ink;
  context.lineWidth = 1.5;
  line(context, x, from, x, to - tip);
  context.beginPath();
  context.moveTo(x, to);
  context.lineTo(x - 4, to - tip);
  context.lineTo(x + 4, to - tip);
  context.fill();
}

/** Returns the legend of the bands: a sample of each state and sign that the report contains. */
function bandLegend(report) {
  const bands = [
    ["inUse", "in use"], ["standby", "on standby"], ["out", "out of service"],
    ["failing", "failing, but still in service"], ["probing", "on trial: receives a few calls"],
  ].filter(([state]) => report.states.some((known) => known.state === state));
  const entries = bands.map(([state, text]) => [text, (context, theme) =>
    drawBand(context, theme, { server: 0, state, left: 1, top: 1, width: 22, height: 12 })]);
  const probes = report.marks.filter(({ kind }) => kind === "probe");
  for (const [isGood, text] of [[true, "successful probe"], [false, "failed probe"]]) {
    if (!probes.some((mark) => (mark.isGood ?? false) === isGood)) continue;
    entries.push([text, (context, theme) => drawProbe(context, theme, isGood, 12, 7)]);
  }
  if (report.marks.some(({ kind }) => kind === "switched")) {
    entries.push(["calls go to another server", (context, theme) => drawArrow(context, theme, 12, 0, 14)]);
  }
  return element("ul", { class: "legend" }, entries.map(([text, draw]) => element("li", {}, sampleOf(draw), text)));
}
