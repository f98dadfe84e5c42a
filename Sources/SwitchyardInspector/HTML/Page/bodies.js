"use strict";

/* Views of bodies by type: JSON as a tree, forms as a table, images, other text unchanged, and bytes as a dump. */

/** The maximum number of bytes in a dump. */
const dumpLength = 1024;

/** Returns a media type without its parameters. */
function essence(type) {
  return (type ?? "").split(";")[0].trim().toLowerCase();
}

/** Returns the bytes of a Base64 text, or `undefined` if the text is not valid Base64. */
function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Formats bytes in lines of sixteen, each with the offset, the hexadecimal digits, and the readable characters. */
function dump(bytes) {
  const lines = [];
  for (let at = 0; at < Math.min(bytes.length, dumpLength); at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const digits = part.map((byte) => byte.toString(16).padStart(2, "0"));
    const halves = [digits.slice(0, 8).join(" "), digits.slice(8).join(" ")].join("  ").padEnd(48);
    const signs = part.map((byte) => byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·").join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${halves}  ${signs}`);
  }
  return lines.join("\n");
}

function imageOf(body, what) {
  const type = essence(body.type);
  if (!/^image\/[\w.+-]+$/.test(type)) return null;
  const address = body.base64 === undefined
    ? `data:${type};charset=utf-8,${encodeURIComponent(body.text)}` : `data:${type};base64,${body.base64}`;
  const size = element("span", { class: "quiet" });
  const image = element("img", { src: address, alt: `Body of the ${what}, ${type}` });
  image.addEventListener("load", () => setText(size, `${image.naturalWidth} × ${image.naturalHeight}`));
  image.addEventListener("error", () => setText(size, "The browser cannot show this image."));
  return element("figure", { class: "image" }, image, element("figcaption", {}, size));
}

function formOf(body) {
  if (essence(body.type) !== "application/x-www-form-urlencoded") return null;
  return fieldTable([...new URLSearchParams(body.text)], "Fields of the form");
}

/** Returns a table of names and values. */
function fieldTable(fields, title) {
  const rows = fields.map(([name, value]) => element("tr", {},
    element("th", { scope: "row" }, name), element("td", {}, value)));
  return element("table", { class: "fields", "aria-label": title }, element("tbody", {}, rows));
}

/** Returns the view of a body with its actions. `what` is `request` or `response`. */
function bodyView(body, what) {
  if (!body || (body.bytes === 0 && !body.note)) return element("p", { class: "quiet none" }, "No body.");
  const facts = [
    body.type,
    body.bytes === undefined ? null : words.bytes(body.bytes),
    body.isCut ? "only the beginning was stored" : null,
    body.note,
  ].filter(Boolean).join(" · ");
  const tools = element("div", { class: "tools" });
  const view = element("div", { class: "body" });
  const head = element("div", { class: "body-head" }, element("span", { class: "quiet" }, facts), tools);
  const bytes = body.base64 === undefined ? undefined : bytesOf(body.base64);
  // Invalid Base64 is shown as text.
  const text = body.text ?? (bytes ? undefined : body.base64);
  if (text !== undefined) {
    tools.append(copyButton("Copy body", "Body", () => text));
    showText({ type: body.type, text }, what, view, tools);
  } else if (bytes) {
    tools.append(copyButton("Copy as Base64", "Body", () => body.base64));
    const left = (body.bytes ?? bytes.length) - Math.min(bytes.length, dumpLength);
    view.append(imageOf(body, what) ?? element("pre", { class: "dump", tabindex: "0" }, dump(bytes)));
    if (!view.querySelector("img") && left > 0) {
      view.append(element("p", { class: "quiet" }, `${words.bytes(left)} more are not shown.`));
    }
  }
  return element("div", {}, head, view);
}

/** Shows a text unchanged, or in a better view of its type with a button that shows the unchanged text. */
function showText(body, what, view, tools) {
  const plain = element("pre", { class: "text", tabindex: "0" }, body.text);
  const type = essence(body.type);
  const value = /[/+]json$/.test(type) || /^\s*[[{]/.test(body.text) ? readJSON(body.text) : undefined;
  let better = imageOf(body, what) ?? formOf(body);
  if (value !== undefined) {
    const tree = new JSONTree(value);
    better = tree.node;
    const fold = (label, isFolded) => {
      const made = element("button", { type: "button" }, label);
      made.addEventListener("click", () => tree.fold(isFolded));
      return made;
    };
    if (tree.node.querySelectorAll("details").length > 1) {
      tools.prepend(fold("Unfold all", false), fold("Fold", true));
    }
  }
  view.append(better ?? plain);
  if (!better) return;
  const raw = element("button", { type: "button", "aria-pressed": "false" }, "As sent");
  raw.addEventListener("click", () => {
    const isRaw = raw.getAttribute("aria-pressed") !== "true";
    raw.setAttribute("aria-pressed", `${isRaw}`);
    view.replaceChildren(isRaw ? plain : better);
  });
  tools.prepend(raw);
}
