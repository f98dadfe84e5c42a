import Switchyard
import SwitchyardTesting

/// The scenarios of the benchmark.
///
/// Every oddity (misbehavior of one endpoint) and every server condition runs with 20 callers that make reads. A fifth
/// of these callers use the endpoint that misbehaves. Other fractions, kinds of calls and numbers of callers run only
/// with four kinds of oddities: a response about the caller (such as 429), a response about the server, an error, and
/// no response.
extension HarmWorld {
    static let all = oddEndpoints + shares + writes + crowds + allConditions + keptConnections

    /// Returns the scenarios with these names, or all scenarios if there are no names.
    ///
    /// A name that ends with a dash selects all scenarios whose names start with it.
    static func chosen(_ names: [String]) throws(BenchmarkError) -> [HarmWorld] {
        if names.isEmpty { return all }
        let stems = names.filter { $0.hasSuffix("-") }
        let unknown = stems.filter { stem in !all.contains { $0.name.hasPrefix(stem) } }
        guard unknown.isEmpty else { throw BenchmarkError("unknown scenarios: \(unknown.joined(separator: ", "))") }
        let whole = Set(names).subtracting(stems)
        try BenchmarkError.refuse(whole, unlessAmong: all.map(\.name))
        return all.filter { world in whole.contains(world.name) || stems.contains { world.name.hasPrefix($0) } }
    }

    private static let oddEndpoints =
        Oddity.all.map { HarmWorld(odd: $0) } + [HarmWorld(odd: .flaky), quota]
        + Oddity.all.map { HarmWorld(odd: $0, onFirstOnly: true) }
        + [HarmWorld(odd: .tooMany, onFirstOnly: true).tooManyPerServer]

    private static let quota = HarmWorld(odd: .tooMany).with("quota") { $0.rhythm = .quota }

    private static let shares = [5, 80].flatMap { percent in
        [Oddity.tooMany, .unavailable, .failing, .hanging].map { HarmWorld(odd: $0).share(percent) }
            + [Oddity.unavailable, .failing].map { HarmWorld(odd: $0, onFirstOnly: true).share(percent) }
    }

    private static let writes = [Kind.write, .keyed].flatMap { kind in
        [Oddity.tooMany, .unavailable, .failing, .slow, .reset].map { HarmWorld(odd: $0).kind(kind) }
            + [Oddity.failing, .hanging].map { HarmWorld(odd: $0, onFirstOnly: true).kind(kind) }
            + [spikes, dead, hung, restarting].map { $0.kind(kind) }
    }

    private static let crowds = [2, 300].flatMap { count in
        [Oddity.tooMany, .unavailable, .failing, .hanging].map { HarmWorld(odd: $0).callers(count) }
            + [Oddity.failing, .hanging].map { HarmWorld(odd: $0, onFirstOnly: true).callers(count) }
            + [spikes, dead].map { $0.callers(count) }
    }

    private static let allConditions = [
        calm, spikes, HarmWorld("conditions-spikes-first", .spikes(on: 1)), mobile, dead,
        HarmWorld("conditions-dead-second", .fault(.refuse, on: 1), limits: .alike), hung,
        HarmWorld("conditions-hung-second", .fault(.hang, on: 1), limits: .alike),
        HarmWorld("conditions-flapping", .fault(flapping, on: 0), limits: .masked),
        HarmWorld("conditions-flapping-second", .fault(flapping, on: 1), limits: .alike), restarting,
        HarmWorld("conditions-restarting-all", .restarts(of: [0, 1, 2]), limits: .masked),
        HarmWorld("conditions-slow-seconds", .slowSeconds(from: 0), limits: .alike).slowSecondLoad,
        HarmWorld(
            "conditions-slow-seconds-dead",
            .slowSeconds(from: 2).and(.fault(.refuse, on: 0)),
            limits: .masked
        ).slowSecondLoad,
    ]

    /// The scenarios in which servers close a connection 5 s after its last response.
    ///
    /// At about the same time, the callers make their next calls. Connections are closed in this way five times in each
    /// scenario.
    private static let keptConnections = [Kind.read, .write, .keyed].map { kind -> HarmWorld in
        var world = HarmWorld("kept-5s", ServerConditions(), limits: .alike).kind(kind)
        world.rhythm = .apart
        world.callers = 60
        world.leastSeconds = 26
        return world
    }

    private static let calm = HarmWorld("conditions-calm", ServerConditions(), limits: .alike)

    private static let spikes = HarmWorld(
        "conditions-spikes",
        .spikes(on: 3),
        limits: HarmLimits(areAlike: true, perCall: 1.07, wellP99: 150)
    )

    private static let mobile: HarmWorld = {
        let limits = HarmLimits(areAlike: true, perCall: 1.06, wellP99: 650)
        var world = HarmWorld("conditions-mobile", .mobile, limits: limits)
        // With 60 callers, this scenario has about 200 calls a second. One call in 70 is stalled, so 20 s are enough to
        // determine the 99th percentile.
        world.callers = 60
        world.leastSeconds = 20
        return world
    }()

    private static let dead = HarmWorld("conditions-dead", .fault(.refuse, on: 0), limits: .masked)
    private static let hung = HarmWorld("conditions-hung", .fault(.hang, on: 0), limits: .masked)
    private static let restarting = HarmWorld("conditions-restarting", .restarts(of: [0]), limits: .masked)
    private static let flapping = Fault.flap(.refuse, period: .seconds(1))

    private var slowSecondLoad: HarmWorld {
        var copy = self
        copy.callers = 24
        return copy
    }
}
