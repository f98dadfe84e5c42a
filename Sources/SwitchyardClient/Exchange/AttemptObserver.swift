import SwitchyardServices

/// Told about the attempts of an exchange, in the order in which they are made; must not block.
typealias AttemptObserver = @Sendable (AttemptEvent) -> Void

/// Something that happened to an attempt.
enum AttemptEvent: Sendable {
    case sent(AttemptRecord)
    case redirected(AttemptRecord, RedirectStep)
    case ended(AttemptRecord, Result<HTTPResponse, TransportError>)
}

extension Exchange {
    /// Hands a request of an attempt to the transport, and tells the observer if there is one.
    func send(
        _ request: HTTPRequest,
        of index: Int,
        to server: Server.ID?,
        at now: MonotonicTime,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        guard let observer else { return core.transport.start(request, progress: progress, completion: completion) }
        let record = AttemptRecord(number: index + 1, server: server, request: request, startedAt: now)
        observer(.sent(record))
        return core.transport.start(request, progress: progress) { result in
            observer(.ended(record, result))
            completion(result)
        }
    }
}
