import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import Testing

@testable import SwitchyardClient

@Suite struct MultipartFormTests {
    /// A temporary folder of the test, which is removed at the end.
    final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("form-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }

        func file(_ name: String, _ data: Data) throws -> URL {
            let file = url.appendingPathComponent(name)
            try data.write(to: file)
            return file
        }
    }

    static func text(_ form: MultipartForm) async throws -> String {
        String(decoding: try await form.body().collected(upTo: 1 << 24), as: UTF8.self)
    }

    @Test func `the fields, data, files and streams of a form become one body of known length`() async throws {
        let folder = try Folder()
        let file = try folder.file("a.json", Data("{}".utf8))
        var form = MultipartForm(boundary: "B")
        form.append(.field("empty", nil))
        form.append(.data(Data("x".utf8), name: "d"))
        form.append(.file(file, name: "f"))
        form.append(.stream(HTTPBody.Stream(length: 2) { SegmentedBodyReader([.bytes(Data("yz".utf8))]) }, name: "s"))

        let body = try form.body()
        let data = try await body.collected(upTo: 1000)

        let expected = [
            "--B", "Content-Disposition: form-data; name=\"empty\"", "", "",
            "--B", "Content-Disposition: form-data; name=\"d\"", "", "x",
            "--B", "Content-Disposition: form-data; name=\"f\"; filename=\"a.json\"", "Content-Type: application/json",
            "",
            "{}",
            "--B", "Content-Disposition: form-data; name=\"s\"", "", "yz",
            "--B--", "",
        ]
        #expect(String(decoding: data, as: UTF8.self) == expected.joined(separator: "\r\n"))
        #expect(body.length == Int64(data.count))
    }

    @Test func `a form can be sent twice`() async throws {
        let folder = try Folder()
        let file = try folder.file("a.bin", Data(repeating: 7, count: 100_000))
        let form = MultipartForm(parts: [.file(file, name: "f")])

        #expect(try await Self.text(form) == Self.text(form))
    }

    @Test func `parameters that are added to a form have the same field names as in a query`() async throws {
        var form = MultipartForm(boundary: "B")
        try form.append(["user": ["name": "a b&c"], "tags": [1, 2], "on": true])

        let names = form.parts.compactMap(\.name)

        #expect(names == ["on", "tags[]", "tags[]", "user[name]"])
        #expect(try await Self.text(form).contains("\r\n\r\na b&c\r\n"))
    }

