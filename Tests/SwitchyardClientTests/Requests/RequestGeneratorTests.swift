import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@Suite struct RequestGeneratorTests {
    // MARK: - Parameters

    @Test(arguments: [HTTPMethod.get, .head, .delete])
    func `parameters of GET, HEAD and DELETE go into the query`(method: HTTPMethod) throws {
        var configuration = APIConfiguration(path: "x", method: method)
        configuration.parameters = ["a": 1]

        let request = try BuiltRequest.request(configuration)

        #expect(request.url.query == "a=1")
        #expect(request.body.length == 0)
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch])
    func `parameters of POST, PUT and PATCH go into a form`(method: HTTPMethod) throws {
        var configuration = APIConfiguration(path: "x", method: method, query: ["q": 1])
        configuration.parameters = ["a": 1]

        let request = try BuiltRequest.request(configuration)

        #expect(request.url.query == "q=1")
        #expect(BuiltRequest.text(request.body) == "a=1")
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test func `a call can choose where its parameters are sent and for which methods they go into the query`() throws {
        var configuration = APIConfiguration(path: "x", method: .post)
        configuration.parameters = ["a": 1]
        configuration.parameterDestination = .query
        #expect(try BuiltRequest.request(configuration).url.query == "a=1")

        configuration.parameterDestination = .automatic
        #expect(try BuiltRequest.request(configuration) { $0.queryMethods = [.post] }.url.query == "a=1")
    }

    // A server decodes a form in the declared character set.
    @Test func `the Content-Type of a form declares its character set`() throws {
        var latin = ParameterEncodingOptions()
        latin.characterSet = .isoLatin1
        let own = APIConfiguration(method: .post, body: .form(["a": "é"], options: latin))
        var placed = APIConfiguration(method: .post)
        placed.parameters = ["a": "é"]
        let common = try BuiltRequest.request(placed) { $0.formOptions.characterSet = .isoLatin1 }
        placed.parameterOptions = latin

        for request in [try BuiltRequest.request(own), try BuiltRequest.request(placed), common] {
            #expect(BuiltRequest.text(request.body) == "a=%E9")
            #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=iso-8859-1")
        }
    }

    @Test func `parameters together with a body that is not a form are an error`() {
        var configuration = APIConfiguration(method: .post, body: .json(["a": 1]))
        configuration.parameters = ["b": 1]

        #expect(BuiltRequest.failure(configuration) == .body(kind: "application/json", reason: .conflict))
    }

    @Test func `a request may have query and form parameters`() throws {
        let configuration = APIConfiguration(method: .post, query: ["a": 1], body: .form(["b": 2]))

        let request = try BuiltRequest.request(configuration)

        #expect(request.url.query == "a=1")
        #expect(BuiltRequest.text(request.body) == "b=2")
    }

    @Test func `a closure (customQuery) may write the whole query`() throws {
        let configuration = APIConfiguration(path: "x?y=1", query: ["a": 1])

        let request = try BuiltRequest.request(configuration) { $0.customQuery = { _ in "a**1 ü" } }
        #expect(request.url.query == "y=1&a**1%20%C3%BC")
    }

    @Test func `a closure that writes the query (customQuery) may throw`() {
        struct Unwritable: Error {}
        let configuration = APIConfiguration(path: "x", query: ["a": 1])

        let failure = BuiltRequest.failure(configuration) { $0.customQuery = { _ in throw Unwritable() } }

        #expect(failure == .hook(stage: "custom query", message: "Unwritable()"))
    }

    // MARK: - Common values

    @Test func `static and computed common parameters are added to every request`() throws {
        let configuration = APIConfiguration(path: "x", query: ["a": 1])

        let request = try BuiltRequest.request(configuration) {
            $0.common.parameters = ["app": "demo", "time": 0]
            $0.common.computedParameters = { ["time": 7, "path": $0.path] }
        }

        #expect(request.url.query == "a=1&app=demo&path=x&time=7")
    }

    @Test(arguments: [(false, "k=own"), (true, "k=common")])
    func `depending on an option, common parameters yield to the request's parameters or override them`(
        overrides: Bool,
        expected: String
    )
        throws
    {
        let request = try BuiltRequest.request(APIConfiguration(query: ["k": "own"])) {
            $0.common.parameters = ["k": "common"]
            $0.common.parametersOverrideRequest = overrides
        }

        #expect(request.url.query == expected)
    }

    @Test func `common parameters are added to a form but not to a JSON body`() throws {
        let form = try BuiltRequest.request(APIConfiguration(method: .post, body: .form(["a": 1]))) {
            $0.common.parameters = ["c": 1]
        }
        let json = try BuiltRequest.request(APIConfiguration(method: .post, body: .json(["a": 1]))) {
            $0.common.parameters = ["c": 1]
        }

        #expect(BuiltRequest.text(form.body) == "a=1&c=1")
        #expect(form.url.query == nil)
        #expect(BuiltRequest.text(json.body) == #"{"a":1}"#)
        #expect(json.url.query == "c=1")
    }

    @Test func `if a closure for building requests throws, the call's error names the closure`() {
        struct Offline: Error {}

        #expect(
            BuiltRequest.failure(APIConfiguration()) { $0.common.computedParameters = { _ in throw Offline() } }
                == .hook(stage: "common parameters", message: "Offline()")
        )
        #expect(
            BuiltRequest.failure(APIConfiguration()) { $0.common.computedHeaders = { _ in throw Offline() } }
                == .hook(stage: "common headers", message: "Offline()")
        )
        #expect(
            BuiltRequest.failure(APIConfiguration()) { $0.validation = { _ in throw Offline() } }
                == .hook(stage: "validation", message: "Offline()")
        )
    }

    // MARK: - Headers

    @Test func `a request's headers replace common headers`() throws {
        let configuration = APIConfiguration(headers: ["x-app": "own", "X-List": "1", "X-List": "2"])

        let request = try BuiltRequest.request(configuration) {
            $0.common.headers = ["X-App": "common", "X-Keep": "yes", "X-List": "0"]
            $0.common.computedHeaders = { ["X-Path": "/\($0.path)"] }
        }

        #expect(request.headers.values(of: "X-App") == ["own"])
        #expect(request.headers.values(of: "X-List") == ["1", "2"])
        #expect(request.headers["X-Keep"] == "yes")
        #expect(request.headers["X-Path"] == "/")
    }

    @Test func `a Content-Type is added only if the request has none`() throws {
        let plain = APIConfiguration(method: .post, body: .json(["a": 1]))
        var typed = plain
        typed.headers = [.contentType("application/vnd.api+json")]

        #expect(try BuiltRequest.request(plain).headers["Content-Type"] == "application/json")
        #expect(try BuiltRequest.request(typed).headers.values(of: "content-type") == ["application/vnd.api+json"])
        #expect(try BuiltRequest.request(APIConfiguration(method: .post)).headers["Content-Type"] == nil)
    }

    @Test(arguments: [
        ("X-A", "a\r\nX-B: b", RequestError.HeaderReason.controlCharacterInValue),
        ("X-A", "a\u{0}", .controlCharacterInValue), ("X-A", "a\u{1}", .otherControlCharacterInValue("\u{1}")),
        ("X-A", "a\tb\u{7f}", .otherControlCharacterInValue("\u{7f}")),
        ("X A", "a", .invalidName), ("", "a", .invalidName), ("X-A\r\n", "a", .invalidName), ("Ä", "a", .invalidName),
    ])
    func `a call with an invalid name or control characters in a header field is rejected`(
        name: String,
        value: String,
        reason: RequestError.HeaderReason
    ) {
        let expected = RequestError.header(name: name, reason: reason)

        #expect(BuiltRequest.failure(APIConfiguration(headers: [name: value])) == expected)
        #expect(BuiltRequest.failure(APIConfiguration()) { $0.common.headers = [name: value] } == expected)
        let failure = BuiltRequest.failure(APIConfiguration()) { $0.common.computedHeaders = { _ in [name: value] } }
        #expect(failure == expected)
        #expect(
            BuiltRequest.failure(APIConfiguration()) { $0.modifiers = [{ $0.headers.add(name, value) }] } == expected
        )
    }

    @Test func `the default headers are sent unless replaced`() throws {
        let request = try RequestGenerator().request(for: APIConfiguration(), on: BaseURL("https://h"))

        #expect(request.headers["Accept"] == "*/*")
        #expect(request.headers["User-Agent"]?.hasSuffix("Switchyard") == true)
        #expect(request.headers["Accept-Encoding"] == nil)
    }

    // MARK: - Bodies

    @Test(arguments: [HTTPMethod.get, .head, .trace])
    func `a body of a GET, HEAD or TRACE is rejected unless allowed`(method: HTTPMethod) throws {
        var configuration = APIConfiguration(method: method, body: .data(Data([1])))

        #expect(BuiltRequest.failure(configuration) == .bodyNotAllowed(method: method))

        configuration.allowsUnusualBody = true
        #expect(try BuiltRequest.request(configuration).body.length == 1)
    }

    @Test func `an unreadable file is reported before the request is sent`() throws {
        let folder = FileManager.default.temporaryDirectory
        let missing = folder.appendingPathComponent("missing-\(UUID().uuidString)")
        let remote = try #require(URL(string: "https://example.com/file"))
        func failure(_ url: URL) -> RequestError? {
            BuiltRequest.failure(APIConfiguration(method: .put, body: .file(url)))
        }

        #expect(failure(missing) == .file(path: missing.path, reason: .unreadable("there is no such file")))
        #expect(failure(folder) == .file(path: folder.path, reason: .isDirectory))
        #expect(failure(remote) == .file(path: "/file", reason: .notAFileURL))
    }
}
