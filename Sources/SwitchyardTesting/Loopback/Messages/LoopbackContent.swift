public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A content that a ``LoopbackServer`` gives away whole or in part, as a server of files does (RFC 9110 section 14).
///
///     let film = LoopbackContent(bytes, entityTag: "\"v1\"")
///     server.route(.get, "/film.mov") { request in film.response(to: request) }
///
/// It answers `Range` of a GET with 206 and `Content-Range`, or with 416 where there is nothing, and gives the whole
/// content when `If-Range` names another one. Of several ranges it gives the whole content, which a server may.
public struct LoopbackContent: Sendable {
    /// The number of bytes; what is negative counts as 0.
    public var length: Int {
        didSet { length = max(0, length) }
    }
    /// The entity tag, quotes included; none when `nil`.
    public var entityTag: String?
    /// The date of the last change, as it stands in the header field; none when `nil`.
    public var lastModified: String?
    /// Further header fields of every answer.
    public var headers: HTTPHeaders
    /// Whether ranges are given; when not, the server says so and gives the whole content.
    public var acceptsRanges = true
    /// Bytes per second that are given away at most; as many as the client takes when `nil`.
    public var bytesPerSecond: Int?
    private let read: @Sendable (Range<Int>) -> Data

    /// Creates a content of bytes in memory.
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

    /// Creates a content whose bytes are made when they are sent, however many they are.
    ///
    /// - Parameters:
    ///   - length: The number of bytes.
    ///   - entityTag: The entity tag, quotes included.
    ///   - headers: Further header fields of every answer.
    ///   - read: Returns the bytes of a part, never an empty one.
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

    /// The answer to a request.
    public func response(to request: LoopbackRequest) -> LoopbackResponse {
        let whole = 0..<length
        // With another method the field means nothing (section 14.2).
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

/// What a `Range` header field asks of a content (RFC 9110 section 14.1.2).
public enum ByteRanges: Sendable, Hashable {
    /// It is malformed, or counts in other units: a server ignores it.
    case invalid
    /// Nothing of it lies within the content.
    case unsatisfiable
    /// These parts, in the order in which they were asked for, cut to the content.
    case ranges([Range<Int>])

    /// Reads a header field.
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

    /// One part: `first-last`, `first-` or `-count`; empty when it lies outside, `nil` when it is malformed.
    private static func range(_ item: String, length: Int) -> Range<Int>? {
        let ends = item.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return nil }
        // A number that none can hold lies behind every content (section 14.1.1).
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
