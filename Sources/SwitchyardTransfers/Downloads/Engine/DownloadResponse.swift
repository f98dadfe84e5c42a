import SwitchyardHTTP
import SwitchyardServices

/// The meaning of a response for a download that may already have received some bytes of the content.
enum DownloadResponse: Sendable, Equatable {
    /// The body is the whole content, from its first byte.
    case whole
    /// The body continues after the existing bytes, up to and including this last byte.
    case rest(last: Int64, total: Int64?)
    /// The existing bytes are the whole content.
    case complete
    /// The existing bytes cannot be used, so the whole content must be requested again. The associated value is the
    /// reason.
    case startOver(String)
    /// The response is an error, or contains nothing that can replace the existing bytes.
    case refused
    /// The response violates HTTP. The associated value says how.
    case unusable(String)

    /// The properties of the request that decide what its response means.
    struct Question: Sendable {
        /// The first byte of the requested range, or `nil` if the whole content was requested.
        var offset: Int64?
        /// The validator that identifies the content of the existing bytes.
        var validator: ResumeValidator?
        /// The length of the whole content that the first response announced.
        var total: Int64?
        /// Whether the app set a `Range` field.
        ///
        /// The response must then contain exactly that range.
        var hasOwnRange = false
    }

    init(status: Int, headers: HTTPHeaders, to question: Question) {
        switch status {
        case 206 where question.hasOwnRange: self = .whole
        case 206: self = Self.partial(headers, question)
        case 200, 203: self = .whole
        // A successful response without the requested range has no content that could replace the existing bytes.
        case 200..<300 where question.offset != nil: self = .refused
        case 200..<300: self = .whole
        case 412 where question.offset != nil: self = .startOver("the content has changed (status 412)")
        case 416 where question.offset != nil: self = Self.unsatisfied(headers, question)
        default: self = .refused
        }
    }

    private static func partial(_ headers: HTTPHeaders, _ question: Question) -> DownloadResponse {
        guard let offset = question.offset else {
            return .unusable("the server sent a part, but the whole content was requested")
        }
        guard let field = headers["Content-Range"], let range = ContentRange(field), let bytes = range.bytes else {
            return .startOver("the part has no valid Content-Range")
        }
        guard bytes.lowerBound == offset else {
            return .startOver("the part begins at byte \(bytes.lowerBound), but byte \(offset) was requested")
        }
        // The existing bytes are not compressed, so a compressed part cannot follow them. Compressed content also has a
        // different entity tag (section 8.8.3.3).
        guard headers.hasPlainContent else { return .startOver("the part is compressed, unlike the existing bytes") }
        if let validator = question.validator, !validator.agrees(with: headers) {
            return .startOver("the part belongs to another version of the content")
        }
        if let total = question.total, let actual = range.total, actual != total {
            return .startOver("the content has \(actual) bytes, but \(total) were announced")
        }
        if let total = question.total, bytes.upperBound >= total {
            return .startOver("the part extends beyond the \(total) announced bytes")
        }
        return .rest(last: bytes.upperBound, total: range.total ?? question.total)
    }

    /// Returns the meaning of status 416.
    ///
    /// The status reports that the content has no bytes at or after the offset, so the existing bytes are either the
    /// whole content or longer than the content.
    private static func unsatisfied(_ headers: HTTPHeaders, _ question: Question) -> DownloadResponse {
        let range = headers["Content-Range"].flatMap(ContentRange.init)
        guard let offset = question.offset, let total = range?.total, range?.bytes == nil, total == offset,
            question.total ?? total == total, question.validator?.agrees(with: headers) ?? true
        else { return .startOver("the content is shorter than the partial file (status 416)") }
        return .complete
    }
}

/// The part of a content that a response contains: the header field `Content-Range` (RFC 9110 section 14.4).
struct ContentRange: Sendable, Hashable {
    /// The first and the last byte offset, counted from 0, or `nil` if the range could not be satisfied (status 416).
    var bytes: ClosedRange<Int64>?
    /// The length of the whole content, or `nil` if the server does not know it.
    var total: Int64?

    /// Parses a field value, or returns `nil` if the value is malformed, contradicts itself, or uses a unit other than
    /// bytes.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = parts[1].wholeNumber else { return nil }
            self.total = total
        }
        guard parts[0] != "*" else {
            if total == nil { return nil }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ends[0].wholeNumber, let last = ends[1].wholeNumber, first <= last,
            last < total ?? .max
        else { return nil }
        bytes = first...last
    }
}
