import SwitchyardHTTP
import Testing

/// WPT fetch/content-type/resources/content-types.json (Fetch standard, "extract a MIME type").
@Suite struct ContentTypeMergingTests {
    /// Lines of the field, the type that counts, and its character set.
    private static let plain: [([String], String, String?)] = [
        (["", "text/plain"], "text/plain", nil), (["text/plain", ""], "text/plain", nil),
        (["text/html", "text/plain"], "text/plain", nil), (["text/plain;charset=gbk", "text/html"], "text/html", nil),
        (["text/plain;charset=gbk", "text/html;charset=windows-1254"], "text/html", "windows-1254"),
        (["text/plain;charset=gbk", "text/plain"], "text/plain", "gbk"),
        (["text/plain;charset=gbk", "text/plain;charset=windows-1252"], "text/plain", "windows-1252"),
        (["text/plain", "*/*"], "text/plain", nil), (["*/*", "text/html"], "text/html", nil),
        (["text/html", "*/*;charset=gbk"], "text/html", nil),
    ]

    private static let merged: [([String], String, String?)] = [
        // Another parameter is no character set: the one that was named before holds.
        (["text/html;charset=gbk", "text/html;x=\",text/plain"], "text/html", "gbk"),
        (["application/json;charset=gbk", "application/json;version=1"], "application/json", "gbk"),
        (["text/html;charset=gbk", "text/html;version=1", "text/html"], "text/html", "gbk"),
        // A type in between ends what was named before it.
        (["text/html;charset=gbk", "text/plain", "text/html"], "text/html", nil),
    ]

    @Test func `the other parameters are those of the last`() {
        let lines = ["multipart/mixed;charset=utf-8;boundary=A", "multipart/mixed;boundary=B"]
        let headers = HTTPHeaders(lines.map { HTTPHeaders.Field.contentType($0) })

        #expect(headers.contentType == "multipart/mixed;charset=utf-8;boundary=B")
    }

    /// The lines are one list before it is split, so an open quote swallows the next line.
    private static let unclosed: [([String], String, String?)] = [
        (["text/html;x=\"", "text/plain"], "text/html", nil), (["text/html;\"", "text/plain"], "text/html", nil),
    ]

    @Test(arguments: plain + merged + unclosed)
    func `of several types the last counts, with the character set of those before it that are the same`(
        lines: [String],
        type: String,
        charset: String?
    ) throws {
        let headers = HTTPHeaders(lines.map { HTTPHeaders.Field.contentType($0) })

        let read = try #require(headers.contentType.flatMap { MediaType($0) })
        #expect(read.description == type)
        #expect(read.charset == charset)
    }
}
