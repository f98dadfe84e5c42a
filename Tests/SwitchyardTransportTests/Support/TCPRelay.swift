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
        init(to servers: [String], count: Int = 6) throws {
            listener = try TCPListener()
            let ports = servers.compactMap { URL(string: $0)?.port.flatMap { UInt16(exactly: $0) } }
            for _ in 0..<count {
                listener.serveAtOnce { [accepted] connection in
                    guard connection >= 0 else { return }
                    let index = accepted.withLock { count in
                        defer { count += 1 }
                        return count
                    }
                    Tunnel.lead(connection, to: ports[min(index, ports.count - 1)])
                }
            }
        }
    }
#endif
