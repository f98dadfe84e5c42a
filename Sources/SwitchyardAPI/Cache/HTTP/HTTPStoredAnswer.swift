import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The head of an answer as a cache of HTTP keeps it, with the times that its age follows from (RFC 9111 section 4.2.3).
struct HTTPStoredAnswer: Sendable {
    let status: Int
    var headers: HTTPHeaders
    /// The values of the request's fields that the answer says it depends on; `nil` when it depends on everything.
    let selected: [String: String]?
    /// When the request was sent.
    var requested: Date
    /// When the answer came.
    var received: Date

    /// Keeps an answer.
    init(status: Int, headers: HTTPHeaders, request: HTTPHeaders, requested: Date, received: Date) {
        self.status = status
        self.headers = HTTPCacheRules.endToEnd(headers)
        self.requested = requested
        self.received = received
        selected = Self.selected(by: headers, in: request)
    }

    /// How long the answer is fresh from when it was made: what it says, else a tenth of the time since its last change,
    /// at most a day (RFC 9111 section 4.2.1 and 4.2.2).
    var lifetime: Double {
        if let seconds = CacheControl(headers).seconds("max-age") { return seconds }
        let date = headers["Date"].flatMap { HTTPDate.date(exactly: $0) } ?? received
        if let text = headers["Expires"] {
            // One that says it twice is not to be trusted.
            guard headers.values(of: "Expires").count == 1 else { return 0 }
            return HTTPDate.date(exactly: text).map { $0.timeIntervalSince(date) } ?? 0
        }
        guard HTTPCacheRules.mayGuessLifetime(status: status, headers),
            let changed = headers["Last-Modified"].flatMap({ HTTPDate.date(exactly: $0) })
        else { return 0 }
        return min(86_400, max(0, date.timeIntervalSince(changed) / 10))
    }

    /// How old the answer is, by its own fields and by the time since it came (RFC 9111 section 4.2.3).
    func age(at now: Date) -> Double {
        let made = headers["Date"].flatMap { HTTPDate.date(exactly: $0) }
        let apparent = made.map { max(0, received.timeIntervalSince($0)) } ?? 0
        let corrected = stated + max(0, received.timeIntervalSince(requested))
        return max(apparent, corrected) + max(0, now.timeIntervalSince(received))
    }

    /// The age that the answer states itself; the first member of the field, if that is a number.
    private var stated: Double {
        let first = headers["Age"]?.split(separator: ",").first?.trimmingCharacters(in: .whitespaces) ?? ""
        guard !first.isEmpty, first.utf8.allSatisfy(\.isDigit) else { return 0 }
        return min(Double(first) ?? 0, 2_147_483_648)
    }

    /// Whether the answer may stand for one to a request with these fields (RFC 9111 section 4.1).
    func matches(_ request: HTTPHeaders) -> Bool {
        guard let selected else { return false }
        return selected.allSatisfy { Self.normalised(request.values(of: $0.key)) == $0.value }
    }

    private static func selected(by headers: HTTPHeaders, in request: HTTPHeaders) -> [String: String]? {
        let names = headers.elements(of: "Vary").map { $0.lowercased() }
        guard !names.contains("*") else { return nil }
        return Dictionary(names.map { ($0, normalised(request.values(of: $0))) }) { first, _ in first }
    }

    /// Lines joined and spaces around commas taken away, which changes no meaning.
    private static func normalised(_ values: [String]) -> String {
        values.joined(separator: ",").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: ",")
    }
}
