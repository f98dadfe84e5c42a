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
/// The faults ``refuse`` and ``blackHole`` affect new connections only if they are set for the whole server. If they
/// are set for a route or as a percentage, they take effect when a request has arrived on an open connection. In these
/// cases, ``refuse`` acts like ``resetBeforeHead`` and ``blackHole`` acts like ``hang``.
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
    /// While the fault is active, another loopback server can use the port if it requests the port by number. On Linux,
    /// the system does not assign the port to a socket that requests any free port. When the fault ends, the server
    /// listens on the same port again. If another socket has taken the port, the server tries again every 10 ms.
    public static let refuse = Fault(kind: .refuse)

    /// Packets are lost, so new connections are never established and open connections go silent.
    ///
    /// The server fills its own accept queue and accepts no connection, so the system drops every further SYN packet.
    /// On Linux, `tcp_abort_on_overflow` must have its default value, 0. When the fault ends, open connections continue
    /// where they stopped. A client that is still connecting succeeds with its next SYN packet, 1 s after the first SYN
    /// packet.
    public static let blackHole = Fault(kind: .blackHole)

    /// Connections are accepted and requests are read up to a bounded buffer, but no response is sent.
    ///
    /// When the fault ends, the server executes the requests whose clients are still connected. ``pause`` also executes
    /// the requests of disconnected clients.
    public static let hang = Fault(kind: .hang)

    /// The process is paused: requests are read up to a bounded buffer, and no response is sent.
    ///
    /// When the fault ends, the handler runs for every request that has been read completely, even if its client has
    /// disconnected in the meantime. A real process that receives `SIGSTOP` and then `SIGCONT` behaves in the same way.
    /// In contrast, ``hang`` does not run the handlers of disconnected clients. ``LoopbackServer/waitUntilIdle()`` also
    /// waits for the handlers of disconnected clients.
    ///
    ///     server.fault = .pause
    ///     // A PUT times out.
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
    /// - Parameter count: The number of body bytes that are sent before the reset. The default is half of the body. The
    ///   complete body is never sent, even if the number is larger. A response without a body is cut in the middle of
    ///   its head.
    /// - Returns: The fault.
    public static func resetInBody(after count: Int? = nil) -> Fault {
        Fault(kind: .cut(after: count.map { max(0, $0) }, byReset: true))
    }

    /// The connection is closed in the middle of the response body, in an orderly way: without a reset.
    ///
    /// - Parameter count: The number of body bytes that are sent before the connection is closed. The default is half
    ///   of the body. The complete body is never sent, even if the number is larger. A response without a body is cut
    ///   in the middle of its head.
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
    /// - Parameter difference: The number of bytes that is added to the true length. If the number is positive, the
    ///   client waits for bytes that never arrive. If it is negative, the client finds unexpected bytes before the next
    ///   response on the connection.
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
    /// Every request is executed after a delay, unless its client disconnects during the delay.
    ///
    /// - Parameter delay: The time from the end of the request's head to the start of its handler.
    /// - Returns: The fault.
    public static func slow(by delay: Duration) -> Fault {
        Fault(kind: .slow(max(.zero, delay)))
    }

    /// The body arrives slowly: the head is sent immediately, and then a few bytes of the body at a time.
    ///
    /// - Parameters:
    ///   - count: The number of bytes that are sent at a time, at least 1.
    ///   - interval: The time between two groups of bytes.
    /// - Returns: The fault.
    public static func drip(bytes count: Int, every interval: Duration) -> Fault {
        Fault(kind: .drip(bytes: max(1, count), interval: max(.zero, interval)))
    }
}

// MARK: - Partial faults

extension Fault {
    /// The fault affects each request with the given probability.
    ///
    /// A seeded random generator makes the decisions.
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

    /// The fault is switched on and off periodically, and starts switched on.
    ///
    /// - Parameters:
    ///   - fault: The fault that is switched on and off.
    ///   - period: The length of one cycle, at least 2 ms. The fault is on for the first half of each cycle.
    /// - Returns: The fault.
    public static func flap(_ fault: Fault, period: Duration) -> Fault {
        Fault(kind: .flap(period: max(.milliseconds(2), period), fault))
    }
}
