import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@Suite struct RequestOptionsTests {
    // MARK: - Hosts

    @Test func `common headers and parameters are not sent to other hosts`() throws {
        let configuration = APIConfiguration(path: "https://other.example/x", headers: ["X-Own": "1"])
        let request = try BuiltRequest.request(configuration) {
            $0.common.headers = [.bearer("secret"), .accept("a/b")]
            $0.common.parameters = ["key": "secret"]
        }

        #expect(request.url.text == "https://other.example/x")
        #expect(request.headers["Authorization"] == nil)
        #expect(request.headers["Accept"] == "a/b")
        #expect(request.headers["X-Own"] == "1")
    }

    @Test func `a request to an absolute URL with the origin of the base URL gets common headers`() throws {
        let configuration = APIConfiguration(path: "https://API.example.com:443/x")
        let request = try BuiltRequest.request(configuration) { $0.common.headers = [.bearer("secret")] }

        #expect(request.headers["Authorization"] == "Bearer secret")
    }

    @Test func `requests to other hosts can be allowed or rejected`() throws {
        let configuration = APIConfiguration(path: "https://other.example/x")

        let request = try BuiltRequest.request(configuration) {
            $0.common.headers = [.bearer("secret")]
            $0.foreignHosts = .allowed
        }
        #expect(request.headers["Authorization"] == "Bearer secret")
        #expect(
            BuiltRequest.failure(configuration) { $0.foreignHosts = .refused }
                == .url(text: "https://other.example/x", reason: .foreignHost("other.example"))
        )
    }

    @Test func `a request's CDN replaces the base URL only if usesCDN is set`() throws {
        var configuration = APIConfiguration(path: "a.png")
        configuration.cdnURL = RequestURL("https://cdn.example.com/files")
        #expect(try BuiltRequest.url(configuration) == "https://api.example.com/v1/a.png")

        configuration.usesCDN = true
        #expect(try BuiltRequest.url(configuration) == "https://cdn.example.com/files/a.png")
    }

    // MARK: - Paths

    @Test(arguments: [
        ("users", "https://api.example.com/v1/v2/users"), ("/users", "https://api.example.com/v1/v2/users"),
        ("", "https://api.example.com/v1/v2"), ("?a=1", "https://api.example.com/v1/v2?a=1"),
        ("https://other.example/x", "https://other.example/x"),
    ])
    func `the API version is inserted between base URL and path`(path: String, expected: String) throws {
        #expect(try BuiltRequest.url(APIConfiguration(path: path)) { $0.apiVersion = "v2" } == expected)
    }

    @Test func `a call may choose another API version or none`() throws {
        var configuration = APIConfiguration(path: "users")
        configuration.apiVersion = "v3"
        #expect(try BuiltRequest.url(configuration) { $0.apiVersion = "v2" } == "https://api.example.com/v1/v3/users")

        configuration.apiVersion = ""
        #expect(try BuiltRequest.url(configuration) { $0.apiVersion = "v2" } == "https://api.example.com/v1/users")
    }

    @Test func `path filters change paths in order, and change absolute URLs only if they opt in`() throws {
        let shout = PathFilter(appliesToAbsoluteURLs: true) { path, _ in "\(path)/!" }
        let filters = [PathFilter.appending(["k": "a b"]), shout]

        #expect(
            try BuiltRequest.url(APIConfiguration(path: "x?y=1")) { $0.pathFilters = filters }
                .hasSuffix("/x?y=1&k=a%20b/!")
        )
        #expect(
            try BuiltRequest.url(APIConfiguration(path: "https://o.example/x")) { $0.pathFilters = filters }
                == "https://o.example/x/!"
        )
    }

    @Test func `placeholders in a path are filled with escaped values`() throws {
        var configuration = APIConfiguration(path: "users/{id}/files{/parts*}{?page}")
        configuration.pathValues = ["id": "a/b?c", "parts": ["x y", "z"], "page": 2]

        #expect(
            try BuiltRequest.url(configuration) == "https://api.example.com/v1/users/a%2Fb%3Fc/files/x%20y/z?page=2"
        )
    }

    @Test(arguments: ["users/{id}", "users/{id", "users/id}", "users/{}", "users/{i d}"])
    func `a placeholder that is invalid or has no value is an error`(path: String) {
        let failure = BuiltRequest.failure(APIConfiguration(path: path))

        if case .template(path, _) = failure { return }
        // A single closing brace is not a placeholder and is escaped.
        #expect(failure == nil && path == "users/id}")
    }

    @Test(arguments: ["..", "."])
    func `a path value cannot be a dot segment`(value: String) {
        var configuration = APIConfiguration(path: "users/{id}/x")
        configuration.pathValues = ["id": value]

        let expected = RequestError.template(text: "users/{id}/x", reason: .unusableValue("id"))
        #expect(BuiltRequest.failure(configuration) == expected)
    }

    @Test(
        arguments: [
            ("search?q={id}", "search?q="), ("report{id}.pdf", "report.pdf"), ("users/7{.id}", "users/7."),
            ("users/7{id}/x", "users/7/x"), ("users/{id}7", "users/7"), ("users/7#{id}", "users/7#"),
        ]
    )
    func `an empty path value is allowed if its path segment also has other text`(path: String, expanded: String) throws
    {
        let template = try URLTemplate(path)

        #expect(try template.expanded(with: ["id": ""], missing: .refusedInPath) == expanded)
    }

    @Test func `a URL template lists each of its variables once and in order`() throws {
        #expect(try URLTemplate("users/{id}/topics{?page,size,id}").variables == ["id", "page", "size"])
        #expect(try URLTemplate("topics").variables == [])
    }

    @Test(arguments: ["users/{id:2}/x", "users{/id:2}"])
    func `a path value that a prefix modifier shortens to a dot segment is rejected`(
        path: String
    ) {
        var configuration = APIConfiguration(path: path)
        configuration.pathValues = ["id": "..admin"]

        let expected = RequestError.template(text: path, reason: .unusableValue("id"))
        #expect(BuiltRequest.failure(configuration) == expected)
    }

    @Test(
        arguments: [
            ("users/{id}", ""), ("users/{id:3}", ""), ("users/{+id}", ""), ("users{/id}", ""), ("users/{id}{?q}", ""),
            ("users/{id}#top", ""), ("users{/id}/x", ""), ("users/{id}", [""]), ("users{/id*}", ["a", ""]),
            ("users{/id*}", [""]),
        ] as [(String, ParameterValue)]
    )
    func `an empty path value cannot turn a call for an item into a call for the collection`(
        path: String,
        value: ParameterValue
    ) {
        var configuration = APIConfiguration(path: path, method: .delete)
        configuration.pathValues = ["id": value]

        let expected = RequestError.template(text: path, reason: .unusableValue("id"))
        #expect(BuiltRequest.failure(configuration) == expected)
    }

    @Test func `an empty path value is allowed if no path segment becomes empty`() throws {
        var configuration = APIConfiguration(path: "users{;id}{?page}{#part}")
        configuration.pathValues = ["id": "", "page": "", "part": ""]
        #expect(try BuiltRequest.url(configuration) == "https://api.example.com/v1/users;id?page=")

        configuration = APIConfiguration(path: "users/{ids}/{names}")
        configuration.pathValues = ["ids": ["1", "", "3"], "names": ["a": ""]]
        #expect(try BuiltRequest.url(configuration) == "https://api.example.com/v1/users/1,,3/a,")
        #expect(try URLTemplate("users/{id}").expanded(with: ["id": ""], missing: .leftOut) == "users/")
    }

    @Test(arguments: [
        ("{+id:1}", "%41bc", "%41"), ("{+id:3}", "a%20bc", "a%20b"), ("{#id:2}", "%C3%A9xy", "#%C3%A9x"),
        ("{+id:2}", "üöä", "%C3%BC%C3%B6"), ("{id:3}", "a%20b", "a%252"), ("{+id:9}", "%4", "%254"),
    ])
    func `a prefix modifier of a URL template does not split a percent-escape`(
        path: String,
        value: String,
        expanded: String
    )
        throws
    {
        #expect(try URLTemplate(path).expanded(with: ["id": value]) == expanded)
    }

    @Test func `a custom separator also separates new parameters from a query in the path`() throws {
        var configuration = APIConfiguration(path: "topics?a=1")
        configuration.parameters = ["b": 2, "c": 3]
        configuration.parameterOptions = ParameterEncodingOptions()
        configuration.parameterOptions?.separator = ";"

        #expect(try BuiltRequest.url(configuration) == "https://api.example.com/v1/topics?a=1;b=2;c=3")
    }

    @Test func `a request whose URL is too long is an error`() {
        let configuration = APIConfiguration(path: String(repeating: "a", count: 100_000))

        let reason = RequestError.URLReason.tooLong(bytes: 100_027, limit: 65_536)
        #expect(BuiltRequest.failure(configuration) == .url(text: configuration.path, reason: reason))
    }

    @Test(arguments: [
        "", "api.example.com", "ftp://h", "http://", "http:///x", "http://a b", "http://h:x", "http://h:70000",
        "http://[::1", "https://evil\\@good", "//h/x", "http://1.2.3", "http://user@",
    ])
    func `a base URL without a valid host is an error`(base: String) {
        #expect(throws: RequestError.self) { try BaseURL(base) }
    }

    // MARK: - Changes

    // A signing modifier runs after the call's own changes.
    @Test func `request modifiers run in order, and the call's modifiers run before the request generator's`() throws {
        var configuration = APIConfiguration(path: "x", headers: ["X-Order": "0"])
        configuration.modifier = { $0.headers.set("X-Order", "\($0.headers["X-Order"] ?? "")1") }

        let request = try BuiltRequest.request(configuration) { generator in
            generator.modifiers = [
                { $0.headers.set("X-Order", "\($0.headers["X-Order"] ?? "")2") },
                { $0.headers.set("X-Order", "\($0.headers["X-Order"] ?? "")3") },
            ]
        }

        #expect(request.headers["X-Order"] == "0123")
    }

    @Test func `a prebuiltRequest replaces all other settings of the request`() throws {
        let prebuilt = HTTPRequest(method: .put, url: try RequestURL(validating: "https://o.example/x"))
        var configuration = APIConfiguration(path: "ignored", headers: ["X-Ignored": "1"], timeout: .seconds(3))
        configuration.prebuiltRequest = prebuilt

        let request = try BuiltRequest.request(configuration)

        #expect(request.method == .put)
        #expect(request.url.text == "https://o.example/x")
        #expect(request.headers.isEmpty)
        #expect(request.timeouts.total == .seconds(3))
    }

    @Test func `the timeouts and size limits of a call override those of the request generator`() throws {
        var configuration = APIConfiguration(timeout: .milliseconds(1500))
        configuration.connectTimeout = .seconds(1)
        configuration.responseBodyLimit = 10

        let own = try BuiltRequest.request(configuration)
        let common = try BuiltRequest.request(APIConfiguration()) {
            $0.timeouts = HTTPRequest.Timeouts(connect: .seconds(2), idle: .seconds(3), total: .seconds(4))
            $0.responseBodyLimit = 20
        }

        #expect(own.timeouts == HTTPRequest.Timeouts(connect: .seconds(1), total: .milliseconds(1500)))
        #expect(own.responseBodyLimit == 10)
        #expect(common.timeouts == HTTPRequest.Timeouts(connect: .seconds(2), idle: .seconds(3), total: .seconds(4)))
        #expect(common.responseBodyLimit == 20)
    }

    @Test func `parameters in a multipart form are encoded with the options of the request generator`() throws {
        var configuration = APIConfiguration(path: "x", method: .post)
        configuration.parameters = ["flag": true]
        configuration.body = .multipart(MultipartForm(parts: [.field("a", "b")]))

        let request = try BuiltRequest.request(configuration) { $0.formOptions.booleans = .literal }

        guard case .data(let data) = request.body else {
            Issue.record("expected the small form in one piece")
            return
        }
        #expect(String(decoding: data, as: UTF8.self).contains("name=\"flag\"\r\n\r\ntrue\r\n"))
    }

    @Test func `a built request reports whether it may be repeated`() throws {
        var once = APIConfiguration(path: "x")
        once.mayBeRepeated = false
        var keyed = APIConfiguration(path: "x", method: .post)
        keyed.idempotencyKey = .given("7")
        var prebuilt = APIConfiguration()
        prebuilt.prebuiltRequest = HTTPRequest(method: .put, url: try RequestURL(validating: "https://o.example/x"))

        #expect(try !BuiltRequest.request(once).isIdempotent)
        #expect(try BuiltRequest.request(keyed).isIdempotent)
        #expect(try BuiltRequest.request(prebuilt).isIdempotent)
        #expect(try !BuiltRequest.request(APIConfiguration(path: "x", method: .post)).isIdempotent)
    }
}
