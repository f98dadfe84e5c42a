public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// A way in which a ``LoopbackServer`` misbehaves, for all requests or for those of one route.
///
///     server.fault = .hang
///     server.setFault(.status(503, retryAfter: 1), on: "/topics")
///     server.fault = .percentage(30, of: .truncate())
///     server.fault = nil
///
/// What a fault does at the connection (``refuse``, ``blackHole``) can only be done for the whole server. On a route, or
/// as a percentage, the connection stands already; there ``refuse`` acts like ``resetBeforeHead`` and ``blackHole``
/// like ``hang``.
public struct Fault: Sendable, Hashable {
    indirect enum Kind: Sendable, Hashable {
        case refuse
        case blackHole
        case hang
        case pause
        case late(Duration)
        case resetBeforeHead
        case cut(after: Int?, byReset: Bool)
        case status(Int, HTTPHeaders)
        case slow(Duration)
        case drip(bytes: Int, interval: Duration)
        case wrongContentLength(by: Int)
        case garbage(Data)
        case percentage(Double, of: Fault, seed: UInt64)
        case flap(period: Duration, Fault)
    }

    let kind: Kind
}

// MARK: - Connections

extension Fault {
    /// Nothing listens: connections are refused, and open connections are closed as if the process had died.
    ///
    /// Another loopback server may have the port if it names it; on Linux it is kept from all that take any. When the
    /// fault goes, the server listens on the same port again; as long as another socket has it, it tries every 10 ms.
    public static let refuse = Fault(kind: .refuse)

    /// Packets are lost: new connections never come about, and open ones fall silent.
    ///
    /// The server fills its own queue of waiting connections and accepts none, so that the system drops every further
    /// SYN (Linux: `tcp_abort_on_overflow` must be 0, which is its default). When the fault goes, open connections go
    /// on where they were, and a client that still tries gets through with its next SYN, 1 s after the first.
    public static let blackHole = Fault(kind: .blackHole)

    /// Connections are accepted and requests are read up to a bounded buffer, but nothing is answered.
    ///
    /// When the fault goes, the requests that still wait are carried out, as when a stopped process continues.
    public static let hang = Fault(kind: .hang)

    /// The process is paused: requests are read up to a bounded buffer, and nothing is answered.
    ///
    /// When the fault goes, the handler of every request that has been read whole runs, also for one whose client has
    /// gone meanwhile. That is the difference from ``hang``, and what a process does that got `SIGSTOP` and `SIGCONT`.
    /// ``LoopbackServer/waitUntilIdle()`` waits for these handlers too.
    ///
    ///     server.fault = .pause
    ///     // A PUT times out.
    ///     server.fault = nil
    ///     await server.waitUntilIdle()  // The PUT has been executed.
    public static let pause = Fault(kind: .pause)

    /// Every request is executed only after a delay, also when its client has gone meanwhile.
    ///
    /// - Parameter delay: From the end of the request's head to the start of its handler.
    /// - Returns: The fault.
    public static func executesLate(after delay: Duration) -> Fault {
        Fault(kind: .late(max(.zero, delay)))
    }
}

// MARK: - Responses

extension Fault {
    /// The connection is reset when the request is complete, before a byte of the response.
    public static let resetBeforeHead = Fault(kind: .resetBeforeHead)

    /// The connection is reset in the middle of the body.
    ///
    /// - Parameter count: Bytes of the body that are sent before; half of them unless given, and never all.
    ///   A response without a body is cut in its head.
    /// - Returns: The fault.
    public static func resetInBody(after count: Int? = nil) -> Fault {
        Fault(kind: .cut(after: count.map { max(0, $0) }, byReset: true))
    }

    /// The connection is closed in an orderly way in the middle of the body.
    ///
    /// - Parameter count: Bytes of the body that are sent before; half of them unless given, and never all.
    ///   A response without a body is cut in its head.
    /// - Returns: The fault.
    public static func truncate(after count: Int? = nil) -> Fault {
        Fault(kind: .cut(after: count.map { max(0, $0) }, byReset: false))
    }

    /// Every request is answered with a status, and no handler runs.
    ///
    /// - Parameters:
    ///   - code: The status code.
    ///   - seconds: The value of `Retry-After`; not sent unless given.
    ///   - headers: Further header fields.
    /// - Returns: The fault.
    public static func status(_ code: Int, retryAfter seconds: Int? = nil, headers: HTTPHeaders = [:]) -> Fault {
        var headers = headers
        if let seconds { headers.set("Retry-After", "\(seconds)") }
        return Fault(kind: .status(code, headers))
    }

    /// The announced length is wrong, and the connection stays open.
    ///
    /// - Parameter difference: What is added to the true length: a positive one lets the client wait for bytes that
    ///   never come, a negative one leaves bytes on the connection in front of the next response.
    /// - Returns: The fault.
    public static func wrongContentLength(by difference: Int = 1) -> Fault {
        Fault(kind: .wrongContentLength(by: difference))
    }

    /// The answer is not HTTP, and the connection is closed behind it.
    public static let garbage = garbage(Data("\u{1}\u{2}garbage, not HTTP\r\n\u{0}\r\n\r\n".utf8))

    /// The answer is these bytes, and the connection is closed behind them.
    public static func garbage(_ bytes: Data) -> Fault {
        Fault(kind: .garbage(bytes))
    }
}

// MARK: - Time

extension Fault {
    /// Every request is carried out only after a delay.
    ///
    /// - Parameter delay: From the end of the request's head to the start of its handler.
    /// - Returns: The fault.
    public static func slow(by delay: Duration) -> Fault {
        Fault(kind: .slow(max(.zero, delay)))
    }

    /// The body trickles: the head comes at once, then a few bytes at a time.
    ///
    /// - Parameters:
    ///   - count: Bytes at a time; at least 1.
    ///   - interval: Between two of them.
    /// - Returns: The fault.
    public static func drip(bytes count: Int, every interval: Duration) -> Fault {
        Fault(kind: .drip(bytes: max(1, count), interval: max(.zero, interval)))
    }
}

// MARK: - Some requests, some times

extension Fault {
    /// Every request suffers the fault with the same probability, drawn from a generator with a seed.
    ///
    /// - Parameters:
    ///   - percent: 0 to 100; what lies outside is clamped.
    ///   - fault: The fault.
    ///   - seed: The same seed gives the same sequence of decisions, counted from when the fault is set.
    /// - Returns: The fault.
    public static func percentage(_ percent: Double, of fault: Fault, seed: UInt64 = 1) -> Fault {
        Fault(kind: .percentage(percent.isNaN ? 0 : min(100, max(0, percent)), of: fault, seed: seed))
    }

    /// The fault is there and gone in turn, beginning with there when it is set.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - period: From one beginning to the next, half of it with the fault; at least 2 ms.
    /// - Returns: The fault.
    public static func flap(_ fault: Fault, period: Duration) -> Fault {
        Fault(kind: .flap(period: max(.milliseconds(2), period), fault))
    }
}
