import Switchyard

extension Violation: CustomStringConvertible {
    /// A description of the violation, with the requests of the call.
    var description: String {
        guard let call else { return "\(group): \(figures)" }
        let references = [("first server", call.byFirst), ("preferred server", call.byCurrent)].map { name, reference in
            "\(name) s\(reference.server): \(reference.reply)" + (reference.status == nil ? ", not in time" : "")
        }
        return (["\(group): \(call)"] + references + call.sendings.map { "sent \($0)" }).joined(separator: "\n    ")
    }
}

extension PlayedCall: CustomStringConvertible {
    /// A description of the call and its result.
    var description: String {
        let end: String =
            switch outcome {
            case .answered(let status): "response \(status)"
            case .failed(let reason): "\(reason)"
            case nil: "not completed"
            }
        return "call \(number), \(kind.rawValue) e\(endpoint), \(priority), at \(time.inWords), "
            + "deadline \(deadline.inWords): \(end) after \((endTime - time).inWords)"
    }
}

extension TrafficRecord.Sending: CustomStringConvertible {
    /// A description of the request.
    var description: String {
        let ending = end.map { "\($0) at \(endTime.inWords)" } ?? "not completed"
        return "to s\(server) at \(time.inWords) (\(role.rawValue)): \(ending)"
    }
}

extension ServerReply: CustomStringConvertible {
    /// A description of the reply.
    var description: String { delay == .infinity ? "\(end)" : "\(end) after \(delay.inWords)" }
}

extension ServerReply.End: CustomStringConvertible {
    /// A description of the end.
    var description: String {
        switch self {
        case .answer(let status, let pause): "\(status)" + (pause.map { " (Retry-After \($0))" } ?? "")
        case .failure(let kind, let wasSent): kind.rawValue + (wasSent ? "" : ", not sent")
        case .silence(let isConnected): isConnected ? "silence" : "no connection"
        }
    }
}
