import SwitchyardHTTP
import SwitchyardServices

/// The transports for requests with a TLS configuration of their own.
///
/// Each transport is created when it is first needed.
///
/// A connection that was opened with one configuration must not be used with another configuration. Each configuration
/// therefore has a transport with its own connections. The most recently used transports are kept. A transport that is
/// removed completes its active exchanges.
final class TransportsByTLS: Sendable {
    typealias Maker = @Sendable (TLSConfiguration) throws(TransportError) -> any Transport

    /// The maximum number of transports.
    ///
    /// Eight are enough, because apps have one configuration for each kind of server, not one for each request.
    static let limit = 8

    private struct State {
        /// The transports, with the most recently used transport last.
        var kept: [(tls: TLSConfiguration, transport: any Transport)] = []
        var isClosed = false
    }

    private let make: Maker
    private let state = Locked(State())

    init(make: @escaping Maker) {
        self.make = make
    }

    /// Starts an exchange with a TLS configuration.
    ///
    /// If no transport can be created for the configuration, the exchange fails with the error of the transport's
    /// initializer.
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

    /// Returns the transport for a configuration.
    ///
    /// - Throws: The ``TransportError`` of the transport's initializer. After ``shutdown()``, the kind is
    ///   ``/SwitchyardServices/WireFailure/closed``.
    func transport(for tls: TLSConfiguration) throws(TransportError) -> any Transport {
        if let known = try use(tls) { return known }
        // The transport is created outside the lock because this reads files.
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

    /// Stores a new transport and returns it.
    ///
    /// If another thread has stored a transport for the same configuration, returns that transport.
    private func keep(_ made: any Transport, for tls: TLSConfiguration) throws(TransportError) -> any Transport {
        // The removed transport is released after the lock.
        let (transport, _) = try state.withLock { state throws(TransportError) -> (any Transport, (any Transport)?) in
            guard !state.isClosed else { throw .shutDown }
            if let first = state.kept.first(where: { $0.tls == tls }) { return (first.transport, nil) }
            state.kept.append((tls, made))
            return (made, state.kept.count > Self.limit ? state.kept.removeFirst().transport : nil)
        }
        return transport
    }

    /// Makes all transports use new connections.
    func retireConnections() {
        for entry in state.withLock({ $0.kept }) { entry.transport.retireConnections() }
    }

    /// Shuts all transports down, and allows no new transports.
    func shutdown() {
        let kept = state.withLock { state in
            state.isClosed = true
            defer { state.kept = [] }
            return state.kept
        }
        for entry in kept { entry.transport.shutdown() }
    }
}
