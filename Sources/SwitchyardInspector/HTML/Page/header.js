"use strict";

/* The header of the page: the client, the state of the connection, and actions on all calls. */

class PageHeader {
  constructor({ store, feed, record, control, faults, onPause, onClear, onSave }) {
    Object.assign(this, { store, feed, record, onPause });
    this.service = element("h1");
    this.environment = element("span", { class: "environment" });
    this.choice = element("select", { "aria-label": "Environment", hidden: "" });
    this.choice.addEventListener("change", async () => {
      try {
        await control({ do: "environment", name: this.choice.value });
        notice.say(`The environment is now ${this.choice.value}`);
      } catch (error) {
        this.choice.value = this.store.client.environment;
        notice.say(error.message, true);
      }
    });
    this.sign = element("span", { class: "sign", "aria-hidden": "true" });
    this.state = element("span", { class: "words" });
    this.again = element("span", { class: "again", "aria-hidden": "true" });
    this.retry = element("button", { type: "button", class: "small", hidden: "" }, "Retry now");
    this.retry.addEventListener("click", () => feed.tryNow());
    this.total = element("span", { class: "total" });
    this.forgotten = element("span", { class: "forgotten quiet",
      title: "Calls that failed, were sent more than once or were slow are kept longer than other calls." });
    const { leftOut } = record ?? {};
    const missing = leftOut
      ? element("span", { class: "left-out quiet" },
        `items not shown as recorded: ${numbers.count(leftOut.count)} (first problem: ${leftOut.first})`)
      : null;
    this.pause = element("button", { type: "button", "aria-pressed": "false" }, "Pause");
    this.pause.addEventListener("click", () => onPause());
    this.clear = element("button", { type: "button", title: "Hide the current calls" }, "Clear view");
    this.clear.addEventListener("click", onClear);
    const save = actionButton("Save HAR", onSave, { title: "Save all stored calls as archive.har" });
    this.node = element("header", { class: "top" },
      element("div", { class: "who" }, this.service, this.environment, this.choice,
        element("span", { class: "address quiet" }, record ? record.name : location.host)),
      element("div", { class: "connection", role: "status" }, this.sign, this.state, this.again, this.retry),
      element("div", { class: "sums" }, this.total, this.forgotten, missing),
      element("div", { class: "tools" }, record ? null : faults, record ? null : this.pause, this.clear, save));
    feed.onState(() => this.showState());
    setInterval(() => this.#showAgain(), 250);
  }

  refresh(waiting, isPaused) {
    const { client, forgotten, entries } = this.store;
    setText(this.service, client.service || "Inspector");
    setText(this.environment, client.environment);
    const names = client.environments ?? [];
    const mayChoose = this.store.mayControl && names.length > 1;
    this.environment.hidden = mayChoose || !client.environment;
    this.choice.hidden = !mayChoose;
    if (mayChoose) {
      fillSelect(this.choice, names.map((name) => [name, name]));
      if (document.activeElement !== this.choice) this.choice.value = client.environment;
    }
    const all = entries.length + forgotten;
    setText(this.total, forgotten ? "" : words.some(all, "call"));
    setText(this.forgotten, forgotten ? `showing the last ${numbers.count(entries.length)} of ${words.some(all, "call")}` : "");
    setText(this.pause, isPaused ? waiting ? `Resume (${numbers.count(waiting)} new)` : "Resume" : "Pause");
    this.pause.setAttribute("aria-pressed", `${isPaused}`);
    document.title = `${client.service || "Inspector"}${client.environment ? ` · ${client.environment}` : ""}`;
    this.showState();
  }

  showState() {
    const { kind, why } = this.feed.state;
    const isPaused = this.pause.getAttribute("aria-pressed") === "true";
    const shown = this.record ? "record" : kind === "live" && isPaused ? "paused" : kind;
    const text = {
      record: "offline record", live: "live", paused: "paused", connecting: "connecting …",
      lost: why ? `connection lost: ${why}` : "connection lost: the app has ended or is suspended",
    }[shown];
    if (this.node.dataset.state !== shown) {
      this.node.dataset.state = shown;
      const ring = shapePath(0, 5.5);
      this.sign.replaceChildren(icon({
        live: [{ path: ring, fill: "var(--good)" }],
        paused: [{ path: "M-3 -6L-3 6M3 -6L3 6", stroke: "var(--ink)" }],
        lost: [{ path: crossPath(5), stroke: "var(--bad)" }],
        record: [{ path: shapePath(2, 5), stroke: "var(--quiet)" }],
        connecting: [{ path: ring, stroke: "var(--quiet)" }],
      }[shown], 18));
    }
    setText(this.state, text);
    this.retry.hidden = shown !== "lost";
    this.#showAgain();
  }

  #showAgain() {
    const { kind, again } = this.feed.state;
    const left = Math.max(0, Math.ceil((again - Date.now()) / 1000));
    setText(this.again, kind === "lost" ? left > 0 ? `retrying in ${left} s` : "retrying" : "");
  }
}
