"use strict";

/* Copying, saving, and the one line that says what came of it. */

/** Says something briefly, to readers of the screen too. */
const notice = {
  node: element("output", { class: "notice", role: "status", hidden: "" }),

  say(text, isBad = false) {
    clearTimeout(notice.timer);
    notice.node.hidden = false;
    notice.node.classList.toggle("bad", isBad);
    notice.node.textContent = text;
    notice.timer = setTimeout(() => { notice.node.hidden = true; }, isBad ? 8000 : 2500);
  },
};

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not every browser gives a page from a file its clipboard.
    const field = element("textarea", { class: "aside" });
    field.value = text;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    if (!isDone) throw new Error("The browser lets this page copy nothing.");
  }
}

/** A button that copies what `make` gives, which may take its time. */
function copyButton(label, what, make) {
  return actionButton(label, async () => {
    await copyText(await make());
    notice.say(`${what} copied`);
  });
}

/** A button whose action may fail; what it fails with is said. */
function actionButton(label, action, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", async () => {
    try {
      await action();
    } catch (error) {
      notice.say(error.message, true);
    }
  });
  return made;
}

/** Leaves a text as a file. */
function saveText(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
