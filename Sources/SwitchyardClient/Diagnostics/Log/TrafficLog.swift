import Foundation
import SwitchyardServices

extension RequestInterceptor {
    /// An interceptor that writes a log of what happens to requests.
    ///
    ///     options.interceptors = [.logging(to: StandardErrorSink())]
    ///
    /// There is none unless it is added. Values of credentials are hidden before a sink sees them.
    ///
    /// - Parameters:
    ///   - sink: Takes the entries.
    ///   - options: What is written; ``LogOptions/standard`` unless given.
    /// - Returns: The interceptor.
    public static func logging(to sink: some LogSink, _ options: LogOptions = .standard) -> RequestInterceptor {
        let log = TrafficLog(options: options)
        return .observing("log") { event in
            guard let entry = log.entry(of: event), entry.level >= options.level,
                options.categories.contains(entry.category)
            else { return }
            sink.write(entry)
        }
    }
}

/// Makes entries of events.
struct TrafficLog: Sendable {
    let options: LogOptions

    private var redaction: Redaction { options.redaction }

    func entry(of event: DispatchEvent) -> LogEntry? {
        var entry: LogEntry
        switch event.kind {
        case .dispatched(let configuration): entry = dispatched(configuration)
        case .roundBegan, .roundEnded: return nil
        case .attemptSent(let attempt): entry = sent(attempt)
        case .redirected(let attempt, let step): entry = redirected(attempt, step)
        case .attemptEnded(let attempt, let result): entry = ended(attempt, result, at: event.time)
        case .waiting(let pause):
            entry = LogEntry(level: .notice, category: .retry, message: "another round in \(pause)")
        case .ended(let result): entry = ended(result)
        }
        entry.message = "\(event.id) \(entry.message.inOneLine)"
        entry.metadata["id"] = "\(event.id)"
        entry.metadata["service"] = event.service
        entry.metadata["environment"] = event.environment.rawValue
        entry.metadata["round"] = "\(event.round)"
        return entry
    }

    private func dispatched(_ configuration: APIConfiguration) -> LogEntry {
        var metadata = ["method": configuration.method.name, "path": redaction.url(configuration.path)]
        metadata["version"] = configuration.apiVersion
        if !configuration.tags.isEmpty { metadata["tags"] = configuration.tags.sorted().joined(separator: " ") }
        let parameters = configuration.query.items + configuration.parameters.items
        if !parameters.isEmpty {
            metadata["parameters"] = parameters.map { item in
                "\(item.key)=\(item.value.logText(under: item.key, redaction))"
            }
            .joined(separator: " ")
        }
        let message = "\(configuration.method.name) \(redaction.url(configuration.path)) dispatched"
        return LogEntry(level: .debug, category: .request, message: message, metadata: metadata)
    }

    private func sent(_ attempt: AttemptRecord) -> LogEntry {
        var metadata = facts(of: attempt)
        if options.parts.contains(.headers) {
            metadata["headers"] = redaction.covering(attempt.request).headers(attempt.request.headers).description
        }
        if options.parts.contains(.requestBody), case .data(let data) = attempt.request.body {
            metadata["body"] = text(data, type: attempt.request.headers["Content-Type"])
        }
        if options.parts.contains(.curl) {
            metadata["curl"] = attempt.request.curlDescription(redaction: redaction)
        }
        let message = "\(line(of: attempt)) sent to \(attempt.server ?? "another host")"
        return LogEntry(level: .debug, category: .attempt, message: message, metadata: metadata)
    }

    /// The attempt is what goes on, at the URL that the answer names.
    private func redirected(_ attempt: AttemptRecord, _ step: RedirectStep) -> LogEntry {
        let from = redaction.url(step.from.text)
        var metadata = facts(of: attempt)
        metadata["from"] = from
        metadata["status"] = "\(step.status)"
        return LogEntry(
            level: .info,
            category: .redirect,
            message: "\(from) answered \(step.status), goes on with \(line(of: attempt))",
            metadata: metadata
        )
    }

    private func ended(
        _ attempt: AttemptRecord,
        _ result: Result<HTTPResponse, TransportError>,
        at now: MonotonicTime
    ) -> LogEntry {
        var metadata = facts(of: attempt)
        metadata["elapsed"] = "\(attempt.startedAt.duration(to: now))"
        switch result {
        case .failure(let error):
            metadata["error"] = error.kind.rawValue
            let level: LogLevel = error.kind == .cancelled ? .debug : .warning
            return LogEntry(
                level: level,
                category: .attempt,
                message: "\(line(of: attempt)) failed: \(error)",
                metadata: metadata
            )
        case .success(let response):
            metadata["status"] = "\(response.status)"
            if options.parts.contains(.headers) {
                metadata["headers"] = redaction.headers(response.headers).description
            }
            let part: LogOptions.Parts = response.status < 400 ? .answerBody : .errorBody
            if options.parts.contains(part), case .whole(let data) = response.body {
                metadata["body"] = text(data, type: response.headers["Content-Type"])
            }
            return LogEntry(
                level: response.status < 500 ? .debug : .warning,
                category: .attempt,
                message: "\(line(of: attempt)) answered \(response.status)",
                metadata: metadata
            )
        }
    }

    private func ended(_ result: Result<ServiceResponse, RequestFailure>) -> LogEntry {
        let context = result.context
        var metadata = ["attempts": "\(context.attempts)", "elapsed": "\(context.elapsed)"]
        metadata["server"] = context.server
        metadata["method"] = context.method.name
        metadata["url"] = context.url.map { redaction.url($0.text) }
        switch result {
        case .success(let answer):
            metadata["status"] = "\(answer.status)"
            let level: LogLevel = answer.status < 400 ? .info : .warning
            let message = "ended with \(answer.status) after \(context.elapsed)"
            return LogEntry(level: level, category: .request, message: message, metadata: metadata)
        case .failure(let failure):
            let level: LogLevel = failure.isCancellation ? .info : .error
            return LogEntry(level: level, category: .request, message: failure.description, metadata: metadata)
        }
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

    private func line(of attempt: AttemptRecord) -> String {
        "\(attempt.request.method.name) \(redaction.url(attempt.request.url.text))"
    }

    private func text(_ data: Data, type: String?) -> String {
        let shown = redaction.body(data, contentType: type)
        var part = shown.prefix(options.bodyLimit)
        // A character that the limit cuts is no reason to take text for something else.
        if part.count < shown.count { part.removeLast(part.incompleteCharacter) }
        guard let text = String(data: part, encoding: .utf8) else { return "\(data.count) bytes" }
        return shown.count > options.bodyLimit ? "\(text)... (\(data.count) bytes)" : text
    }
}

extension String {
    /// The text with spaces for line ends, which an error of a server's making could hold.
    fileprivate var inOneLine: String {
        contains { $0.isNewline } ? String(map { $0.isNewline ? " " : $0 }) : self
    }
}

extension ParameterValue {
    /// The value of a name as a reader of a log knows it; hidden values are hidden at any depth.
    fileprivate func logText(under name: String, _ redaction: Redaction) -> String {
        guard !redaction.hides(parameter: name) else { return "***" }
        return switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value): value
        case .date(let value): "\(value)"
        case .data(let value): "\(value.count) bytes"
        case .array(let values): "[\(values.map { $0.logText(under: name, redaction) }.joined(separator: ", "))]"
        case .dictionary(let members):
            "{\(members.items.map { "\($0.key): \($0.value.logText(under: $0.key, redaction))" }.joined(separator: ", "))}"
        }
    }
}
