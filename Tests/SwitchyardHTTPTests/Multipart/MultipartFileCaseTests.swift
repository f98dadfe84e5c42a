import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// The files of multipart cases.
@Suite(.caseFolder) struct MultipartFileCaseTests {
    @Test func `forms are built as in Alamofire`() async throws {
        let keys: CaseKeys = """
            boundary parts parts.name parts.text parts.file parts.stream parts.fileName parts.mimeType parts.condition
            operation expected expected_body expected_content_type expected_content_length expected_error
            """
        try await CaseFile("alamofire_multipart").runAsync(reading: keys) { item in
            let condition = item["parts"]?.array?.first?["condition"]?.string
            if let condition { return try await Self.broken(condition) }
            switch item["operation"]?.string {
            case nil: return try await Self.whole(item)
            case let operation? where operation.contains("not a file URL"):
                let form = MultipartForm(parts: [.field("a", "b")])
                let url = try #require(URL(string: "https://example.com/file"))
                do {
                    try await form.write(to: url)
                    return .failed("was written")
                } catch is RequestError { return .passed }
            case "encode twice":
                let form = try MultipartCaseTests.form(item)
                let first = try await MultipartCaseTests.bytes(form)
                let isSame = try await MultipartCaseTests.bytes(form) == first
                return isSame
                    ? .differs("A form can be encoded again: parts are read anew each time.") : .failed("differs")
            default: return .notApplicable("The operation belongs to Alamofire's own files.")
            }
        }
    }

    private static func whole(_ item: CaseValue) async throws -> CaseOutcome {
        let form = try MultipartCaseTests.form(item)
        let length = form.parts.reduce(0) { $0 + (MultipartCaseTests.length(of: $1) ?? 0) }
        if item["expected_error"] != nil {
            do { _ = try await MultipartCaseTests.bytes(form) } catch is RequestError { return .passed }
            return .failed("was encoded")
        }
        do {
            return try await MultipartCaseTests.compare(form, item).or(
                "The length is that of the whole form; Alamofire's is that of its parts.",
                if: item["expected_content_length"]?.int.map(Int64.init) == length
            )
        } catch let error as RequestError {
            guard case .body(_, .lengthMismatch) = error else { throw error }
            return .differs("A stream that is longer than it says is an error; nothing of it is left out.")
        }
    }

