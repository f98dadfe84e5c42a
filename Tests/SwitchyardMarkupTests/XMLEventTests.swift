import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardMarkup
import SwitchyardServices
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct XMLEventTests {
    private static func raw(_ bytes: [UInt8], type: String = "text/xml") -> RawResponse {
        RawResponse(headers: ["Content-Type": type], data: Data(bytes))
    }

    // XML 1.0, sections 2.11 and 3.3.3.
    @Test func `line ends become line feeds in XML text and spaces in attributes, except character references`() throws
    {
        let text = "<a x='1\r\n2\r3\n4\t5&#13;&#10;6'>l\r\nm\rn\n&#13;o<![CDATA[p\r\nq]]></a>"

        let events = try XMLEvent.events(of: text.utf8)

        #expect(
            events == [
                .start(name: "a", attributes: [.init(name: "x", value: "1 2 3 4 5\r\n6")]),
                .text("l\nm\nn\n\ro"), .text("p\nq"), .end(name: "a"),
            ]
        )
    }

    @Test func `an element with 30,000 attributes is parsed quickly`() throws {
        let attributes = (0..<30_000).map { " a\($0)='\($0)'" }.joined()

        let start = try XMLEvent.events(of: "<a\(attributes)/>".utf8).first

        let found: [XMLEvent.Attribute]? = if case .start(_, let found) = start { found } else { nil }
        #expect(found?.count == 30_000)
        #expect(throws: DecodingFailure.self) { try XMLEvent.events(of: "<a\(attributes) a7=''/>".utf8) }
    }

    @Test(arguments: [
        "&#+65;", "&#-0;", "&#x+41;", "&#;", "&#x;", "&#0;", "&#xD800;", "&#4294967361;", "&nbsp;", "&;", "&",
    ])
    func `an XML character reference that names no character is malformed`(reference: String) {
        #expect(throws: DecodingFailure.self) { try XMLEvent.events(of: "<a>\(reference)</a>".utf8) }
    }

    // XML 1.0, sections 2.2 to 2.8 and 4.1.
    @Test(arguments: [
        "<a>\u{1}</a>", "<a>\u{FFFF}</a>", "<a b='\u{2}'/>", "<a>&#1;</a>", "<a>&#xFFFE;</a>", "<a>x]]>y</a>",
        "<!-- a -- b --><a/>", "<!-- a ---><a/>", "&#32;<a/>", "\u{A0}<a/>", "<a><?xml version='1.0'?></a>",
        " <?xml version='1.0'?><a/>", "<?XML version='1.0'?><a/>", "<?a+b?><a/>",
    ])
    func `an XML document that is not well-formed is rejected`(text: String) {
        #expect(throws: DecodingFailure.self) { try XMLEvent.events(of: text.utf8) }
    }

    @Test(arguments: [
        "\u{FEFF}<?xml version='1.0'?><a/>", "<?xml-stylesheet href='x'?> <a/>", "<a>]] ></a>", "<a>]]&gt;</a>",
        "<a b=']]>'/>", "<!----><a/>", "<?b?><a/>", "<a>&#9;\u{85}\u{FFFD}\u{10000}</a>\r\n",
    ])
    func `a well-formed XML document is parsed`(text: String) {
        #expect(throws: Never.self) { try XMLEvent.events(of: text.utf8) }
    }

    // RFC 7303, section 3.
    @Test(arguments: [
        (#"<?xml version="1.0" encoding="ISO-8859-1"?>"#, "text/xml"),
        ("<?xml version='1.0' encoding = 'iso-8859-1' standalone='yes' ?>", "application/xml"),
        (#"<?xml version="1.0" encoding="utf-8"?>"#, "text/xml; charset=iso-8859-1"), ("", "text/xml; charset=l1"),
    ])
    func `the XML declaration sets the encoding if Content-Type has no charset`(declaration: String, type: String)
        throws
    {
        let body = Array("\(declaration)<a>".utf8) + [0xE9] + Array("</a>".utf8)

        #expect(try ResponseSerializer.xml.value(of: Self.raw(body, type: type)).text == "é")
    }

    @Test(arguments: ["utf-16", "UTF-8", "ISO-10646-UCS-2"])
    func `an XML encoding declaration that contradicts the document is ignored`(encoding: String) throws {
        let body = Array("<?xml version=\"1.0\" encoding=\"\(encoding)\"?><a>é</a>".utf8)

        #expect(try ResponseSerializer.xml.value(of: Self.raw(body)).text == "é")
    }

    @Test func `an unknown XML encoding is an error that names the encoding`() {
        let body = Array(#"<?xml version="1.0" encoding="x-mystery"?><a/>"#.utf8)

        #expect(throws: APIError(.body(.text(encoding: "x-mystery")))) {
            try ResponseSerializer.xml.value(of: Self.raw(body))
        }
    }

    @Test func `the nesting depth of an XML tree has a fixed ceiling whatever limit is set`() throws {
        func text(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }

        #expect(throws: DecodingFailure(.tooDeep(limit: JSONDepth.ceiling))) {
            try XMLTree(parsing: text(200_000).utf8, maximumDepth: .max)
        }
        #expect(try XMLTree(parsing: text(JSONDepth.ceiling).utf8, maximumDepth: .max).name == "a")
    }

    @Test func `XML is parsed up to the maximum depth, and deeper XML is an error`() throws {
        #expect(try XMLTree(parsing: "<a><b><c/></b></a>".utf8, maximumDepth: 3).name == "a")
        #expect(throws: DecodingFailure(.tooDeep(limit: 3))) {
            try XMLTree(parsing: "<a><b><c><d/></c></b></a>".utf8, maximumDepth: 3)
        }
    }
}
