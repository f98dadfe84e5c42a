import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A socket that listens on 127.0.0.1, on a port that the system chooses.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    init() throws {
        let listener = socket(AF_INET, streamType, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) | listen(listener, 1024) | getsockname(listener, address, &length)
            }
        }
        guard listener >= 0, status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        descriptor = listener
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Waits for a connection and returns its descriptor, or `nil` if the socket can no longer accept connections.
    func accept() -> Int32? {
        let connection = systemAccept(descriptor)
        guard connection >= 0 else { return nil }
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
            setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return connection
    }

    #if canImport(Glibc)
        static let noSignal = Int32(MSG_NOSIGNAL)
    #else
        static let noSignal: Int32 = 0
    #endif
}

#if canImport(Glibc)
    private let streamType = Int32(SOCK_STREAM.rawValue)
    private func systemAccept(_ listener: Int32) -> Int32 { Glibc.accept(listener, nil, nil) }
#elseif canImport(Darwin)
    private let streamType = SOCK_STREAM
    private func systemAccept(_ listener: Int32) -> Int32 { Darwin.accept(listener, nil, nil) }
#endif
