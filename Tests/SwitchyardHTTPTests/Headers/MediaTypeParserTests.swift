import Testing

@testable import SwitchyardHTTP

@Suite struct MediaTypeParserTests {
    @Test(
        arguments: [
            ("\"utf-8\"", "utf-8"), ("\"UTF-8\t\"", "utf-8"), ("\"utf-8\u{7F}\"", nil), ("\"utf-8\u{1}\"", nil),
            ("utf-8\u{7F}", nil), ("\"utf-8\u{7E}\"", "utf-8~"),
        ] as [(String, String?)]
    )
    func `a charset with a control character in a Content-Type is ignored`(value: String, charset: String?) {
        var parser = MediaTypeParser("text/plain; charset=\(value)")
        _ = parser.names()

        #expect(parser.charset() == charset)
    }
}
