import Foundation
import SwitchyardHTTP

/// What tells whether a content is still the one of which a part is there: a strong validator (RFC 9110 section 8.8).
enum ResumeValidator: Codable, Sendable, Hashable {
    /// A strong entity tag, as it came.
    case entityTag(String)
    /// A date of the last change that is strong enough, as it came.
    case lastModified(String)

    /// The validator of an answer; `nil` when it has none that may be used with `If-Range`.
    ///
    /// One that no header field can hold is none.
    ///
    /// A weak tag may not (RFC 9110 section 13.1.5), and hides the date behind it: the content may change without
    /// either. A date may, if it was a second or more in the past when the answer was made (section 8.8.2.2). Of an answer
    /// that does not say when that was, it is when it came (section 6.6.1), by a clock that may be another: a minute.
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

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Whether an answer to a ranged request can be of the same content; what it does not say cannot disagree.
    func agrees(with headers: HTTPHeaders) -> Bool {
        switch self {
        case .entityTag(let text): headers.returnable("ETag").map { $0 == text } ?? true
        case .lastModified(let text): headers.returnable("Last-Modified").map { $0 == text } ?? true
        }
    }
}
