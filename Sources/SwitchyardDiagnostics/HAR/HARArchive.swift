public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// Recorded traffic in the HTTP Archive format, version 1.2 (http://www.softwareishard.com/blog/har-12-spec/).
///
/// Browsers' developer tools and most HTTP debuggers read this format. Bodies that are not text are stored in base64.
///
/// Archives from other programs are read leniently. Members may be missing, and numbers may be strings or have a
/// fraction. Entries that cannot be read are omitted and listed in ``omissions``. An archive that this library writes
/// has every member that the format requires.
public struct HARArchive: Codable, Sendable, Hashable {
    /// The root member of the file.
    public var log: Log

    /// Creates an archive of entries.
    public init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// Reads an archive, which may come from any program.
    ///
    /// - Parameter data: The archive as JSON.
    /// - Throws: `DecodingError` if the data is not JSON or has no list of entries.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(HARArchive.self, from: data)
    }

    /// Returns the archive as JSON with sorted keys.
    ///
    /// - Returns: The JSON.
    /// - Throws: `EncodingError`, which does not occur for values of this type.
    public func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The recorded exchanges, in order.
    public var entries: [Entry] {
        get { log.entries }
        set { log.entries = newValue }
    }

    /// The entries that were omitted when the archive was read, in order.
    public var omissions: [Omission] { log.omissions }

    /// An entry that was omitted when an archive was read.
    public struct Omission: Sendable, Hashable, CustomStringConvertible {
        /// The position of the entry in the archive, counted from 1.
        public var entry: Int
        /// The reason why the entry was omitted, such as `is not an object`.
        public var problem: String

        /// The position of the entry and the problem.
        public var description: String { "entry \(entry) \(problem)" }
    }

    /// The root of the recorded data: the format version, the recording program and the exchanges.
    public struct Log: Codable, Sendable, Hashable {
        private enum CodingKeys: String, CodingKey {
            case version, creator, entries
        }

        /// The version of the format.
        public var version = "1.2"
        /// The program that recorded the archive.
        public var creator = Creator()
        /// The exchanges, in order.
        public var entries: [Entry]
        /// The entries that were omitted when the archive was read.
        var omissions: [Omission] = []
    }

    /// The program that recorded the archive.
    public struct Creator: Codable, Sendable, Hashable {
        /// The name of the program.
        public var name = "Switchyard"
        /// The version of the program.
        public var version = "1.0"
    }

    /// One exchange: a request with its response or error.
    public struct Entry: Codable, Sendable, Hashable {
        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, comment
            case webSocketMessages = "_webSocketMessages"
        }

        /// The start of the exchange, in ISO 8601 with milliseconds.
        public var startedDateTime: String
        /// The duration of the exchange in milliseconds.
        public var time: Double
        /// The request.
        public var request: HARRequest
        /// The response, whose status is 0 if there was no response.
        public var response: HARResponse
        /// The browser-cache information that the format requires, which is always empty.
        public var cache = HARCache()
        /// The durations of the phases of the exchange.
        public var timings: HARTimings
        /// A note on the exchange.
        ///
        /// In archives of this library: the call, the server's name, the position of the try at the request (a retry is
        /// a new try), the position of the attempt in this try (both counted from 1), and the kind of the attempt.
        public var comment: String?
        /// The messages of the WebSocket that the exchange opened, in the form of Chromium's developer tools, or `nil`.
        package var webSocketMessages: [HARWebSocketMessage]?
    }
}

/// A message of a WebSocket, as Chromium's developer tools write it.
package struct HARWebSocketMessage: Codable, Sendable, Hashable {
    /// The direction: `send` or `receive`.
    package var type: String
    /// The time in seconds since 1970.
    package var time: Double
    /// The opcode: 1 for a text, 2 for binary data (RFC 6455 section 5.2).
    package var opcode: Int
    /// The text, or the binary data in base64.
    package var data: String

    /// Creates a message.
    package init(type: String, time: Double, opcode: Int, data: String) {
        (self.type, self.time, self.opcode, self.data) = (type, time, opcode, data)
    }
}

/// The browser-cache information of an exchange, which is always empty.
public struct HARCache: Codable, Sendable, Hashable {
    /// Creates empty cache information.
    public init() {}
}

/// The durations of the phases of an exchange in milliseconds, or -1 for a phase whose duration is unknown.
public struct HARTimings: Codable, Sendable, Hashable {
    /// The time spent waiting for a connection.
    public var blocked = -1.0
    /// The time of the DNS lookup.
    public var dns = -1.0
    /// The time to connect, including TLS.
    public var connect = -1.0
    /// The time of the TLS handshake.
    public var ssl = -1.0
    /// The time to send the request.
    public var send = 0.0
    /// The time spent waiting for the response.
    public var wait = 0.0
    /// The time to receive the response.
    public var receive = 0.0
}

/// A name-value pair, such as a header field, a cookie or a form field.
public struct HARField: Codable, Sendable, Hashable {
    /// The name of the field.
    public var name: String
    /// The value of the field.
    public var value: String
}

