import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

/// How the directives of `Cache-Control` are distinguished (RFC 9111 section 5.2, RFC 9110 section 5.6).
@Suite struct CacheControlTests {
    @Test func `a backslash in a quoted string does not end it`() {
        let control = CacheControl(["Cache-Control": #"ext="a\", max-age=60, \"b", max-age=5"#])

        #expect(control.seconds("max-age") == 5)
    }

    @Test(arguments: ["max-age=6 0", "max-age=60 s", "max -age=60", #"max-age="6 0""#])
    func `a space within a directive makes no other directive of it`(text: String) {
        #expect(CacheControl(["Cache-Control": text]).seconds("max-age") ?? 0 == 0)
    }

    @Test(arguments: ["max-age=60", " max-age = 60 ", #"max-age= "60" "#, "Max-Age=60\t,"])
    func `spaces around a name and its value are not part of them`(text: String) {
        #expect(CacheControl(["Cache-Control": text]).seconds("max-age") == 60)
    }
}
