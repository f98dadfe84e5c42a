import SwitchyardHTTP
import Testing

/// WPT fetch/content-type/resources/content-types.json (Fetch standard, "extract a MIME type").
@Suite struct ContentTypeMergingTests {
    /// The field lines, the resulting type, and its charset.
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
        // Another parameter is not a charset, so the earlier charset stays.
        (["text/html;charset=gbk", "text/html;x=\",text/plain"], "text/html", "gbk"),
        (["application/json;charset=gbk", "application/json;version=1"], "application/json", "gbk"),
        (["text/html;charset=gbk", "text/html;version=1", "text/html"], "text/html", "gbk"),
        // A different type in between discards the earlier charset.
        (["text/html;charset=gbk", "text/plain", "text/html"], "text/html", nil),
    ]

    @Test func `if there are several Content-Type fields, all parameters except the charset come from the last one`() {
        let lines = ["multipart/mixed;charset=utf-8;boundary=A", "multipart/mixed;boundary=B"]
        let headers = HTTPHeaders(lines.map { HTTPHeaders.Field.contentType($0) })

        #expect(headers.contentType == "multipart/mixed;charset=utf-8;boundary=B")
    }

    /// The lines are joined before they are split, so an unclosed quote swallows the next line.
    private static let unclosed: [([String], String, String?)] = [
        (["text/html;x=\"", "text/plain"], "text/html", nil), (["text/html;\"", "text/plain"], "text/html", nil),
    ]

    @Test(arguments: plain + merged + unclosed)
    func `the last of several Content-Type fields counts and inherits the charset of earlier equal types`(
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
