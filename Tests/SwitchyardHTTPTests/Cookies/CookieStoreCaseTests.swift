import Foundation
import SwitchyardFixtures
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

/// Cases for the rules of a cookie store.
@Suite struct CookieStoreCaseTests {
    @Test func `the cookie rules match tough-cookie`() throws {
        let keys: CaseKeys = """
            operation input url path host cookie_domain cookie_path request_path set_cookie set_cookies prefix_checks
            retrieve_for same_site_context max_age expires expires_in_ms now_ms expected.persistent expected.ttl_ms
            expected.expires_at_ms expected_names expected_same_site expected_stored
            """
        try CaseFile("tough_cookie").run(reading: keys) { item in
            switch item["operation"]?.string {
            case "default path of a request path":
                return .compare(CookieMatching.defaultPath(item["input"]?.string ?? ""), item["expected"]?.string)
            case "path match":
                let isMatch = CookieMatching.path(
                    item["cookie_path"]?.string ?? "",
                    covers: item["request_path"]?.string ?? ""
                )
                return .compare("\(isMatch)", "\(item["expected"]?.bool ?? false)")
            case "domain match": return Self.domain(item)
            case "canonical cookie domain": return Self.canonical(item)
            case "cookie paths that match a request path": return Self.paths(item)
            case "cookie name prefixes": return Self.prefix(item)
            case "SameSite on retrieval", "SameSite on setting": return Self.sameSite(item)
            case "SameSite attribute":
                let cookie = Self.cookie(item["set_cookie"]?.string ?? "", "https://example.com/")
                let expected = item["expected_same_site"]?.string
                guard expected == "none" else { return .compare(cookie?.sameSite?.rawValue, expected) }
                // The original test calls any unknown value “none”, like the valid value of that name.
                return .compare(cookie?.sameSite?.rawValue ?? "none", expected)
            case "lifetime of a cookie": return Self.lifetime(item)
            case let operation?: return .notApplicable("There is no operation “\(operation)”.")
            case nil: return .notApplicable("There is no operation.")
            }
        }
    }

    static func cookie(_ text: String, _ url: String, now: Date = CookieCaseTests.year2010) -> Cookie? {
        RequestURL(url).flatMap { Cookie(setCookie: text, from: $0, now: now) }
    }

    static func domain(_ item: CaseValue) -> CaseOutcome {
        guard let name = item["host"]?.string?.lowercased(), let given = item["cookie_domain"]?.string else {
            return .notApplicable("Names are always there.")
        }
        if name.contains(":"), RequestURL("http://[\(name)]/") == nil {
            return .notApplicable("A host with a colon that is no address cannot stand in a URL.")
        }
        let host = RequestURL("http://\(name)/")?.origin.host ?? name
        guard let expected = item["expected"]?.bool, !given.isEmpty else {
            return .notApplicable("A domain without text is as good as none.")
        }
        let domain = (given.hasPrefix(".") ? String(given.dropFirst()) : given).lowercased()
        return CaseOutcome.compare("\(CookieMatching.domain(domain, covers: host))", "\(expected)")
            .or(
                "Names in other scripts are compared in the form in which they are sent.",
                if: !given.utf8.allSatisfy { $0 < 128 }
            )
    }

    static func canonical(_ item: CaseValue) -> CaseOutcome {
        guard let input = item["input"]?.string else { return .notApplicable("Names are always there.") }
        let host = input.hasPrefix(".") ? String(input.dropFirst()) : input
        let actual = RequestURL("http://\(host)/")?.origin.host
        return CaseOutcome.compare(actual, item["expected"]?.string)
            .or("The host of an IPv6 address keeps its brackets.", if: host.contains(":"))
    }

    static func paths(_ item: CaseValue) -> CaseOutcome {
        let path = item["path"]?.string ?? ""
        let expected = item["expected"]?.array?.compactMap(\.string) ?? []
        let isRight =
            expected.allSatisfy { CookieMatching.path($0, covers: path) }
            && !CookieMatching.path("\(path)x", covers: path)
        return isRight ? .passed : .failed("does not match")
    }

    static func prefix(_ item: CaseValue) -> CaseOutcome {
        guard item["prefix_checks"]?.string != "disabled", let expected = item["expected_stored"]?.bool else {
            return .notApplicable("Name prefixes are always checked.")
        }
        let cookie = cookie(item["set_cookie"]?.string ?? "", item["url"]?.string ?? "")
        return .compare("\(cookie != nil)", "\(expected)")
    }

    static func sameSite(_ item: CaseValue) -> CaseOutcome {
        guard (item["same_site_context"] ?? .null) == .null, let url = item["url"]?.string.flatMap({ RequestURL($0) })
        else {
            return .notApplicable("An API client has no site from which it asks.")
        }
        let jar = CookieJar(now: { CookieCaseTests.year2010 })
        for text in item["set_cookies"]?.array ?? [] {
            jar.store(from: [HTTPHeaders.Field(name: "Set-Cookie", value: text.string ?? "")], of: url)
        }
        guard let expected = item["expected_names"]?.array?.compactMap(\.string) else {
            return .notApplicable("There is nothing to compare.")
        }
        let names = jar.cookies(for: url).map(\.name).sorted()
        return .compare(names.joined(separator: ","), expected.sorted().joined(separator: ","))
    }

    static func lifetime(_ item: CaseValue) -> CaseOutcome {
        let now = CookieCaseTests.now(item)
        var text = "a=b"
        if let age = item["max_age"]?.int {
            text += "; Max-Age=\(age)"
        } else if item["max_age"]?.string != nil {
            return .notApplicable("An infinite lifetime cannot be written into a field.")
        }
        if let milliseconds = item["expires_in_ms"]?.int {
            text += "; Expires=\(HTTPDate.text(for: now.addingTimeInterval(Double(milliseconds) / 1000)) ?? "")"
        }
        if let date = item["expires"]?.string { text += "; Expires=\(date)" }
        guard let cookie = cookie(text, "https://example.com/", now: now) else { return .failed("was not read") }
        guard let expected = item["expected"] else { return .notApplicable("There is nothing to compare.") }
        if let persistent = expected["persistent"]?.bool, persistent != (cookie.expires != nil) {
            return .failed("persistent: \(cookie.expires != nil)")
        }
        if let end = expected["expires_at_ms"]?.int, Double(end) / 1000 > now.timeIntervalSince1970 {
            let actual = cookie.expires.map { Int(($0.timeIntervalSince1970 * 1000).rounded()) }
            guard actual == end else { return .failed("ends at \(actual.map { "\($0)" } ?? "no time")") }
        }
        guard let milliseconds = expected["ttl_ms"]?.int else { return .passed }
        let lifetime = cookie.expires.map { Int(($0.timeIntervalSince(now) * 1000).rounded()) } ?? 0
        return milliseconds <= 0 && lifetime <= 0 ? .passed : .compare("\(lifetime)", "\(milliseconds)")
    }
}
