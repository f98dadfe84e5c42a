"use strict";

/* A simulated fault for the next calls, to test the app: a form, and a banner while a fault is active. */

const faultKinds = [
  ["status", "responds with status"],
  ["refused", "refuses connections"],
  ["timeout", "does not respond before the timeout"],
  ["slow", "responds slowly"],
];

class FaultForm {
  constructor({ store, control }) {
    this.store = store;
    this.server = element("select", { name: "server", "aria-label": "Server" });
    this.kind = element("select", { name: "kind", "aria-label": "Fault" });
    fillSelect(this.kind, faultKinds);
    this.status = element("input", {
      name: "status", type: "number", min: "100", max: "599", value: "503", "aria-label": "Status", required: "",
    });
    this.calls = element("input", { name: "calls", type: "number", min: "1", max: "10000", value: "10", required: "",
      "aria-label": "Number of calls" });
    const form = element("form", { class: "fault-form" },
      element("span", {}, "Server "), this.server, this.kind, this.status,
      element("span", {}, "for the next"), this.calls, element("span", {}, "calls"),
      element("button", { type: "submit" }, "Simulate"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await control(this.#command());
        notice.say("Fault set");
        this.node.open = false;
      } catch (error) {
        notice.say(error.message, true);
      }
    });
    this.kind.addEventListener("change", () => { this.status.hidden = this.kind.value !== "status"; });
    this.node = element("details", { class: "faults", hidden: "" },
      element("summary", { class: "button" },
      "Simulate", element("span", { class: "wide" }, "\u00a0a fault"), "\u00a0▾"), form);
    this.words = element("span");
    this.banner = element("div", { class: "banner", role: "status", hidden: "" },
      icon(["M0 -8L8.5 7L-8.5 7Z", "M0 -3L0 2M0 4.2L0 5"].map((path) => ({ path, stroke: "currentColor" }))),
      element("span", {}, element("strong", {}, "Simulated fault: "), this.words));
    this.end = actionButton("End", () => control({ do: "fault", kind: "none" }), { class: "small" });
    this.banner.append(this.end);
  }

  #command() {
    const made = { do: "fault", kind: this.kind.value };
    if (this.kind.value === "status") made.status = this.status.valueAsNumber;
    return { ...made, calls: this.calls.valueAsNumber, server: this.server.value };
  }

  refresh() {
    const { client } = this.store;
    this.node.hidden = !this.store.mayControl;
    const isNew = this.server.options.length === 0;
    fillSelect(this.server, client.servers.map(({ name }) => [name, name]));
    if (isNew && client.current) this.server.value = client.current;
    this.end.hidden = !this.store.mayControl;
    this.banner.hidden = client.fault === undefined;
    setText(this.words, client.fault ?? "");
  }
}
