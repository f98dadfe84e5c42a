"use strict";

/* Shapes that distinguish servers and outcomes without colours. */

const shapeNames = ["circle", "triangle", "square", "diamond", "pentagon", "star"];

/** Returns the SVG path of a server's shape around the point 0, 0. */
function shapePath(server, radius) {
  const name = shapeNames[server % shapeNames.length];
  const r = radius;
  switch (name) {
    case "circle": return `M${-r} 0A${r} ${r} 0 1 0 ${r} 0A${r} ${r} 0 1 0 ${-r} 0Z`;
    case "triangle": return polygon([-90, 30, 150], r * 1.3);
    case "square": return polygon([-135, -45, 45, 135], r * 1.25);
    case "diamond": return polygon([-90, 0, 90, 180], r * 1.35);
    case "pentagon": return polygon([-90, -18, 54, 126, 198], r * 1.15);
    default: return star(r * 1.4);
  }
}

function polygon(degrees, radius) {
  const points = degrees.map((degree) => point(degree, radius));
  return `M${points.join("L")}Z`;
}

function star(radius) {
  const points = Array.from({ length: 10 }, (_, place) =>
    point(-90 + 36 * place, place % 2 ? radius * 0.45 : radius));
  return `M${points.join("L")}Z`;
}

function point(degree, radius) {
  const angle = degree * Math.PI / 180;
  return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
}

function crossPath(radius) {
  const r = radius;
  return `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}`;
}

/** Returns an SVG icon around the point 0, 0. Each part is a `path` with a `fill` or a `stroke` and an optional
 * horizontal `shift`. Missing parts are skipped. */
function icon(parts, size = 20) {
  const namespace = "http://www.w3.org/2000/svg";
  const made = (name, attributes) => {
    const node = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const attributes = { class: "mark", width: size, height: size, viewBox: "-10 -10 20 20", "aria-hidden": "true" };
  const picture = made("svg", attributes);
  for (const { path, fill = "none", stroke = "none", shift = 0 } of parts.filter(Boolean)) {
    picture.append(made("path", { d: path, fill, stroke, "stroke-width": "1.6", transform: `translate(${shift} 0)` }));
  }
  return picture;
}

/** Returns the icon of a server: its shape in its colour. */
function serverIcon(server, size = 20) {
  return icon([{ path: shapePath(server, 5), fill: `var(--server-${server % 6})` }], size);
}
