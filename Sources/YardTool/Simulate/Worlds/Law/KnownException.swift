import Switchyard

/// A class of violations of the ``Law`` that is accepted for a stated reason, up to a maximum frequency.
struct KnownException: Sendable {
    /// The name of the exception in reports.
    let name: String
    /// The reason for accepting the violations.
    let reason: String
    /// The number of violations in 100,000 calls that is accepted; more make the run fail.
    let mostPer100000Calls: Double
    /// A function that returns whether the exception covers a violation in a world (random scenario).
    let covers: @Sendable (Violation, World) -> Bool

    /// The number of violations that are tolerated in addition to ``mostPer100000Calls``, because a single world can
    /// have many of them.
    static let mostOfAWorld = 60.0

    /// Returns the maximum number of violations in a run with this number of calls.
    ///
    /// `most` is the maximum in 100,000 calls.
    static func limit(_ most: Double, calls: Int) -> Double { most * Double(calls) / 100_000 + mostOfAWorld }

    /// All known exceptions.
    ///
    /// If no exception covers a violation, the run fails.
    static let all: [KnownException] = [
        KnownException(
            name: "quota",
            reason: "An extra request or a shadow request of an earlier call used a part of the user's quota.",
            mostPer100000Calls: 60,
            covers: { violation, world in
                violation.kind == .worseResponse && world.hasQuota && violation.isAnswered(429)
            }
        ),
        KnownException(
            name: "another error instead",
            reason: "The first server would have responded with an error, and the server used instead failed as well.",
            mostPer100000Calls: 30,
            covers: { violation, _ in violation.isWithoutLoss }
        ),
        KnownException(
            name: "failed before",
            reason: "The first server had failed calls before, and nothing showed that it would respond to this call.",
            // Measured violations in 100,000 calls: 61 if a PUT to a silent server is not sent to another server, and
            // 55 if it is.
            mostPer100000Calls: 66,
            covers: { violation, world in world.hasTrouble(at: violation.firstServer) && violation.wentElsewhere }
        ),
        KnownException(
            name: "back too soon",
            reason: "The first server was on trial or had just recovered, and it failed again.",
            mostPer100000Calls: 10,
            covers: { violation, _ in violation.baseline == .preferred }
        ),
        KnownException(
            name: "chance",
            reason: "All servers fail a share of the requests, so one server seemed worse than the others for a while.",
            mostPer100000Calls: 40,
            covers: { violation, world in world.hasChance && (violation.askedOthers || violation.kind.isOfWorld) }
        ),
        KnownException(
            name: "low priority",
            reason: "Calls of low priority are rejected while responses confirm that every server is overloaded.",
            mostPer100000Calls: 10,
            covers: { violation, _ in violation.kind == .refusedUnsent && violation.call?.priority == .low }
        ),
        KnownException(
            name: "first burst",
            reason:
                "Calls that start together each try other servers before the first call shows that this does not help.",
            mostPer100000Calls: 30,
            covers: { violation, world in violation.kind == .tooManyRequests && world.callsAtOnce > 2 }
        ),
        KnownException(
            name: "end of an outage",
            reason: "All servers were down or silent, and a request at the end of the outage succeeds at any server.",
            mostPer100000Calls: 15,
            covers: { violation, world in violation.kind.isOfWorld && (world.hasOutage || world.hasSilence) }
        ),
    ]

    /// Returns the exception that covers a violation.
    static func covering(_ violation: Violation, in world: World) -> KnownException? {
        all.first { $0.covers(violation, world) }
    }
}

extension Violation.Kind {
    /// Whether the violation concerns all calls of a world together.
    fileprivate var isOfWorld: Bool { self == .tooManyRequests || self == .switchedAmongEquals }
}

extension Violation {
    /// Returns whether the call received a response with this status.
    fileprivate func isAnswered(_ status: Int) -> Bool { call?.outcome == .answered(status) }

    /// Whether the call would also have failed without switching.
    fileprivate var isWithoutLoss: Bool {
        guard let call, kind == .failed || kind == .tooLate else { return false }
        return [call.byFirst, call.byCurrent].allSatisfy { $0.status.map { $0 >= 400 } ?? true }
    }

    /// The first server that serves the call.
    fileprivate var firstServer: Int { call?.byFirst.server ?? 0 }

    /// Whether the first request of the call was sent to another server than the first server that serves the call.
    fileprivate var wentElsewhere: Bool { call?.sendings.first.map { $0.server != firstServer } ?? false }

    /// Whether any request of the call was sent to another server than the first server that serves the call.
    fileprivate var askedOthers: Bool { call?.sendings.contains { $0.server != firstServer } ?? false }
}

extension World {
    /// Whether a server has a quota.
    fileprivate var hasQuota: Bool {
        troubles.contains { if case .quota = $0.fault { true } else { false } }
    }

    /// Returns whether a fault of the world affects the server, alone or together with the other servers.
    fileprivate func hasTrouble(at server: Int) -> Bool { troubles.contains { ($0.server ?? server) == server } }

    /// Whether a fault affects only a share of the requests or occurs in cycles.
    fileprivate var hasChance: Bool { troubles.contains { $0.share < 1 || $0.window?.cycle != nil } }

    /// Whether a fault is limited to a period.
    fileprivate var hasOutage: Bool { troubles.contains { $0.window != nil } }

    /// Whether some requests receive no response or a late response.
    fileprivate var hasSilence: Bool {
        troubles.contains { trouble in
            switch trouble.fault {
            case .hang, .blackHole, .slow: true
            default: false
            }
        }
    }

    /// The number of calls that start at the same time, before any of them ends.
    fileprivate var callsAtOnce: Int {
        switch traffic.arrival {
        case .open(_, let burst): burst
        case .closed(let callers, _): callers
        }
    }
}
