"use strict";

/* The distribution of the times until the calls ended. */

/** A plot of the times over shares of the calls, for the calls in the shown time range: one curve for the calls before,
 * during and after the faults.
 *
 * The axis is stretched toward 100 %, because the slowest calls are the interesting ones. */
class CurvePlot extends Plot {
  static ticks = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
  static phases = {
    before: { name: "before", server: 0 },
    during: { name: "during", isBold: true },
    after: { name: "after", server: 2, isDashed: true },
    all: { name: "all calls", isBold: true },
  };

  constructor(view, report) {
    super(view, { title: "Distribution: time within which a share of the calls ended", height: 240 });
    this.report = report;
    const { calls, faults, limits = [] } = report;
    const count = calls.start.length;
    this.start = Float64Array.from(calls.start);
    this.phase = faults.length === 0 ? calls.start.map(() => "all") : calls.start.map((start) => phaseOf(start, faults));
    let [low, high] = [Infinity, 0];
    for (const wait of calls.wait) {
      low = Math.min(low, Math.max(0.01, wait));
      high = Math.max(high, wait);
    }
    for (const { wait } of limits) if (wait < high * 30) high = Math.max(high, wait);
    this.lowest = count ? Math.floor(Math.log10(low) * 4) / 4 : 0;
    this.highest = count ? Math.max(this.lowest + 0.5, Math.ceil(Math.log10(high * 1.1) * 4) / 4) : 3;
    this.nines = Math.min(5, Math.max(1, Math.log10(Math.max(1, count))));
    const names = [...new Set(this.phase)].sort((one, other) =>
      Object.keys(CurvePlot.phases).indexOf(one) - Object.keys(CurvePlot.phases).indexOf(other));
    this.names = names;
    this.caption.append(element("ul", { class: "legend" },
      names.map((name) => {
        const phase = CurvePlot.phases[name];
        const text = name === "all" ? phase.name : `${phase.name} the ${faultWord(report)}`;
        return legendEntry({ ...phase, name: text, style: "line" });
      })));
  }

  /** Returns the x position of a share of the calls. */
  share(value) {
    const { left, right } = this.box;
    const place = value >= 1 ? 1 : Math.min(1, -Math.log10(1 - value) / this.nines);
    return left + (right - left) * place;
  }

  y(level) {
    const { top, bottom } = this.box;
    return bottom - (bottom - top) * (level - this.lowest) / (this.highest - this.lowest);
  }

  drawAxis(context) {
    const { left, right, top, bottom } = this.box;
    context.strokeStyle = this.theme.line;
    context.lineWidth = 1;
    line(context, left, bottom, right, bottom);
    for (const tick of CurvePlot.ticks) {
      const x = Math.round(this.share(tick)) + 0.5;
      if (x > right + 1 || -Math.log10(1 - tick) > this.nines) break;
      context.strokeStyle = this.theme.line;
      line(context, x, top, x, bottom + 4);
      context.fillStyle = this.theme.quiet;
      context.textBaseline = "top";
      context.textAlign = x > right - 24 ? "right" : x < left + 16 ? "left" : "center";
      context.fillText(`${Number((100 * tick).toFixed(4))} %`, x, bottom + 6);
    }
    for (let power = Math.ceil(this.lowest); power <= this.highest; power += 1) {
      this.drawLevel(context, Math.round(this.y(power)) + 0.5, tenText(power));
    }
  }

  drawContent(context) {
    this.drawLimits(context, this.report.limits, (wait) => this.y(Math.log10(wait)));
    const first = firstPlace(this.start, this.view.from);
    const waits = Object.fromEntries(this.names.map((name) => [name, []]));
    for (let call = first; call < this.start.length && this.start[call] <= this.view.until; call += 1) {
      waits[this.phase[call]].push(this.report.calls.wait[call]);
    }
    this.clipped(context, () => {
      for (const name of this.names) this.#drawCurve(context, Float64Array.from(waits[name]).sort(), name);
    });
    context.setLineDash([]);
  }

  #drawCurve(context, sorted, name) {
    const { server, isBold, isDashed } = CurvePlot.phases[name];
    const count = sorted.length;
    if (count === 0) return;
    context.strokeStyle = server === undefined ? this.theme.ink : this.theme.server(server);
    context.lineWidth = isBold ? 2.5 : 1.8;
    context.setLineDash(isDashed ? [5, 4] : []);
    context.beginPath();
    let drawn = -Infinity;
    for (let place = 0; place < count; place += 1) {
      // The share of the calls that ended within this time: the nearest rank.
      const x = this.share((place + 1) / count);
      if (x - drawn < 0.5 && place < count - 1) continue;
      const y = this.y(Math.log10(Math.max(0.01, sorted[place])));
      if (drawn === -Infinity) context.moveTo(this.box.left, y);
      context.lineTo(x, y);
      drawn = x;
    }
    context.stroke();
  }
}

/** Returns the phase of a call, as in the table of numbers. */
function phaseOf(start, faults) {
  const first = Math.min(...faults.map(({ from }) => from));
  if (start < first) return "before";
  return faults.some(({ from, until }) => from <= start && start < (until ?? Infinity)) ? "during" : "after";
}