    /// A part that cannot be sent.
    static func broken(_ condition: String) async throws -> CaseOutcome {
        let folder = FileManager.default.temporaryDirectory
        let part: MultipartPart
        if condition.contains("does not exist") {
            part = .file(folder.appendingPathComponent("missing-\(UUID().uuidString)"), name: "x")
        } else if condition.contains("directory") {
            part = .file(folder, name: "x")
        } else if condition.contains("not a file URL") || condition.contains("remote") || condition.contains("http") {
            part = .file(try #require(URL(string: "https://example.com/a.png")), name: "x")
        } else if condition.contains("empty string") {
            part = .file(URL(fileURLWithPath: ""), name: "x")
        } else if condition.contains("length") || condition.contains("stream") {
            part = .stream(HTTPBody.Stream(length: 9) { SegmentedBodyReader([.bytes(Data("ab".utf8))]) }, name: "x")
        } else {
            return .notApplicable("The condition cannot be brought about.")
        }
        do {
            _ = try await MultipartCaseTests.bytes(MultipartForm(parts: [part]))
            return .failed("was encoded")
        } catch is RequestError { return .passed }
    }

    @Test func `forms are built as in OkHttp`() async throws {
        let keys: CaseKeys = """
            boundary type parts parts.name parts.value parts.fileName parts.mimeType parts.body parts.headers
            parts.multipart parts.length parts.oneShot operation expected_content_type expected_content_length
            expected_body expected_same_both_times expected_whole_body_is_one_shot expected_error
            """
        try await CaseFile("okhttp_multipart").runAsync(reading: keys) { item in
            if item["type"]?.string?.contains("/") ?? false { return .notApplicable("A form is always multipart.") }
            if item["expected_whole_body_is_one_shot"]?.bool == true {
                return .notApplicable("There are no bodies for one attempt: a stream starts anew for each.")
            }
            let hasType = item["parts"]?.array?.contains { $0["headers"]?["Content-Type"] != nil } ?? false
            let hasLength = item["parts"]?.array?.contains { $0["headers"]?["Content-Length"] != nil } ?? false
            if item["expected_error"] != nil {
                if item["parts"]?.array?.isEmpty ?? true {
                    let bytes = try await MultipartCaseTests.bytes(MultipartForm(boundary: "123"))
                    return bytes == Data("--123--\r\n".utf8)
                        ? .differs("A form without parts is its closing boundary, as in requests-toolbelt.")
                        : .failed("\(bytes.count) bytes")
                }
                var parts = item["parts"]?.array ?? []
                if let first = parts.first, first["name"] == nil { parts = [first] }
                let form = MultipartForm(
                    parts: try parts.map(MultipartCaseTests.part),
                    subtype: "mixed",
                    boundary: "123"
                )
                let isBuilt = (try? form.body()) != nil
                return isBuilt
                    ? CaseOutcome.failed("was built")
                        .or("A part without a type may name it among its headers.", if: hasType)
                        .or("A length is worked out; a part may say what it likes.", if: hasLength)
                    : .passed
            }
            let form = try MultipartCaseTests.form(item, subtype: "mixed")
            let outcome = try await MultipartCaseTests.compare(form, item)
            if item["operation"]?.string == "write twice" {
                let first = try await MultipartCaseTests.bytes(form)
                guard try await MultipartCaseTests.bytes(form) == first else { return .failed("differs") }
            }
            return outcome
        }
    }

    @Test func `names in a multipart form are escaped as in the web platform`() async throws {
        let keys: CaseKeys = """
            description boundary parts parts.name parts.value parts.fileName parts.mimeType parts.content form_encoding
            expected_body expected_body_latin1
            """
        try await CaseFile("wpt_multipart_escaping").runAsync(reading: keys) { item in
            guard item["form_encoding"] == nil else { return .notApplicable("Forms are written in UTF-8 only.") }
            let values = (item["parts"]?.array ?? []).compactMap { $0["value"]?.text }.joined()
            return try await MultipartCaseTests.compare(MultipartCaseTests.form(item), item).or(
                "Line breaks in values are kept as they are; a browser's form makes them CR LF.",
                if: values.unicodeScalars.contains { $0 == "\n" || $0 == "\r" }
            )
        }
    }

    @Test func `forms are built as in httpx, urllib3, requests-toolbelt and form-data`() async throws {
        let keys: CaseKeys = """
            boundary parts parts.name parts.value parts.values parts.content parts.content_hex parts.stream parts.file
            parts.fileName parts.mimeType parts.headers parts.length parts.at_end operation read_size fileName
            request_content_type note_rule expected expected_any_of expected_boundary expected_part
            expected_part.filename expected_part.contentType expected_request_content_type expected_body
            expected_contains expected_contains_both_times expected_part_head expected_absent expected_body_ends_with
            expected_content_type expected_content_type_any_of expected_content_length expected_error
            """
        try await CaseFile("multipart_misc").runAsync(reading: keys, Self.judge)
    }

    /// Whether the test evaluates an expectation that is given in words.
    private static func isRead(_ expected: String) -> Bool {
        ["appear unchanged", "an ordinary part", "bytes read add up", "boundar", "the same value"]
            .contains(where: expected.contains)
    }

    static func judge(_ item: CaseValue) async throws -> CaseOutcome {
        if let allowed = item["expected_any_of"]?.array?.compactMap(\.string) {
            let type = MediaTypes.type(ofFile: item["fileName"]?.string ?? "")
            return allowed.contains(type) ? .passed : .failed("got \(type)")
        }
        if let expected = item["expected"]?.string, !isRead(expected) {
            return .notApplicable("What is expected is told in words.")
        }
        if let type = item["request_content_type"]?.string { return try await contentType(type, item) }
        if item["parts"] == nil,
            ["boundary", "forms"].contains(where: { item["operation"]?.string?.contains($0) ?? false })
        {
            // The case compares boundaries: equal for one form, different for others.
            let form = MultipartForm()
            return form.boundary == form.boundary && form.boundary != MultipartForm().boundary ? .passed : .failed("")
        }
        if let expected = item["expected_boundary"]?.string {
            return .compare(try MultipartCaseTests.form(item).boundary, expected)
        }
        if let expected = item["expected_part"] { return try part(item, expected) }
        let texts = (item["parts"]?.array ?? []).compactMap { $0["value"]?.text }
        if item["boundary"] == nil, texts.contains(where: { $0.contains("\r\n--BOUNDARY") }) {
            let part = try MultipartCaseTests.part(item["parts"]?.array?.first ?? .null)
            let isRefused = (try? MultipartForm(parts: [part], boundary: "BOUNDARY").body()) == nil
            let isRandomFine = (try? MultipartForm(parts: [part]).body()) != nil
            return isRefused && isRandomFine ? .passed : .failed("the boundary stands in a part")
        }
        guard item["parts"]?.array != nil || item["expected_content_type_any_of"] != nil else {
            return .notApplicable("The case is described in words.")
        }
        return try await compare(item)
    }

    /// Whether a part has its type both as its type and in its header fields.
    private static func namesTypeTwice(_ part: CaseValue) -> Bool {
        part["mimeType"]?.string != nil
            && (part["headers"]?.members ?? []).contains { $0.key.equalsIgnoringASCIICase("Content-Type") }
    }

    private static func compare(_ item: CaseValue) async throws -> CaseOutcome {
        let form = try MultipartCaseTests.form(item)
        let isHTTPX = (item["source"] ?? item["id"])?.string?.contains("httpx") ?? false
        guard item["expected_error"] == nil else {
            return (try? form.body()) == nil ? .passed : .failed("was built")
        }
        if (item["parts"]?.array ?? []).contains(where: namesTypeTwice) {
            return (try? form.body()) == nil
                ? .differs("A part that names its type twice is an error, as in OkHttp.") : .failed("was built")
        }
        if item["expected"]?.string?.contains("appear unchanged") ?? false {
            let content = MultipartCaseTests.content(item["parts"]?.array?.first ?? .null) ?? Data()
            let data = try await MultipartCaseTests.bytes(form)
            return data.range(of: Data("\r\n\r\n".utf8) + content + Data("\r\n--".utf8)) != nil
                ? .passed : .failed("changed")
        }
        if let text = item["expected_contains_both_times"]?.string {
            for _ in 0..<2 where try await MultipartCaseTests.bytes(form).range(of: Data(text.utf8)) == nil {
                return .failed("lacks the content")
            }
            return .passed
        }
        if form.parts.contains(where: { $0.name == nil }), (try? form.body()) == nil {
            return .differs("A part of form data has a name (RFC 7578 section 4.2).")
        }
        let outcome = try await MultipartCaseTests.compare(form, item).or(
            "A boundary that is no token stands in quotes (RFC 2046 section 5.1.1).",
            if: form.contentType.replacing("\"", with: "") == item["expected_content_type"]?.string
        )
        let names = (item["parts"]?.array ?? []).flatMap { [$0["fileName"]?.text, $0["name"]?.text] }.compactMap(\.self)
        let isControlled = names.joined().unicodeScalars.contains { $0.value < 32 || $0 == "\\" || $0.value == 127 }
        return outcome.or(
            "In names only quotes and line breaks are escaped, as WHATWG says; httpx escapes more.",
            if: isControlled && isHTTPX
        ).or(
            "A part given as a file has the file's name; without one it is a field.",
            if: isHTTPX
                && (item["parts"]?.array ?? []).contains {
                    $0["fileName"] == nil && ($0["content"] ?? $0["stream"]) != nil
                }
        )
    }

    private static func contentType(_ type: String, _ item: CaseValue) async throws -> CaseOutcome {
        var parts = try MultipartCaseTests.form(item).parts
        // httpx names a file without a name "upload". The case tests the boundary.
        for index in parts.indices where parts[index].fileName == nil {
            parts[index].fileName = "upload"
            parts[index].contentType = "application/octet-stream"
        }
        var configuration = APIConfiguration(method: .post, body: .multipart(MultipartForm(parts: parts)))
        configuration.headers = [.contentType(type)]
        guard let request = try? RequestGenerator().request(for: configuration, on: BaseURL("http://unused.example"))
        else {
            return item["expected_error"] != nil ? .passed : .failed("was not built")
        }
        if item["expected_error"] != nil { return .failed("was built") }
        let sent = request.headers["Content-Type"] ?? ""
        if let expected = item["expected_request_content_type"]?.string, sent != expected {
            return CaseOutcome.failed("got \(sent)")
                .or("Spaces around a header's value are not part of it.", if: expected.hasPrefix(sent))
        }
        guard let expected = item["expected_body"]?.text else { return .passed }
        let data = try await request.body.collected(upTo: 1 << 20)
        return .compare(String(decoding: data, as: UTF8.self), expected)
    }

    private static func part(_ item: CaseValue, _ expected: CaseValue) throws -> CaseOutcome {
        guard let given = item["parts"]?.array?.first else { return .notApplicable("There is no part.") }
        let part = try MultipartCaseTests.part(given)
        if let name = expected["filename"], part.fileName != name.string {
            return .failed("named \(part.fileName ?? "")")
        }
        if let type = expected["contentType"], part.contentType != type.string {
            return CaseOutcome.failed("is \(part.contentType ?? "")").or(
                "Bytes without a file's name are a field, and have a type only if they are given one.",
                if: part.fileName == nil && given["mimeType"] == nil
            )
        }
        return .passed
    }
}
