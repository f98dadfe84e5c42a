import Foundation
import SwitchyardClient
import SwitchyardFixtures
import Testing

@testable import SwitchyardHTTP

/// Swift combines a quote and a following combining scalar into one `Character`, which is not equal to a quote.
@Suite struct CombiningCharacterTests {
    // With an exclamation mark the text is in single quotes, and each quote in the text has to be escaped. Otherwise
    // the shell would execute the rest of the text ("!'\u{301}; rm -rf ~ #").
    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func `a quote in a curl command is escaped even before a combining character`(joined: String) throws {
        let text = "it'\(joined); id #!"
        let configuration = APIConfiguration(path: "x", method: .post, body: .text(text))

        let command = try BuiltRequest.request(configuration).curlDescription(redaction: .none)

        let expected = #"-d 'it'\''"# + "\(joined); id #!'"
        // Compared as bytes, because strings are compared by characters.
        #expect(Data(command.utf8).range(of: Data(expected.utf8)) != nil, "\(command)")
    }

    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func `a Content-Disposition is parsed and written unchanged even if a combining character follows a quote`(
        joined: String
    ) {
        let disposition = ContentDisposition(parsing: "attachment; filename=\"a\\\"\(joined); x=1\"")

        let again = ContentDisposition(parsing: disposition.text)

        #expect(again.fileName.map { Array($0.utf8) } == disposition.fileName.map { Array($0.utf8) })
        #expect(again.parameters.count == 1)
    }

    // jshttp/content-disposition accepts unescaped text literally.
    @Test(arguments: ["\u{301}x", "\u{FE0F}x", "\u{200D}x"])
    func `the extended value of a parameter may begin with a combining character`(name: String) {
        #expect(ExtendedValue.decoded("UTF-8''\(name)").map { Array($0.utf8) } == Array(name.utf8))
    }

    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func `a comma separates the elements of a header field even before a combining character`(joined: String) {
        let headers: HTTPHeaders = ["X": "a,\(joined)b, \"c\"\(joined), d"]

        #expect(headers.elements(of: "X").count == 4)
    }
}
