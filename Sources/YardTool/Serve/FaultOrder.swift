import SwitchyardTesting

/// An order to misbehave, as it comes over the admin endpoint.
struct FaultOrder: Encodable, Sendable, Equatable {
    /// Which servers: `topics/primary`, `primary` for those of every service, all when `nil`.
    var server: String?
    /// The name of the fault, one of ``names``.
    var fault: String
    /// After how many seconds it goes by itself; it stays when `nil`.
    var `for`: Double?
    /// Which share of the requests suffers it, in percent; all when `nil`.
    var percent: Double?
    /// The period in seconds in which it comes and goes; it does not when `nil`.
    var flap: Double?
    /// The status of `status`; 503 when `nil`.
    var status: Int?
    /// The delay of `slow`, or the pause of `drip`, in seconds; 1 and 0.1 when `nil`.
    var by: Double?
    /// How many bytes `drip` sends at a time, or `reset-in-body` and `truncate` send before the end.
    var bytes: Int?

    /// The faults by name.
    static let names = [
        "refuse", "black-hole", "hang", "reset", "reset-in-body", "truncate", "status", "slow", "drip",
        "wrong-length", "garbage",
    ]

    /// What is wrong with an order, in words.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let description: String
    }
}

extension FaultOrder {
    /// The fault that is ordered.
    var ordered: Fault {
        var ordered = plain
        if let percent { ordered = .percentage(percent, of: ordered) }
        if let flap { ordered = .flap(ordered, period: .seconds(flap)) }
        return ordered
    }

    private var plain: Fault {
        switch fault {
        case "refuse": .refuse
        case "black-hole": .blackHole
        case "reset": .resetBeforeHead
        case "reset-in-body": .resetInBody(after: bytes)
        case "truncate": .truncate(after: bytes)
        case "status": .status(status ?? 503)
        case "slow": .slow(by: .seconds(by ?? 1))
        case "drip": .drip(bytes: bytes ?? 1, every: .seconds(by ?? 0.1))
        case "wrong-length": .wrongContentLength(by: bytes ?? 1)
        case "garbage": .garbage
        default: .hang
        }
    }
}
