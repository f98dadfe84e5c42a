#if os(Linux)
    import Foundation
    import SwitchyardServices

    /// A port on this machine that forwards each connection to another server.
    ///
    /// Further connections go to the last server.
    struct TCPRelay: Sendable {
        private let listener: TCPListener
        private let accepted = Locked(0)

        var url: String { "https://127.0.0.1:\(listener.port)/" }
        /// The number of accepted connections.
        var connections: Int { accepted.withLock { $0 } }

        /// Forwards up to `count` connections to the servers at these URLs, in order.
        ///
        /// - Parameters:
        ///   - servers: The URLs of the servers.
        ///   - count: The maximum number of connections.
        ///   - accepts: Called with the index of a connection before it is forwarded. If it returns `false`, the
        ///     connection is closed.
        /// - Throws: `TCPListener.Failure` if no port is free.
        init(
            to servers: [String],
            count: Int = 6,
            accepts: @escaping @Sendable (_ index: Int) -> Bool = { _ in true }
        ) throws {
            listener = try TCPListener()
            let ports = servers.compactMap { URL(string: $0)?.port.flatMap { UInt16(exactly: $0) } }
            for _ in 0..<count {
                listener.serveAtOnce { [accepted] connection in
                    guard connection >= 0 else { return }
                    let index = accepted.withLock { count in
                        defer { count += 1 }
                        return count
                    }
                    guard accepts(index) else { return }
                    Tunnel.lead(connection, to: ports[min(index, ports.count - 1)])
                }
            }
        }
    }
#endif
