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
    /// An entry without its line.
    private struct Draft {
        var level: LogLevel
        var category: LogEntry.Category
        var metadata: [String: String] = [:]
    }

    let options: LogOptions

    private var redaction: Redaction { options.redaction }

    func entry(of event: DispatchEvent) -> LogEntry? {
        var draft: Draft
        switch event.kind {
        case .dispatched(let configuration): draft = dispatched(configuration)
        case .roundBegan, .roundEnded: return nil
        case .attemptSent(let attempt): draft = sent(attempt)
        case .redirected(let attempt, let step): draft = redirected(attempt, step)
        case .attemptEnded(let attempt, let result): draft = ended(attempt, result, at: event.time)
        case .waiting: draft = Draft(level: .notice, category: .retry)
        case .ended(let result): draft = ended(result)
        }
        draft.metadata["id"] = "\(event.id)"
        draft.metadata["service"] = event.service
        draft.metadata["environment"] = event.environment.rawValue
        draft.metadata["round"] = "\(event.round)"
        return LogEntry(
            level: draft.level,
            category: draft.category,
            message: event.line(redaction),
            metadata: draft.metadata
        )
    }

    private func dispatched(_ configuration: APIConfiguration) -> Draft {
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
        return Draft(level: .debug, category: .request, metadata: metadata)
    }

    private func sent(_ attempt: AttemptRecord) -> Draft {
        var metadata = facts(of: attempt)
        if options.parts.contains(.headers) {
            metadata["headers"] = redaction.covering(attempt.request).headers(attempt.request.headers).description
        }
        if options.parts.contains(.requestBody), case .data(let data) = attempt.request.body {
            let type = attempt.request.headers["Content-Type"]
            metadata["body"] = text(redaction.body(data, contentType: type), of: data.count)
        }
        if options.parts.contains(.curl) {
            metadata["curl"] = attempt.request.curlDescription(redaction: redaction)
        }
        return Draft(level: .debug, category: .attempt, metadata: metadata)
    }

    /// The attempt is what goes on, at the URL that the answer names.
    private func redirected(_ attempt: AttemptRecord, _ step: RedirectStep) -> Draft {
        var metadata = facts(of: attempt)
        metadata["from"] = redaction.url(step.from.text)
        metadata["status"] = "\(step.status)"
        return Draft(level: .info, category: .redirect, metadata: metadata)
    }

    private func ended(
        _ attempt: AttemptRecord,
        _ result: Result<HTTPResponse, TransportError>,
        at now: MonotonicTime
    ) -> Draft {
        var metadata = facts(of: attempt)
        metadata["elapsed"] = "\(attempt.startedAt.duration(to: now))"
        switch result {
        case .failure(let error):
            metadata["error"] = error.kind.rawValue
            let level: LogLevel = error.kind == .cancelled ? .debug : .warning
            return Draft(level: level, category: .attempt, metadata: metadata)
        case .success(let response):
            metadata["status"] = "\(response.status)"
            if options.parts.contains(.headers) {
                metadata["headers"] = redaction.headers(response.headers).description
            }
            let part: LogOptions.Parts = response.status < 400 ? .answerBody : .errorBody
            if options.parts.contains(part), case .whole(let data) = response.body {
                let type = response.headers["Content-Type"]
                metadata["body"] = text(redaction.answer(data, contentType: type), of: data.count)
            }
            let level: LogLevel = response.status < 500 ? .debug : .warning
            return Draft(level: level, category: .attempt, metadata: metadata)
        }
    }

    private func ended(_ result: Result<ServiceResponse, RequestFailure>) -> Draft {
        let context = result.context
        var metadata = ["attempts": "\(context.attempts)", "elapsed": "\(context.elapsed)"]
        metadata["server"] = context.server
        metadata["method"] = context.method.name
        metadata["url"] = context.url.map { redaction.url($0.text) }
        switch result {
        case .success(let answer):
            metadata["status"] = "\(answer.status)"
            let level: LogLevel = answer.status < 400 ? .info : .warning
            return Draft(level: level, category: .request, metadata: metadata)
        case .failure(let failure):
            let level: LogLevel = failure.isCancellation ? .info : .error
            return Draft(level: level, category: .request, metadata: metadata)
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

    private func text(_ shown: Data, of count: Int) -> String {
        var part = shown.prefix(options.bodyLimit)
        // A character that the limit cuts is no reason to take text for something else.
        if part.count < shown.count { part.removeLast(part.incompleteCharacter) }
        guard let text = String(data: part, encoding: .utf8) else { return "\(count) bytes" }
        return shown.count > options.bodyLimit ? "\(text)... (\(count) bytes)" : text
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
