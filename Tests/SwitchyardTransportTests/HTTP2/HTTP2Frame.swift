import Foundation

/// A frame of HTTP/2 (RFC 9113 section 4.1).
struct HTTP2Frame: Sendable {
    /// The types of frames that a test has to do with (RFC 9113 section 6).
    enum Kind: UInt8, Sendable {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    /// Why a stream ends (RFC 9113 section 7).
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

    /// Whether the flag that means the end of a stream, or an acknowledgement, is set.
    var hasFirstFlag: Bool { flags & Self.endsStream != 0 }

    /// The frame as it goes over the wire.
    var bytes: Data {
        let length = UInt32(payload.count)
        return [length << 8].bigEndianBytes.prefix(3) + [kind.rawValue, flags] + [stream].bigEndianBytes + payload
    }

    // MARK: What servers send

    /// The head of a response, or trailers; each field is spelled out (RFC 7541 section 6.2.2).
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

    /// The head of a response that is larger than a frame, and all there is of it.
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

    /// A whole response.
    static func answer(_ text: String, to stream: UInt32, status: Int = 200) -> [HTTP2Frame] {
        [.head([":status": "\(status)"], of: stream), .data(text, of: stream)]
    }

    /// A whole response that says how long its body is.
    static func measuredAnswer(_ text: String, to stream: UInt32, status: Int) -> [HTTP2Frame] {
        let length = "\(text.utf8.count)"
        return [.head([":status": "\(status)", "content-length": length], of: stream), .data(text, of: stream)]
    }

    static func reset(_ stream: UInt32, _ code: Code) -> HTTP2Frame {
        HTTP2Frame(kind: .resetStream, stream: stream, payload: [code.rawValue].bigEndianBytes)
    }

    /// Says that the connection takes no more requests, and that those above `last` were not looked at.
    static func goAway(last: UInt32) -> HTTP2Frame {
        HTTP2Frame(kind: .goAway, payload: [last, 0].bigEndianBytes)
    }

    /// The client answers once it has read what went before.
    static let ping = HTTP2Frame(kind: .ping, payload: Data(count: 8))

    /// Lets a client send `count` more bytes of a body.
    static func window(_ count: UInt32, of stream: UInt32) -> HTTP2Frame {
        HTTP2Frame(kind: .windowUpdate, stream: stream, payload: [count].bigEndianBytes)
    }

    /// What a server says first, which lets a client send `window` bytes on each stream, and 1 MiB in all.
    static func greeting(window: UInt32) -> [HTTP2Frame] {
        let initialWindowSize = Data([0, 4])
        return [
            HTTP2Frame(kind: .settings, payload: initialWindowSize + [window].bigEndianBytes),
            .window(1 << 20, of: 0),
        ]
    }
}

extension HTTP2Frame {
    /// Takes the first frame off bytes that have come; `nil` when it is not whole yet, or of an unknown type.
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
