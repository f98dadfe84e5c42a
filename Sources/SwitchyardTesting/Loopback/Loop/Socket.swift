#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The socket system calls of the server.
///
/// Every socket is non-blocking, closed on `exec`, and never raises SIGPIPE.
enum Socket {
    /// The result of one attempt to send or receive bytes.
    enum Transfer: Equatable {
        case moved(Int)
        case wouldBlock
        case ended
        case failed(Int32)
    }

    /// The result of one attempt to accept a connection.
    enum Acceptance {
        case connection(Int32, peerPort: UInt16)
        case none
        case outOfDescriptors
    }

    /// Opens a socket that listens on 127.0.0.1.
    ///
    /// If the port is 0, the system chooses a free port.
    static func listen(port: UInt16, backlog: Int32) throws(LoopbackError) -> (descriptor: Int32, port: UInt16) {
        let descriptor = try bound(to: port)
        do throws(LoopbackError) {
            guard setBacklog(descriptor, backlog) == 0 else {
                throw errno == EADDRINUSE ? .portInUse(port) : .system(call: "listen", code: errno)
            }
            return (descriptor, localPort(of: descriptor))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Opens a socket that is bound to a port and does not listen, or returns `nil` if the port is not available.
    static func reserve(port: UInt16) -> Int32? {
        try? bound(to: port)
    }

    private static func bound(to port: UInt16) throws(LoopbackError) -> Int32 {
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        do throws(LoopbackError) {
            try prepare(descriptor)
            try setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, Int32(1))
            try bind(descriptor, port: port)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Starts to listen, or changes the length of the accept queue.
    ///
    /// Returns 0, or -1 if the call failed.
    @discardableResult
    static func setBacklog(_ descriptor: Int32, _ length: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.listen(descriptor, length)
        #elseif canImport(Glibc)
            Glibc.listen(descriptor, length)
        #else
            Musl.listen(descriptor, length)
        #endif
    }

    /// Starts to connect to a port on 127.0.0.1, and returns the socket without waiting.
    ///
    /// Returns `nil` if no socket can be created.
    static func connect(port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { return nil }
        guard (try? prepare(descriptor)) != nil else {
            close(descriptor)
            return nil
        }
        // The result is ignored because the connection is only needed to fill the accept queue.
        withLoopbackAddress(port: port) { address, length in
            #if canImport(Darwin)
                _ = Darwin.connect(descriptor, address, length)
            #elseif canImport(Glibc)
                _ = Glibc.connect(descriptor, address, length)
            #else
                _ = Musl.connect(descriptor, address, length)
            #endif
        }
        return descriptor
    }

    /// Accepts the next connection in the accept queue.
    static func accept(on listener: Int32) -> Acceptance {
        while true {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { acceptOne(listener, $0, &length) }
            }
            if descriptor >= 0 {
                guard (try? prepare(descriptor)) != nil else {
                    close(descriptor)
                    continue
                }
                _ = try? setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
                return .connection(descriptor, peerPort: UInt16(bigEndian: address.sin_port))
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .outOfDescriptors
            default: return .none
            }
        }
    }

    /// Sends as many bytes as the system accepts without blocking.
    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
        while true {
            let count = sendBytes(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 { return .moved(count) }
            guard errno != EINTR else { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }

    /// Receives the bytes that have arrived.
    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            guard errno != EINTR else { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }

    /// Shuts down the sending side, so that the peer reads the end of the stream.
    static func finishSending(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes a connection in an orderly way, immediately.
    ///
    /// Closing the descriptor is not sufficient while a child process is being started. Until its program runs, the
    /// child has a copy of every descriptor, and a connection stays open as long as a copy is open. `shutdown` ends the
    /// connection for all copies.
    static func end(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Closes a connection with a reset, immediately.
    ///
    /// The peer gets the error "connection reset by peer". On Linux, disconnecting the socket resets the connection
    /// even if a child process has a copy of the descriptor. Other systems have no such call, so the descriptor is only
    /// closed.
    static func reset(_ descriptor: Int32) {
        _ = try? setOption(descriptor, SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        #if os(Linux) || os(Android)
            disconnect(descriptor)
        #endif
        close(descriptor)
    }

    /// Stops a listening socket immediately.
    ///
    /// The accept queue works as long as a child process has a copy of the descriptor. On Linux, `shutdown` ends the
    /// queue for all copies. On other systems, `shutdown` has no such effect, so the queue works until the last copy is
    /// closed.
    static func stopListening(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Closes a descriptor.
    static func close(_ descriptor: Int32) {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #elseif canImport(Glibc)
            _ = Glibc.close(descriptor)
        #else
            _ = Musl.close(descriptor)
        #endif
    }

    /// Returns the local port that a socket is bound to.
    static func localPort(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return result == 0 ? UInt16(bigEndian: address.sin_port) : 0
    }

    /// Makes a descriptor non-blocking and closed on `exec`.
    ///
    /// If it is a socket, also disables SIGPIPE.
    static func prepare(_ descriptor: Int32) throws(LoopbackError) {
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw .system(call: "fcntl", code: errno) }
        #if canImport(Darwin)
            try setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
        #endif
    }
}

extension Socket {
    #if canImport(Glibc)
        private static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
        private static let streamType = SOCK_STREAM
    #endif

    #if os(Linux) || os(Android)
        /// Ends the connection of a socket, with a reset if it is open (connect(2), AF_UNSPEC).
        private static func disconnect(_ descriptor: Int32) {
            var address = sockaddr()
            address.sa_family = sa_family_t(AF_UNSPEC)
            let length = socklen_t(MemoryLayout<sockaddr>.size)
            #if canImport(Glibc)
                _ = Glibc.connect(descriptor, &address, length)
            #else
                _ = Musl.connect(descriptor, &address, length)
            #endif
        }
    #endif

    private static func setOption<Value>(
        _ descriptor: Int32,
        _ level: Int32,
        _ option: Int32,
        _ value: Value
    ) throws(LoopbackError) {
        let result = withUnsafePointer(to: value) {
            setsockopt(descriptor, level, option, $0, socklen_t(MemoryLayout<Value>.size))
        }
        guard result == 0 else { throw .system(call: "setsockopt", code: errno) }
    }

    private static func bind(_ descriptor: Int32, port: UInt16) throws(LoopbackError) {
        let result = withLoopbackAddress(port: port) { address, length in
            #if canImport(Darwin)
                Darwin.bind(descriptor, address, length)
            #elseif canImport(Glibc)
                Glibc.bind(descriptor, address, length)
            #else
                Musl.bind(descriptor, address, length)
            #endif
        }
        guard result == 0 else {
            throw errno == EADDRINUSE ? .portInUse(port) : .system(call: "bind", code: errno)
        }
    }

    private static func withLoopbackAddress<Result>(
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        #if canImport(Darwin)
            address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        #endif
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func acceptOne(
        _ listener: Int32,
        _ address: UnsafeMutablePointer<sockaddr>,
        _ length: inout socklen_t
    ) -> Int32 {
        #if canImport(Darwin)
            Darwin.accept(listener, address, &length)
        #elseif canImport(Glibc)
            Glibc.accept(listener, address, &length)
        #else
            Musl.accept(listener, address, &length)
        #endif
    }

    private static func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.send(descriptor, bytes, count, 0)
        #elseif canImport(Glibc)
            Glibc.send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        #else
            Musl.send(descriptor, bytes, count, MSG_NOSIGNAL)
        #endif
    }
}
