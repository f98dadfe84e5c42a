import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Every text that the library prints about a call, searched for secrets.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SecretsTests {
    private static let secret = "S3CR3T"

    /// A call with a secret in every place that can hold one.
    private static var configuration: APIConfiguration {
        var configuration = APIConfiguration(
            path: "login?sig=\(secret)",
            method: .post,
            query: [
                "token": secret, "X-Amz-Signature": secret, "user": ["password": secret] as Parameters, "page": 7,
                "next": "http://h/cb?access_token=\(secret)", "note": "Bearer \(secret)",
            ],
            headers: [
                "Authorization": "Bearer \(secret)", "Proxy-Authorization": "Basic \(secret)", "X-API-Key": secret,
                "Cookie": "sid=\(secret)", "Referer": "https://joe:\(secret)@a.example/?code=\(secret)", "X-Note": "n",
                "X-Forwarded-Uri": "cb?token=\(secret)", "X-Upstream": "Basic \(secret)",
            ]
        )
        configuration.body = .json(["password": secret, "newPassword": secret, "name": "me"])
        return configuration
    }

    private static let refusal = StubResponse.status(
        401,
        headers: [
            "Set-Cookie": "sid=\(secret); Path=/", "Content-Type": "application/json",
            "Location": "https://a.example/back?access_token=\(secret)#id_token=\(secret)",
            "Refresh": "0; url=/x?next=http%3A%2F%2Fh%2Fcb%3Ftoken%3D\(secret)", "Link": "</x?jwt=\(secret)>; rel=next",
            "WWW-Authenticate": "Digest nonce=\(secret)", "Authentication-Info": "nextnonce=\(secret)",
            "Proxy-Authenticate": "Basic realm=\(secret)", "Set-Cookie2": "sid=\(secret)",
            "Content-Location": "x;jsessionid=\(secret)", "X-Trace": "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.\(secret)",
        ],
        body: Data(#"{"error": {"refresh_token": "\#(secret)"}, "clientSecret": ["\#(secret)"], "why": "so"}"#.utf8)
    )

    /// The outputs of all printers for the call, with a response or a failure.
    private func outputs(_ answer: StubResponse, _ redaction: Redaction = .standard) async throws -> [String: String] {
        let lines = Locked<[String]>([])
        let ended = AsyncStream.makeStream(of: Void.self)
        let (requests, recorder) = (Locked<[HTTPRequest]>([]), HARRecorder(redaction: redaction))
        let recording = RecordingTransport(StubTransport { _ in answer }, redaction: redaction)
        var log = LogOptions.verbose
        log.redaction = redaction
        let client = try NetworkClient(service: Self.service(), transport: recording) { options in
            options.interceptors = [
                .logging(to: ClosureSink { entry in lines.withLock { $0.append("\(entry)") } }, log),
                recorder.interceptor,
                .observing { event in
                    if case .attemptSent(let attempt) = event.kind { requests.withLock { $0.append(attempt.request) } }
                    if case .ended = event.kind { ended.continuation.yield() }
                },
            ]
        }
        let manager = TopicAPI(client: client)

        let error = await #expect(throws: APIError.self) {
            try await manager.value(Topic.self, for: Self.configuration)
        }
        _ = await ended.stream.first { _ in true }

        let request = try #require(requests.withLock { $0.first })
        return [
            "log": lines.withLock { $0 }.joined(separator: "\n"),
            "archive": String(decoding: try recorder.archive.data(), as: UTF8.self),
            "record": String(decoding: try recording.archive.data(), as: UTF8.self),
            "cURL": request.curlDescription(redaction: redaction),
            "error": error.map { "\($0) \($0.message) \($0.reason)" } ?? "",
            "debug": error.map { "\($0.debugDescription) \([$0]) \($0.context) \([$0.context])" } ?? "",
            "dump": Self.dumped(error as Any),
            "dump of its parts": Self.dumped([error?.context, error?.reason] as [Any?]),
            "failure": (error?.context.underlying).map { "\($0)" } ?? "-",
        ]
    }

    private static func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    private static func service() throws -> Service {
        try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: ["test": ServerURL("http://test.example/v1")])],
            defaultEnvironment: "test",
            switching: .off
        )
    }

    @Test(arguments: [Self.refusal, .failure(.connectionReset)])
    func `no printed form of an error shows a secret, whether or not the call got a response`(answer: StubResponse)
        async throws
    {
        let outputs = try await outputs(answer)

        for (name, text) in outputs {
            #expect(!text.contains(Self.secret), "\(name): \(text)")
            #expect(!text.isEmpty, "\(name)")
        }
        for name in ["log", "archive", "record", "cURL"] {
            #expect(outputs[name]?.contains("page") == true, "\(name) lacks a value that is not secret")
        }
    }

    @Test func `each printed form of an error shows secrets if redaction is off`() async throws {
        let outputs = try await outputs(Self.refusal, .none)

        for name in ["log", "archive", "record", "cURL"] {
            #expect(outputs[name]?.contains(Self.secret) == true, "\(name)")
        }
    }
}
