import SwitchyardHTTP
import Testing

/// IPv6 addresses with a zone (RFC 6874).
@Suite struct ZoneTests {
    @Test(arguments: [
        "http://[fe80::1%25eth0]/", "http://[FE80::1%25en0]:8080/a?b=c", "http://[febf::1%25Wi-Fi_2.x~]/",
    ])
    func `a link-local IPv6 address in a URL may have a zone`(text: String) throws {
        let url = try RequestURL(validating: text)

        #expect(url.text == text)
        #expect(url.foundationURL != nil)
        #expect(try RequestURL(validating: url.text) == url)
        #expect(url.origin.host.contains("%25"))
    }

    @Test(
        arguments: [
            "http://[fe80::1%eth0]/", "http://[fe80::1%25]/", "http://[2001:db8::1%25eth0]/", "http://[::1%25lo]/",
            "http://[fe80::1%25a%25b]/", "http://[fe80::1%25a/b]/", "http://[fe80::1%25ä]/",
        ]
    )
    func `a zone that is malformed or belongs to another IPv6 address is an error`(text: String) {
        #expect(throws: RequestError.url(text: text, reason: .invalidHost)) { try RequestURL(validating: text) }
    }
}
