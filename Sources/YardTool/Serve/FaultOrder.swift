import SwitchyardTesting

/// An order to a server of `yard serve` to fail in a certain way.
///
/// The admin endpoint receives it.
struct FaultOrder: Encodable, Sendable, Equatable {
    /// The servers that fail: `topics/primary` for one server, `primary` for the servers with this name in all
    /// services, or `nil` for all servers.
    var server: String?
    /// The name of the fault, which is one of ``names``.
    var fault: String
    /// The time in seconds after which the fault ends, or `nil` if it lasts until it is removed.
    var `for`: Double?
    /// The percentage of requests that the fault affects, or `nil` for all requests.
    var percent: Double?
    /// The period in seconds in which the fault is turned on and off once, or `nil` if the fault is always on.
    var flap: Double?
    /// The response status of the fault `status`.
    ///
    /// If `nil`, the status is 503.
    var status: Int?
    /// The delay of the fault `slow` or the interval of the fault `drip`, in seconds.
    ///
    /// If `nil`, the delay is 1 s and the interval is 0.1 s.
    var by: Double?
    /// A number of bytes.
    ///
    /// Its meaning depends on the fault: for `drip`, the bytes that are sent at a time; for `reset-in-body` and
    /// `truncate`, the bytes that are sent before the end; for `wrong-length`, the error in the length.
    var bytes: Int?

    /// The names of the faults.
    static let names = [
        "refuse", "black-hole", "hang", "reset", "reset-in-body", "truncate", "status", "slow", "drip",
        "wrong-length", "garbage",
    ]

    /// The reason why an order is invalid.
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
