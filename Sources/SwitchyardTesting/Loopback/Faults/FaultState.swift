import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The effect of a fault on one request.
enum FaultEffect: Equatable {
    /// The request waits until the fault with this number ends, and is then executed if its client is still connected.
    case hold(by: Int)
    /// The request waits until the fault with this number ends, and is then executed even if its client has
    /// disconnected.
    case pause(by: Int)
    case delay(Duration)
    /// The request is executed after this delay, even if its client has disconnected.
    case late(Duration)
    case reset
    case answer(status: Int, HTTPHeaders)
    case garbage(Data)
    case cut(after: Int?, byReset: Bool)
    case drip(bytes: Int, interval: Duration)
    case wrongLength(by: Int)
}

/// The effect of a fault on the listening socket.
enum ListenerMode: Equatable {
    case listening
    case closed
    case silent
}

/// A fault that was set on a server or a route, with its start time and the state of its random generator.
struct FaultState {
    let number: Int
    let fault: Fault
    let since: MonotonicTime
    private var random: RandomSource

    init(_ fault: Fault, number: Int, since: MonotonicTime) {
        self.fault = fault
        self.number = number
        self.since = since
        random = RandomSource(seed: fault.seed)
    }

    /// Returns the effect on the next request.
    mutating func effect(at now: MonotonicTime) -> FaultEffect? {
        effect(of: fault, at: now)
    }

    /// Returns whether the server must listen, refuse connections or let packets be lost.
    func listenerMode(at now: MonotonicTime) -> ListenerMode {
        var fault = fault
        while case .flap(let period, let inner) = fault.kind {
            guard isOn(period, at: now) else { return .listening }
            fault = inner
        }
        return switch fault.kind {
        case .refuse: .closed
        case .blackHole: .silent
        default: .listening
        }
    }

    /// Returns whether a request that waits for the end of the fault must still wait.
    func holds(at now: MonotonicTime) -> Bool {
        var fault = fault
        while true {
            switch fault.kind {
            case .flap(let period, let inner):
                guard isOn(period, at: now) else { return false }
                fault = inner
            case .percentage(_, let inner, _): fault = inner
            default: return true
            }
        }
    }

    /// Returns the time at which a flapping fault is next switched on or off, or `nil` if the fault does not flap.
    func nextChange(after now: MonotonicTime) -> MonotonicTime? {
        var earliest: MonotonicTime?
        var fault = fault
        while true {
            switch fault.kind {
            case .flap(let period, let inner):
                let half = Self.half(period)
                let elapsed = max(0, since.duration(to: now).clampedNanoseconds)
                let next = since.advanced(by: .nanoseconds((elapsed / half + 1) * half))
                earliest = min(earliest ?? next, next)
                fault = inner
            case .percentage(_, let inner, _): fault = inner
            default: return earliest
            }
        }
    }

    private mutating func effect(of fault: Fault, at now: MonotonicTime) -> FaultEffect? {
        switch fault.kind {
        case .refuse, .resetBeforeHead: .reset
        case .blackHole, .hang: .hold(by: number)
        case .pause: .pause(by: number)
        case .late(let delay): .late(delay)
        case .cut(let count, let byReset): .cut(after: count, byReset: byReset)
        case .status(let code, let headers): .answer(status: code, headers)
        case .slow(let delay): .delay(delay)
        case .drip(let count, let interval): .drip(bytes: count, interval: interval)
        case .wrongContentLength(let difference): .wrongLength(by: difference)
        case .garbage(let bytes): .garbage(bytes)
        case .percentage(let percent, let inner, _):
            random.unit() * 100 < percent ? effect(of: inner, at: now) : nil
        case .flap(let period, let inner): isOn(period, at: now) ? effect(of: inner, at: now) : nil
        }
    }

    private func isOn(_ period: Duration, at now: MonotonicTime) -> Bool {
        (max(0, since.duration(to: now).clampedNanoseconds) / Self.half(period)) % 2 == 0
    }

    private static func half(_ period: Duration) -> Int64 {
        max(1, period.clampedNanoseconds / 2)
    }
}

extension Fault {
    /// The seed of the outermost percentage fault, or 0 if the fault contains no percentage.
    fileprivate var seed: UInt64 {
        switch kind {
        case .percentage(_, _, let seed): seed
        case .flap(_, let inner): inner.seed
        default: 0
        }
    }
}
