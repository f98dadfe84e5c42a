import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// URLs that are equivalent in different spellings (RFC 3986 section 6.2).
@Suite struct URLNormalFormTests {
    private func url(_ text: String) throws -> RequestURL { try RequestURL(validating: text) }

    @Test(arguments: [
        ("HTTPS://H.example:443/a", "https://h.example/a"), ("http://h:80", "http://h/"), ("http://h?a", "http://h/?a"),
        ("https://BÜCHER.example/%7eb/%c3%bc", "https://xn--bcher-kva.example/~b/%C3%BC"),
        ("https://XN--BCHER-KVA.example", "https://xn--bcher-kva.example/"),
        ("https://h/?a=%2d%2F", "https://h/?a=-%2F"),
        ("https://[::1]:443/%41", "https://[::1]/A"), ("https://u%3a:p@H/", "https://u%3a:p@h/"),
    ])
    func `equivalent URLs have the same normal form`(text: String, form: String) throws {
        #expect(try url(text).normalForm == form)
        #expect(try url(form).normalForm == form)
    }

    @Test(arguments: [
        ("https://h/", "https://h./"), ("https://h/", "http://h/"), ("https://h/", "https://h:8443/"),
        ("https://h/a/b", "https://h/a%2Fb"), ("https://h/A", "https://h/a"), ("https://h/a", "https://h/a/"),
        ("https://h/a?", "https://h/a"), ("https://h/!", "https://h/%21"),
    ])
    func `URLs that may lead to different resources have different normal forms`(first: String, second: String) throws {
        #expect(try url(first).normalForm != url(second).normalForm)
    }

    @Test(arguments: [
        ("http://h", "HTTPS://H:443/x", true), ("http://h", "https://h/x", true), ("http://h", "http://H:80/x", true),
        ("https://h", "https://H/x", true), ("https://bücher.example", "https://XN--bcher-kva.example:443/x", true),
        ("https://h", "http://h/x", false), ("http://h", "https://h:8443/x", false),
        ("https://h", "https://h./x", false),
        ("http://h:8080", "https://H:8080/x", true),
    ])
    func `a URL belongs to a base URL of the same origin, and an https URL also to an http base`(
        base: String,
        text: String,
        isAt: Bool
    ) throws {
        #expect(try url(text).isAt(BaseURL(base)) == isAt)
    }

    @Test(arguments: [
        "http://h", "HTTPS://H.example:443/a/../b/", "http://h:80/%7eb?a=b c", "https://BÜCHER.example:8443/ü",
        "http://[::1]:8080/v1", "http://user:p%40@h/v1/./?", "http://h:080/v1",
    ])
    func `a base URL that is made from a text equals the base URL that is made from the URL`(text: String) throws {
        let (parsed, made) = (try BaseURL(text), BaseURL(try url(text)))
        #expect(parsed == made)
        #expect(parsed.origin == made.origin)
        #expect(parsed.folder == made.folder)
        #expect(parsed.query == made.query)
        for secured in [false, true] {
            let first = try URLJoiner(path: "topics", on: parsed, join: .append, secured: secured)
            let second = try URLJoiner(path: "topics", on: made, join: .append, secured: secured)
            #expect(first.output.text() == second.output.text())
        }
    }
}
