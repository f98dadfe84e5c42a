package import SwitchyardHTTP
import SwitchyardServices

extension DispatchEvent: CustomStringConvertible {
    /// One line, as in a log: the request and what happened, with credentials hidden.
    public var description: String { line(.standard) }

    /// The line for a log, which names the request whatever happened to it.
    package func line(_ redaction: Redaction) -> String {
        let words = kind.words(redaction, round: round)
        guard !kind.namesRequest, let call else { return "\(id) \(words)" }
        return "\(id) \(call.line(redaction)): \(words)"
    }
}

extension DispatchEvent.Kind: CustomStringConvertible {
    /// What happened, in one line, with credentials hidden.
    public var description: String { words(.standard) }

    /// What happened, in one line.
    fileprivate func words(_ redaction: Redaction, round: Int? = nil) -> String {
        let roundName = round.map { "round \($0)" } ?? "round"
        let words =
            switch self {
            case .dispatched(let configuration): "\(configuration.line(redaction)) dispatched"
            case .roundBegan(let configuration): "\(roundName) begins: \(configuration.line(redaction))"
            case .attemptSent(let attempt): "\(attempt.request.line(redaction)) sent to \(attempt.place)"
            case .redirected(let attempt, let step):
                "\(redaction.url(step.from.text)) answered \(step.status), goes on with \(attempt.request.line(redaction))"
            case .attemptEnded(let attempt, .success(let response)):
                "\(attempt.request.line(redaction)) answered \(response.status)"
            case .attemptEnded(let attempt, .failure(let error)):
                "\(attempt.request.line(redaction)) failed: \(error)"
                    + (error.mayHaveBeenSent && !attempt.request.method.isSafe ? .mayHaveBeenExecuted : "")
            case .roundEnded(let result): "\(roundName): \(result.words(redaction))"
            case .waiting(let pause): "another round in \(pause)"
            case .ended(let result): result.words(redaction)
            }
        return redaction.text(words.inOneLine)
    }

    /// Whether the words begin with the request, or with all that it became: those of a redirect show only the next one.
    fileprivate var namesRequest: Bool {
        switch self {
        case .redirected, .waiting: false
        default: true
        }
    }
}

extension AttemptRecord: CustomStringConvertible {
    /// Its number, the server and the request, in one line, with credentials hidden.
    public var description: String { "attempt \(number) at \(place): \(request)" }

    fileprivate var place: String { server ?? "another host" }
}

extension Result<ServiceResponse, RequestFailure> {
    fileprivate func words(_ redaction: Redaction) -> String {
        switch self {
        case .success(let answer):
            "\(answer.context.way { redaction.url($0) }) ended with \(answer.status) after \(answer.context.elapsed)"
                + (answer.status >= 400 && answer.context.mayHaveBeenExecuted ? .mayHaveBeenExecuted : "")
        case .failure(let failure): failure.description
        }
    }
}

extension String {
    /// The text with spaces for line ends, which an error of a server's making could hold.
    fileprivate var inOneLine: String {
        contains { $0.isNewline } ? String(map { $0.isNewline ? " " : $0 }) : self
    }
}
