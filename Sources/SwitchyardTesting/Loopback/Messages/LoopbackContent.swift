public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// Content that a ``LoopbackServer`` serves completely or in part, as a file server does (RFC 9110 section 14).
///
///     let film = LoopbackContent(bytes, entityTag: "\"v1\"")
///     server.route(.get, "/film.mov") { request in film.response(to: request) }
///
/// For a GET request with `Range`, the response has status 206 and `Content-Range`, or status 416 if the range is
/// outside the content. If `If-Range` names another version of the content, the response contains the whole content. If
/// several ranges are requested, the response also contains the whole content, as RFC 9110 allows.
public struct LoopbackContent: Sendable {
    /// The number of bytes of the content; a negative number counts as 0.
    public var length: Int {
        didSet { length = max(0, length) }
    }
    /// The entity tag including its quotes, or `nil` if the content has no entity tag.
    public var entityTag: String?
    /// The value of the `Last-Modified` header field, or `nil` if there is none.
    public var lastModified: String?
    /// Additional header fields of every response.
    public var headers: HTTPHeaders
    /// Whether the server supports ranges.
    ///
    /// If `false`, the response has `Accept-Ranges: none` and contains the whole content.
    public var acceptsRanges = true
    /// The maximum number of bytes sent per second, or `nil` for no limit.
    public var bytesPerSecond: Int?
    private let read: @Sendable (Range<Int>) -> Data

    /// Creates content from bytes in memory.
    public init(
        _ bytes: Data,
        entityTag: String? = nil,
        lastModified: String? = nil,
        headers: HTTPHeaders = ["Content-Type": "application/octet-stream"]
    ) {
        self.init(length: bytes.count, entityTag: entityTag, headers: headers) { range in
            bytes.dropFirst(range.lowerBound).prefix(range.count)
        }
        self.lastModified = lastModified
    }

    /// Creates content whose bytes are generated while they are sent, so its length is not limited by memory.
    ///
    /// - Parameters:
    ///   - length: The number of bytes.
    ///   - entityTag: The entity tag, including its quotes.
    ///   - headers: Additional header fields of every response.
    ///   - read: A closure that returns the bytes of a range. The range is never empty.
    public init(
        length: Int,
        entityTag: String? = nil,
        headers: HTTPHeaders = ["Content-Type": "application/octet-stream"],
        read: @escaping @Sendable (Range<Int>) -> Data
    ) {
        self.length = max(0, length)
        self.entityTag = entityTag
        self.headers = headers
        self.read = read
    }

    /// Returns the response to a request.
    public func response(to request: LoopbackRequest) -> LoopbackResponse {
        let whole = 0..<length
        // `Range` is defined only for GET (section 14.2).
        guard acceptsRanges, request.method == .get, let field = request.headers["Range"],
            isCurrent(request.headers["If-Range"])
        else { return response(200, whole) }
        switch ByteRanges(field, length: length) {
        case .invalid: return response(200, whole)
        case .unsatisfiable:
            var refusal = response(416, 0..<0)
            refusal.headers.set("Content-Range", "bytes */\(length)")
            return refusal
        case .ranges(let ranges):
            guard ranges.count == 1, let range = ranges.first else { return response(200, whole) }
            var part = response(206, range)
            part.headers.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
            return part
        }
    }

    private func isCurrent(_ condition: String?) -> Bool {
        guard let condition else { return true }
        if condition.hasPrefix("W/") { return false }
        return condition.utf8.first == UInt8(ascii: "\"") ? condition == entityTag : condition == lastModified
    }

    private func response(_ status: Int, _ range: Range<Int>) -> LoopbackResponse {
        var response = LoopbackResponse(status: status, headers: headers, body: body(range))
        if let entityTag { response.headers.set("ETag", entityTag) }
        if let lastModified { response.headers.set("Last-Modified", lastModified) }
        response.headers.set("Accept-Ranges", acceptsRanges ? "bytes" : "none")
        return response
    }

    private func body(_ range: Range<Int>) -> LoopbackBody {
        guard !range.isEmpty else { return .empty }
        let piece = bytesPerSecond == nil ? 262_144 : 65_536
        return .stream(length: range.count) { writer in
            var start = range.lowerBound
            while start < range.upperBound {
                let end = min(start + piece, range.upperBound)
                try await writer.write(read(start..<end))
                if let bytesPerSecond {
                    try await Task.sleep(for: .seconds(Double(end - start) / Double(max(1, bytesPerSecond))))
                }
                start = end
            }
        }
    }
}

/// The byte ranges that a `Range` header field requests (RFC 9110 section 14.1.2).
public enum ByteRanges: Sendable, Hashable {
    /// The field is malformed or uses a unit other than bytes.
    ///
    /// A server ignores such a field.
    case invalid
    /// No requested range lies within the content.
    case unsatisfiable
    /// The requested ranges in the order of the field, clamped to the content.
    case ranges([Range<Int>])

    /// Parses a header field.
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - length: The length of the content in bytes.
    public init(_ field: String, length: Int) {
        let length = max(0, length)
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else {
            self = .invalid
            return
        }
        var ranges: [Range<Int>] = []
        var count = 0
        for item in parts[1].split(separator: ",").map({ $0.filter { $0 != " " && $0 != "\t" } }) where !item.isEmpty {
            guard let range = Self.range(item, length: length) else {
                self = .invalid
                return
            }
            count += 1
            if !range.isEmpty { ranges.append(range) }
        }
        self = count == 0 ? .invalid : ranges.isEmpty ? .unsatisfiable : .ranges(ranges)
    }

    /// Parses one range: `first-last`, `first-` or `-count`.
    ///
    /// Returns an empty range if the range lies outside the content, and `nil` if the text is malformed.
    private static func range(_ item: String, length: Int) -> Range<Int>? {
        let ends = item.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return nil }
        // A number that overflows `Int` lies beyond the end of any content (section 14.1.1).
        let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last?):
            guard first <= last else { return nil }
            return first < length ? first..<min(last, length - 1) + 1 : 0..<0
        case (let first?, nil): return first < length ? first..<length : 0..<0
        case (nil, let count?): return max(0, length - count)..<length
        case (nil, nil): return nil
        }
    }
}
