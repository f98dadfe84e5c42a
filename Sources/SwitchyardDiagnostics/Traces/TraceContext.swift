public import SwitchyardHTTP

/// The position of a span in a trace, as the header fields `traceparent` and `tracestate` carry it.
///
/// Set ``current``, or `APIConfiguration.parentTrace` of one call, to make calls part of a trace that
/// another program or another library has started:
///
///     let context = TraceContext(request.headers)
///     try await TraceContext.$current.withValue(context) { try await topics.refreshTopics() }
///
/// Source: W3C Trace Context.
public struct TraceContext: Sendable, Hashable {
    /// The context that applies to the calls of the current task, `nil` by default.
    ///
    /// Child tasks and tasks made with `Task.init` inherit the value. Detached tasks and completion handlers do not.
    @TaskLocal public static var current: TraceContext?

    let trace: TraceNumber
    let span: UInt64
    /// The flags that are passed on: sampled, and random.
    private let flags: UInt8
    /// The value of `tracestate`, or `nil` if there is none.
    public let state: String?

    private static let sampledFlag: UInt8 = 1
    private static let randomFlag: UInt8 = 2

    init(trace: TraceNumber, span: UInt64, isSampled: Bool, isRandom: Bool = false, state: String? = nil) {
        self.trace = trace
        self.span = span
        flags = (isSampled ? Self.sampledFlag : 0) | (isRandom ? Self.randomFlag : 0)
        self.state = state
    }

    /// Creates a context from the values of both header fields.
    ///
    /// The result is `nil` if `traceparent` is invalid. A call without a context starts a new trace. An invalid
    /// `tracestate` is dropped. A later version of `traceparent` is read as version 00, and its further parts are
    /// ignored.
    ///
    /// - Parameters:
    ///   - text: The value of `traceparent`.
    ///   - state: The value of `tracestate`, `nil` by default.
    public init?(traceparent text: String, tracestate state: String? = nil) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = HexDigits.number(bytes[0..<2]), version != 0xFF,
            bytes.count == 55 || (version > 0 && bytes[55] == UInt8(ascii: "-")),
            let high = HexDigits.number(bytes[3..<19]), let low = HexDigits.number(bytes[19..<35]),
            let span = HexDigits.number(bytes[36..<52]), let flags = HexDigits.number(bytes[53..<55]),
            high != 0 || low != 0, span != 0
        else { return nil }
        trace = TraceNumber(high: high, low: low)
        self.span = span
        self.flags = UInt8(flags) & (Self.sampledFlag | Self.randomFlag)
        self.state = state.flatMap(TraceState.normalized)
    }

    /// Creates a context from the header fields of a request that a server has received.
    ///
    /// The result is `nil` if the fields have no `traceparent`, more than one, or an invalid one.
    ///
    /// - Parameter headers: The header fields of the request.
    public init?(_ headers: HTTPHeaders) {
        let parents = headers.values(of: "traceparent")
        guard parents.count == 1 else { return nil }
        let states = headers.values(of: "tracestate")
        self.init(
            traceparent: parents[0].trimmingSpaces,
            tracestate: states.isEmpty ? nil : states.joined(separator: ",")
        )
    }

    /// The identifier of the trace: 32 hexadecimal digits in lower case.
    public var traceID: String { trace.text }

    /// The identifier of the span: 16 hexadecimal digits in lower case.
    public var spanID: String { HexDigits.text(span) }

    /// Whether the trace is recorded.
    public var isSampled: Bool { flags & Self.sampledFlag != 0 }

    /// The value of `traceparent`, in version 00.
    public var traceparent: String { "00-\(traceID)-\(spanID)-0\(flags)" }

    /// The flags as a number, as OTLP writes them.
    var flagBits: Int { Int(flags) }

    /// Returns the context of another span of the same trace.
    func with(span: UInt64, isSampled: Bool? = nil) -> TraceContext {
        TraceContext(
            trace: trace,
            span: span,
            isSampled: isSampled ?? self.isSampled,
            isRandom: flags & Self.randomFlag != 0,
            state: state
        )
    }
}

extension TraceContext: CustomStringConvertible {
    /// The value of `traceparent`.
    public var description: String { traceparent }
}

/// The identifier of a trace, a number of 128 bits.
struct TraceNumber: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    /// 32 hexadecimal digits in lower case.
    var text: String { HexDigits.text(high) + HexDigits.text(low) }
}

/// Numbers as hexadecimal digits in lower case, the only form that W3C Trace Context allows.
enum HexDigits {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the number, or `nil` if a byte is not a digit in lower case.
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for byte in bytes {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }

    /// Returns the number as 16 digits.
    static func text(_ number: UInt64) -> String {
        let shifts = stride(from: 60, through: 0, by: -4)
        return String(decoding: shifts.map { digits[Int(truncatingIfNeeded: number >> $0) & 15] }, as: UTF8.self)
    }
}

extension StringProtocol {
    /// The text without the spaces and tabs around it.
    var trimmingSpaces: String {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        let start = drop(while: isSpace)
        return String(start.prefix(upTo: start.lastIndex { !isSpace($0) }.map(start.index(after:)) ?? start.startIndex))
    }
}
