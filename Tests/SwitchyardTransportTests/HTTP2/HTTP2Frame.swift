import Foundation

/// A frame of HTTP/2 (RFC 9113 section 4.1).
struct HTTP2Frame: Sendable {
    /// The frame types that the tests use (RFC 9113 section 6).
    enum Kind: UInt8, Sendable {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    /// The reason why a stream ends (RFC 9113 section 7).
    enum Code: UInt32, Sendable {
        case none = 0
        case internalError = 2
        case refusedStream = 7
        case cancel = 8
        case enhanceYourCalm = 11
        case http11Required = 13
    }

    var kind: Kind
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload = Data()

    static let endsStream: UInt8 = 0x1
    static let acknowledges: UInt8 = 0x1
    static let endsHeaders: UInt8 = 0x4

    /// Whether the flag for END_STREAM or ACK is set.
    var hasFirstFlag: Bool { flags & Self.endsStream != 0 }

    /// The bytes of the frame on the wire.
    var bytes: Data {
        let length = UInt32(payload.count)
        return [length << 8].bigEndianBytes.prefix(3) + [kind.rawValue, flags] + [stream].bigEndianBytes + payload
    }

    // MARK: Frames of servers

    /// The head of a response, or trailers.
    ///
    /// Each field is a literal (RFC 7541 section 6.2.2).
    static func head(_ fields: KeyValuePairs<String, String>, of stream: UInt32, ends: Bool = false) -> HTTP2Frame {
        var block = Data()
        for (name, value) in fields {
            block.append(0)
            for text in [name, value] {
                block.append(UInt8(text.utf8.count))
                block.append(contentsOf: text.utf8)
            }
        }
        return HTTP2Frame(kind: .headers, flags: endsHeaders | (ends ? endsStream : 0), stream: stream, payload: block)
    }

    /// A complete response whose head is larger than a frame.
    static func longHead(of stream: UInt32) -> [HTTP2Frame] {
        var block = head([":status": "200"], of: stream).payload
        let field = head(["x-long": String(repeating: "x", count: 100)], of: stream).payload
        for _ in 0..<400 { block.append(field) }
        let third = block.count / 3
        return [
            HTTP2Frame(kind: .headers, flags: endsStream, stream: stream, payload: Data(block.prefix(third))),
            HTTP2Frame(kind: .continuation, stream: stream, payload: Data(block.dropFirst(third).prefix(third))),
            HTTP2Frame(
                kind: .continuation,
                flags: endsHeaders,
                stream: stream,
                payload: Data(block.dropFirst(2 * third))
            ),
        ]
    }

    static func data(_ text: String, of stream: UInt32, ends: Bool = true) -> HTTP2Frame {
        HTTP2Frame(kind: .data, flags: ends ? endsStream : 0, stream: stream, payload: Data(text.utf8))
    }

    /// A complete response.
    static func answer(_ text: String, to stream: UInt32, status: Int = 200) -> [HTTP2Frame] {
        [.head([":status": "\(status)"], of: stream), .data(text, of: stream)]
    }

    /// A complete response with a Content-Length.
    static func measuredAnswer(_ text: String, to stream: UInt32, status: Int) -> [HTTP2Frame] {
        let length = "\(text.utf8.count)"
        return [.head([":status": "\(status)", "content-length": length], of: stream), .data(text, of: stream)]
    }

    static func reset(_ stream: UInt32, _ code: Code) -> HTTP2Frame {
        HTTP2Frame(kind: .resetStream, stream: stream, payload: [code.rawValue].bigEndianBytes)
    }

    /// Announces that the connection takes no more requests and that streams above `last` were not processed.
    static func goAway(last: UInt32) -> HTTP2Frame {
        HTTP2Frame(kind: .goAway, payload: [last, 0].bigEndianBytes)
    }

    /// The client acknowledges a ping after it has read all earlier frames.
    static let ping = HTTP2Frame(kind: .ping, payload: Data(count: 8))

    /// Allows a client to send `count` more bytes of a body.
    static func window(_ count: UInt32, of stream: UInt32) -> HTTP2Frame {
        HTTP2Frame(kind: .windowUpdate, stream: stream, payload: [count].bigEndianBytes)
    }

    /// The initial frames of a server, which allow a client to send `window` bytes on each stream and 1 MiB in total,
    /// and to open a number of concurrent streams.
    static func greeting(window: UInt32, streams: UInt32? = nil) -> [HTTP2Frame] {
        let initialWindowSize = Data([0, 4])
        let maximumStreams = streams.map { Data([0, 3]) + [$0].bigEndianBytes } ?? Data()
        return [
            HTTP2Frame(
                kind: .settings,
                payload: initialWindowSize + [window].bigEndianBytes + maximumStreams
            ),
            .window(1 << 20, of: 0),
        ]
    }
}

extension HTTP2Frame {
    /// Removes the first frame from the received bytes.
    ///
    /// Returns `nil` if it is incomplete or of an unknown type.
    init?(takenFrom bytes: inout Data) {
        let head = [UInt8](bytes.prefix(9))
        guard head.count == 9, let kind = Kind(rawValue: head[3]) else { return nil }
        let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= 9 + length else { return nil }
        let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
        self.init(kind: kind, flags: head[4], stream: stream, payload: Data(bytes.dropFirst(9).prefix(length)))
        bytes = Data(bytes.dropFirst(9 + length))
    }
}

extension [UInt32] {
    fileprivate var bigEndianBytes: Data {
        Data(flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) } })
    }
}
