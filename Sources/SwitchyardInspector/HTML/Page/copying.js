"use strict";

/* Copying, saving, and a short notice of the result. */

/** A notice that is shown briefly and announced to screen readers. */
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
    // Some browsers give pages from a file no access to the clipboard.
    const field = element("textarea", { class: "aside" });
    field.value = text;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    if (!isDone) throw new Error("The browser does not allow this page to copy.");
  }
}

/** Returns a button that copies the result of the asynchronous function `make`. */
function copyButton(label, what, make) {
  return actionButton(label, async () => {
    await copyText(await make());
    notice.say(`${what} copied`);
  });
}

/** Returns a button that shows the error of its action in a notice. */
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

/** Saves a text as a file. */
function saveText(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
