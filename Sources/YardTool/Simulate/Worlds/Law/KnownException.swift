import Switchyard

/// A class of violations that is known and accepted, with its reason and its bound.
struct KnownException: Sendable {
    /// What it is called in reports.
    let name: String
    /// Why it is accepted.
    let reason: String
    /// How often it may happen: violations in 100,000 calls.
    let mostPer100000Calls: Double
    /// Whether a violation in a world is one of these.
    let covers: @Sendable (Violation, World) -> Bool

    /// How many there may be besides, since those of one world come together.
    static let mostOfAWorld = 60.0

    /// All of them; what is in none of these is a fault.
    static let all: [KnownException] = [
        KnownException(
            name: "quota",
            reason: "An extra request, or a shadow, of an earlier call has used up a part of the user's quota.",
            mostPer100000Calls: 60,
            covers: { violation, world in violation.kind == .worseAnswer && world.hasQuota && violation.isAnswered(429)
            }
        ),
        KnownException(
            name: "error for an error",
            reason: "The first server would have answered with an error; the one asked in its place failed as well.",
            mostPer100000Calls: 30,
            covers: { violation, _ in violation.isWithoutLoss }
        ),
        KnownException(
            name: "left for cause",
            reason: "The first server had failed calls before, and nobody could know that it would answer this one.",
            // 61 where a PUT stays at a silent server, 55 where it moved on.
            mostPer100000Calls: 66,
            covers: { violation, world in world.hasTrouble(at: 0) && violation.wentElsewhere }
        ),
        KnownException(
            name: "back too soon",
            reason: "The first server was on trial, or had just come back, and failed once more.",
            mostPer100000Calls: 10,
            covers: { violation, _ in violation.witness == .preferred }
        ),
        KnownException(
            name: "chance",
            reason: "Servers that all fail a part of the requests: for a while one looked worse than the others.",
            mostPer100000Calls: 40,
            covers: { violation, world in world.hasChance && (violation.askedOthers || violation.kind.isOfWorld) }
        ),
        KnownException(
            name: "low priority",
            reason: "Calls of low priority are given up while every server is overloaded, with witnesses.",
            mostPer100000Calls: 10,
            covers: { violation, _ in violation.kind == .refusedUnsent && violation.call?.priority == .low }
        ),
        KnownException(
            name: "first burst",
            reason:
                "Calls that begin together each ask other servers before the first of them can tell that it is no use.",
            mostPer100000Calls: 30,
            covers: { violation, world in violation.kind == .tooManyRequests && world.callsAtOnce > 2 }
        ),
        KnownException(
            name: "end of an outage",
            reason: "All servers were down or silent; what is sent when that ends is answered, by whoever gets it.",
            mostPer100000Calls: 15,
            covers: { violation, world in violation.kind.isOfWorld && (world.hasOutage || world.hasSilence) }
        ),
    ]

    /// The exception that a violation is one of.
    static func covering(_ violation: Violation, in world: World) -> KnownException? {
        all.first { $0.covers(violation, world) }
    }
}

extension Violation.Kind {
    /// Whether it is about a whole world.
    fileprivate var isOfWorld: Bool { self == .tooManyRequests || self == .switchedAmongEquals }
}

extension Violation {
    /// Whether the caller got an answer of this status.
    fileprivate func isAnswered(_ status: Int) -> Bool { call?.outcome == .answered(status) }

    /// Whether what the caller would have had is an error as well.
    fileprivate var isWithoutLoss: Bool {
        guard let call, kind == .failed || kind == .tooLate else { return false }
        return [call.byFirst, call.byCurrent].allSatisfy { $0.status.map { $0 >= 400 } ?? true }
    }

    /// Whether the call was sent to another server than the first, first of all.
    fileprivate var wentElsewhere: Bool { call?.sendings.first.map { $0.server != 0 } ?? false }

    /// Whether the call was sent to another server than the first.
    fileprivate var askedOthers: Bool { call?.sendings.contains { $0.server != 0 } ?? false }
}

extension World {
    /// Whether there is a quota.
    fileprivate var hasQuota: Bool {
        troubles.contains { if case .quota = $0.fault { true } else { false } }
    }

    /// Whether a server has trouble, of its own or together with the others.
    fileprivate func hasTrouble(at server: Int) -> Bool { troubles.contains { ($0.server ?? server) == server } }

    /// Whether there is trouble that strikes a part of the requests, or comes and goes.
    fileprivate var hasChance: Bool { troubles.contains { $0.share < 1 || $0.window?.cycle != nil } }

    /// Whether trouble comes to an end.
    fileprivate var hasOutage: Bool { troubles.contains { $0.window != nil } }

    /// Whether requests are left without an answer, or for long.
    fileprivate var hasSilence: Bool {
        troubles.contains { trouble in
            switch trouble.fault {
            case .hang, .blackHole, .slow: true
            default: false
            }
        }
    }

    /// How many calls may be under way when the first of them ends.
    fileprivate var callsAtOnce: Int {
        switch traffic.arrival {
        case .open(_, let burst): burst
        case .closed(let callers, _): callers
        }
    }
}
