import SwitchyardFixtures
import SwitchyardRequests
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

@Suite struct ContentDispositionTests {
    @Test(arguments: [
        ("attachment; filename=\"../../etc/passwd\"", "passwd"), ("attachment; filename=\"C:\\\\a\\\\b.txt\"", "b.txt"),
        ("attachment; filename=\".hidden\"", "hidden"), ("attachment; filename=\"a\u{202E}b.exe\"", "ab.exe"),
        ("attachment; filename=\"..\"", nil), ("attachment; filename=\"a/\"", "a"), ("attachment", nil),
        ("attachment; filename*=UTF-8''..%2F..%2Fx", "x"), ("attachment; filename=\"\u{301}\"; x=1", "\u{301}"),
    ])
    func `a safe file name contains no path`(value: String, expected: String?) {
        #expect(ContentDisposition(parsing: value).safeFileName == expected)
    }

    // A combining character after a separator or dot forms one `Character` with it, which is neither.
    @Test(arguments: [
        ("a/\u{200D}../\u{200D}../\u{200D}etc/\u{200D}passwd", "passwd"), ("a\\\u{200C}b", "b"),
        ("a/\u{301}b", "\u{301}b"), ("a/\u{FE0F}b", "\u{FE0F}b"), (".\u{301}hidden", "\u{301}hidden"),
        ("a.\u{301}", "a.\u{301}"), ("C:\u{301}x", "C\u{301}x"),
    ])
    func `a safe file name contains no path even if combining characters follow its separators`(
        name: String,
        expected: String
    ) {
        #expect(SuggestedFileName.safe(name).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test func `a file name with one overlong character does not become the name of a hidden file`() {
        #expect(SuggestedFileName.safe("e" + String(repeating: "\u{301}", count: 300) + ".txt").isEmpty)
    }

    @Test(arguments: ["€ rates.pdf", "a\"b\\c", "100%25", "plain.txt", "a b", "", "\r\n"])
    func `a file name that is written to a Content-Disposition is parsed back unchanged`(name: String) throws {
        let text = try #require(ContentDisposition(fileName: name)).text

        #expect(ContentDisposition(parsing: text).fileName == name)
        #expect(HTTPHeaders([.contentDisposition(text)]).firstInvalidField == nil)
        #expect(text.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
    }

    @Test(arguments: ["UTF-8", "utf-8", "utf8", "UTF8"])
    func `the extended file name of a Content-Disposition is parsed with any spelling of its charset`(charset: String) {
        let value = "attachment; filename=\"x\"; filename*=\(charset)''%C3%A9t%C3%A9.txt"

        #expect(ContentDisposition(parsing: value).fileName == "été.txt")
    }

    @Test(arguments: ["attachment; filename=\"rep", "attachment; filename=\"", "attachment; filename=\"a\\"])
    func `a Content-Disposition file name without a closing quote is ignored`(value: String) {
        #expect(ContentDisposition(parsing: value).fileName == nil)
    }

    @Test func `a long file name is shortened for the file system`() {
        let value = "attachment; filename=\"\(String(repeating: "ü", count: 400))\""

        #expect((1...255).contains(ContentDisposition(parsing: value).safeFileName?.utf8.count ?? 0))
    }

    @Test func `file names are parsed and written as in content-disposition`() throws {
        let keys: CaseKeys = "operation input arguments options expected expected_error"
        try CaseFile("content_disposition").run(reading: keys) { item in
            switch item["operation"]?.string {
            case "parse": Self.parsed(item)
            case "create": Self.created(item)
            case "format", "roundtrip":
                .notApplicable("Parameters of any name are not written; names of forms are the forms' own.")
            default: .notApplicable("The operation is not known.")
            }
        }
    }

    private static func parsed(_ item: CaseValue) -> CaseOutcome {
        if item["options"]?["multipart"]?.bool == true {
            return .notApplicable("Parts of a form are written, never read.")
        }
        if item["options"]?["extended"]?.bool == false {
            return .notApplicable("The extended form of a name is always read.")
        }
        let disposition = ContentDisposition(parsing: item["input"]?.text ?? "")
        guard disposition.type == item["expected"]?["type"]?.text else { return .failed("type \(disposition.type)") }
        let expected = item["expected"]?["parameters"]?.members ?? []
        for member in expected {
            let raw = disposition.parameters.first { $0.name == member.key }?.value
            let actual = member.key.hasSuffix("*") ? raw : disposition[member.key]
            guard actual == member.value.text else { return .failed("\(member.key) is \(actual ?? "missing")") }
        }
        let names = Set(expected.map(\.key))
        let surplus = disposition.parameters.first { !names.contains($0.name) }
        return surplus.map { .failed("has \($0.name)") } ?? .passed
    }

    private static func created(_ item: CaseValue) -> CaseOutcome {
        let arguments = item["arguments"]?.array ?? []
        let options = arguments.count > 1 ? arguments[1] : .null
        var fallback = ContentDisposition.Fallback.replaced
        if options["fallback"]?.bool == false { fallback = .none }
        if let name = options["fallback"]?.text { fallback = .name(name) }
        let disposition = ContentDisposition(
            type: options["type"]?.text ?? "attachment",
            fileName: arguments.first?.text,
            fallback: fallback
        )
        if item["expected_error"] != nil {
            return CaseOutcome.compare(disposition?.text, nil).or(
                "What is not ASCII in a fallback is replaced, not refused.",
                if: options["fallback"]?.text?.utf8.allSatisfy { $0 < 128 } == false
            )
        }
        return .compare(disposition?.text, item["expected"]?.text)
    }
}
