import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

@Suite struct APIErrorDescriptionTests {
    private static var refused: APIError {
        var context = APIError.Context(service: "topics", environment: "release", server: "primary", attempts: 2)
        context.requestID = RequestID()
        context.method = .get
        context.path = "https://joe:hunter2@api.example.com/v1/topics?page=1&access_token=s3cr3t"
        context.elapsed = .seconds(1.5)
        context.keep(
            status: 401,
            headers: ["WWW-Authenticate": "Bearer abc", "Set-Cookie": "sid=topsecret", "X-Trace": "42"],
            body: Data("{\"token\":\"s3cr3t\"}".utf8)
        )
        return APIError(.status(401), context: context)
    }

    @Test func `the description of an error names the failure, the server, the attempts and the duration`() {
        let text = Self.refused.description

        for part in [
            "104", "status 401", "topics", "release", "primary", "request #", "attempts 2", "1.5", "X-Trace: 42",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test(arguments: [
        (
            APIError.Reason.cancelled(.superseded),
            "cancelled, because a newer call replaced it, or the user or the environment changed"
        ),
        (
            .cache(.invalidLifetime),
            "cache: invalidLifetime: the call has no cache lifetime, so no response is stored for it"
        ),
        (.list(.repeatedPosition), "list: repeatedPosition: the next page was already loaded"),
        (.security(.certificate), "security: certificate: the server's certificate was rejected"),
        (.security(.forbidden("a hook refused the call")), "security: forbidden: a hook refused the call"),
        (.body(.empty), "body: empty, but the call expects a value"),
        (
            .module(ModuleFailure(module: "forum", code: 1001, serverCode: 40_012)),
            "module forum: code 1001 for the server's code 40012"
        ),
        (
            .configuration(.unserved(UnservedRequest(method: .get, path: "x", servers: ["a"]))),
            "configuration: the server a does not serve GET x"
        ),
        (
            .configuration(.request(.bodyNotAllowed(method: .get))),
            "configuration: A GET request must not have a body; APIConfiguration.allowsUnusualBody can allow it."
        ),
        (
            .configuration(.invalidRequest("the head is too large")),
            "configuration: the request is invalid: the head is too large"
        ),
        (.configuration(.unknownServer("b")), "configuration: the service has no server \"b\""),
        (
            .configuration(.unsupported("HTTP/3")),
            "configuration: the request is not supported: HTTP/3"
        ),
        (.configuration(.clientClosed), "configuration: the client has been shut down"),
        (
            .configuration(.moduleCodes(.reserved(module: "m", code: 7))),
            "configuration: module m: code 7 is reserved: must be at least 1001"
        ),
        (.configuration(.other("the type of the value is missing")), "configuration: the type of the value is missing"),
    ])
    func `the description of an error reason says what the reason means`(reason: APIError.Reason, words: String) {
        #expect(reason.description == words)
    }

    @Test func `no credential appears in the description of an error`() {
        let text = Self.refused.description

        for secret in ["hunter2", "s3cr3t", "topsecret", "Bearer abc"] { #expect(!text.contains(secret), "\(secret)") }
        #expect(text.contains("page=1"))
    }

    @Test func `the description of an error is one line even if its message has several`() {
        let error = APIError(.configuration(.invalidRequest("bad\r\nX-Forged: 1")))

        #expect(!error.description.contains("\n"))
        #expect(!error.description.contains("\r"))
    }

    @Test(arguments: ["A\r\nB", "A\u{85}B", "A\u{2028}B", "A\u{1B}[2JB", "A\n\n\rB"])
    func `a text of the server cannot start a new line in a log`(word: String) {
        let failure = ModuleFailure(module: "m", code: nil, serverCode: .word(word))
        let text = APIError(.module(failure)).description

        #expect(!text.unicodeScalars.contains { CharacterSet.controlCharacters.union(.newlines).contains($0) })
        #expect(text.contains("A "))
    }

    @Test func `an error keeps the body up to a limit and states the full length`() {
        var context = APIError.Context()
        context.keep(status: 500, headers: HTTPHeaders(), body: Data(count: 1_000_000))

        #expect(context.body.count == APIError.Context.bodyLimit)
        #expect(context.bodyLength == 1_000_000)
    }

    @Test func `the description of an error removes a bearer token from free text`() {
        #expect(!LineRedaction.standard.text("sent Authorization: Bearer eyJhbGciOi.x.y").contains("eyJ"))
    }

    @Test(arguments: ["user%5Bpassword%5D", "user[password]", "sid", "ticket", "accesstoken", "a=1#access_token"])
    func `the description of an error hides the same URL parameters as the client`(name: String) {
        var context = APIError.Context()
        context.path = "https://api.example.com/v1/topics?page=1&\(name)=s3cr3t"

        let text = APIError(.status(401), context: context).description

        #expect(text.contains("page=1"))
        #expect(!text.contains("s3cr3t"))
    }

    @Test(arguments: [
        ("/x?api_key=ab,cd", "/x?api_key=<redacted>"), ("/x?api_key=ab;c'd&page=1", "/x?api_key=<redacted>&page=1"),
        ("/x?page=1;api_key=ab;sort=up", "/x?page=1;api_key=<redacted>;sort=up"),
        ("path=/x?api_key=ab, status=404", "path=/x?api_key=<redacted>, status=404"),
        ("'/x?api_key=ab' failed", "'/x?api_key=<redacted>' failed"), ("/x?ids=1,2;3", "/x?ids=1,2;3"),
    ])
    func `in an error's description, a secret is removed completely, and the text after it stays`(
        text: String,
        expected: String
    ) {
        #expect(LineRedaction.standard.text(text) == expected)
    }

    @Test(arguments: Redaction.standard.headerNames.sorted())
    func `the description of an error hides the same header fields as the client`(name: String) {
        var context = APIError.Context()
        context.headers = HTTPHeaders([HTTPHeaders.Field(name: name.capitalized, value: "s3cr3t")])

        #expect(!APIError(.status(401), context: context).description.contains("s3cr3t"))
    }

    @Test func `the description of an error's context contains no credential`() {
        let text = Self.refused.context.description

        for part in ["topics", "primary", "page=1", "status 401", "X-Trace: 42"] {
            #expect(text.contains(part), "\(part)")
        }
        for secret in ["hunter2", "s3cr3t", "topsecret"] { #expect(!text.contains(secret), "\(secret)") }
    }

    @Test func `in an error's description, a redacted header field does not hide the fields after it`() {
        var context = APIError.Context()
        context.keep(status: 500, headers: ["Set-Cookie": "a=b", "X-Trace": "42"], body: Data("12".utf8))

        #expect(APIError(.status(500), context: context).description.hasSuffix("X-Trace: 42], body 2 bytes"))
    }

    @Test func `the description of an error hides a token in the fragment of a URL in a header field`() {
        var context = APIError.Context()
        context.headers = ["Location": "https://app.example.com/back#access_token=s3cr3t"]

        #expect(!APIError(.status(302), context: context).description.contains("s3cr3t"))
    }
}
