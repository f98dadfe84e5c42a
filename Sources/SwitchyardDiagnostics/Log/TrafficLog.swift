import Foundation
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension RequestInterceptor {
    /// Returns an interceptor that logs the events of requests.
    ///
    ///     options.interceptors = [.logging(to: StandardErrorSink())]
    ///
    /// A client logs nothing unless this interceptor is added. Credentials are hidden before the sink receives an
    /// entry.
    ///
    /// - Parameters:
    ///   - sink: The destination of the entries.
    ///   - options: The options of the log. The default is ``/SwitchyardDiagnostics/LogOptions/standard``.
    /// - Returns: The interceptor.
    public static func logging(to sink: some LogSink, _ options: LogOptions = .standard) -> RequestInterceptor {
        .observing(LogObserver(log: TrafficLog(options: options), sink: sink))
    }
}

/// An observer that writes the events of calls to a sink.
private struct LogObserver: CallObserver {
    let log: TrafficLog
    let sink: any LogSink

    func observe(_ event: DispatchEvent) {
        if let entry = log.entry(of: event) { sink.write(entry) }
    }
}

/// The log of a client: creates the log entries for the events that the options select.
struct TrafficLog: Sendable {
    let options: LogOptions

    private var redaction: Redaction { options.redaction }

    /// Returns the log entry for an event.
    ///
    /// If the options exclude the event, returns `nil` without building an entry.
    func entry(of event: DispatchEvent) -> LogEntry? {
        guard let (level, category) = Self.rank(of: event.kind), level >= options.level,
            options.categories.contains(category)
        else { return nil }
        var metadata = metadata(of: event)
        metadata["id"] = "\(event.id)"
        metadata["service"] = event.service
        metadata["environment"] = event.environment.rawValue
        metadata["round"] = "\(event.round)"
        metadata["method"] = metadata["method"] ?? event.call?.sentMethod.name
        metadata["path"] = metadata["path"] ?? event.call.map { redaction.url($0.place) }
        return LogEntry(level: level, category: category, message: event.line(redaction), metadata: metadata)
    }

    /// Returns the level and the category of an event, or `nil` if the event is never logged.
    private static func rank(of kind: DispatchEvent.Kind) -> (LogLevel, LogEntry.Category)? {
        switch kind {
        case .dispatched: (.debug, .request)
        case .roundBegan, .roundEnded: nil
        case .attemptSent: (.debug, .attempt)
        case .redirected: (.info, .redirect)
        case .attemptEnded(_, .success(let response)): (response.status < 500 ? .debug : .warning, .attempt)
        case .attemptEnded(_, .failure(let error)): (error.kind == .cancelled ? .debug : .warning, .attempt)
        case .waiting: (.notice, .retry)
        case .ended(.success(let answer)): (answer.status < 400 ? .info : .warning, .request)
        case .ended(.failure(let failure)): (failure.isCancellation ? .info : .error, .request)
        case .cachedResponseUsed: (.debug, .request)
        }
    }

    private func metadata(of event: DispatchEvent) -> [String: String] {
        switch event.kind {
        case .dispatched(let configuration): dispatched(configuration)
        case .attemptSent(let attempt): sent(attempt)
        case .redirected(let attempt, let step): redirected(attempt, step)
        case .attemptEnded(let attempt, let result): ended(attempt, result, at: event.time)
        case .ended(let result): ended(result)
        case .cachedResponseUsed(let status, _): ["status": "\(status)"]
        case .roundBegan, .roundEnded, .waiting: [:]
        }
    }

    private func dispatched(_ configuration: APIConfiguration) -> [String: String] {
        var metadata = ["method": configuration.sentMethod.name, "path": redaction.url(configuration.place)]
        metadata["version"] = configuration.apiVersion
        if !configuration.tags.isEmpty { metadata["tags"] = configuration.tags.sorted().joined(separator: " ") }
        let parameters = configuration.query.items + configuration.parameters.items
        if !parameters.isEmpty {
            metadata["parameters"] = parameters.map { item in
                "\(item.key)=\(item.value.logText(under: item.key, redaction))"
            }
            .joined(separator: " ")
        }
        return metadata
    }

    private func sent(_ attempt: AttemptRecord) -> [String: String] {
        var metadata = facts(of: attempt)
        if options.parts.contains(.headers) {
            metadata["headers"] = redaction.covering(attempt.request).headers(attempt.request.headers).description
        }
        if options.parts.contains(.requestBody), case .data(let data) = attempt.request.body {
            let type = attempt.request.headers["Content-Type"]
            metadata["body"] = text(of: data) { redaction.body($0, contentType: type) }
        }
        if options.parts.contains(.curl) {
            metadata["curl"] = attempt.request.curlDescription(redaction: redaction)
        }
        return metadata
    }

