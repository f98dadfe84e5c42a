import SwitchyardHTTP
import Testing

@testable import SwitchyardDiagnostics

/// The header fields of W3C Trace Context.
@Suite struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"

    @Test func `a traceparent is read and written`() throws {
        let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01"))

        #expect(context.traceID == Self.trace)
        #expect(context.spanID == Self.span)
        #expect(context.isSampled)
        #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-01")
        #expect("\(context)" == context.traceparent)
    }

    /// Values that start a new trace.
    private static let invalid = [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-x",
        "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01", "0x-\(trace)-\(span)-01", "00_\(trace)-\(span)-01",
        "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01", "00-\(trace)-\(span)-0G",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace.dropLast())-\(span)--01", "cc-\(trace)-\(span)-01x", "cc-\(trace)-\(span)-01.what",
        "00-\(trace)-\(span)-0é", " 00-\(trace)-\(span)-01",
    ]

    @Test(arguments: invalid) func `an invalid traceparent gives no trace context`(_ text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    /// Valid values, and what is passed on in their place.
    private static let passedOn = [
        ("00-\(trace)-\(span)-00", "00"), ("00-\(trace)-\(span)-03", "03"), ("00-\(trace)-\(span)-ff", "03"),
        ("00-\(trace)-\(span)-08", "00"), ("cc-\(trace)-\(span)-01", "01"),
        ("cc-\(trace)-\(span)-01-what-the-future-brings", "01"),
    ]

    @Test(arguments: passedOn)
    func `a traceparent of a later version is read as version 00, and its unknown flags are dropped`(
        _ text: String,
        _ flags: String
    ) {
        #expect(TraceContext(traceparent: text)?.traceparent == "00-\(Self.trace)-\(Self.span)-\(flags)")
    }

    @Test func `the trace context of a received request is read from its header fields`() {
        let parent = "00-\(Self.trace)-\(Self.span)-01"
        var headers: HTTPHeaders = ["Traceparent": " \(parent)\t", "tracestate": "a=1"]
        headers.add("TraceState", "b=2")

        #expect(TraceContext(headers)?.traceparent == parent)
        #expect(TraceContext(headers)?.state == "a=1,b=2")
        headers.add("traceparent", parent)
        #expect(TraceContext(headers) == nil)
        #expect(TraceContext(HTTPHeaders()) == nil)
        #expect(TraceContext(["tracestate": "a=1"]) == nil)
    }

    /// Lists, and what is passed on in their place.
    private static let states: [(String, String?)] = [
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        (" a=1 ,\tb=2 ,, ", "a=1,b=2"), ("0tenant@vendor=x", "0tenant@vendor=x"), ("a= b c", "a= b c"),
        ("", nil), (",", nil), ("a", nil), ("a=", nil), ("=1", nil), ("A=1", nil), ("1a=1", nil), ("a=b=c", nil),
        ("a=é", nil), ("a@b@c=1", nil), ("t@fifteenletterss=1", nil), ("a=1,a=2", nil), ("a\u{1}=1", nil),
        ((0..<32).map { "k\($0)=1" }.joined(separator: ","), (0..<32).map { "k\($0)=1" }.joined(separator: ",")),
        ((0..<33).map { "k\($0)=1" }.joined(separator: ","), nil),
        ("a=\(String(repeating: "x", count: 256))", "a=\(String(repeating: "x", count: 256))"),
        ("a=\(String(repeating: "x", count: 257))", nil),
    ]

    @Test(arguments: states)
    func `a valid tracestate is passed on, and an invalid tracestate is dropped while the traceparent is kept`(
        _ text: String,
        _ expected: String?
    ) {
        let context = TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01", tracestate: text)

        #expect(context != nil)
        #expect(context?.state == expected)
    }

    @Test func `a tracestate above 512 bytes is shortened by its long members first, and then by its last members`() {
        let long = "long=\(String(repeating: "x", count: 200))"
        let short = (0..<9).map { "k\($0)=\(String(repeating: "y", count: 60))" }

        let state = TraceState.normalized(([short[0], long] + short.dropFirst()).joined(separator: ","))

        #expect(state == short.prefix(8).joined(separator: ","))
    }

    @Test func `a new span in the same trace keeps the flags and the tracestate`() throws {
        let text = "00-\(Self.trace)-\(Self.span)-03"
        let context = try #require(TraceContext(traceparent: text, tracestate: "a=1"))

        #expect(context.with(span: 1).traceparent == "00-\(Self.trace)-0000000000000001-03")
        #expect(context.with(span: 1, isSampled: false).traceparent == "00-\(Self.trace)-0000000000000001-02")
        #expect(context.with(span: 1).state == "a=1")
    }
}
