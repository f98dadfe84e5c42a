import Foundation
import Switchyard

/// A run of one client in one scenario, with its own servers and callers, in a separate process.
struct HarmPlayer: Sendable {
    let world: HarmWorld
    private(set) var policy: SwitchPolicy
    let seconds: Double

    init?(_ world: String?, _ policy: String?, seconds: String?) {
        guard let world = HarmWorld.all.first(where: { $0.name == world }),
            let policy = Self.policy(named: policy ?? ""),
            let seconds = seconds.flatMap(Double.init)
        else { return nil }
        self.world = world
        self.policy = policy
        self.policy.tooManyRequests = world.tooManyRequests
        self.seconds = seconds
    }

    /// Returns the policy with this name, or `nil` if there is none.
    static func policy(named name: String) -> SwitchPolicy? {
        [SwitchPolicy.off, .recommended, .smallFleet, .stickyErrorRatio].first { $0.name == name }
    }

    /// Waits for the start time in seconds since 1970, runs the scenario, and prints the statistics as JSON.
    ///
    /// Before the start, each caller makes one call while all servers are healthy. The time to start the process and to
    /// open connections is therefore not counted.
    func run(at start: Double) async throws {
        ChildProcess.raiseDescriptorLimit()
        let watchdog = Watchdog(seconds: Int(seconds) + 60) { "\(world.name) under \(policy.name)" }
        let servers = try HarmServers(world)
        let client = try NetworkClient(service: servers.service(policy))
        try await warmUp(client)
        let switches = Self.countSwitches(of: client)
        // Several processes run the same scenario, so all of them start at the same time of the wall clock.
        try await Task.sleep(for: .seconds(max(0, start - Date().timeIntervalSince1970)), tolerance: .zero)
        let conditions = servers.begin()
        let calls = await HarmLoad(world: world, client: client, seconds: seconds).run()
        conditions.cancel()
        let figures = HarmFigures(
            calls,
            deadline: HarmWorld.deadline,
            requests: servers.requests,
            switches: switches.withLock(\.self)
        )
        watchdog.stop()
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
        client.shutdown()
        servers.stop()
    }

    private func warmUp(_ client: NetworkClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<world.callers {
                group.addTask {
                    let endpoint = HarmServers.wellEndpoints[caller % HarmServers.wellEndpoints.count]
                    _ = try await client.send(APIConfiguration(path: "\(endpoint)/\(caller)"))
                }
            }
            try await group.waitForAll()
        }
    }

    private static func countSwitches(of client: NetworkClient) -> Locked<Int> {
        let count = Locked(0)
        let events = client.events(bufferingNewest: .max)
        Task {
            for await event in events {
                if case .switched = event.event.kind { count.withLock { $0 += 1 } }
            }
        }
        return count
    }
}

/// The load that the callers of a scenario generate.
struct HarmLoad: Sendable {
    let world: HarmWorld
    let client: NetworkClient
    let seconds: Double

    /// Runs the callers, and returns the results of all calls after the last call has ended.
    func run() async -> [HarmCall] {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        switch world.rhythm {
        case .steady: break
        case .quota: return await quotas(until: end)
        case .apart:
            // All callers of a client start together, at a random time that differs from client to client. No code
            // cancels this task, so the error is ignored.
            try? await Task.sleep(for: .seconds(.random(in: 0..<5)), tolerance: .zero)
        }
        return await withTaskGroup(of: [HarmCall].self) { group in
            for caller in 0..<world.callers {
                group.addTask {
                    var calls: [HarmCall] = []
                    if case .steady = world.rhythm { await pause(isOdd: false) }
                    while ContinuousClock.now < end {
                        calls.append(await call(caller, calls.count, isOdd: caller < world.oddCallers))
                        await pause(isOdd: caller < world.oddCallers)
                    }
                    return calls
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Alternates six calls to the odd endpoint (the one that misbehaves) with about 200 calls to the other endpoints,
    /// until the end.
    ///
    /// The odd endpoint responds with 429, as a server does when a caller's quota is used up.
    private func quotas(until end: ContinuousClock.Instant) async -> [HarmCall] {
        var calls: [HarmCall] = []
        while ContinuousClock.now < end {
            for number in 0..<6 { calls.append(await call(0, number, isOdd: true)) }
            calls += await withTaskGroup(of: [HarmCall].self) { group in
                for caller in 0..<world.callers {
                    group.addTask {
                        var calls: [HarmCall] = []
                        for number in 0..<(200 / world.callers) {
                            await pause(isOdd: false)
                            calls.append(await call(caller, number, isOdd: false))
                        }
                        return calls
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
        }
        return calls
    }

    private func pause(isOdd: Bool) async {
        let pause: Duration =
            if case .apart = world.rhythm {
                .seconds(5) + .microseconds(Int.random(in: -2_000...2_000))
            } else {
                ((isOdd ? world.oddity?.pause : nil) ?? .milliseconds(world.callers)) * Double.random(in: 0.5...1.5)
            }
        // The pause uses real time. No code cancels this task, so the error is ignored.
        try? await Task.sleep(for: pause, tolerance: .zero)
    }

    private func call(_ caller: Int, _ number: Int, isOdd: Bool) async -> HarmCall {
        let configuration = configuration(caller, number, isOdd: isOdd)
        let start = ContinuousClock.now
        do throws(RequestFailure) {
            let answer = try await client.send(configuration)
            let waited = (ContinuousClock.now - start) / .milliseconds(1)
            return HarmCall(isOdd: isOdd, milliseconds: waited, failure: failure(of: answer, isOdd: isOdd))
        } catch {
            let waited = (ContinuousClock.now - start) / .milliseconds(1)
            let isUnsent = error.context.attempts == 0
            return HarmCall(isOdd: isOdd, milliseconds: waited, failure: error.reason.kind, isUnsent: isUnsent)
        }
    }

    private func configuration(_ caller: Int, _ number: Int, isOdd: Bool) -> APIConfiguration {
        let wells = HarmServers.wellEndpoints
        let endpoint = isOdd ? HarmServers.oddEndpoint : wells[caller % wells.count]
        var configuration = APIConfiguration(path: "\(endpoint)/\(number)", timeout: HarmWorld.deadline)
        guard world.kind != .read else { return configuration }
        configuration.method = .post
        configuration.body = .json(["number": number])
        if world.kind == .keyed { configuration.idempotencyKey = .automatic }
        return configuration
    }

    /// Returns the error in a response, or `nil` if the response is correct.
    ///
    /// A response is correct if a healthy endpoint sends it. The response of the odd endpoint (the one that misbehaves)
    /// is correct too if it misbehaves on every server.
    private func failure(of answer: ServiceResponse, isOdd: Bool) -> String? {
        let isOddEverywhere = isOdd && !world.isFirstOnly
        guard answer.status == (isOddEverywhere ? world.oddity?.status ?? 200 : 200) else {
            return "http\(answer.status)"
        }
        guard answer.status == 200, case .whole(let body) = answer.response.body else { return nil }
        return body == HarmServers.body || body.count == Oddity.largeCount ? nil : "body"
    }
}

extension RequestFailure.Reason {
    /// The kind of failure in one or two words, without details that differ from call to call.
    fileprivate var kind: String {
        switch self {
        case .deadlineExceeded: "timeout"
        case .transport(let error): error.kind.rawValue
        default: String(description.prefix { $0 != ":" && $0 != "," })
        }
    }
}
