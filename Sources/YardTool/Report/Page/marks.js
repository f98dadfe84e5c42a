"use strict";

/* Marks and patterns of calls, based on the shapes of servers that all pages share. */

/* The values in the column `way` of the data: how a call was completed. */
const directly = 0;
const hedged = 1;
const failedOver = 2;

/** Returns the paths to fill and to stroke for the mark of a call. A failed call is a cross, whatever its server. */
function markPaths(server, way, isFailure, radius) {
  const core = isFailure ? { stroke: crossPath(radius * 1.1) } : { fill: shapePath(server, radius) };
  if (way === hedged) return { ...core, ring: shapePath(0, radius * 2.1) };
  if (way === failedOver) return { ...core, twin: shapePath(Math.max(0, server), radius), shift: radius };
  return core;
}

/** Returns an icon with the mark of a call, for a legend or a table. */
function markIcon(server, way = directly, isFailure = false) {
  const colour = isFailure ? "var(--bad)" : `var(--server-${server % 6})`;
  const { fill, stroke, ring, twin, shift = 0 } = markPaths(server, way, isFailure, 4);
  return icon([
    twin && { stroke: colour, path: twin, shift: -shift },
    ring && { stroke: colour, path: ring },
    fill && { fill: colour, path: fill, shift },
    stroke && { stroke: colour, path: stroke, shift },
  ]);
}

/** Returns the pixels of the mark of a call (a stamp). They are drawn once and copied many times. */
function markStamp(theme, server, way, isFailure, scale) {
  const radius = 2.4;
  const size = Math.ceil(16 * scale) | 1;
  const canvas = element("canvas", { width: size, height: size });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.translate(size / 2, size / 2);
  context.scale(scale, scale);
  context.strokeStyle = context.fillStyle = isFailure ? theme.bad : theme.server(Math.max(0, server));
  const paths = markPaths(server, way, isFailure, radius);
  const shift = paths.shift ?? 0;
  context.lineWidth = 1;
  context.translate(-shift, 0);
  if (paths.twin) context.stroke(new Path2D(paths.twin));
  context.translate(shift, 0);
  if (paths.ring) context.stroke(new Path2D(paths.ring));
  context.translate(shift, 0);
  if (paths.fill) context.fill(new Path2D(paths.fill));
  context.lineWidth = 1.8;
  if (paths.stroke) context.stroke(new Path2D(paths.stroke));
  return inkOf(context.getImageData(0, 0, size, size), size);
}

/** Returns the visible pixels of a stamp: their offsets from its center, and their colours. */
function inkOf({ data }, size) {
  const middle = (size - 1) / 2;
  const ink = { x: [], y: [], colour: [] };
  for (let place = 0; place < size * size; place += 1) {
    const [red, green, blue, alpha] = data.subarray(4 * place, 4 * place + 4);
    if (alpha < 16) continue;
    ink.x.push(place % size - middle);
    ink.y.push(Math.floor(place / size) - middle);
    ink.colour.push([red, green, blue, alpha]);
  }
  return ink;
}

/** An image of pixels to which stamps are copied, which is much faster than drawing each stamp as an image. */
class StampPad {
  constructor(width, height) {
    this.picture = new ImageData(Math.max(1, width), Math.max(1, height));
  }

  /** Copies a stamp with its center to a pixel. */
  put({ x, y, colour }, column, row) {
    const { data, width, height } = this.picture;
    for (let place = 0; place < x.length; place += 1) {
      const left = column + x[place];
      const top = row + y[place];
      if (left < 0 || top < 0 || left >= width || top >= height) continue;
      const at = 4 * (top * width + left);
      const [red, green, blue, alpha] = colour[place];
      // Blend the edge with the existing pixel, whose colours are not premultiplied by alpha.
      const share = alpha / 255;
      const below = data[at + 3] / 255 * (1 - share);
      const whole = share + below;
      data[at] = (red * share + data[at] * below) / whole;
      data[at + 1] = (green * share + data[at + 1] * below) / whole;
      data[at + 2] = (blue * share + data[at + 2] * below) / whole;
      data[at + 3] = 255 * whole;
    }
  }

  /** A canvas with the image. */
  get canvas() {
    const canvas = element("canvas", { width: this.picture.width, height: this.picture.height });
    canvas.getContext("2d").putImageData(this.picture, 0, 0);
    return canvas;
  }
}

/** Returns the fill of a server's areas: its colour with a line pattern, or a solid colour for the first server. */
function serverFill(context, theme, server) {
  return pattern(context, theme.server(server), theme.paper, server % 6);
}

/** Returns slanted lines on a transparent background, for failures and servers out of service. */
function hatching(context, colour) {
  return pattern(context, null, colour, 1);
}

/** Returns a grid on a transparent background, for attempts above the capacity of a server. */
function grid(context, colour) {
  return pattern(context, null, colour, 5);
}

function pattern(context, ground, colour, kind) {
  if (kind === 0) return ground;
  const size = 8;
  const tile = element("canvas", { width: size, height: size });
  const brush = tile.getContext("2d");
  if (ground) {
    brush.fillStyle = ground;
    brush.fillRect(0, 0, size, size);
  }
  brush.strokeStyle = colour;
  brush.lineWidth = 1.2;
  const lines = {
    1: "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    2: "M0 4L8 4",
    3: "M-2 6L2 10M0 0L8 8M6 -2L10 2",
    4: "M4 0L4 8",
    5: "M0 4L8 4M4 0L4 8",
  };
  brush.stroke(new Path2D(lines[kind]));
  return context.createPattern(tile, "repeat");
}
