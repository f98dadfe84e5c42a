"use strict";

/* Calls, attempts and servers in words: what a reader sees of the data stands in this one place. */

/** What can be special about a call, in the order in which marks stand in a row. Letters differ, and so do frames. */
const callMarks = [
  { kind: "failover", letter: "F", name: "failover", text: "failed over: another server was asked because one failed" },
  { kind: "hedge", letter: "H", name: "hedge", text: "hedged: a second server was asked beside a slow one" },
  { kind: "retry", letter: "R", name: "retry", text: "tried again, as a rule after a wait" },
  { kind: "refresh", letter: "N", name: "refresh", text: "sent again with refreshed credentials" },
  { kind: "redirect", letter: "↪", name: "redirect", text: "redirected to another address" },
  { kind: "cache", letter: "C", name: "from a cache", text: "answered from a cache" },
  { kind: "shared", letter: "S", name: "shared", text: "shared the answer of an equal call that was under way" },
  { kind: "executed", letter: "!", name: "may have been executed",
    text: "failed, yet the server may have executed it: look before it is sent again" },
];

const markOfKind = Object.fromEntries(callMarks.map((mark) => [mark.kind, mark]));

const phaseWords = {
  lookup: "lookup",
  connect: "connect",
  tls: "TLS",
  send: "send",
  wait: "wait",
  receive: "receive",
};

const serverStates = {
  inUse: "in use",
  standby: "standing by",
  ejected: "ejected",
  probing: "probing",
  offline: "offline",
};

const eventWords = {
  switch: "switch",
  ejection: "ejection",
  probe: "probe",
  recovery: "recovery",
  environment: "environment",
  other: "event",
};

const reasonPhrases = {
  200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently",
  302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
  400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
  408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
  415: "Unsupported Media Type", 422: "Unprocessable Content", 429: "Too Many Requests",
  500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
};

const words = {
  /** A name out of code as words: connectionRefused is "connection refused". */
  plain(name) {
    return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  },

  /** 404 Not Found. */
  status(code) {
    return reasonPhrases[code] ? `${code} ${reasonPhrases[code]}` : `${code}`;
  },

  /** The time of day, to the millisecond or the second. */
  time(moment, isExact = true) {
    const date = new Date(moment);
    const two = (value) => `${value}`.padStart(2, "0");
    const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    return isExact ? `${clock}.${`${date.getMilliseconds()}`.padStart(3, "0")}` : clock;
  },

  /** 812 B, 3.4 kB, 1.2 MB. */
  bytes(count) {
    if (count < 1000) return `${count} B`;
    if (count < 1e6) return `${(count / 1e3).toFixed(1)} kB`;
    return `${(count / 1e6).toFixed(1)} MB`;
  },

  some(count, one, many = `${one}s`) {
    return `${numbers.count(count)} ${count === 1 ? one : many}`;
  },

  /** How a call ended, briefly. */
  outcome(outcome) {
    if (!outcome) return "running";
    if (outcome.error === undefined) return `${outcome.status}`;
    return outcome.status ? `${words.plain(outcome.error)} (${outcome.status})` : words.plain(outcome.error);
  },

  /** How a call ended, in full. */
  fullOutcome(outcome) {
    if (!outcome) return "Still running.";
    if (outcome.error === undefined) return words.status(outcome.status);
    return outcome.words ?? words.outcome(outcome);
  },

  /** How an attempt ended: 200, connection refused, cut off. */
  attemptEnd(attempt) {
    if (attempt.isCut) return "cut off";
    if (attempt.error !== undefined) {
      return words.plain(attempt.error) + (attempt.status ? ` (${attempt.status})` : "");
    }
    if (attempt.status !== undefined) return words.status(attempt.status);
    return attempt.end === undefined ? "running" : "ended";
  },

  /** What became of a call as a sentence: who was asked, and why. */
  story(call) {
    const parts = call.attempts.map((attempt) => {
      const lead = {
        failover: `failed over to ${attempt.server}`,
        hedge: `hedged with ${attempt.server}`,
        retry: `tried ${attempt.server} again`,
        refresh: `refreshed the credentials and asked ${attempt.server} again`,
      }[attempt.kind] ?? `asked ${attempt.server}`;
      const took = attempt.end === undefined ? "" : ` after ${numbers.wait(attempt.end - attempt.start)}`;
      return `${lead}: ${words.attemptEnd(attempt)}${took}`;
    });
    if (call.from === "shared") parts.push("shared the answer of an equal call");
    else if (call.from && call.from !== "network") parts.push(`answered from the ${call.from}`);
    const text = parts.join("; ");
    return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "Nothing was sent yet.";
  },
};
