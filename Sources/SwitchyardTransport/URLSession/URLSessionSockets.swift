import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// The WebSocket connections of a transport, each with a session of its own.
final class URLSessionSockets: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any TransportTask] = [:]
        var isClosed = false
    }

    private let state = Locked(State())

    #if canImport(Darwin)
        /// Stores a connection until ``remove(_:)``.
        ///
        /// Returns `false` after ``close()``.
        func add(_ socket: some TransportTask & AnyObject) -> Bool {
            state.withLock { state in
                guard !state.isClosed else { return false }
                state.open[ObjectIdentifier(socket)] = socket
                return true
            }
        }

        func remove(_ id: ObjectIdentifier) {
            // The connection is released after the lock.
            _ = state.withLock { $0.open.removeValue(forKey: id) }
        }
    #endif

    /// Ends all connections, and allows no new connections.
    func close() {
        let open = state.withLock { state in
            state.isClosed = true
            defer { state.open = [:] }
            return state.open
        }
        for socket in open.values { socket.cancel() }
    }
}

extension URLSessionTransport {
    /// Opens a WebSocket connection.
    ///
    /// `URLSession` supports no other protocol besides HTTP.
    func openConnection(
        _ request: HTTPRequest,
        _ completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        #if canImport(Darwin)
            do throws(TransportError) {
                try configuration.tls.check(request.url)
                let trust = try URLSessionTrust(configuration.tls)
                let form = try URLSessionSocketForm(request)
                let socket = URLSessionSocket(form, settings: Self.settings(configuration), trust, completion)
                guard sockets.add(socket) else { throw .shutDown }
                socket.start { [sockets] in sockets.remove($0) }
                return socket
            } catch {
                return RefusedExchange(error, completion: completion)
            }
        #else
            let message = "URLSession does not support WebSockets on this system: use CurlTransport"
            return RefusedExchange(
                TransportError(.unsupported, message: message, mayHaveBeenSent: false),
                completion: completion
            )
        #endif
    }
}
