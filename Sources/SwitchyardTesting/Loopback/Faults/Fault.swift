public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// A way in which a ``LoopbackServer`` misbehaves, for all requests or for the requests of one route.
///
///     server.fault = .hang
///     server.setFault(.status(503, retryAfter: 1), on: "/topics")
///     server.fault = .percentage(30, of: .truncate())
///     server.fault = nil
///
/// The connection faults ``refuse`` and ``blackHole`` take full effect only for the whole server. On a route or as a
/// percentage, the connection is already established, so ``refuse`` acts like ``resetBeforeHead`` and ``blackHole``
/// acts like ``hang``.
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
    /// Connections are refused, and open connections are closed, as if the process had died.
    ///
    /// While the fault is active, another loopback server can bind the port by its number. On Linux, the system does
    /// not assign the port to a socket that asks for any free port. When the fault ends, the server listens on the same
    /// port again; if another socket has the port, the server tries again every 10 ms.
    public static let refuse = Fault(kind: .refuse)

    /// Packets are lost, so new connections are never established and open connections go silent.
    ///
    /// The server fills its own accept queue and accepts no connection, so the system drops every further SYN (on
    /// Linux, `tcp_abort_on_overflow` must be 0, which is the default). When the fault ends, open connections continue
    /// where they stopped, and a client that is still connecting succeeds with its next SYN, 1 s after the first one.
    public static let blackHole = Fault(kind: .blackHole)

    /// Connections are accepted and requests are read up to a bounded buffer, but no response is sent.
    ///
    /// When the fault ends, the requests whose clients are still connected are executed, as when a stopped process
    /// continues.
    public static let hang = Fault(kind: .hang)

    /// The process is paused: requests are read up to a bounded buffer, and no response is sent.
    ///
    /// When the fault ends, the handler runs for every request that has been read completely, even if its client has
    /// disconnected in the meantime. A process that receives `SIGSTOP` and then `SIGCONT` behaves like this; ``hang``
    /// does not run the handlers of disconnected clients. ``LoopbackServer/waitUntilIdle()`` waits for these handlers
    /// too.
    ///
    ///     server.fault = .pause
    /// A PUT times out.
    ///     server.fault = nil
    ///     await server.waitUntilIdle()  // The PUT has been executed.
    public static let pause = Fault(kind: .pause)

    /// Every request is executed after a delay, even if its client has disconnected in the meantime.
    ///
    /// - Parameter delay: The time from the end of the request's head to the start of its handler.
    /// - Returns: The fault.
    public static func executesLate(after delay: Duration) -> Fault {
        Fault(kind: .late(max(.zero, delay)))
    }
}

// MARK: - Responses

extension Fault {
    /// The connection is reset when the request is complete, before the first byte of the response.
    public static let resetBeforeHead = Fault(kind: .resetBeforeHead)

    /// The connection is reset in the middle of the response body.
    ///
    /// - Parameter count: The number of body bytes that are sent before the reset. The default is half of the body; the
    ///   complete body is never sent. A response without a body is cut in its head.
    /// - Returns: The fault.
    public static func resetInBody(after count: Int? = nil) -> Fault {
        Fault(kind: .cut(after: count.map { max(0, $0) }, byReset: true))
    }

    /// The connection is closed in an orderly way in the middle of the response body.
    ///
    /// - Parameter count: The number of body bytes that are sent before the connection is closed. The default is half
    ///   of the body; the complete body is never sent. A response without a body is cut in its head.
    /// - Returns: The fault.
    public static func truncate(after count: Int? = nil) -> Fault {
        Fault(kind: .cut(after: count.map { max(0, $0) }, byReset: false))
    }

    /// Every request receives a response with this status code, and no handler runs.
    ///
    /// - Parameters:
    ///   - code: The status code.
    ///   - seconds: The value of `Retry-After`. If `nil`, the field is not sent.
    ///   - headers: Further header fields.
    /// - Returns: The fault.
    public static func status(_ code: Int, retryAfter seconds: Int? = nil, headers: HTTPHeaders = [:]) -> Fault {
        var headers = headers
        if let seconds { headers.set("Retry-After", "\(seconds)") }
        return Fault(kind: .status(code, headers))
    }

    /// The announced length of the body is wrong, and the connection stays open.
    ///
    /// - Parameter difference: The number of bytes that is added to the true length. With a positive number, the client
    ///   waits for bytes that never arrive; with a negative number, unread bytes precede the next response on the
    ///   connection.
    /// - Returns: The fault.
    public static func wrongContentLength(by difference: Int = 1) -> Fault {
        Fault(kind: .wrongContentLength(by: difference))
    }

    /// The response is not HTTP, and the connection is closed after it.
    public static let garbage = garbage(Data("\u{1}\u{2}garbage, not HTTP\r\n\u{0}\r\n\r\n".utf8))

    /// The response consists of these raw bytes, and the connection is closed after them.
    public static func garbage(_ bytes: Data) -> Fault {
        Fault(kind: .garbage(bytes))
    }
}

// MARK: - Time

extension Fault {
    /// Every request is executed after a delay.
    ///
    /// - Parameter delay: The time from the end of the request's head to the start of its handler.
    /// - Returns: The fault.
    public static func slow(by delay: Duration) -> Fault {
        Fault(kind: .slow(max(.zero, delay)))
    }

    /// The body arrives slowly: the head is sent at once, then a few bytes of the body at a time.
    ///
    /// - Parameters:
    ///   - count: The number of bytes that are sent at a time, at least 1.
    ///   - interval: The time between two pieces.
    /// - Returns: The fault.
    public static func drip(bytes count: Int, every interval: Duration) -> Fault {
        Fault(kind: .drip(bytes: max(1, count), interval: max(.zero, interval)))
    }
}

// MARK: - Partial faults

extension Fault {
    /// The fault affects each request with the same probability, drawn from a seeded random generator.
    ///
    /// - Parameters:
    ///   - percent: The probability in percent, clamped to 0 through 100.
    ///   - fault: The fault.
    ///   - seed: The seed of the random generator. The same seed yields the same sequence of decisions, starting when
    ///     the fault is set.
    /// - Returns: The fault.
    public static func percentage(_ percent: Double, of fault: Fault, seed: UInt64 = 1) -> Fault {
        Fault(kind: .percentage(percent.isNaN ? 0 : min(100, max(0, percent)), of: fault, seed: seed))
    }

    /// The fault is switched on and off periodically, and is on when it is set.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - period: The length of one cycle, at least 2 ms. The fault is on for the first half of the cycle.
    /// - Returns: The fault.
    public static func flap(_ fault: Fault, period: Duration) -> Fault {
        Fault(kind: .flap(period: max(.milliseconds(2), period), fault))
    }
}
