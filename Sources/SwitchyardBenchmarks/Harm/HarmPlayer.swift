import Foundation
import Switchyard

/// One client in one world, with servers and callers of its own, in a process of its own.
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

    /// The policies that can be played, by name.
    static func policy(named name: String) -> SwitchPolicy? {
        [SwitchPolicy.off, .recommended, .single, .published].first { $0.name == name }
    }

    /// Plays the world from a moment on, in seconds since 1970, and prints the figures as JSON.
    ///
    /// Before, each caller calls once while all is well: neither the start of a process nor that of connections is any
    /// client's harm.
    func run(at start: Double) async throws {
        ChildProcess.raiseDescriptorLimit()
        let watchdog = Watchdog(seconds: Int(seconds) + 60) { "\(world.name) under \(policy.name)" }
        let servers = try HarmServers(world)
        let client = try NetworkClient(service: servers.service(policy))
        try await warmUp(client)
        let switches = Self.countSwitches(of: client)
        // Several processes play the same world: all begin at one moment of the clock on the wall.
        try await Task.sleep(for: .seconds(max(0, start - Date().timeIntervalSince1970)), tolerance: .zero)
        let weather = servers.begin()
        let calls = await HarmLoad(world: world, client: client, seconds: seconds).run()
        weather.cancel()
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

/// The callers of a world.
struct HarmLoad: Sendable {
    let world: HarmWorld
    let client: NetworkClient
    let seconds: Double

    /// Returns how every call ended, once the last has.
    func run() async -> [HarmCall] {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        switch world.rhythm {
        case .steady: break
        case .quota: return await quotas(until: end)
        case .apart:
            // All callers of a client come at once: not those of the other clients too. Nobody cancels them.
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

    /// Uses up a quota at one endpoint and goes on at the others.
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
        // The rhythm of the world's callers, in real time; nobody cancels one.
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

    /// What is wrong with an answer: it is not the one that its endpoint gives when it is well, nor the one that every
    /// server gives.
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
    /// The kind of failure in a word or two, without what differs from call to call.
    fileprivate var kind: String {
        switch self {
        case .deadlineExceeded: "timeout"
        case .transport(let error): error.kind.rawValue
        default: String(description.prefix { $0 != ":" && $0 != "," })
        }
    }
}