extension HARArchive.Entry {
    /// Creates an entry for an exchange.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - result: The response or the error.
    ///   - date: The start of the exchange.
    ///   - elapsed: The duration of the exchange.
    ///   - comment: A note, such as the server's name.
    ///   - redaction: The rules by which credentials are hidden. The default hides nothing.
    public init(
        _ request: HTTPRequest,
        _ result: Result<HTTPResponse, TransportError>,
        date: Date,
        elapsed: Duration,
        comment: String? = nil,
        redaction: Redaction = .none
    ) {
        let metrics = try? result.get().metrics
        let version = metrics?.networkProtocol ?? "HTTP/1.1"
        startedDateTime = Self.text(of: date)
        time = elapsed.inMilliseconds
        self.request = HARRequest(request, version: version, redaction.covering(request))
        response = HARResponse(result, version: version, redaction)
        timings = HARTimings(metrics, elapsed: elapsed)
        self.comment = comment
    }

    /// Formats a date as the archive format requires: ISO 8601 in UTC with milliseconds.
    private static func text(of date: Date) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        )
    }
}

extension HARRequest {
    init(_ request: HTTPRequest, version: String, _ redaction: Redaction) {
        method = request.method.name
        url = redaction.url(request.url.text)
        httpVersion = version
        headers = request.headers.fields.map { field in
            HARField(name: field.name, value: redaction.value(field.value, ofHeader: field.name))
        }
        cookies = Self.cookies(in: request.headers.values(of: "Cookie"), separator: ";", redaction, "Cookie")
        let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        queryString = Self.pairs(String(query.prefix { $0 != "#" }))
        let type = request.headers["Content-Type"] ?? ""
        switch request.body {
        case .none: bodySize = 0
        case .data(let data):
            bodySize = data.count
            let (text, encoding) = HARText.text(redaction.body(data, contentType: type))
            let isForm = type.lowercased().hasPrefix("application/x-www-form-urlencoded")
            postData = PostData(mimeType: type, params: isForm ? Self.pairs(text) : [], text: text, encoding: encoding)
        case .file, .stream: bodySize = -1
        }
    }

    /// Returns the name-value pairs of a query or a form, with percent-encoding removed.
    private static func pairs(_ text: String) -> [HARField] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let spaced = String(part).replacing("+", with: " ")
                return spaced.removingPercentEncoding ?? spaced
            }
            return HARField(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }

    static func cookies(
        in values: [String],
        separator: Character?,
        _ redaction: Redaction,
        _ header: String
    ) -> [HARField] {
        let hides = redaction.hides(header: header)
        return values.flatMap { value in separator.map { value.split(separator: $0) } ?? [value.prefix { $0 != ";" }] }
            .compactMap { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { return nil }
                let name = parts[0].trimmingCharacters(in: .whitespaces)
                return HARField(name: name, value: hides ? "***" : redaction.value(String(parts[1]), ofParameter: name))
            }
    }
}

extension HARResponse {
    init(_ result: Result<HTTPResponse, TransportError>, version: String, _ redaction: Redaction) {
        httpVersion = version
        switch result {
        case .failure(let failure):
            status = 0
            (cookies, headers, redirectURL, bodySize) = ([], [], "", -1)
            content = Content(size: 0, mimeType: "")
            error = redaction.text(failure.message)
            errorKind = failure.kind.rawValue
        case .success(let response):
            status = response.status
            headers = response.headers.fields.map { field in
                HARField(name: field.name, value: redaction.value(field.value, ofHeader: field.name))
            }
            cookies = HARRequest.cookies(
                in: response.headers.values(of: "Set-Cookie"),
                separator: nil,
                redaction,
                "Set-Cookie"
            )
            redirectURL = redaction.url(response.headers["Location"] ?? "")
            let type = response.headers["Content-Type"] ?? ""
            switch response.body {
            case .stream:
                bodySize = -1
                content = Content(size: 0, mimeType: type)
            case .whole(let data):
                bodySize = data.count
                let (text, encoding) = HARText.text(redaction.answer(data, contentType: type))
                content = Content(size: data.count, mimeType: type, text: text, encoding: encoding)
            }
        }
    }
}

extension HARTimings {
    init(_ metrics: TransferMetrics?, elapsed: Duration) {
        guard let metrics else {
            wait = elapsed.inMilliseconds
            return
        }
        let lookup = metrics.nameLookup ?? .zero
        let connected = max(lookup, metrics.connected ?? lookup)
        let ready = max(connected, metrics.secured ?? connected)
        let first = max(ready, metrics.firstByte ?? ready)
        if !metrics.reusedConnection {
            dns = lookup.inMilliseconds
            connect = (ready - lookup).inMilliseconds
            if metrics.secured != nil { ssl = (ready - connected).inMilliseconds }
        }
        wait = (first - ready).inMilliseconds
        receive = max(.zero, metrics.total - first).inMilliseconds
    }
}

extension Duration {
    fileprivate var inMilliseconds: Double { inSeconds * 1_000 }
}
