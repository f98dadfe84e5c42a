#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardFixtures

    /// A bare socket that listens on 127.0.0.1, for servers with a protocol other than HTTP.
    ///
    /// Its port is an ``UnchosenPort``, because a listener that serves one connection fails if a client of another test
    /// connects first.
    final class TCPListener: Sendable {
        struct Failure: Error {
            let code: Int32
        }

        let port: UInt16
        private let descriptor: Int32

        init() throws {
            // A command that another test starts must not inherit the socket, and with it the port.
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            // Waiting for a client ends after 30 seconds.
            var timeout = timeval(tv_sec: 30, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            port = try UnchosenPort.first { [descriptor] port in
                if Self.bind(descriptor, to: port) { return port }
                guard errno == EADDRINUSE else { throw Failure(code: errno) }
                return nil
            }
            guard listen(descriptor, 64) == 0 else { throw Failure(code: errno) }
        }

        private static func bind(_ descriptor: Int32, to port: UInt16) -> Bool {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = port.bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }

        deinit {
            Self.end(descriptor)
        }

        /// Closes a socket although a child process that another test starts has a copy of the descriptor.
        static func end(_ descriptor: Int32) {
            shutdown(descriptor, Int32(SHUT_RDWR))
            Glibc.close(descriptor)
        }

        /// Serves one connection on its own thread, which starts immediately, and then closes the connection.
        ///
        /// - Parameter serve: Serves the connection with the given descriptor.
        func serveAtOnce(_ serve: @escaping @Sendable (Int32) -> Void) {
            Thread.detachNewThread { [self] in
                let connection = acceptConnection()
                serve(connection)
                Self.end(connection)
            }
        }

        /// Waits for a connection.
        ///
        /// On a socket with a timeout, the wait ends with `EINTR` when a stopped process continues.
        private func acceptConnection() -> Int32 {
            var connection: Int32
            repeat { connection = accept(descriptor, nil, nil) } while connection < 0 && errno == EINTR
            return connection
        }

        /// Serves one connection on its own thread, and then closes it.
        ///
        /// - Parameter serve: Serves the connection with the given descriptor.
        /// - Returns: The result of `serve`.
        func serveOne<Value: Sendable>(_ serve: @escaping @Sendable (Int32) -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    let connection = acceptConnection()
                    let value = serve(connection)
                    Self.end(connection)
                    continuation.resume(returning: value)
                }
            }
        }
    }
#endif
