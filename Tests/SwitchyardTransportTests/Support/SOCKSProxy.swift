#if os(Linux)
    import Foundation
    import Glibc

    /// A client's request to a SOCKS 5 (RFC 1928, RFC 1929) or 4a proxy, which responds in place of the server.
    struct SOCKSRequest: Sendable {
        /// The requested host and port, or `nil` if the host is not given by name.
        var target: String?
        /// The user and password, if they are required.
        var credentials: String?

        /// Serves one client, and finally sends it `answer`.
        ///
        /// `code` is the reply (RFC 1928 section 6). The value 0 grants the request.
        static func serve(
            _ connection: Int32,
            answering answer: String,
            wantsCredentials: Bool,
            reply code: UInt8 = 0
        ) -> SOCKSRequest {
            var request = SOCKSRequest()
            guard let greeting = receive(connection, 2) else { return request }
            _ = receive(connection, Int(greeting[1]))
            reply(connection, [5, wantsCredentials ? 2 : 0])
            if wantsCredentials {
                guard receive(connection, 1) != nil, let user = text(connection), let password = text(connection)
                else { return request }
                request.credentials = "\(user) \(password)"
                reply(connection, [1, 0])
            }
            // CONNECT to a name. Any other kind of address would mean that the client has resolved the name.
            guard let head = receive(connection, 4), head[3] == 3, let host = text(connection),
                let port = receive(connection, 2)
            else { return request }
            request.target = "\(host):\(Int(port[0]) << 8 | Int(port[1]))"
            reply(connection, [5, code, 0, 1, 0, 0, 0, 0, 0, 0])
            guard code == 0 else { return request }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            _ = read(connection, &buffer, buffer.count)
            reply(connection, Array(answer.utf8))
            return request
        }

        /// Serves one client with SOCKS 4a, and finally sends it `answer`.
        ///
        /// - Returns: The requested host and port, or `nil` if the host is not given by name.
        static func serveVersion4(_ connection: Int32, answering answer: String, reply code: UInt8 = 90) -> String? {
            guard let head = receive(connection, 8), head[..<2] == [4, 1], head[4..<7] == [0, 0, 0], head[7] != 0,
                terminatedText(connection) != nil, let host = terminatedText(connection)
            else { return nil }
            reply(connection, [0, code, 0, 0, 0, 0, 0, 0])
            guard code == 90 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            _ = read(connection, &buffer, buffer.count)
            reply(connection, Array(answer.utf8))
            return "\(host):\(Int(head[2]) << 8 | Int(head[3]))"
        }

        /// Text that is terminated by a zero.
        private static func terminatedText(_ connection: Int32) -> String? {
            var bytes: [UInt8] = []
            while let byte = receive(connection, 1)?.first {
                guard byte != 0 else { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(byte)
            }
            return nil
        }

        /// Text that is prefixed with its length.
        private static func text(_ connection: Int32) -> String? {
            guard let length = receive(connection, 1), let bytes = receive(connection, Int(length[0])) else {
                return nil
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        private static func receive(_ connection: Int32, _ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return recv(connection, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
        }

        private static func reply(_ connection: Int32, _ bytes: [UInt8]) {
            _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }
#endif