    /// Returns the metadata of a redirect.
    ///
    /// `from` is the URL that redirected, and `url` is the URL at which the attempt continues.
    private func redirected(_ attempt: AttemptRecord, _ step: RedirectStep) -> [String: String] {
        var metadata = facts(of: attempt)
        metadata["from"] = redaction.url(step.from.text)
        metadata["status"] = "\(step.status)"
        return metadata
    }

    private func ended(
        _ attempt: AttemptRecord,
        _ result: Result<HTTPResponse, TransportError>,
        at now: MonotonicTime
    ) -> [String: String] {
        var metadata = facts(of: attempt)
        metadata["elapsed"] = "\(attempt.startedAt.duration(to: now))"
        switch result {
        case .failure(let error):
            metadata["error"] = error.kind.rawValue
        case .success(let response):
            metadata["status"] = "\(response.status)"
            if options.parts.contains(.headers) {
                metadata["headers"] = redaction.headers(response.headers).description
            }
            let part: LogOptions.Parts = response.status < 400 ? .responseBody : .errorBody
            if options.parts.contains(part), case .whole(let data) = response.body {
                let type = response.headers["Content-Type"]
                metadata["body"] = text(of: data) { redaction.answer($0, contentType: type) }
            }
        }
        return metadata
    }

    private func ended(_ result: Result<ServiceResponse, RequestFailure>) -> [String: String] {
        let context = result.context
        var metadata = ["attempts": "\(context.attempts)", "elapsed": "\(context.elapsed)"]
        metadata["server"] = context.server
        if context.attempts > 1 {
            metadata["history"] = context.history.attempts.map(\.description).joined(separator: "; ")
        }
        metadata["method"] = context.method.name
        metadata["url"] = context.url.map { redaction.url($0.text) }
        switch result {
        case .success(let answer):
            metadata["status"] = "\(answer.status)"
            if context.mayHaveBeenExecuted, answer.status >= 400 { metadata["mayHaveBeenExecuted"] = "true" }
        case .failure(let failure):
            if failure.mayHaveBeenExecuted { metadata["mayHaveBeenExecuted"] = "true" }
        }
        return metadata
    }

    private func facts(of attempt: AttemptRecord) -> [String: String] {
        var metadata = [
            "attempt": "\(attempt.number)",
            "method": attempt.request.method.name,
            "url": redaction.url(attempt.request.url.text),
        ]
        metadata["server"] = attempt.server
        return metadata
    }

    /// Returns the beginning of a body as text.
    ///
    /// Only the part that can be shown and the 65,536 bytes after it (the assumed maximum length of an access token)
    /// are searched for secrets.
    private func text(of body: Data, hiding: (Data) -> Data) -> String {
        let seen = Self.prefix(of: body, options.bodyLimit.addingReportingOverflow(65_536).partialValue)
        let shown = hiding(seen)
        let part = Self.prefix(of: shown, options.bodyLimit)
        guard let text = String(data: part, encoding: .utf8) else { return "\(body.count) bytes" }
        return part.count < shown.count || seen.count < body.count ? "\(text)... (\(body.count) bytes)" : text
    }

    /// Returns the first bytes of the data, up to the limit.
    ///
    /// A character that the limit would cut is left out, so that the prefix of a text is valid UTF-8.
    private static func prefix(of data: Data, _ limit: Int) -> Data {
        guard limit >= 0, limit < data.count else { return data }
        var part = data.prefix(limit)
        part.removeLast(part.incompleteCharacter)
        return part
    }
}

extension ParameterValue {
    /// Returns the value of the parameter `name` in a readable form.
    ///
    /// Values that must be hidden are replaced at any depth.
    fileprivate func logText(under name: String, _ redaction: Redaction) -> String {
        guard !redaction.hides(parameter: name) else { return "***" }
        return switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value): redaction.text(value)
        // Foundation on Linux traps when it formats a date that is NaN.
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN ? "nan" : "\(value)"
        case .data(let value): "\(value.count) bytes"
        case .array(let values): "[\(values.map { $0.logText(under: name, redaction) }.joined(separator: ", "))]"
        case .dictionary(let members):
            "{\(members.items.map { "\($0.key): \($0.value.logText(under: $0.key, redaction))" }.joined(separator: ", "))}"
        }
    }
}
