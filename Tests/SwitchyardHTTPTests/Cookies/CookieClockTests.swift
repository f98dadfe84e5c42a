import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardHTTP

/// Cookies of a server whose clock differs from the device's.
@Suite struct CookieClockTests {
    private static let noon = Date(timeIntervalSince1970: 1_790_942_400)

    @Test(arguments: [-3600, 0, 3600] as [TimeInterval], ["Expires", "Max-Age"])
    func `a cookie's lifetime does not depend on the difference between the clocks of server and device`(
        _ lead: TimeInterval,
        _ attribute: String
    ) throws {
        let jar = CookieJar(now: { Self.noon })
        let url = try #require(RequestURL("https://a.test/"))
        let end = HTTPDate.text(for: Self.noon + lead + 1800) ?? ""
        let lifetime = attribute == "Expires" ? "Expires=\(end)" : "Max-Age=1800"

        jar.store(
            from: ["Date": HTTPDate.text(for: Self.noon + lead) ?? "", "Set-Cookie": "session=1; \(lifetime)"],
            of: url
        )

        #expect(jar.cookies(for: url).map(\.expires) == [Self.noon + 1800])
    }

    @Test func `an expired secure cookie does not block a cookie that an http server sets`() throws {
        let time = Locked(Self.noon)
        let jar = CookieJar(now: { time.withLock { $0 } })
        let secure = try RequestURL(validating: "https://a.test/")
        let plain = try RequestURL(validating: "http://a.test/")
        jar.store(from: ["Set-Cookie": "session=1; Secure; Max-Age=10"], of: secure)
        jar.store(from: ["Set-Cookie": "session=2"], of: plain)
        #expect(jar.header(for: plain) == nil)

        time.withLock { $0 += 20 }
        jar.store(from: ["Set-Cookie": "session=2"], of: plain)

        #expect(jar.header(for: plain) == "session=2")
    }
}
