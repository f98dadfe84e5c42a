import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The scenarios of Alamofire's authentication interceptor.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct RefreshCaseTests {
    /// The objects that a scenario uses while it runs.
    private struct Scenario {
        let credentials: Credentials
        let client: NetworkClient
        let transport: StubTransport
        let refreshes: Locked<Int>
        let isSequential: Bool
        let count: Int
        /// The clock that holds back the 401 responses until all requests have arrived; `nil` if they are not held
        /// back.
        let door: ManualClock?
    }

    private static let now = Date(timeIntervalSince1970: 1_000_000)

    @Test func `tokens are refreshed as by Alamofire's interceptor`() async throws {
        // How often the policy and the credential are asked is internal to Alamofire and is not compared.
        let keys: CaseKeys = """
            credential credential.accessToken credential.requiresRefresh refresh refreshWindow refreshWindow.interval
            refreshWindow.maximumAttempts requests.statuses requests.during requests.after requests.concurrent
            requests.expectedAuthorization requests.expectedRetryCount expected.authorization expected.success
            expected.error expected.retryCount expected.applyCount expected.refreshCount
            expected.authFailureChecks expected.credentialMatchChecks
            """
        try await CaseFile("alamofire_auth_refresh").runAsync(reading: keys) { item in
            if let reason = Self.notApplicable(item) { return .notApplicable(reason) }
            let scenario = try Self.scenario(item)
            let ends = await Self.ends(of: scenario)
            return Self.judge(item, scenario, ends)
        }
    }

    /// The reason why a scenario does not apply, or `nil` if it does.
    private static func notApplicable(_ item: CaseValue) -> String? {
        let refresh = item["refresh"]?.string ?? "fails"
        let isKnown = (item["requests"]?.array ?? []).allSatisfy { request in
            let event = request["during"]?.string ?? "nil"
            return ["first finished", "second finished", "previous finished"]
                .contains(request["after"]?.string ?? "first finished")
                && (event.contains("nil") || event.contains("replaced by a1"))
        }
        let isPlayable = ["fails", "requiresRefresh=true", "synchronously"].contains(where: refresh.contains)
        guard isKnown, isPlayable, !refresh.contains("fails") || refresh == "fails",
            item["expected"]?["success"]?.bool != nil
        else { return "The scenario is described in prose." }
        return nil
    }

    /// Whether each refresh returns a credential that has already expired.
    private static func staysExpired(_ item: CaseValue) -> Bool {
        item["refresh"]?.string?.contains("requiresRefresh=true") ?? false
    }

    private static func judge(
        _ item: CaseValue,
        _ scenario: Scenario,
        _ ends: [Result<ServiceResponse, RequestFailure>]
    ) -> CaseOutcome {
        let expected = item["expected"]
        let isSuccess = ends.allSatisfy { if case .success(let answer) = $0 { answer.status < 300 } else { false } }
        var outcomes = [
            CaseOutcome.compare("\(isSuccess)", "\(expected?["success"]?.bool ?? false)"),
            .compare("\(scenario.refreshes.withLock { $0 })", "\(expected?["refreshCount"]?.int ?? 0)"),
            .compare("\(scenario.transport.requestCount)", "\(expected?["applyCount"]?.int ?? 0)"),
        ]
        for case .failure(let failure) in ends {
            guard Self.isExpected(failure.reason, expected?["error"]?.string ?? "") else {
                return .failed("\(failure.reason)")
            }
        }
        if let authorization = expected?["authorization"]?.string {
            outcomes.append(
                .compare(scenario.transport.requests.last?.headers["Authorization"], "Bearer \(authorization)")
            )
        }
        // A scenario without a count for each request has one count for all requests.
        for (index, request) in (item["requests"]?.array ?? []).enumerated() {
            let sent = scenario.transport.requests.filter { $0.url.path.hasSuffix("/\(index)") }
            if let retries = (request["expectedRetryCount"] ?? expected?["retryCount"])?.int {
                outcomes.append(.compare("\(max(0, sent.count - 1))", "\(retries)"))
            }
            if let authorization = request["expectedAuthorization"]?.string {
                outcomes.append(.compare(sent.last?.headers["Authorization"], "Bearer \(authorization)"))
            }
        }
        let hasNone = item["credential"] == nil || item["credential"] == .null
        return (outcomes.first { $0 != .passed } ?? .passed)
            .or("The server decides about a credential that has expired on arrival.", if: staysExpired(item))
            .or("Without a credential, the provider is called as for an expired credential.", if: hasNone)
    }

    /// Whether an error matches Alamofire's error name.
    ///
    /// All other errors are expected to be the request's own.
    private static func isExpected(_ reason: RequestFailure.Reason, _ name: String) -> Bool {
        switch reason {
        case .credentials(.tooManyRefreshes): name.contains("excessiveRefresh")
        case .credentials(.refreshFailed): name.contains("refreshNetworkFailure")
        case .credentials(.missing), .credentials(.loggedOut): name.contains("missingCredential")
        default: !["excessiveRefresh", "refreshNetworkFailure", "missingCredential"].contains(where: name.contains)
        }
    }

    private static func ends(of scenario: Scenario) async -> [Result<ServiceResponse, RequestFailure>] {
        let send = { @Sendable (index: Int) in
            await scenario.client.result(of: APIConfiguration(path: "\(index)"))
        }
        guard scenario.isSequential else {
            let calls = (0..<scenario.count).map { index in Task { await send(index) } }
            if let door = scenario.door {
                // Each request has three timers: the deadline of the flow, the deadline of the exchange and the delay
                // of the stub.
                await door.waitForTimers(3 * scenario.count)
                door.advance(by: .seconds(1))
            }
            var ends: [Result<ServiceResponse, RequestFailure>] = []
            for call in calls { ends.append(await call.value) }
            return ends
        }
        var ends: [Result<ServiceResponse, RequestFailure>] = []
        for index in 0..<scenario.count { ends.append(await send(index)) }
        return ends
    }

    private static func scenario(_ item: CaseValue) throws -> Scenario {
        let requests = item["requests"]?.array ?? []
        let refreshes = Locked(0)
        let isSequential = requests.contains { $0["after"] != nil }
        let meetAtServer = !isSequential && requests.allSatisfy { $0["statuses"]?.array?.first?.int == 401 }
        let losesUser = requests.contains { $0["during"]?.string?.contains("nil") ?? false }
        let fails = item["refresh"]?.string == "fails"
        let staysExpired = staysExpired(item)
        let credentials = Credentials(policy: policy(item), clock: { now }) { _ in
            let number = refreshes.withLock { refreshes in
                refreshes += 1
                return refreshes
            }
            if fails { throw SampleError() }
            return .bearer("a\(number)", expiresAt: staysExpired ? now : nil)
        }
        if let isExpired = item["credential"]?["requiresRefresh"]?.bool {
            credentials.set(.bearer("a0", expiresAt: isExpired ? now : nil), in: .test)
        }
        let clock = ManualClock()
        let answer = answers(requests, credentials)
        let (client, stub) = try NetworkClient.stubbed(
            time: clock,
            options: { $0.credentials = credentials },
            answer: { request in
                let own = answer(request)
                let isFirst = clock.now == .zero
                return meetAtServer && !losesUser && isFirst ? .delayed(by: .seconds(1), on: clock, own) : own
            }
        )
        return Scenario(
            credentials: credentials,
            client: client,
            transport: stub,
            refreshes: refreshes,
            isSequential: isSequential,
            count: requests.count,
            door: meetAtServer && !losesUser ? clock : nil
        )
    }

    private static func policy(_ item: CaseValue) -> Credentials.Policy {
        var policy = Credentials.Policy()
        policy.leeway = .zero
        policy.repeatsPerRequest = 10
        if let window = item["refreshWindow"] {
            policy.refreshes = window["maximumAttempts"]?.int ?? 1000
            policy.window = .seconds(window["interval"]?.int ?? 30)
        }
        return policy
    }

    /// Gives each request its statuses in order.
    ///
    /// Events "during" a request happen before its first response.
    private static func answers(
        _ requests: [CaseValue],
        _ credentials: Credentials
    ) -> @Sendable (HTTPRequest) -> StubResponse {
        let answers = Locked(requests.map { ($0["statuses"]?.array ?? []).map(answer) })
        let during = Locked(requests.map { $0["during"]?.string })
        return { request in
            let index = Int(request.url.path.split(separator: "/").last ?? "") ?? 0
            let event = during.withLock { during in
                defer { during[index] = nil }
                return during[index]
            }
            if let event {
                if event.contains("nil") {
                    credentials.logOut(in: .test)
                } else {
                    credentials.update(.bearer("a1"), in: .test)
                }
            }
            return answers.withLock { answers in
                answers[index].count > 1 ? answers[index].removeFirst() : answers[index].first ?? .status(200)
            }
        }
    }

    /// A value that is not a status means no response.
    private static func answer(_ status: CaseValue) -> StubResponse {
        status.int.map { .status($0) } ?? .failure(.other)
    }
}
