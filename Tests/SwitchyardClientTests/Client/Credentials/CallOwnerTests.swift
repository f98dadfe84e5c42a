import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// A call belongs to the user who was logged in when it was made: it is sent as no other user, and no other user gets
/// its response.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CallOwnerTests {
    /// The step that a call waits in while the user changes.
    enum Moment: CaseIterable {
        case justMade, response, refusal, retry, limit, rateLimit, throttle, adapter, debounce
    }

    enum Change: CaseIterable {
        case logOut, login, logOutAndLogin, update
    }

    /// An app in which Ann is logged in and sends a call.
    private final class Lab: Sendable {
        let moment: Moment
        let clock = ManualClock()
        let gate = Gate()
        let credentials: Credentials
        let client: NetworkClient
        let transport: StubTransport
        private let name = Locked<String?>("ann")
        private let limit = ConcurrencyLimit(total: 1)
        private let rate = RateLimit(.unlimited)
        private let throttle = Throttle(.seconds(5))

        init(_ moment: Moment, isNamed: Bool, _ configure: (inout NetworkClient.Options) -> Void = { _ in }) throws {
            self.moment = moment
            let gate = gate
            let credentials = Credentials { _ in
                await gate.pass()
                return .bearer("refreshed")
            }
            self.credentials = credentials
            credentials.set(.bearer("ann"), in: .test)
            let (clock, name) = (clock, name)
            let limits: [any RequestLimit] =
                switch moment {
                case .limit: [limit]
                case .rateLimit: [rate]
                case .throttle: [throttle]
                case .debounce: [Debounce(.seconds(5))]
                default: []
                }
            (client, transport) = try NetworkClient.stubbed(time: clock) { options in
                options.credentials = credentials
                if isNamed { options.user = { _ in name.withLock { $0 } } }
                options.limits = limits
                options.retry = moment == .retry ? RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(5))) : nil
                if moment == .adapter { options.interceptors = [.adapting { _, _ in await gate.pass() }] }
                configure(&options)
            } answer: { request in
                let user = request.headers["Authorization"] ?? "nobody"
                switch moment {
                case .response: return .delayed(by: .seconds(5), on: clock, .json("\"\(user)\""))
                case .retry where user == "Bearer ann": return .status(500)
                case .refusal where user == "Bearer ann": return .status(401)
                default: return .json("\"\(user)\"")
                }
            }
        }

        /// Sends a call, runs `change` while the call waits, and lets the call continue.
        func result(
            of configuration: APIConfiguration,
            changing change: () -> Void
        ) async throws -> Result<ServiceResponse, RequestFailure> {
            let context = DispatchContext(service: "topics", environment: .test, time: clock)
            let holder = moment == .limit ? try await limit.enter(APIConfiguration(), context) : nil
            if moment == .throttle { _ = try await throttle.enter(configuration, context) }
            rate.pause(for: .seconds(5), on: clock)
            let results = AsyncStream.makeStream(of: Result<ServiceResponse, RequestFailure>.self)
            // Suspended so that no observer is notified before the change.
            let queue = DispatchQueue(label: "test")
            queue.suspend()
            client.send(configuration, on: queue) { results.continuation.yield($0) }
            switch moment {
            case .justMade: break
            case .refusal, .adapter: await gate.waitForArrivals(1)
            case .response, .retry, .debounce, .rateLimit, .throttle: await clock.waitForTimers(1, in: .seconds(5))
            case .limit: await until { limit.waitingCount != 0 }
            }
            change()
            queue.resume()
            holder?.leave?()
            gate.open()
            clock.advance(by: .seconds(5))
            for await result in results.stream { return result }
            throw CancellationError()
        }

        func carryOut(_ change: Change) {
            switch change {
            case .update: credentials.update(.bearer("ann, refreshed"), in: .test)
            case .logOut:
                credentials.logOut(in: .test)
                name.withLock { $0 = nil }
            case .login:
                name.withLock { $0 = "bob" }
                credentials.set(.bearer("bob"), in: .test)
            case .logOutAndLogin:
                credentials.logOut(in: .test)
                name.withLock { $0 = "bob" }
                credentials.set(.bearer("bob"), in: .test)
            }
        }

        /// The credentials that requests were sent with.
        var sent: Set<String> { Set(transport.requests.map { $0.headers["Authorization"] ?? "nobody" }) }
    }

    @Test(arguments: Moment.allCases, [Change.logOut, .login, .logOutAndLogin])
    func `a call ends when its user logs out or changes, whatever the call is waiting for`(
        moment: Moment,
        change: Change
    )
        async throws
    {
        for isNamed in [false, true] {
            for isAnonymous in [nil, true] {
                let lab = try Lab(moment, isNamed: isNamed)
                var configuration = APIConfiguration(path: "x", method: .put)
                configuration.allowsAnonymous = isAnonymous
                let result = try await lab.result(of: configuration) { lab.carryOut(change) }

                guard case .failure(let failure) = result else {
                    Issue.record("\(moment) \(change): \(result)")
                    continue
                }
                switch change {
                case .login: #expect(failure.reason == .cancelled)
                case .logOut: #expect(failure.reason == .credentials(.loggedOut))
                default: #expect([.cancelled, .credentials(.loggedOut)].contains(failure.reason))
                }
                #expect(lab.sent.isSubset(of: ["Bearer ann"]), "\(moment) \(change)")
                guard moment != .justMade else { continue }
                #expect(failure.mayHaveBeenExecuted == [.response, .retry].contains(moment), "\(moment) \(change)")
            }
        }
    }

    @Test(arguments: Moment.allCases, [false, true])
    func `a call continues when the app sets a refreshed token for the same user`(moment: Moment, isNamed: Bool)
        async throws
    {
        let lab = try Lab(moment, isNamed: isNamed)
        let call = APIConfiguration(path: "x", method: .put)

        let answer = try await lab.result(of: call) { lab.carryOut(.update) }.get()

        #expect(answer.status == 200)
        #expect(lab.sent.isSubset(of: ["Bearer ann", "Bearer ann, refreshed", "Bearer refreshed"]))
    }

    @Test func `setting a token for a user with the same name ends no call`() async throws {
        let lab = try Lab(.adapter, isNamed: true)
        let result = try await lab.result(of: APIConfiguration(path: "x")) {
            lab.credentials.set(.bearer("ann, again"), in: .test)
        }

        #expect(try result.get().text == "\"Bearer ann, again\"")
    }

    @Test(arguments: [Moment.adapter, .response, .limit])
    func `a call without credentials continues when a user logs in`(moment: Moment) async throws {
        let lab = try Lab(moment, isNamed: false)
        var login = APIConfiguration(path: "login", method: .post)
        login.usesCredentials = false

        let result = try await lab.result(of: login) { lab.carryOut(.logOutAndLogin) }

        #expect(try result.get().text == "\"nobody\"")
    }

    @Test(arguments: [Moment.adapter, .response, .limit, .retry])
    func `a call that outlives a logout keeps its credential`(moment: Moment) async throws {
        let lab = try Lab(moment, isNamed: true)
        var logOut = APIConfiguration(path: "session", method: .delete)
        logOut.outlivesLogout = true

        let result = try await lab.result(of: logOut) { lab.carryOut(.logOutAndLogin) }

        #expect(try result.get().status == (moment == .retry ? 500 : 200))
        #expect(lab.sent == ["Bearer ann"])
    }

    @Test func `a call that outlives a logout and gets a 401 is not sent again as another user`() async throws {
        let lab = try Lab(.refusal, isNamed: false)
        var logOut = APIConfiguration(path: "session", method: .delete)
        logOut.outlivesLogout = true

        let result = try await lab.result(of: logOut) { lab.carryOut(.logOutAndLogin) }

        #expect(try result.get().status == 401)
        #expect(lab.sent == ["Bearer ann"])
    }

    @Test func `a call that was made while no user was logged in is sent as the user who logs in next`() async throws {
        let lab = try Lab(.adapter, isNamed: false)
        lab.credentials.logOut(in: .test)

        let result = try await lab.result(of: APIConfiguration(path: "x")) {
            lab.credentials.set(.bearer("bob"), in: .test)
        }

        #expect(try result.get().text == "\"Bearer bob\"")
    }

    @Test func `updating a credential after a logout has no effect`() {
        let credentials = Credentials { _ in nil }
        credentials.set(.bearer("ann"), in: .test)
        credentials.logOut(in: .test)

        #expect(!credentials.update(.bearer("late"), in: .test))
        credentials.set(.bearer("bob"), in: .test)
        #expect(!credentials.update(.bearer("late"), replacing: .bearer("ann"), in: .test))

        #expect(credentials.credential(in: .test) == .bearer("bob"))
    }

    @Test func `a stream ends when another user logs in`() async throws {
        let credentials = Credentials { _ in nil }
        credentials.set(.bearer("ann"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .chunks([Data("one".utf8), Data("two".utf8)])
        }
        let answer = try await client.stream(APIConfiguration(path: "x"))
        var pieces = answer.bytes.makeAsyncIterator()
        _ = try await pieces.next()

        credentials.set(.bearer("bob"), in: .test)

        let failure = await #expect(throws: RequestFailure.self) { while try await pieces.next() != nil {} }
        #expect(failure?.reason == .cancelled)
    }

    @Test(arguments: [false, true])
    func `cookies of a call made before their removal are neither stored nor sent`(isScoped: Bool) async throws {
        let (clock, jar) = (ManualClock(), CookieJar())
        let (client, transport) = try NetworkClient.stubbed(time: clock) { options in
            options.generator.cookies = jar
            options.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(5)))
        } answer: { request in
            request.url.path.hasSuffix("login")
                ? .status(200, headers: ["Set-Cookie": "session=bob"])
                : .status(503, headers: ["Set-Cookie": "session=ann"])
        }
        let call = Task { try await client.send(APIConfiguration(path: "x")).status }
        await clock.waitForTimers(1, in: .seconds(5))

        (isScoped ? jar.scoped(to: "test") : jar).removeAll()
        _ = try await client.send(APIConfiguration(path: "login"))
        clock.advance(by: .seconds(5))

        #expect(try await call.value == 503)
        #expect(jar.cookies.map(\.value) == ["bob"])
        #expect(transport.requests.last?.headers["Cookie"] == nil)
    }

    @Test func `a 401 for a call that outlives a logout does not refresh the next user's credential`() async throws {
        let lab = try Lab(.limit, isNamed: true)
        var logOut = APIConfiguration(path: "session", method: .delete)
        logOut.outlivesLogout = true
        let ended = Credential.bearer("bob", expiresAt: .distantPast)

        let result = try await lab.result(of: logOut) {
            lab.carryOut(.logOutAndLogin)
            lab.credentials.set(ended, in: .test)
        }

        #expect(try result.get().text == "\"Bearer ann\"")
        #expect(lab.credentials.credential(in: .test) == ended)
    }
}
