import SwitchyardClient
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardOutbox
import SwitchyardServices
import SwitchyardStreams
import Testing

@testable import SwitchyardDiagnostics

/// A response with this status and no body.
private func answer(_ status: Int) -> ServiceResponse {
    ServiceResponse(
        id: RequestID(),
        response: HTTPResponse(status: status),
        context: RequestContext(service: "topics", environment: .release, method: .get)
    )
}

/// Error descriptions in an app's log.
@Suite struct PrintedErrorTests {
    @Test(
        arguments: [
            (
                OAuthError.refused(.invalidGrant, description: "expired"),
                "the server refused the request: invalid_grant, expired"
            ),
            (OAuthError.refused(.accessDenied, description: nil), "the server refused the request: access_denied"),
            (
                OAuthError.missingEndpoint("deviceEndpoint"),
                "the OAuth settings have no deviceEndpoint, which this flow needs"
            ),
            (RetryPolicy.Problem.negativeCount(-1), "-1 is not a valid number of retries: must be at least 0"),
            (PinRule.Problem.noBackup("a.example"), "the pin rule for a.example has only one pin; add a backup pin"),
            (OutboxError.full(limit: 3), "the outbox is full: 3 writes are waiting"),
            (OutboxError.unstorableRequest, "a call with a `prebuiltRequest` cannot be stored in an outbox"),
            (EventSourceFailure.refused(answer(500)), "the server responded with status 500"),
            (
                EventSourceFailure.contentType(answer(200)),
                "the content type is missing: must be text/event-stream"
            ),
            (ServerURL.Problem.host, "expected a URL with a host"),
            (
                ClientError.retry(.negativePause(.seconds(-1))),
                "the retry policy cannot be used: -1.0 seconds is not a valid pause: must be at least 0"
            ),
        ] as [(any Error & Sendable, String)]
    )
    func `the description of an error names the problem`(error: any Error & Sendable, words: String) {
        #expect("\(error)" == words)
    }

    @Test func `the description of a pin error hides the password of the base URL`() {
        let error = ClientError.pins(.insecureBase("http://me:secret@a.example/v1?token=secret"))

        let words = "the pins cannot be used: the host of http://***@a.example/v1 is pinned: the URL must use https"
        #expect("\(error)" == words)
    }

    @Test func `the descriptions of a credential and its scheme hide the secret`() {
        let credentials: [Credential] = [
            .bearer("secret"), .basic(user: "me", password: "secret"), .digest(user: "me", password: "secret"),
            .header("X-Key", "secret"),
        ]

        let printed = credentials.map { "\($0)" }
        #expect(printed == ["bearer ***", "basic me:***", "digest me:***", "X-Key: ***"])
        #expect(credentials.map { "\($0.scheme)" } == printed)
        #expect(credentials.map { String(reflecting: $0.scheme) } == printed)
    }
}
