#if os(Linux)
    import Glibc

    /// Reads and writes HTTP on a bare socket.
    enum RawHTTP {
        /// The bytes of the next request without a body.
        ///
        /// Fewer if the connection ends.
        static func request(on connection: Int32) -> [UInt8] {
            var request: [UInt8] = []
            var byte: UInt8 = 0
            while request.suffix(4) != [13, 10, 13, 10], Glibc.read(connection, &byte, 1) == 1 { request.append(byte) }
            return request
        }

        /// Reads `count` bytes, or fewer if the connection ends.
        static func read(_ count: Int, on connection: Int32) {
            var (left, piece) = (count, [UInt8](repeating: 0, count: 1 << 16))
            while left > 0 {
                let more = Glibc.read(connection, &piece, min(left, piece.count))
                guard more > 0 else { return }
                left -= more
            }
        }

        /// Closes the sending side, and returns when the peer's system has acknowledged it.
        ///
        /// Closing does not wait for that, and on a busy machine it takes a moment even on the loopback interface.
        static func end(_ connection: Int32) {
            shutdown(connection, Int32(SHUT_WR))
            var info = tcp_info()
            var size = socklen_t(MemoryLayout<tcp_info>.size)
            for _ in 0..<10_000 {
                guard getsockopt(connection, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0,
                    info.tcpi_state == UInt8(TCP_FIN_WAIT1)
                else { return }
                usleep(1_000)
            }
        }

        /// Sends a text.
        ///
        /// A connection that the peer has closed raises no signal.
        static func say(_ text: String, on connection: Int32) {
            _ = text.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        }
    }
#endif
