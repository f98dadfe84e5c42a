#if os(Linux)
    import Glibc

    /// Talks over a bare socket.
    enum RawHTTP {
        /// The bytes of the next request without a body; fewer when the connection ends.
        static func request(on connection: Int32) -> [UInt8] {
            var request: [UInt8] = []
            var byte: UInt8 = 0
            while request.suffix(4) != [13, 10, 13, 10], read(connection, &byte, 1) == 1 { request.append(byte) }
            return request
        }

        /// Sends a text.
        static func say(_ text: String, on connection: Int32) {
            _ = text.withCString { write(connection, $0, strlen($0)) }
        }
    }
#endif
