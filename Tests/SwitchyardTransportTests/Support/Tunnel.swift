#if os(Linux)
    import Foundation
    import Glibc

    /// A client's request to a proxy for a tunnel to a server (CONNECT, RFC 9110 section 9.3.6).
    enum Tunnel {
        /// Responds to one CONNECT request, and forwards bytes in both directions if there is a server.
        ///
        /// - Parameters:
        ///   - connection: The client's connection.
        ///   - answer: The proxy's response.
        ///   - port: The port of the server on this machine, or `nil` for none.
        /// - Returns: The head of the client's request.
        static func serve(_ connection: Int32, answering answer: String, leadingTo port: UInt16?) -> String {
            let head = readHead(connection)
            let server = port.map(connect)
            defer { if let server { TCPListener.end(server) } }
            _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            if let server { carry(connection, server) }
            return head
        }

        /// Forwards bytes between a client and a server on this machine.
        static func lead(_ connection: Int32, to port: UInt16) {
            let server = connect(port)
            carry(connection, server)
            TCPListener.end(server)
        }

        private static func readHead(_ connection: Int32) -> String {
            var head: [UInt8] = []
            var byte: UInt8 = 0
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(connection, &byte, 1, 0) == 1 {
                head.append(byte)
            }
            return String(decoding: head, as: UTF8.self)
        }

        private static func connect(_ port: UInt16) -> Int32 {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = port.bigEndian
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            return server
        }

        /// Forwards bytes until one side closes or 30 s pass without data.
        private static func carry(_ one: Int32, _ other: Int32) {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            var watched = [one, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while poll(&watched, 2, 30_000) > 0 {
                for (from, to) in [(0, 1), (1, 0)] where watched[from].revents != 0 {
                    let count = recv(watched[from].fd, &buffer, buffer.count, 0)
                    guard count > 0, send(watched[to].fd, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
                }
            }
        }
    }
#endif
