import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server that sends the same bytes for every request and does nothing else, so that it is never the bottleneck.
///
/// The server runs in a separate process, so that the processor time of the measured process is only the client's.
struct BareServer {
    private let answer: [UInt8]
    private let listener: ListeningSocket
    /// The port of the listening socket.
    var port: UInt16 { listener.port }

    init(body: String) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        answer = Array((head + body).utf8)
        listener = try ListeningSocket()
    }

    /// Serves until standard input ends, which happens when the parent process exits.
    func run() {
        var sockets = ReadableSockets()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var isServing = true
        sockets.watch(listener.descriptor)
        sockets.watch(0)
        while isServing {
            let waited = sockets.wait { ready, sockets in
                switch ready {
                case 0:
                    isServing = false
                case listener.descriptor:
                    if let connection = listener.accept() { sockets.watch(connection) }
                default:
                    guard !respondToRequests(on: ready, using: &buffer) else { return }
                    sockets.forget(ready)
                    close(ready)
                }
            }
            guard waited else { return }
        }
    }

    /// Responds to the request that has arrived, and returns `false` if the connection must be closed.
    private func respondToRequests(on connection: Int32, using buffer: inout [UInt8]) -> Bool {
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        // Requests of a benchmark are small and have no body, so each request arrives completely and ends with an empty
        // line.
        guard buffer[count - 1] == UInt8(ascii: "\n") else { return true }
        return send(connection, answer, answer.count, ListeningSocket.noSignal) == answer.count
    }
}
