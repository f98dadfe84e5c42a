import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

/// How the directives of `Cache-Control` are separated (RFC 9111 section 5.2, RFC 9110 section 5.6).
@Suite struct CacheControlTests {
    @Test func `an escaped quote does not end a quoted string in Cache-Control`() {
        let control = CacheControl(["Cache-Control": #"ext="a\", max-age=60, \"b", max-age=5"#])

        #expect(control.seconds("max-age") == 5)
    }

    @Test(arguments: ["max-age=6 0", "max-age=60 s", "max -age=60", #"max-age="6 0""#])
    func `a Cache-Control directive with a space inside gives no lifetime`(text: String) {
        #expect(CacheControl(["Cache-Control": text]).seconds("max-age") ?? 0 == 0)
    }

    @Test(arguments: ["max-age=60", " max-age = 60 ", #"max-age= "60" "#, "Max-Age=60\t,"])
    func `spaces around the name and the value of a Cache-Control directive are ignored`(text: String) {
        #expect(CacheControl(["Cache-Control": text]).seconds("max-age") == 60)
    }
}
