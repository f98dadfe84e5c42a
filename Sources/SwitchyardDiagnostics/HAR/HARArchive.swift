public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// Recorded traffic in the HTTP Archive format, version 1.2 (http://www.softwareishard.com/blog/har-12-spec/).
///
/// Browsers' developer tools and most HTTP debuggers read it. A body that is no text is kept in base64.
///
/// Archives of other programs are read leniently: members may be missing, numbers may be texts or have a fraction, and an
/// entry that cannot be read is left out (``omissions``). What is written has every member that the format requires.
public struct HARArchive: Codable, Sendable, Hashable {
    /// The one member of the file.
    public var log: Log

    /// Creates an archive of entries.
    public init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// Reads an archive, of whatever program.
    ///
    /// - Parameter data: JSON of the format.
    /// - Throws: `DecodingError` when it is no JSON, or has no list of entries.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(HARArchive.self, from: data)
    }

    /// The archive as JSON, with sorted names.
    ///
    /// - Returns: The JSON.
    /// - Throws: `EncodingError`, which the values of this type give no cause for.
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

    /// The entries that were left out when the archive was read, in order.
    public var omissions: [Omission] { log.omissions }

    /// An entry that was left out when an archive was read.
    public struct Omission: Sendable, Hashable, CustomStringConvertible {
        /// The place of the entry in the archive, counted from 1.
        public var entry: Int
        /// What is wrong with it, as `is no object`.
        public var problem: String

        /// The entry and the problem, in words.
        public var description: String { "entry \(entry) \(problem)" }
    }

    /// The root of the recorded data.
    public struct Log: Codable, Sendable, Hashable {
        private enum CodingKeys: String, CodingKey {
            case version, creator, entries
        }

        /// The version of the format.
        public var version = "1.2"
        /// Who recorded.
        public var creator = Creator()
        /// The exchanges, in order.
        public var entries: [Entry]
        /// The entries that were left out.
        var omissions: [Omission] = []
    }

    /// A program.
    public struct Creator: Codable, Sendable, Hashable {
        /// Its name.
        public var name = "Switchyard"
        /// Its version.
        public var version = "1.0"
    }

    /// One exchange.
    public struct Entry: Codable, Sendable, Hashable {
        /// When it began, in ISO 8601 with milliseconds.
        public var startedDateTime: String
        /// How long it took in milliseconds.
        public var time: Double
        /// The request.
        public var request: HARRequest
        /// The response; with status 0 when none came.
        public var response: HARResponse
        /// What the cache had to do with it: nothing.
        public var cache = HARCache()
        /// Where the time went.
        public var timings: HARTimings
        /// The server's name and the number of the attempt.
        public var comment: String?
    }
}

/// What the cache had to do with an exchange: nothing that is recorded here.
public struct HARCache: Codable, Sendable, Hashable {
    /// Creates an empty record.
    public init() {}
}

/// Where the time of an exchange went, in milliseconds; -1 for what is not known.
public struct HARTimings: Codable, Sendable, Hashable {
    /// Waiting for a connection.
    public var blocked = -1.0
    /// Looking the name up.
    public var dns = -1.0
    /// Connecting, TLS included.
    public var connect = -1.0
    /// The TLS handshake.
    public var ssl = -1.0
    /// Sending the request.
    public var send = 0.0
    /// Waiting for the response.
    public var wait = 0.0
    /// Receiving the response.
    public var receive = 0.0
}

/// A name and a value.
public struct HARField: Codable, Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String
}

extension HARArchive.Entry {
    /// Records an exchange.
    ///
    /// - Parameters:
    ///   - request: What was sent.
    ///   - result: What came of it.
    ///   - date: When it began.
    ///   - elapsed: How long it took.
    ///   - comment: A note, such as the server's name.
    ///   - redaction: What is hidden; nothing unless given.
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

    /// The date as the format wants it, in UTC with milliseconds.
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

    /// The pairs of a query or form, decoded.
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
