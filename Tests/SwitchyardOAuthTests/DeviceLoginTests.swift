import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The login of a device at a server that is not always well (RFC 8628 section 3.5).
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeviceLoginTests {
    private static let token = LoopbackResponse.json(#"{"access_token": "t", "token_type": "Bearer"}"#)
    private static let pending = LoopbackResponse.json(#"{"error": "authorization_pending"}"#, status: 400)

    /// A device that has begun its login at a server, which gives its responses in order, the last one again and again.
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
            // A deadline that no pause is taken for.
            let generator = RequestGenerator(timeouts: HTTPRequest.Timeouts(total: .seconds(7_200)))
            let options = NetworkClient.Options(generator: generator, seed: 1)
            let client = try NetworkClient(service: .loopback([server]), options: options, time: clock)
            let oauth = OAuthClient(settings, client: client, clock: { Date(timeIntervalSince1970: 0) })
            let login = try await oauth.deviceAuthorization()
            call = Task { try await oauth.credential(confirming: login) }
        }

        /// Lets the device ask after each of these pauses, in seconds.
        func ask(after pauses: Int...) async {
            for pause in pauses {
                await clock.waitForTimers(1, in: .seconds(pause))
                clock.advance(by: .seconds(pause))
            }
        }

        /// How often it has asked.
        var asked: Int { server.requests.count { $0.path == "/token" } }
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 520, 530])
    func `a refusal that passes ends no login of a device`(status: Int) async throws {
        let device = try await Device(LoopbackResponse.text("try later", status: status), Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a device stays away as long as the server asks for`() async throws {
        let refusal = LoopbackResponse.status(429, headers: ["Retry-After": "90"])
        let device = try await Device(refusal, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 90)

        #expect(try await device.call.value == .bearer("t"))
        #expect(device.asked == 2)
    }

    @Test func `a server that cannot be reached for a while ends no login of a device`() async throws {
        let device = try await Device(Self.token)
        defer { device.server.stop() }

        device.server.fault = .refuse
        await device.ask(after: 5, 10)
        await device.clock.waitForTimers(1, in: .seconds(20))
        device.server.fault = nil
        await device.ask(after: 20)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `the pauses double while the server fails, a minute at most, and are the usual ones when it answers`()
        async throws
    {
        let failure = LoopbackResponse.status(503)
        let device = try await Device(failure, failure, failure, failure, failure, Self.pending, failure, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10, 20, 40, 60, 60, 5, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a device that asks every minute asks less often too while the server fails`() async throws {
        let failure = LoopbackResponse.status(503)
        let device = try await Device(interval: 60, failure, failure, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 60, 120, 120)

        #expect(try await device.call.value == .bearer("t"))
    }

    // As Auth0 sends it; other servers send 400.
    @Test func `a server that finds a device too fast may say so with 429`() async throws {
        let refusal = LoopbackResponse.json(#"{"error": "slow_down"}"#, status: 429)
        let device = try await Device(refusal, Self.pending, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a name for a failure that passes ends no login of a device`() async throws {
        let refusal = LoopbackResponse.json(#"{"error": "temporarily_unavailable"}"#, status: 503)
        let device = try await Device(refusal, Self.token)
        defer { device.server.stop() }

        await device.ask(after: 5, 10)

        #expect(try await device.call.value == .bearer("t"))
    }

    @Test func `a user's no ends the login whatever the status`() async throws {
        let device = try await Device(LoopbackResponse.json(#"{"error": "access_denied"}"#, status: 503))
        defer { device.server.stop() }

        await device.ask(after: 5)

        await #expect(throws: OAuthError.refused(.accessDenied, description: nil)) { _ = try await device.call.value }
    }

    @Test func `a server that fails until the code ends lets the login end as expired`() async throws {
        let device = try await Device(lifetime: 30, LoopbackResponse.status(503))
        defer { device.server.stop() }

        await device.ask(after: 5, 10, 15)

        await #expect(throws: OAuthError.deviceExpired) { _ = try await device.call.value }
        #expect(device.asked == 2)
    }

    // MARK: - What the server says of the login

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
    func `a pause that cannot be read is the usual one`(interval: String) async throws {
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
    func `a lifetime of a code that makes no sense ends no login of a device`(lifetime: String) async throws {
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
    func `an empty code is none, and the refusal beside it is what is wrong`(name: String) async throws {
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

    // Google and older Microsoft servers send the name of a draft.
    @Test func `the place for the code may have the name that it had in drafts`() async throws {
        let (oauth, _) = try Self.begin(
            """
            {"device_code": "d", "user_code": "AB", "verification_url": "https://x.test", "expires_in": 60}
            """
        )

        #expect(try await oauth.deviceAuthorization().verificationURL == "https://x.test")
    }
}
