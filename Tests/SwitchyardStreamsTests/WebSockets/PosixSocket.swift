import Foundation
import SwitchyardFixtures

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Blocking POSIX sockets for test servers with one thread per connection.
enum PosixSocket {
    struct Failure: Error {
        var call: String
        var code: Int32
    }

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// Listens on a port, or on an ``UnchosenPort`` if the port is 0.
    static func listen(port: UInt16) throws -> (Int32, UInt16) {
        guard port == 0 else { return (try bound(to: port), port) }
        return try UnchosenPort.first { port in
            do throws(Failure) {
                return (try bound(to: port), port)
            } catch {
                guard error.code == EADDRINUSE else { throw error }
                return nil
            }
        }
    }

    private static func bound(to port: UInt16) throws(Failure) -> Int32 {
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
        guard isBound, systemListen(descriptor) == 0 else {
            let code = errno
            shutdownAndClose(descriptor)
            throw Failure(call: "bind", code: code)
        }
        return descriptor
    }

    /// The next connection; `nil` if the listener is closed.
    static func accept(_ listener: Int32) -> Int32? {
        while true {
            let descriptor = systemAccept(listener)
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        var position = 0
        while position < bytes.count {
            let count = bytes[position...].withUnsafeBytes { bytes in
                #if canImport(Darwin)
                    send(descriptor, bytes.baseAddress, bytes.count, 0)
                #else
                    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            position += count
        }
        return true
    }

    /// The next bytes, which are empty at the end of the stream; `nil` if the connection is broken.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count < 0, errno == EINTR { continue }
            return count < 0 ? nil : Array(bytes.prefix(count))
        }
    }

    static func shutdown(_ descriptor: Int32) {
        systemShutdown(descriptor, Int32(SHUT_RDWR))
    }

    static func shutdownAndClose(_ descriptor: Int32) {
        shutdown(descriptor)
        close(descriptor)
    }

    /// Closes a connection with a reset, and leaves the descriptor open.
    ///
    /// Another thread may still use the descriptor, so its number must not be given to a connection of another test.
    static func reset(_ descriptor: Int32) {
        var off = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &off, socklen_t(MemoryLayout<linger>.size))
        // Only a shutdown wakes a thread that is blocked in a read.
        systemShutdown(descriptor, Int32(SHUT_RD))
        let substitute = open("/dev/null", O_RDWR | O_CLOEXEC)
        if dup2(substitute, descriptor) == descriptor { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        close(substitute)
    }

    static func close(_ descriptor: Int32) {
        systemClose(descriptor)
    }
}

private func systemListen(_ descriptor: Int32) -> Int32 { listen(descriptor, 128) }
private func systemAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
private func systemShutdown(_ descriptor: Int32, _ how: Int32) { _ = shutdown(descriptor, how) }
