import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A device login while the server fails temporarily (RFC 8628 section 3.5).
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeviceLoginTests {
    private static let token = LoopbackResponse.json(#"{"access_token": "t", "token_type": "Bearer"}"#)
    private static let pending = LoopbackResponse.json(#"{"error": "authorization_pending"}"#, status: 400)

    /// A device login whose server sends the given responses in order and repeats the last one.
    private struct Device {
        let server = LoopbackServer()
        let clock = ManualClock()
        let call: Task<Credential, any Error>

        init(lifetime: Int = 600, interval: Int = 5, _ answers: LoopbackResponse...) async throws {
            let count = Locked(0)
            server.route(
                .post,
                "/device",
                answering: .json(
                    """
                    {"device_code": "d", "user_code": "AB", "verification_uri": "https://x.test",
                    "interval": \(interval), "expires_in": \(lifetime)}
                    """
                )
            )
            server.route(.post, "/token") { _ in
                count.withLock { count in
                    defer { count += 1 }
                    return answers[min(count, answers.count - 1)]
                }
            }
            try server.start()
            var settings = OAuthSettings(clientID: "app", tokenEndpoint: "token")
            settings.deviceEndpoint = "device"
            // A total timeout that is longer than every polling interval of the tests.
            let generator = RequestGenerator(timeouts: HTTPRequest.Timeouts(total: .seconds(7_200)))
            let options = NetworkClient.Options(generator: generator, seed: 1)
            let client = try NetworkClient(service: .loopback([server]), options: options, time: clock)
            let oauth = OAuthClient(settings, client: client, clock: { Date(timeIntervalSince1970: 0) })
            let login = try await oauth.deviceAuthorization()
            call = Task { try await oauth.credential(confirming: login) }
        }

        /// Lets the device poll after each of these pauses, in seconds.
        func ask(after pauses: Int...) async {
            for pause in pauses {
                await clock.waitForTimers(1, in: .seconds(pause))
                clock.advance(by: .seconds(pause))
            }
        }

        /// The number of polls.
        var asked: Int { server.requests.count { $0.path == "/token" } }
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 520, 530])
    func `a device login continues after a transient error status`(status: Int) async throws {
        let device = try await Device(LoopbackResponse.text("try later", status: status), Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a device login waits for the time in Retry-After`() async throws {
        let refusal = LoopbackResponse.status(429, headers: ["Retry-After": "90"])
        let device = try await Device(refusal, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 90)

        #expect(try await device.call.value == .bearer("t"))
        #expect(device.asked == 2)
    }

    @Test func `a device login continues when the server cannot be reached for a while`() async throws {
        let device = try await Device(Self.token)
        defer { device.server.stop() }

        device.server.fault = .refuse
        await device.ask(after: 5, 10)
        await device.clock.waitForTimers(1, in: .seconds(20))
        device.server.fault = nil
        await device.ask(after: 20)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `the polling interval doubles up to a minute during failures, then returns to normal`() async throws {
        let failure = LoopbackResponse.status(503)
        let device = try await Device(failure, failure, failure, failure, failure, Self.pending, failure, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10, 20, 40, 60, 60, 5, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a device login that polls every minute polls less often while the server fails`() async throws {
        let failure = LoopbackResponse.status(503)
        let device = try await Device(interval: 60, failure, failure, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 60, 120, 120)

        #expect(try await device.call.value == .bearer("t"))
    }

    // Auth0 sends status 429; other servers send 400.
    @Test func `a slow_down error with status 429 makes a device login poll more slowly`() async throws {
        let refusal = LoopbackResponse.json(#"{"error": "slow_down"}"#, status: 429)
        let device = try await Device(refusal, Self.pending, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a slow_down error ends the longer polling pauses that earlier failures caused`() async throws {
        let failure = LoopbackResponse.status(503)
        let refusal = LoopbackResponse.json(#"{"error": "slow_down"}"#, status: 400)
        let device = try await Device(failure, failure, refusal, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10, 20)
        try #require(await device.clock.waitForTimers(1, in: .seconds(10)))
        device.clock.advance(by: .seconds(10))

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a device login continues after a transient OAuth error code`() async throws {
        let refusal = LoopbackResponse.json(#"{"error": "temporarily_unavailable"}"#, status: 503)
        let device = try await Device(refusal, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a device login ends when the user denies access, whatever the status is`() async throws {
        let device = try await Device(LoopbackResponse.json(#"{"error": "access_denied"}"#, status: 503))
        defer { device.server.stop() }

        await device.ask(after: 5)

        await #expect(throws: OAuthError.refused(.accessDenied, description: nil)) { _ = try await device.call.value }
    }

    @Test func `a device login ends as expired when the server fails until the code expires`() async throws {
        let device = try await Device(lifetime: 30, LoopbackResponse.status(503))
        defer { device.server.stop() }

        await device.ask(after: 5, 10, 15)

        await #expect(throws: OAuthError.deviceExpired) { _ = try await device.call.value }
        #expect(device.asked == 2)
    }

    // MARK: - The device authorization response

    private static func begin(_ answer: String) throws -> (oauth: OAuthClient, clock: ManualClock) {
        let clock = ManualClock()
        var settings = OAuthSettings(clientID: "app", tokenEndpoint: "token")
        settings.deviceEndpoint = "device"
        let (client, _) = try NetworkClient.stubbed(time: clock, options: { _ in }) { request in
            request.url.path.hasSuffix("device") ? .json(answer) : .json(#"{"access_token": "t"}"#)
        }
        return (OAuthClient(settings, client: client), clock)
    }

    @Test(arguments: ["\"\"", "\"often\"", "true", "null"])
    func `an unreadable polling interval of a device login is replaced by the default`(interval: String) async throws {
        let (oauth, clock) = try Self.begin(
            """
            {"device_code": "d", "user_code": "AB", "verification_uri": "https://x.test", "expires_in": 60,
            "interval": \(interval)}
            """
        )

        let login = try await oauth.deviceAuthorization()
        let call = Task { try await oauth.credential(confirming: login) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))

        #expect(try await call.value == .bearer("t"))
    }

    @Test(arguments: ["0", "-1", "\"\"", "\"never\"", "null"])
    func `an invalid lifetime of a device code is replaced by the default, and the device login continues`(
        lifetime: String
    )
        async throws
    {
        let (oauth, clock) = try Self.begin(
            """
            {"device_code": "d", "user_code": "AB", "verification_uri": "https://x.test", "expires_in": \(lifetime)}
            """
        )

        let login = try await oauth.deviceAuthorization()
        try #require(login.lifetime == .seconds(86_400))
        let call = Task { try await oauth.credential(confirming: login) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))

        #expect(try await call.value == .bearer("t"))
    }

    @Test(arguments: ["device_code", "user_code"])
    func `an empty device or user code counts as missing, and the error in the same response is reported`(name: String)
        async throws
    {
        let other = name == "user_code" ? "device_code" : "user_code"
        let (oauth, _) = try Self.begin(
            """
            {"\(name)": "", "\(other)": "x", "verification_uri": "https://x.test", "expires_in": 60,
            "error": "invalid_client"}
            """
        )

        await #expect(throws: OAuthError.refused(.invalidClient, description: nil)) {
            _ = try await oauth.deviceAuthorization()
        }
    }

    // Google and older Microsoft servers send the field name of a draft of RFC 8628.
    @Test func `the verification URL may have the field name of the RFC 8628 drafts`() async throws {
        let (oauth, _) = try Self.begin(
            """
            {"device_code": "d", "user_code": "AB", "verification_url": "https://x.test", "expires_in": 60}
            """
        )

        #expect(try await oauth.deviceAuthorization().verificationURL == "https://x.test")
    }

    @Test(arguments: ["false", "{}", "[\"https://x.test?c=AB\"]", "null"])
    func `a complete verification URL that is not a string counts as missing`(url: String) async throws {
        let (oauth, _) = try Self.begin(
            """
            {"device_code": "d", "user_code": "AB", "verification_uri": "https://x.test", "verification_uri_complete": \(url)}
            """
        )

        let device = try await oauth.deviceAuthorization()

        #expect(device.verificationURL == "https://x.test")
        #expect(device.completeURL == nil)
    }
}
