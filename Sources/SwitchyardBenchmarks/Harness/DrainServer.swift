import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server that reads and discards every request body, and responds with the number of bytes that it has read.
///
/// The server responds to a GET of `/bytes/N` with N bytes.
///
/// The server runs in a separate process, with a thread for each connection.
struct DrainServer {
    private let listener: ListeningSocket
    /// The port of the listening socket.
    var port: UInt16 { listener.port }

    init() throws {
        listener = try ListeningSocket()
    }

    /// Serves until standard input ends, which happens when the parent process exits.
    func run() {
        let listener = listener
        Thread.detachNewThread {
            while let connection = listener.accept() {
                Thread.detachNewThread { Self.serve(connection) }
            }
        }
        var byte: UInt8 = 0
        while read(0, &byte, 1) > 0 {}
    }

    private static func serve(_ connection: Int32) {
        defer { close(connection) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var pending: [UInt8] = []
        while true {
            guard let head = readHead(connection, &pending, &buffer) else { return }
            if let count = wantedCount(head) {
                guard give(count, connection, buffer) else { return }
                continue
            }
            guard let length = contentLength(head) else { return }
            var count = min(length, pending.count)
            pending.removeFirst(count)
            while count < length {
                let received = recv(connection, &buffer, min(buffer.count, length - count), 0)
                guard received > 0 else { return }
                count += received
            }
            let digits = "\(count)"
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(digits.utf8.count)\r\n\r\n\(digits)".utf8)
            guard send(connection, answer, answer.count, ListeningSocket.noSignal) == answer.count else { return }
        }
    }

    /// Returns the number in `GET /bytes/N`.
    private static func wantedCount(_ head: String) -> Int? {
        let prefix = "GET /bytes/"
        guard head.hasPrefix(prefix) else { return nil }
        return Int(head.dropFirst(prefix.count).prefix { $0 != " " })
    }

    /// Sends this number of arbitrary bytes, and returns `false` if the client has disconnected.
    private static func give(_ count: Int, _ connection: Int32, _ buffer: [UInt8]) -> Bool {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8)
        guard send(connection, head, head.count, ListeningSocket.noSignal) == head.count else { return false }
        var left = count
        while left > 0 {
            let sent = send(connection, buffer, min(buffer.count, left), ListeningSocket.noSignal)
            guard sent > 0 else { return false }
            left -= sent
        }
        return true
    }

    /// Reads the head of a request up to the empty line.
    ///
    /// Bytes that were received after the head stay in `pending`.
    private static func readHead(_ connection: Int32, _ pending: inout [UInt8], _ buffer: inout [UInt8]) -> String? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = pending.firstRange(of: end) {
                let head = String(decoding: pending[..<range.lowerBound], as: UTF8.self)
                pending.removeSubrange(..<range.upperBound)
                return head
            }
            let received = recv(connection, &buffer, buffer.count, 0)
            guard received > 0 else { return nil }
            pending += buffer[..<received]
        }
    }

    private static func contentLength(_ head: String) -> Int? {
        for line in head.split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
            return Int(parts[1].trimmingCharacters(in: .whitespaces))
        }
        return nil
    }
}
