#if os(Linux)
    import Foundation
    import Glibc

    /// A bare socket that listens on 127.0.0.1, for servers with a protocol other than HTTP.
    final class TCPListener: Sendable {
        struct Failure: Error {
            let code: Int32
        }

        let port: UInt16
        private let descriptor: Int32

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, size) | listen(listener, 4) | getsockname(listener, $0, &size)
                }
            }
            // Waiting for a client ends after a while.
            var patience = timeval(tv_sec: 30, tv_usec: 0)
            setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            descriptor = listener
            port = UInt16(bigEndian: address.sin_port)
            guard status == 0 else { throw Failure(code: errno) }
        }

        deinit {
            Glibc.close(descriptor)
        }

        /// Serves one connection on its own thread, which starts at once, and then closes the connection.
        ///
        /// - Parameter serve: Serves the connection with the given descriptor.
        func serveAtOnce(_ serve: @escaping @Sendable (Int32) -> Void) {
            Thread.detachNewThread { [self] in
                let connection = accept(descriptor, nil, nil)
                serve(connection)
                Glibc.close(connection)
            }
        }

        /// Serves one connection on its own thread, and then closes it.
        ///
        /// - Parameter serve: Serves the connection with the given descriptor.
        /// - Returns: The result of `serve`.
        func serveOne<Value: Sendable>(_ serve: @escaping @Sendable (Int32) -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    let connection = accept(descriptor, nil, nil)
                    let value = serve(connection)
                    Glibc.close(connection)
                    continuation.resume(returning: value)
                }
            }
        }
    }
#endif
