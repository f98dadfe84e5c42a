import Dispatch
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A plain TCP client that sends and receives exactly the bytes of a test.
///
/// Its calls block a thread of its own queue, not one of Swift's, which the server's handlers need.
final class RawSocket: Sendable {
    enum Failure: Error, Equatable {
        case refused
        case connectTimeout
        case reset
        case timeout
        case system(Int32)
        case malformed(String)
    }

    /// How the peer ended the connection.
    enum End: Equatable {
        case closed
        case reset
    }

    /// The bytes that arrived until the peer ended the connection.
    struct Rest: Equatable {
        var bytes: Data
        var end: End

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "raw-socket")

    /// Connects or throws the reason.
    init(port: UInt16, timeout: Duration = .seconds(50)) throws {
        descriptor = try Self.connect(port: port, timeout: timeout)
    }

    deinit {
        // A child process that another test starts has a copy of the descriptor until its program runs.
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        _ = closeDescriptor(descriptor)
    }

    var localPort: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Sends the whole text.
    func send(_ text: String) async throws {
        try await send(Data(text.utf8))
    }

    /// Sends all bytes.
    func send(_ bytes: Data) async throws {
        try await run { try self.sendNow(bytes) }
    }

    /// Sends as much as the connection accepts without a reader, and returns the number of bytes.
    func sendUntilBlocked(_ bytes: Data) async throws -> Int {
        try await run {
            var sent = 0
            while sent < bytes.count {
                guard self.wait(for: Int16(POLLOUT), milliseconds: 50) else { break }
                sent += try self.sendOnce(bytes[(bytes.startIndex + sent)...], flags: Int32(MSG_DONTWAIT))
            }
            return sent
        }
    }

    /// Receives at least one byte, or none if the peer has closed.
    func receive(atMost count: Int = 65_536, timeout: Duration = .seconds(50)) async throws -> Data {
        try await run { try self.receiveNow(atMost: count, timeout: timeout) }
    }

    /// Receives until the peer ends the connection.
    func receiveToEnd(timeout: Duration = .seconds(50)) async throws -> Rest {
        try await run {
            var bytes = Data()
            do {
                while true {
                    let piece = try self.receiveNow(atMost: 65_536, timeout: timeout)
                    if piece.isEmpty { return Rest(bytes: bytes, end: .closed) }
                    bytes.append(piece)
                }
            } catch Failure.reset {
                return Rest(bytes: bytes, end: .reset)
            }
        }
    }

    /// Receives exactly `count` bytes.
    func receive(exactly count: Int) async throws -> Data {
        try await run {
            var bytes = Data()
            while bytes.count < count {
                let piece = try self.receiveNow(atMost: count - bytes.count, timeout: .seconds(50))
                if piece.isEmpty { throw Failure.malformed("closed after \(bytes.count) of \(count) bytes") }
                bytes.append(piece)
            }
            return bytes
        }
    }

    /// Whether no data arrives for a short while.
    func staysSilent(for duration: Duration = .milliseconds(30)) async throws -> Bool {
        try await run { !self.wait(for: Int16(POLLIN), milliseconds: Int32(duration / .milliseconds(1))) }
    }

    /// Closes the sending side only.
    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Runs blocking work on the socket's own queue.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

// MARK: - Blocking calls

extension RawSocket {
    func sendNow(_ bytes: Data) throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = try rest.dropFirst(sendOnce(rest, flags: 0)) }
    }

    func receiveNow(atMost count: Int, timeout: Duration) throws -> Data {
        guard wait(for: Int16(POLLIN), milliseconds: Int32(timeout / .milliseconds(1))) else { throw Failure.timeout }
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &buffer, count, 0)
        guard received >= 0 else { throw errno == ECONNRESET ? Failure.reset : Failure.system(errno) }
        return Data(buffer[..<received])
    }

    private func sendOnce(_ bytes: Data, flags: Int32) throws -> Int {
        let sent = bytes.withUnsafeBytes { buffer in
            #if canImport(Darwin)
                Darwin.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #elseif canImport(Glibc)
                Glibc.send(descriptor, buffer.baseAddress, buffer.count, flags | Int32(MSG_NOSIGNAL))
            #else
                Musl.send(descriptor, buffer.baseAddress, buffer.count, flags | MSG_NOSIGNAL)
            #endif
        }
        guard sent >= 0 else { throw errno == ECONNRESET || errno == EPIPE ? Failure.reset : Failure.system(errno) }
        return sent
    }

    private func wait(for events: Int16, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private static func connect(port: UInt16, timeout: Duration) throws -> Int32 {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure.system(errno) }
        do {
            try connect(descriptor, port: port, timeout: timeout)
            return descriptor
        } catch {
            _ = closeDescriptor(descriptor)
            throw error
        }
    }

    private static func connect(_ descriptor: Int32, port: UInt16, timeout: Duration) throws {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        if startConnecting(descriptor, port: port) != 0 {
            guard errno == EINPROGRESS else { throw failure(errno) }
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&entry, 1, Int32(timeout / .milliseconds(1))) > 0 else { throw Failure.connectTimeout }
            var code: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
            guard code == 0 else { throw failure(code) }
        }
        _ = fcntl(descriptor, F_SETFL, flags)
    }

    private static func startConnecting(_ descriptor: Int32, port: UInt16) -> Int32 {
        var address = sockaddr_in()
        #if canImport(Darwin)
            address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        #endif
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #if canImport(Darwin)
                    Darwin.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                #elseif canImport(Glibc)
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                #else
                    Musl.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                #endif
            }
        }
    }

    private static func failure(_ code: Int32) -> Failure {
        switch code {
        case ECONNREFUSED: .refused
        case ECONNRESET: .reset
        default: .system(code)
        }
    }
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}
