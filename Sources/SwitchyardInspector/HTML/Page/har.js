"use strict";

/* Creates a HAR 1.2 archive from a record, with one entry for each attempt. For a live page, the server creates it. */

function makeArchive(details) {
  return {
    log: {
      version: "1.2",
      creator: { name: "Switchyard", version: "inspector 1" },
      pages: [],
      entries: details.flatMap(archiveEntries),
    },
  };
}

function archiveEntries({ call, attempts, messages }) {
  const socket = call.outcome?.status === 101 ? archiveMessages(messages ?? []) : {};
  return call.attempts.map((attempt, place) => {
    const kept = attempts.find(({ number, round }) => number === attempt.number && round === attempt.round);
    const end = attempt.end ?? call.end ?? attempt.start;
    return {
      startedDateTime: new Date(attempt.start).toISOString(),
      time: end - attempt.start,
      request: archiveRequest(attempt, kept?.request),
      response: archiveResponse(attempt, kept?.response),
      cache: {},
      timings: archiveTimings(attempt, end),
      comment: `call ${call.number}, attempt ${attempt.number} at ${attempt.server} (${attempt.kind}): `
        + words.attemptEnd(attempt),
      _call: call.id,
      _server: attempt.server,
      _kind: attempt.kind,
      ...(place === call.attempts.length - 1 ? socket : {}),
    };
  });
}

/** Returns the texts of a WebSocket in the form of Chromium's developer tools. */
function archiveMessages(messages) {
  const texts = messages.filter(({ type, text }) => type === "text" && text !== undefined);
  return { _webSocketMessages: texts.map(({ direction, time, text }) =>
    ({ type: direction === "sent" ? "send" : "receive", time: time / 1000, opcode: 1, data: text })) };
}

function archiveRequest(attempt, request) {
  const url = attempt.url;
  const query = url.includes("?") ? [...new URLSearchParams(url.slice(url.indexOf("?") + 1))] : [];
  const made = {
    method: attempt.method,
    url,
    httpVersion: attempt.protocol ?? "HTTP/1.1",
    cookies: [],
    headers: namedValues(request?.fields ?? []),
    queryString: namedValues(query),
    headersSize: -1,
    bodySize: attempt.sent ?? request?.body?.bytes ?? -1,
  };
  const text = request?.body?.text ?? request?.body?.base64;
  if (text !== undefined) {
    made.postData = { mimeType: request.body.type ?? "", text };
    if (request.body.text === undefined) made.postData._encoding = "base64";
  }
  return made;
}

function archiveResponse(attempt, response) {
  const { body } = response ?? {};
  const content = { size: body?.bytes ?? 0, mimeType: body?.type ?? "" };
  if (body?.text !== undefined) content.text = body.text;
  else if (body?.base64 !== undefined) Object.assign(content, { text: body.base64, encoding: "base64" });
  if (body?.isCut) content.comment = "only the beginning was stored";
  const location = response?.fields?.find(([name]) => name.toLowerCase() === "location")?.[1];
  return {
    status: attempt.status ?? 0,
    statusText: reasonPhrases[attempt.status] ?? "",
    httpVersion: attempt.protocol ?? "HTTP/1.1",
    cookies: [],
    headers: namedValues(response?.fields ?? []),
    content,
    redirectURL: location ?? "",
    headersSize: -1,
    bodySize: attempt.received ?? body?.bytes ?? -1,
    ...(attempt.error === undefined ? {} : { _error: attempt.error }),
  };
}

/** Returns the phases by the names of the format. TLS is part of connect, and send, wait and receive are required. */
function archiveTimings(attempt, end) {
  const took = {};
  for (const phase of attempt.phases ?? []) took[phase.name] = (phase.end ?? end) - phase.start;
  const hasConnect = took.connect !== undefined || took.tls !== undefined;
  return {
    blocked: -1,
    dns: took.lookup ?? -1,
    connect: hasConnect ? (took.connect ?? 0) + (took.tls ?? 0) : -1,
    ssl: took.tls ?? -1,
    send: took.send ?? 0,
    wait: took.wait ?? (attempt.phases?.length ? 0 : end - attempt.start),
    receive: took.receive ?? 0,
  };
}

function namedValues(pairs) {
  return pairs.map(([name, value]) => ({ name, value }));
}
