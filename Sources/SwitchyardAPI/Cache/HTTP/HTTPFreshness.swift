import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The freshness of a stored response by HTTP's rules.
///
/// It consists of the head of the response, and the times from which its age is calculated (RFC 9111 section 4.2.3).
struct HTTPFreshness: Sendable {
    /// The response without its body and without the fields that concern only one connection.
    private(set) var head: HTTPResponse
    /// The values of the request header fields that `Vary` names, or `nil` for `Vary: *`.
    let selected: [String: String]?
    /// The time at which the request was sent.
    var requested: Date
    /// The time at which the response arrived.
    var received: Date

    /// Creates the freshness of a response from its status and header fields, the header fields of its request, and
    /// both times.
    init(status: Int, headers: HTTPHeaders, request: HTTPHeaders, requested: Date, received: Date) {
        head = HTTPResponse(status: status, headers: HTTPCacheRules.endToEnd(headers))
        self.requested = requested
        self.received = received
        selected = Self.selected(by: headers, in: request)
    }

    /// The header fields of the response.
    var headers: HTTPHeaders {
        get { head.headers }
        set { head.headers = newValue }
    }

    /// The time in seconds for which the response is fresh after its creation.
    ///
    /// The value is the explicit lifetime. If there is no explicit lifetime, it is a tenth of the time since the last
    /// modification, at most a day (RFC 9111 sections 4.2.1 and 4.2.2).
    var lifetime: Double {
        if let seconds = CacheControl(headers).seconds("max-age") { return seconds }
        let date = headers["Date"].flatMap { HTTPDate.date(exactly: $0) } ?? received
        if let text = headers["Expires"] {
            // A response with two `Expires` fields is not trusted.
            guard headers.values(of: "Expires").count == 1 else { return 0 }
            return HTTPDate.date(exactly: text).map { $0.timeIntervalSince(date) } ?? 0
        }
        guard HTTPCacheRules.mayGuessLifetime(status: head.status, headers),
            let changed = headers["Last-Modified"].flatMap({ HTTPDate.date(exactly: $0) })
        else { return 0 }
        return min(86_400, max(0, date.timeIntervalSince(changed) / 10))
    }

    /// Returns the age of the response in seconds, from its header fields and the time since its arrival (RFC 9111
    /// section 4.2.3).
    func age(at now: Date) -> Double {
        let made = headers["Date"].flatMap { HTTPDate.date(exactly: $0) }
        let apparent = made.map { max(0, received.timeIntervalSince($0)) } ?? 0
        let corrected = stated + max(0, received.timeIntervalSince(requested))
        return max(apparent, corrected) + max(0, now.timeIntervalSince(received))
    }

    /// The age that the `Age` field states: the first member of the field, if this member is a number.
    private var stated: Double {
        let first = headers["Age"]?.split(separator: ",").first?.trimmingCharacters(in: .whitespaces) ?? ""
        guard !first.isEmpty, first.utf8.allSatisfy(\.isDigit) else { return 0 }
        return min(Double(first) ?? 0, 2_147_483_648)
    }

    /// Returns whether the response can be used for a request with these header fields (RFC 9111 section 4.1).
    func matches(_ request: HTTPHeaders) -> Bool {
        guard let selected else { return false }
        return selected.allSatisfy { Self.normalised(request.values(of: $0.key)) == $0.value }
    }

    private static func selected(by headers: HTTPHeaders, in request: HTTPHeaders) -> [String: String]? {
        let names = headers.elements(of: "Vary").map { $0.lowercased() }
        guard !names.contains("*") else { return nil }
        return Dictionary(names.map { ($0, normalised(request.values(of: $0))) }) { first, _ in first }
    }

    /// Returns the lines of a field joined and without spaces around commas, which does not change their meaning.
    private static func normalised(_ values: [String]) -> String {
        values.joined(separator: ",").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: ",")
    }
}
