import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server that answers every request with the same bytes and does nothing else, so that it is never the slow side.
///
/// It runs in a process of its own: the CPU time of the measured process is then the client's alone.
struct BareServer {
    private let answer: [UInt8]
    private let listener: Int32
    /// The port it listens on.
    let port: UInt16

    init(body: String) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        answer = Array((head + body).utf8)
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
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Serves until standard input ends, which it does when the parent process goes.
    func run() {
        var polled = [
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0), pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while poll(&polled, nfds_t(polled.count), -1) >= 0 {
            if polled[1].revents != 0 { return }
            if polled[0].revents != 0 { accept(into: &polled) }
            for index in polled.indices.dropFirst(2).reversed() where polled[index].revents != 0 {
                if !answerRequests(on: polled[index].fd, using: &buffer) {
                    close(polled[index].fd)
                    polled.swapAt(index, polled.count - 1)
                    polled.removeLast()
                }
            }
        }
    }

    private func accept(into polled: inout [pollfd]) {
        let connection = systemAccept(listener)
        guard connection >= 0 else { return }
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        polled.append(pollfd(fd: connection, events: Int16(POLLIN), revents: 0))
    }

    /// Answers each request that has arrived; `false` when the connection is to be closed.
    private func answerRequests(on connection: Int32, using buffer: inout [UInt8]) -> Bool {
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        // Requests of a benchmark are small and have no body: each arrives whole and ends with an empty line.
        guard buffer[count - 1] == UInt8(ascii: "\n") else { return true }
        return send(connection, answer, answer.count, noSignal) == answer.count
    }
}

#if canImport(Glibc)
    private let streamType = Int32(SOCK_STREAM.rawValue)
    private let noSignal = Int32(MSG_NOSIGNAL)
    private func systemAccept(_ listener: Int32) -> Int32 { Glibc.accept(listener, nil, nil) }
#elseif canImport(Darwin)
    private let streamType = SOCK_STREAM
    private let noSignal: Int32 = 0
    private func systemAccept(_ listener: Int32) -> Int32 { Darwin.accept(listener, nil, nil) }
#endif
