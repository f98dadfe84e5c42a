import Foundation

/// A response as received over a ``RawSocket``.
struct RawResponse: Sendable, Equatable {
    var statusLine: String
    var fields: [String]
    var body = Data()
    var trailers: [String] = []

    var status: Int { Int(statusLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of the first field of that name.
    subscript(name: String) -> String? {
        let prefix = name.lowercased() + ":"
        return fields.first { $0.lowercased().hasPrefix(prefix) }
            .map { $0.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces) }
    }
}

extension RawSocket {
    /// Sends a request and receives its response.
    func get(_ target: String, method: String = "GET", fields: [String] = []) async throws -> RawResponse {
        try await send(Self.request(target, method: method, fields: fields))
        return try await receiveResponse(hasBody: method != "HEAD")
    }

    /// The text of a request.
    ///
    /// A body gets a Content-Length.
    static func request(
        _ target: String,
        method: String = "GET",
        fields: [String] = [],
        body: String? = nil
    ) -> String {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    /// Receives exactly one response by its length, in chunks or until the end.
    func receiveResponse(hasBody: Bool = true) async throws -> RawResponse {
        let head = try await receiveLines()
        var response = RawResponse(statusLine: head.first ?? "", fields: Array(head.dropFirst()))
        guard hasBody, response.status >= 200, ![204, 304].contains(response.status) else { return response }
        if response["Transfer-Encoding"] == "chunked" {
            try await receiveChunks(&response)
        } else if let length = response["Content-Length"].flatMap({ Int($0) }) {
            response.body = try await receive(exactly: length)
        } else {
            response.body = try await receiveToEnd().bytes
        }
        return response
    }

    private func receiveChunks(_ response: inout RawResponse) async throws {
        while true {
            let line = try await receiveLine()
            guard let size = Int(line, radix: 16) else { throw Failure.malformed("chunk size \(line)") }
            if size == 0 { break }
            response.body.append(try await receive(exactly: size))
            guard try await receiveLine().isEmpty else { throw Failure.malformed("chunk end") }
        }
        response.trailers = try await receiveLines()
    }

    private func receiveLines() async throws -> [String] {
        var lines: [String] = []
        while true {
            let line = try await receiveLine()
            if line.isEmpty { return lines }
            lines.append(line)
        }
    }

    /// Receives a line byte by byte, so that no byte after it is read.
    func receiveLine() async throws -> String {
        try await run {
            var bytes: [UInt8] = []
            while !bytes.suffix(2).elementsEqual([13, 10]) {
                let byte = try self.receiveNow(atMost: 1, timeout: .seconds(50))
                guard let byte = byte.first else { throw Failure.malformed("closed within a line") }
                bytes.append(byte)
            }
            return String(decoding: bytes.dropLast(2), as: UTF8.self)
        }
    }
}
