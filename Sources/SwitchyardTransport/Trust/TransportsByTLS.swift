import SwitchyardHTTP
import SwitchyardServices

/// The transports of requests that have a TLS configuration of their own, made when one is first needed.
///
/// A connection that was made under one configuration is never used under another, so each has a transport with
/// connections of its own. The few that were used last are kept; one that gives way ends what it has begun.
final class TransportsByTLS: Sendable {
    typealias Maker = @Sendable (TLSConfiguration) throws(TransportError) -> any Transport

    /// So many are kept; apps have one configuration for each kind of server, not one for each request.
    static let limit = 8

    private struct State {
        /// The one used last stands last.
        var kept: [(tls: TLSConfiguration, transport: any Transport)] = []
        var isClosed = false
    }

    private let make: Maker
    private let state = Locked(State())

    init(make: @escaping Maker) {
        self.make = make
    }

    /// Starts an exchange under a configuration; one for which there is no transport fails with what its initialiser
    /// throws.
    func start(
        _ request: HTTPRequest,
        _ tls: TLSConfiguration,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        do throws(TransportError) {
            return try transport(for: tls).start(request, progress: progress, completion: completion)
        } catch {
            return RefusedExchange(error, completion: completion)
        }
    }

    /// The transport of a configuration.
    ///
    /// - Throws: ``TransportError`` as the transport's initialiser does, and with ``TransportError/Kind/closed`` after
    ///   ``shutdown()``.
    func transport(for tls: TLSConfiguration) throws(TransportError) -> any Transport {
        if let known = try use(tls) { return known }
        // Not under the lock: files are read.
        let made = try make(tls)
        return try keep(made, for: tls)
    }

    private func use(_ tls: TLSConfiguration) throws(TransportError) -> (any Transport)? {
        try state.withLock { state throws(TransportError) in
            guard !state.isClosed else { throw .shutDown }
            guard let place = state.kept.firstIndex(where: { $0.tls == tls }) else { return nil }
            let entry = state.kept.remove(at: place)
            state.kept.append(entry)
            return entry.transport
        }
    }

    /// Keeps a new transport, unless another thread was first.
    private func keep(_ made: any Transport, for tls: TLSConfiguration) throws(TransportError) -> any Transport {
        // What gives way is released behind the lock.
        let (transport, _) = try state.withLock { state throws(TransportError) -> (any Transport, (any Transport)?) in
            guard !state.isClosed else { throw .shutDown }
            if let first = state.kept.first(where: { $0.tls == tls }) { return (first.transport, nil) }
            state.kept.append((tls, made))
            return (made, state.kept.count > Self.limit ? state.kept.removeFirst().transport : nil)
        }
        return transport
    }

    /// Has them all go on with new connections.
    func retireConnections() {
        for entry in state.withLock({ $0.kept }) { entry.transport.retireConnections() }
    }

    /// Ends them all, and lets no other begin.
    func shutdown() {
        let kept = state.withLock { state in
            state.isClosed = true
            defer { state.kept = [] }
            return state.kept
        }
        for entry in kept { entry.transport.shutdown() }
    }
}
