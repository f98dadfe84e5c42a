import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server that accepts requests and never responds to them.
///
/// Only a request for `/count` gets a response. The response is the number of requests that wait.
///
/// The server runs in a separate process.
struct HoldServer {
    private let listener: ListeningSocket
    /// The port of the listening socket.
    var port: UInt16 { listener.port }

    init() throws {
        listener = try ListeningSocket()
    }

    /// Serves until standard input ends, which happens when the parent process exits.
    func run() {
        var polled = [
            pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
        ]
        var holding: Set<Int32> = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while poll(&polled, nfds_t(polled.count), -1) >= 0 {
            if polled[1].revents != 0 { return }
            let known = polled.indices.dropFirst(2)
            // Accepts all waiting connections in one loop. If the thousands of open connections were polled before each
            // new connection is accepted, the accept queue would overflow and the system would refuse clients.
            while polled[0].revents != 0, let connection = listener.accept() {
                polled.append(pollfd(fd: connection, events: Int16(POLLIN), revents: 0))
                polled[0].revents = 0
                poll(&polled, 1, 0)
            }
            for index in known.reversed() where polled[index].revents != 0 {
                let connection = polled[index].fd
                let count = recv(connection, &buffer, buffer.count, 0)
                if count <= 0 {
                    holding.remove(connection)
                    close(connection)
                    polled.swapAt(index, polled.count - 1)
                    polled.removeLast()
                } else if String(decoding: buffer[..<count], as: UTF8.self).hasPrefix("GET /count ") {
                    tell(holding.count, on: connection)
                } else {
                    holding.insert(connection)
                }
            }
        }
    }

    private func tell(_ count: Int, on connection: Int32) {
        let digits = "\(count)"
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(digits.utf8.count)\r\n\r\n\(digits)".utf8)
        _ = send(connection, answer, answer.count, ListeningSocket.noSignal)
    }
}
