import SwitchyardTesting

/// An order to misbehave, received on the admin endpoint.
struct FaultOrder: Encodable, Sendable, Equatable {
    /// The servers: `topics/primary` for one server, `primary` for this server of every service, or `nil` for all
    /// servers.
    var server: String?
    /// The name of the fault, which is one of ``names``.
    var fault: String
    /// The time in seconds after which the fault ends, or `nil` if it stays.
    var `for`: Double?
    /// The percentage of requests that the fault affects, or `nil` for all requests.
    var percent: Double?
    /// The period in seconds with which the fault is switched on and off, or `nil` if it is always on.
    var flap: Double?
    /// The status of the fault `status`.
    ///
    /// If `nil`, the status is 503.
    var status: Int?
    /// The delay of `slow` or the interval of `drip` in seconds.
    ///
    /// If `nil`, the delay is 1 and the interval is 0.1.
    var by: Double?
    /// The number of bytes that `drip` sends at a time, or that `reset-in-body` and `truncate` send before the end, or
    /// by which `wrong-length` is wrong.
    var bytes: Int?

    /// The names of the faults.
    static let names = [
        "refuse", "black-hole", "hang", "reset", "reset-in-body", "truncate", "status", "slow", "drip",
        "wrong-length", "garbage",
    ]

    /// A description of the error in an order.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let description: String
    }
}

extension FaultOrder {
    /// The fault that the order requests.
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
