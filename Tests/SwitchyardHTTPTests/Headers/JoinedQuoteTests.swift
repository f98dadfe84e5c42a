import Foundation
import SwitchyardClient
import SwitchyardFixtures
import Testing

@testable import SwitchyardHTTP

/// To a `Character`, a quote and the scalar that is joined to it are one, which is no quote.
@Suite struct JoinedQuoteTests {
    // With an exclamation mark the text is in single quotes, and each of its own has to be taken out of them: else the
    // rest of the text is read by the shell ("!'\u{301}; rm -rf ~ #").
    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func `no quote ends the text of a command, whatever is joined to it`(joined: String) throws {
        let text = "it'\(joined); id #!"
        let configuration = APIConfiguration(path: "x", method: .post, body: .text(text))

        let command = try BuiltRequest.request(configuration).curlDescription(redaction: .none)

        let expected = #"-d 'it'\''"# + "\(joined); id #!'"
        // By bytes: texts are compared by characters.
        #expect(Data(command.utf8).range(of: Data(expected.utf8)) != nil, "\(command)")
    }

    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func `a disposition is written as it was read, whatever is joined to a quote`(joined: String) {
        let disposition = ContentDisposition(parsing: "attachment; filename=\"a\\\"\(joined); x=1\"")

        let again = ContentDisposition(parsing: disposition.text)

        #expect(again.fileName.map { Array($0.utf8) } == disposition.fileName.map { Array($0.utf8) })
        #expect(again.parameters.count == 1)
    }

    // jshttp/content-disposition takes what is not escaped as it stands.
    @Test(arguments: ["\u{301}x", "\u{FE0F}x", "\u{200D}x"])
    func `an extended value may begin with what is joined to its quote`(name: String) {
        #expect(ExtendedValue.decoded("UTF-8''\(name)").map { Array($0.utf8) } == Array(name.utf8))
    }

    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func `a separator ends an element, whatever is joined to it`(joined: String) {
        let headers: HTTPHeaders = ["X": "a,\(joined)b, \"c\"\(joined), d"]

        #expect(headers.elements(of: "X").count == 4)
    }
}
