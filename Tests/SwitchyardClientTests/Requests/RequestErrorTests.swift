import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import Testing

@Suite struct RequestErrorTests {
    @Test(arguments: [
        (
            RequestError.url(text: "a?token=secret", reason: .escapesBasePath),
            "The URL “a” must stay within the base URL's path, but leaves it with “..”."
        ),
        (
            .header(name: "X\r\nY", reason: .invalidName),
            "The header field “X\\r\\nY” has an invalid name: must be a token (RFC 9110 section 5.6.2)."
        ),
        (
            .parameter(keyPath: "a[b]", reason: .notFinite),
            "The parameter “a[b]” must be a finite number, but is infinite or not a number."
        ),
        (
            .bodyNotAllowed(method: .get),
            "A GET request must not have a body; APIConfiguration.allowsUnusualBody can allow it."
        ),
        (
            .multipart(part: nil, reason: .invalidBoundary),
            "The multipart form has an invalid boundary: must have 1 to 70 characters that RFC 2046 allows."
        ),
        (.template(text: "a/{b}", reason: .missingValue("b")), "The template “a/{b}” has no value for {b}."),
        (
            .template(text: "https://joe:pw@h/{b}", reason: .missingValue("b")),
            "The template “https://***@h/{b}” has no value for {b}."
        ),
        (.hook(stage: "modifier", message: "no"), "The request's modifier failed: no"),
    ])
    func `an error message names the problem and its place without secrets`(error: RequestError, expected: String) {
        #expect(error.message == expected)
    }

    @Test func `a long text is truncated in an error message`() {
        let error = RequestError.url(text: String(repeating: "x", count: 100_000), reason: .invalidHost)

        #expect(error.message.count < 200)
    }

    @Test(arguments: [
        "myapp://back#access_token=s3cr3t", "ftp://joe:s3cr3t@h/x", "http://joe:s3cr3t@a b/?q#f", "//joe:s3cr3t@h",
        "http://h:port/?token=s3cr3t", "http://joe:s3cr3t/x@h/", "http://joe:s3cr3t?x@h/", "http://joe:s3cr3t#x@h/",
        "//joe:s3cr3t#x@h",
    ])
    func `an error message about a URL contains no credentials`(text: String) {
        let error = #expect(throws: RequestError.self) { try RequestURL(validating: text) }

        #expect(error?.message.contains("s3cr3t") == false)
        #expect(
            RedirectError.unusableTarget(error ?? .url(text: text, reason: .notAbsolute)).description.contains("URL")
        )
    }

    @Test func `the descriptions of request and redirect failures contain no credentials`() throws {
        let url = try RequestURL(validating: "https://joe:s3cr3t@h/x?token=s3cr3t")
        var context = RequestContext(service: "topics", environment: .test, method: .get)
        context.url = url

        let texts = [
            RequestFailure(.closed, id: RequestID(), context: context).description,
            RedirectError.loop(url).description, RedirectError.insecure(url).description,
        ]

        #expect(texts.allSatisfy { !$0.contains("s3cr3t") && $0.contains("https://***@h/x") })
    }
}
