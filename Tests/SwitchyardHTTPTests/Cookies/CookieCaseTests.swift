import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// Cases for cookies.
@Suite struct CookieCaseTests {
    static let year2010 = Date(timeIntervalSince1970: 1_262_304_000)

    static func now(_ item: CaseValue) -> Date {
        item["now_ms"]?.int.map { Date(timeIntervalSince1970: Double($0) / 1000) } ?? year2010
    }

    static func holdsControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 32 && $0 != "\t" || $0.value == 127 }
    }

    static func holdsUnusual(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0 == "\t" || $0.value > 126 }
    }

    /// Whether the last domain that a cookie names is neither the host nor a parent of it.
    static func namesOtherDomain(_ text: String, host: String) -> Bool {
        let domains = text.lowercased().split(separator: ";").dropFirst().compactMap { piece -> String? in
            let sides = piece.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return sides.first == "domain" && sides.count == 2 && !sides[1].isEmpty ? sides[1] : nil
        }
        guard let last = domains.last else { return false }
        let domain = last.hasPrefix(".") ? String(last.dropFirst()) : last
        return host != domain && !host.hasSuffix(".\(domain)")
    }

    @Test func `cookies are parsed as in OkHttp`() throws {
        let keys: CaseKeys = "test url now_ms set_cookie expected_parsed expected expected_sent_to"
        try CaseFile("okhttp_cookies").run(reading: keys) { item in
            guard let text = item["set_cookie"]?.text, let url = item["url"]?.string.flatMap({ RequestURL($0) }) else {
                return .notApplicable("Cookies are read from answers, not put together.")
            }
            let cookie = Cookie(setCookie: text, from: url, now: Self.now(item))
            if item["expected_parsed"]?.bool == false {
                return cookie == nil
                    ? .passed
                    : .failed("was read").or(
                        "Without a list of public suffixes, a domain of two labels is accepted.",
                        if: cookie?.isHostOnly == false
                    )
                    .or(
                        "A tab, or a character outside ASCII, may stand in a header value.",
                        if: Self.holdsUnusual(text)
                    )
            }
            guard let cookie else {
                return CaseOutcome.failed("was not read")
                    .or("A value with a control character is no header value.", if: Self.holdsControl(text))
                    .or("The text of an IPv6 address is not normalised.", if: url.origin.host.hasPrefix("["))
                    .or(
                        "A domain that the host does not lie in refuses the cookie.",
                        if: Self.namesOtherDomain(text, host: url.origin.host)
                    )
                    .or("A secure cookie from http is refused, as RFC 6265bis says.", if: url.origin.scheme == "http")
            }
            return try Self.judge(cookie, url, item)
        }
    }

    static func judge(_ cookie: Cookie, _ url: RequestURL, _ item: CaseValue) throws -> CaseOutcome {
        for member in item["expected_sent_to"]?.members ?? [] {
            guard let target = RequestURL(member.key), let expected = member.value.bool else { continue }
            guard cookie.isSent(to: target) == expected else {
                return CaseOutcome.failed("sent to \(member.key): \(!expected)")
                    .or("The text of an IPv6 address is not normalised.", if: url.origin.host.hasPrefix("["))
            }
        }
        for member in item["expected"]?.members ?? [] {
            let outcome = property(cookie, member)
            guard outcome == .passed else {
                let isAddress = url.origin.host.hasPrefix("[")
                return outcome.or(
                    "The host of an IPv6 address keeps its brackets.",
                    if: isAddress && member.key == "domain"
                )
                .or(
                    "A SameSite that is none of the three counts as none given.",
                    if: member.key == "sameSite"
                        && Cookie.SameSite(rawValue: member.value.string?.lowercased() ?? "") == nil
                )
            }
        }
        return .passed
    }

    static func property(_ cookie: Cookie, _ member: CaseValue.Member) -> CaseOutcome {
        switch member.key {
        case "name": return .compare(cookie.name, member.value.text)
        case "value": return .compare(cookie.value, member.value.text)
        case "domain": return .compare(cookie.domain, member.value.string)
        case "path": return .compare(cookie.path, member.value.string)
        case "secure": return .compare("\(cookie.isSecure)", "\(member.value.bool ?? false)")
        case "httpOnly": return .compare("\(cookie.isHTTPOnly)", "\(member.value.bool ?? false)")
        case "hostOnly": return .compare("\(cookie.isHostOnly)", "\(member.value.bool ?? false)")
        case "persistent": return .compare("\(cookie.expires != nil)", "\(member.value.bool ?? false)")
        case "sameSite": return .compare(cookie.sameSite?.rawValue, member.value.string?.lowercased())
        case "expires_ms": return expiry(cookie, member.value)
        default: return .notApplicable("There is no property \(member.key).")
        }
    }

    private static func expiry(_ cookie: Cookie, _ value: CaseValue) -> CaseOutcome {
        switch value.string {
        case "session/none"?: return cookie.expires == nil ? .passed : .failed("expires \(cookie.expires as Any)")
        case "far future (clamped)"?:
            let isFar = cookie.expires.map { $0.timeIntervalSince1970 > 300 * 86_400 } ?? false
            return isFar ? .passed : .failed("expires \(cookie.expires as Any)")
        case let text? where HTTPDate.date(from: iso(text)) != nil:
            return .compare("\(cookie.expires as Any)", "\(HTTPDate.date(from: iso(text)) as Any)")
        case .some:
            return cookie.expires.map { $0 < year2010 } ?? false ? .passed : .failed("expires \(cookie.expires as Any)")
        case nil:
            let actual = cookie.expires.map { ($0.timeIntervalSince1970 * 1000).rounded() }
            if cookie.expires == .distantPast, let expected = value.int {
                return expected <= 0
                    ? .passed
                    : .differs(
                        "A lifetime of zero has passed long ago, whenever the cookie came."
                    )
            }
            return .compare(actual.map { "\($0)" }, value.int.map { "\(Double($0))" })
        }
    }

    /// A date such as `2026-03-14T09:26:53.000+0000` in the order that the date parser accepts.
    private static func iso(_ text: String) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split { "-T.+Z".contains($0) }.map(String.init)
        guard parts.count >= 4, let month = Int(parts[1]), months.indices.contains(month - 1) else { return "" }
        return "\(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
    }

    @Test func `single cookies are parsed as in AsyncHTTPClient`() throws {
        let keys: CaseKeys = "set_cookie default_domain expected_parsed expected"
        try CaseFile("async_http_client_cookies").run(reading: keys) { item in
            let text = item["set_cookie"]?.text ?? ""
            let host = item["default_domain"]?.string ?? "example.org"
            guard let url = RequestURL("https://\(host)/") else { return .notApplicable("The host is none.") }
            let cookie = Cookie(setCookie: text, from: url, now: Self.year2010)
            if item["expected_parsed"]?.bool == false { return cookie == nil ? .passed : .failed("was read") }
            guard let cookie else {
                return CaseOutcome.failed("was not read")
                    .or("A value with a control character is no header value.", if: Self.holdsControl(text))
                    .or(
                        "A domain that the host does not lie in is refused.",
                        if: Self.namesOtherDomain(text, host: url.origin.host)
                    )
                    .or("A cookie without a name is dropped.", if: text.hasPrefix("="))
            }
            for member in item["expected"]?.members ?? [] {
                let outcome = Self.compare(cookie, member, text)
                guard outcome == .passed else { return outcome }
            }
            return .passed
        }
    }

    private static func compare(_ cookie: Cookie, _ member: CaseValue.Member, _ text: String) -> CaseOutcome {
        let hasMaxAge = text.lowercased().contains("max-age")
        switch member.key {
        case "maxAge":
            let seconds = cookie.expires.map { Int($0.timeIntervalSince(year2010).rounded()) }
            // A cookie without Max-Age expires at its Expires date, if it has one.
            if member.value == .null, text.lowercased().contains("expires") { return .passed }
            return CaseOutcome.compare(seconds.map { "\($0)" }, member.value.int.map { "\($0)" })
                .or("A lifetime of zero or less has passed long ago.", if: (member.value.int ?? 1) <= 0)
                .or("A lifetime is cut to 400 days.", if: (member.value.int ?? 0) > 400 * 86_400)
        case "expires":
            guard !hasMaxAge else { return .passed }
            let seconds = cookie.expires.map { "\(Int($0.timeIntervalSince1970))" }
            return CaseOutcome.compare(seconds, member.value.int.map { "\($0)" })
                .or("Dates are read by the lenient rule of RFC 6265.", if: member.value == .null)
        case "value":
            return property(cookie, member).or("Quotes belong to the value.", if: cookie.value.contains("\""))
        default: return property(cookie, member)
        }
    }
}