    @Test func `a request's parameters are added to its form`() async throws {
        var configuration = APIConfiguration(method: .post, body: .multipart(MultipartForm(parts: [.field("a", "1")])))
        configuration.parameters = ["b": 2]

        let request = try BuiltRequest.request(configuration)

        let text = String(decoding: try await request.body.collected(upTo: 10_000), as: UTF8.self)
        #expect(text.contains("name=\"b\"\r\n\r\n2\r\n"))
        #expect(request.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=Switchyard-") == true)
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\rb", "a%0D%0Ab"), ("a\nb", "a%0D%0Ab"), ("a\r\nb", "a%0D%0Ab"), ("ä漢", "ä漢"),
        ("a\\b", "a\\b"),
        ("100%22", "100%22"),
    ])
    func `a field's name is escaped so that it cannot add header fields`(name: String, expected: String) async throws {
        let form = MultipartForm(parts: [.field(name, "v")], boundary: "B")

        #expect(
            try await Self.text(form).hasPrefix("--B\r\nContent-Disposition: form-data; name=\"\(expected)\"\r\n\r\nv")
        )
    }

    @Test(arguments: [("x\r\nY: z", "x%0D%0AY: z"), ("a\".png", "a%22.png"), ("文件.png", "文件.png")])
    func `a file's name is escaped so that it cannot add header fields`(name: String, expected: String) async throws {
        let form = MultipartForm(parts: [.data(Data(), name: "f", fileName: name)], boundary: "B")

        let text = try await Self.text(form)
        #expect(text.contains("; filename=\"\(expected)\"\r\n"))
        #expect(!text.contains("filename*"))
    }

    @Test(arguments: ["", "a\r\n", "ä", "ends ", String(repeating: "x", count: 71), "a\"b", "a;b"])
    func `an invalid boundary of a form is rejected`(boundary: String) {
        #expect(throws: RequestError.multipart(part: nil, reason: .invalidBoundary)) {
            try MultipartForm(parts: [.field("a", "b")], boundary: boundary).body()
        }
    }

    @Test(arguments: ["--B", "x\r\n--B", "x\r\n--B--\r\n"])
    func `a boundary that the app sets is rejected if it occurs in the content`(content: String) {
        #expect(throws: RequestError.multipart(part: "a", reason: .boundaryInContent)) {
            try MultipartForm(parts: [.field("a", content)], boundary: "B").body()
        }
    }

    // RFC 2046 section 5.1.1: no line of a part may begin like the delimiter, and a nested form is a part.
    @Test(arguments: [("B-inner", "text"), ("inner", "x\r\n--B")])
    func `a line of a nested form must not begin with the outer boundary`(boundary: String, content: String) throws {
        let inner = MultipartForm(parts: [.field("a", content)], subtype: "mixed", boundary: boundary)
        let middle = MultipartForm(parts: [MultipartPart(name: "b", content: .form(inner))], subtype: "mixed")
        let outer = MultipartForm(parts: [MultipartPart(name: "c", content: .form(middle))], boundary: "B")

        #expect(throws: RequestError.self) { try outer.body() }
        #expect(throws: Never.self) { try middle.body() }
    }

    @Test func `a part's headers are validated, and a part of form-data needs a name`() {
        var part = MultipartPart.field("a", "b")
        part.headers = ["X-A": "1\r\nX-B: 2"]
        #expect(throws: RequestError.multipart(part: "a", reason: .invalidHeader("X-A"))) {
            try MultipartForm(parts: [part]).body()
        }
        let nameless = MultipartPart(name: nil, content: .data(Data()))
        #expect(throws: RequestError.multipart(part: nil, reason: .missingName)) {
            try MultipartForm(parts: [nameless]).body()
        }
        #expect(throws: Never.self) { try MultipartForm(parts: [nameless], subtype: "mixed").body() }
    }

    @Test(arguments: [HTTPMethod.get, .head])
    func `a form is rejected for GET and HEAD`(method: HTTPMethod) {
        let configuration = APIConfiguration(method: method, body: .multipart(MultipartForm(parts: [.field("a", "b")])))

        #expect(BuiltRequest.failure(configuration) == .bodyNotAllowed(method: method))
    }

    // A form of up to 10,000,000 bytes is built in memory.
    @Test(arguments: [(10_000_000, true), (10_000_001, false)])
    func `a form above 10 MB is sent in chunks`(length: Int64, isJoined: Bool) throws {
        let rest = try #require(try MultipartForm(parts: [.data(Data(), name: "d")], boundary: "B").length())
        let data = Data(count: Int(length - rest))
        let body = try MultipartForm(parts: [.data(data, name: "d")], boundary: "B").body()

        #expect(body.length == length)
        if case .data = body { #expect(isJoined) } else { #expect(!isJoined) }
    }

    @Test func `the form helpers for images and audio set the content type and the file name`() {
        #expect(MultipartPart.png(Data(), name: "f").fileName == "image.png")
        #expect(MultipartPart.jpeg(Data(), name: "f", fileName: "x.jpeg").fileName == "x.jpeg")
        #expect(MultipartPart.mp3(Data(), name: "f").contentType == "audio/mpeg")
        // For a server that stores uploads under their digest, which is sent as a field's name or in another field.
        #expect(MessageDigest.md5(Data("abc".utf8)).hexText == "900150983cd24fb0d6963f7d28e17f72")
    }

    @Test func `a part of a form may have its own headers`() async throws {
        var part = MultipartPart.field("a", "b")
        part.headers = ["Content-ID": "<1>", "X-Order": "2"]

        let text = try await Self.text(MultipartForm(parts: [part], boundary: "B"))

        #expect(text.contains("name=\"a\"\r\nContent-ID: <1>\r\nX-Order: 2\r\n\r\nb\r\n"))
    }

    @Test func `a boundary is random unless the form or the request's Content-Type sets it`() throws {
        let form = MultipartForm(parts: [.field("a", "b")])
        let given = APIConfiguration(
            method: .post,
            body: .multipart(form),
            headers: [.contentType("multipart/form-data; boundary=own")]
        )

        let request = try BuiltRequest.request(given)

        #expect(form.boundary != MultipartForm(parts: form.parts).boundary)
        #expect(MultipartForm(boundary: "mine").contentType == "multipart/form-data; boundary=mine")
        #expect(BuiltRequest.text(request.body).hasPrefix("--own\r\n"))
    }

    // Form-data does not allow filename*, but attachments do.
    @Test func `an attachment's name is sent as filename and as filename*`() async throws {
        let part = MultipartPart(name: nil, fileName: "€ \"1\"\r\n.pdf", content: .data(Data()))

        let text = try await Self.text(MultipartForm(parts: [part], subtype: "mixed", boundary: "B"))

        let plain = #"filename="? \"1\"?.pdf""#
        let extended = "filename*=UTF-8''%E2%82%AC%20%221%22%0D%0A.pdf"
        #expect(text.contains("Content-Disposition: attachment; \(plain); \(extended)\r\n"))
    }

    @Test func `a form can be written to a file`() async throws {
        let folder = try Folder()
        let form = MultipartForm(parts: [.field("a", "b")], boundary: "B")
        let file = try folder.file("out", Data("old".utf8))

        try await form.write(to: file)

        #expect(String(decoding: try Data(contentsOf: file), as: UTF8.self) == (try await Self.text(form)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["out"])
    }

    @Test func `a form that fails to be written leaves the old file and no other file`() async throws {
        let folder = try Folder()
        let file = try folder.file("out", Data("old".utf8))
        let source = HTTPBody.Stream(length: 9) { SegmentedBodyReader([.bytes(Data("short".utf8))]) }

        await #expect(throws: RequestError.self) {
            try await MultipartForm(parts: [.stream(source, name: "s")]).write(to: file)
        }

        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["out"])
    }
}
