import Foundation
import SwitchyardHTTP

/// A strong validator that shows whether the content of a partial file is unchanged (RFC 9110 section 8.8).
enum ResumeValidator: Codable, Sendable, Hashable {
    /// A strong entity tag, as received.
    case entityTag(String)
    /// A `Last-Modified` date that counts as a strong validator, as received.
    case lastModified(String)

    /// Creates the validator of a response, or returns `nil` if the response has no validator that may be used with
    /// `If-Range`.
    ///
    /// A value that is not allowed in a header field is not a validator.
    ///
    /// A weak entity tag may not be used (RFC 9110 section 13.1.5). A weak entity tag also rules out the date, because
    /// the content may change while the tag and the date stay the same. A date may be used if it was at least one
    /// second in the past when the response was generated (section 8.8.2.2). If the response has no `Date`, the time of
    /// receipt is used (section 6.6.1). The date must then be one minute older, because the time of receipt comes from
    /// another clock.
    init?(_ headers: HTTPHeaders, now: Date = Date()) {
        if let tag = headers.returnable("ETag") {
            guard !tag.hasPrefix("W/") else { return nil }
            self = .entityTag(tag)
        } else if let text = headers.returnable("Last-Modified"), let modified = HTTPDate.date(from: text) {
            let date = headers["Date"].flatMap(HTTPDate.date(from:))
            guard (date ?? now).timeIntervalSince(modified) >= (date == nil ? 60 : 1) else { return nil }
            self = .lastModified(text)
        } else {
            return nil
        }
    }

    /// The value of the `If-Range` header field.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Returns whether the response to a range request may belong to the same content.
    ///
    /// A response without a validator counts as a match.
    func agrees(with headers: HTTPHeaders) -> Bool {
        switch self {
        case .entityTag(let text): headers.returnable("ETag").map { $0 == text } ?? true
        case .lastModified(let text): headers.returnable("Last-Modified").map { $0 == text } ?? true
        }
    }
}
