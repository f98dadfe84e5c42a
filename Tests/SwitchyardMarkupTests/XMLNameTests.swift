import SwitchyardAPI
import SwitchyardFixtures
import SwitchyardMarkup
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct XMLNameTests {
    // XML 1.0, section 1.2, "match": names with different normal forms are different names.
    @Test func `XML names are equal only if their code points are equal`() throws {
        #expect(throws: DecodingFailure.self) { try XMLEvent.events(of: "<\u{E9}></e\u{301}>".utf8) }

        let start = try XMLEvent.events(of: "<a \u{E9}='1' e\u{301}='2'/>".utf8).first

        let found: [XMLEvent.Attribute]? = if case .start(_, let found) = start { found } else { nil }
        #expect(found?.map(\.value) == ["1", "2"])
        // An `XMLTree` stores only one attribute for these equivalent names.
        #expect(throws: DecodingFailure(.corrupted, keyPath: "a")) {
            try XMLTree(parsing: "<a \u{E9}='1' e\u{301}='2'/>".utf8)
        }
    }
}
