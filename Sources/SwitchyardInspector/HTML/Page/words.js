"use strict";

/* The texts for calls, attempts and servers. */

/** The marks of calls in the order in which a row shows them. Each mark has its own letter and its own frame. */
const callMarks = [
  { kind: "failover", letter: "F", name: "failover",
    text: "failed over: the request went to another server because one failed" },
  { kind: "hedge", letter: "H", name: "hedge",
    text: "hedged: the request also went to a second server because one was slow" },
  { kind: "retry", letter: "R", name: "retry", text: "retried, usually after a wait" },
  { kind: "refresh", letter: "N", name: "refresh", text: "sent again with refreshed credentials" },
  { kind: "redirect", letter: "↪", name: "redirect", text: "redirected to another URL" },
  { kind: "cache", letter: "C", name: "from a cache", text: "served from a cache" },
  { kind: "stream", letter: "M", name: "messages",
    text: "opened an event stream or a WebSocket, whose messages are shown in the call" },
  { kind: "shared", letter: "S", name: "shared", text: "shared the response of an identical call in flight" },
  { kind: "executed", letter: "!", name: "may have been executed",
    text: "failed, but the server may have executed it: check before you send it again" },
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

/** The words for the next attempt. Any other event after an attempt is the reason why there was no failover. */
const nextWords = {
  "first attempt": "then the first attempt",
  "next server": "then the next server",
  "hedge": "then a hedge",
  "retry": "then a retry",
  "sent again with another credential": "then sent again with another credential",
};

const serverStates = {
  inUse: "in use",
  standby: "on standby",
  ejected: "out of service",
  probing: "on trial",
  offline: "offline",
};

const eventWords = {
  switch: "switch",
  ejection: "out of service",
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
  /** Converts a name from code to words: connectionRefused becomes "connection refused". */
  plain(name) {
    return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  },

  /** Formats a status: 404 Not Found. */
  status(code) {
    return reasonPhrases[code] ? `${code} ${reasonPhrases[code]}` : `${code}`;
  },

  /** Formats a time of day, to the millisecond or the second. */
  time(moment, isExact = true) {
    const date = new Date(moment);
    const two = (value) => `${value}`.padStart(2, "0");
    const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    return isExact ? `${clock}.${`${date.getMilliseconds()}`.padStart(3, "0")}` : clock;
  },

  /** Formats a size: 812 B, 3.4 kB, 1.2 MB. */
  bytes(count) {
    if (count < 1000) return `${count} B`;
    if (count < 1e6) return `${(count / 1e3).toFixed(1)} kB`;
    return `${(count / 1e6).toFixed(1)} MB`;
  },

  /** Shortens a media type: json, png, event-stream. */
  type(type) {
    return type ? type.slice(type.indexOf("/") + 1).replace(/^x-|^vnd\.(?=.*\+)/, "").replace(/^.*\+/, "") : "–";
  },

  some(count, one, many = `${one}s`) {
    return `${numbers.count(count)} ${count === 1 ? one : many}`;
  },

  /** Describes the messages of a stream: 12 received, 3 sent, 1.2 kB, open. */
  stream({ received, sent, bytes, end }) {
    const parts = [`${numbers.count(received)} received`, sent > 0 ? `${numbers.count(sent)} sent` : null,
      words.bytes(bytes), end === undefined ? "open" : "ended"];
    return parts.filter(Boolean).join(", ");
  },

  /** Counts failed calls, and names request errors, which are not the fault of a server: 4 failed (1 request error: 404). */
  failures(entries) {
    const failed = entries.filter(({ hasFailed }) => hasFailed);
    const own = failed.filter(({ call }) => call.outcome?.isRequestError);
    const kinds = [...new Set(own.map(({ call }) => words.outcome(call.outcome)))];
    const text = `${numbers.count(failed.length)} failed`;
    if (own.length === 0) return text;
    const count = own.length === failed.length && own.length === 1 ? "request error" : words.some(own.length, "request error");
    return `${text} (${count}${kinds.length === 1 ? `: ${kinds[0]}` : ""})`;
  },

  /** Returns a short description of an outcome. */
  outcome(outcome) {
    if (!outcome) return "running";
    if (outcome.error === undefined) return `${outcome.status}`;
    return outcome.status ? `${words.plain(outcome.error)} (${outcome.status})` : words.plain(outcome.error);
  },

  /** Returns a full description of an outcome. */
  fullOutcome(outcome) {
    if (!outcome) return "Still running.";
    if (outcome.error === undefined) return words.status(outcome.status);
    return outcome.words ?? words.outcome(outcome);
  },

  /** Returns a full description of the outcome of a call, with the reason why a failed call went to no other server. */
  whole(call) {
    const last = call.attempts[call.attempts.length - 1];
    const reason = call.outcome && last?.next && !nextWords[last.next] ? ` (${words.next(last)})` : "";
    return `${words.fullOutcome(call.outcome)}${reason}`;
  },

  /** Returns a description of the end of an attempt: 200, connection refused, cancelled. */
  attemptEnd(attempt) {
    if (attempt.isCut) return "cancelled";
    if (attempt.error !== undefined) {
      return words.plain(attempt.error) + (attempt.status ? ` (${attempt.status})` : "");
    }
    if (attempt.status !== undefined) return words.status(attempt.status);
    return attempt.end === undefined ? "running" : "completed";
  },

  /** Returns the event that followed an attempt: then the next server, no failover: no server left. */
  next({ next }) {
    return next ? nextWords[next] ?? `no failover: ${next}` : "";
  },

  /** Returns a sentence about a call: the servers that received a request, and the reasons. */
  story(call) {
    const parts = call.attempts.map((attempt) => {
      const lead = {
        failover: `failed over to ${attempt.server}`,
        hedge: `hedged with ${attempt.server}`,
        retry: `retried ${attempt.server}`,
        refresh: `refreshed the credentials and sent the request to ${attempt.server} again`,
      }[attempt.kind] ?? `sent the request to ${attempt.server}`;
      const took = attempt.end === undefined ? "" : ` after ${numbers.wait(attempt.end - attempt.start)}`;
      return `${lead}: ${words.attemptEnd(attempt)}${took}`;
    });
    const last = call.attempts[call.attempts.length - 1];
    if (last?.next && !nextWords[last.next]) parts.push(words.next(last));
    if (call.from === "shared") parts.push("shared the response of an identical call");
    else if (call.from && call.from !== "network") parts.push(`served from the ${call.from}`);
    const text = parts.join("; ");
    return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "No request was sent yet.";
  },
};
