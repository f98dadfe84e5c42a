"use strict";

/* Cards with the state and the numbers of each server. Cards are updated in place, so a button keeps the focus during an
   update. */

class ServerCards {
  constructor({ store, control }) {
    this.store = store;
    this.control = control;
    this.cards = new Map();
    this.node = element("section", { class: "servers", "aria-label": "Servers" });
  }

  refresh() {
    const { client } = this.store;
    for (const server of client.servers) {
      const known = this.cards.get(server.name) ?? this.#card(server);
      this.#show(known, server, client);
    }
    const names = new Set(client.servers.map(({ name }) => name));
    for (const [name, { node }] of this.cards) {
      if (names.has(name)) continue;
      node.remove();
      this.cards.delete(name);
    }
    this.node.hidden = client.servers.length === 0;
  }

  #card({ name }) {
    const parts = {
      sign: element("span", { class: "sign" }),
      state: element("span", { class: "state" }),
      url: element("code", { class: "url" }),
      since: element("p", { class: "since" }),
      words: element("p", { class: "evidence" }),
      use: actionButton("Use", async () => {
        await this.control({ do: "server", name });
        notice.say(`Calls now go to ${name}`);
      }, { class: "small use", hidden: "", "aria-label": `Use server ${name}` }),
    };
    parts.node = element("article", {
      class: `card server-${this.store.place(name) % 6}`, "data-server": name, "aria-label": `Server ${name}`,
    },
      element("div", { class: "card-head" },
        serverIcon(this.store.place(name)), element("h2", { title: name }, name), parts.url,
        element("span", { class: "stand" }, parts.sign, parts.state)),
      parts.since, parts.words, element("div", { class: "card-foot" }, parts.use));
    this.cards.set(name, parts);
    this.node.append(parts.node);
    return parts;
  }

  /** Updates the lengths of outages. */
  grow() {
    for (const parts of this.cards.values()) this.#showSince(parts);
  }

  #showSince(parts) {
    const start = parts.outageStart;
    parts.since.hidden = start === undefined;
    if (start === undefined) return;
    const seconds = Math.max(0, Math.round((Date.now() - start) / 1000));
    setText(parts.since, `Since ${words.time(start, false)} (${numbers.count(seconds)} s):`);
  }

  #show(parts, server, client) {
    const isCurrent = server.name === client.current;
    parts.node.classList.toggle("current", isCurrent);
    if (parts.node.dataset.state !== server.state) {
      parts.node.dataset.state = server.state;
      parts.sign.replaceChildren(serverStateIcon(server.state));
    }
    const state = serverStates[server.state] ?? words.plain(server.state);
    setText(parts.state, this.store.isLost ? `was ${state}` : state);
    // Without its scheme, more of the address fits beside the name. The title shows the whole URL.
    setText(parts.url, server.url.replace(/^https?:\/\//, ""));
    parts.url.title = server.url;
    parts.outageStart = server.since;
    this.#showSince(parts);
    setText(parts.words, server.words ?? "");
    parts.use.hidden = !this.store.mayControl || isCurrent;
  }
}
