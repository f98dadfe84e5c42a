import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A part of a request.
///
/// The parser returns the parts in this order: the head, the chunks of the body, the end.
enum RequestEvent: Equatable {
    case head(RequestHead)
    case body(Data)
    case end(trailers: HTTPHeaders)
}

/// A parser that splits a stream of bytes into requests (RFC 9112).
///
/// The parser is a pure state machine. ``feed(_:)`` adds bytes, and ``next()`` returns events, so the connection
/// decides when the next pipelined request is parsed. After an error, the parser cannot be used any more.
struct RequestParser {
    private enum State {
        case head
        case body(remaining: Int)
        case chunkSize
        case chunkData(remaining: Int)
        case chunkEnd
        case trailers
    }

    private let headLimit: Int
    private var state = State.head
    private var lines = LineScanner()
    private var buffer: [UInt8] = []
    private var position = 0

    /// Creates a parser that rejects a head of more than `headLimit` bytes.
    init(headLimit: Int = 65_536) {
        self.headLimit = headLimit
    }

    /// The number of received bytes that have not been parsed.
    var bufferedCount: Int { buffer.count - position }

    /// Appends bytes to the buffer.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        if position == buffer.count || position > Self.compactionLimit {
            buffer.removeFirst(position)
            lines.move(by: -position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next event, or `nil` when more bytes are needed.
    mutating func next() throws(LoopbackError) -> RequestEvent? {
        while true {
            switch state {
            case .head: return try nextHead()
            case .body(let remaining): return takeBody(remaining)
            case .chunkSize:
                guard try readChunkSize() else { return nil }
            case .chunkData(let remaining): return takeChunk(remaining)
            case .chunkEnd:
                guard try readChunkEnd() else { return nil }
            case .trailers:
                guard let block = try takeBlock() else { return nil }
                var fields = HeadLines(block)
                let trailers = try RequestHeadParser.parseFields(&fields)
                state = .head
                return .end(trailers: trailers)
            }
        }
    }
}

extension RequestParser {
    private mutating func nextHead() throws(LoopbackError) -> RequestEvent? {
        skipEmptyLines()
        // A TLS handshake may contain no line end, so the parser would wait forever. The first byte of a handshake
        // shows that the bytes are not HTTP.
        if position < buffer.count, buffer[position] < 0x20, buffer[position] != 13 {
            throw .bad("the bytes are not HTTP; the client probably uses TLS")
        }
        guard let block = try takeBlock() else { return nil }
        let head = try RequestHeadParser.parse(block)
        state =
            switch head.framing {
            case .length(let length): .body(remaining: length)
            case .chunked: .chunkSize
            }
        return .head(head)
    }

    /// Skips empty lines before a request.
    ///
    /// Old clients send them after a body (RFC 9112 section 2.2).
    private mutating func skipEmptyLines() {
        while bufferedCount >= 2, buffer[position] == 13, buffer[position + 1] == 10 {
            advance(to: position + 2)
        }
    }

    /// Removes and returns the lines up to and including the empty line, or returns `nil` if the empty line has not
    /// arrived.
    private mutating func takeBlock() throws(LoopbackError) -> ArraySlice<UInt8>? {
        guard let end = try lines.endOfBlock(in: buffer, from: position) else {
            guard bufferedCount <= headLimit else { throw .headTooLarge }
            return nil
        }
        guard end - position <= headLimit else { throw .headTooLarge }
        let block = buffer[position..<end]
        advance(to: end)
        return block
    }

    private mutating func takeBody(_ remaining: Int) -> RequestEvent? {
        guard remaining > 0 else {
            state = .head
            return .end(trailers: HTTPHeaders())
        }
        guard let piece = takeBytes(atMost: remaining) else { return nil }
        state = .body(remaining: remaining - piece.count)
        return .body(piece)
    }

    private mutating func takeChunk(_ remaining: Int) -> RequestEvent? {
        guard let piece = takeBytes(atMost: remaining) else { return nil }
        state = remaining == piece.count ? .chunkEnd : .chunkData(remaining: remaining - piece.count)
        return .body(piece)
    }

    private mutating func takeBytes(atMost count: Int) -> Data? {
        guard bufferedCount > 0 else { return nil }
        let end = position + min(count, bufferedCount)
        let piece = Data(buffer[position..<end])
        advance(to: end)
        return piece
    }

    private mutating func readChunkSize() throws(LoopbackError) -> Bool {
        guard let end = buffer[position...].firstIndex(of: 10) else {
            guard bufferedCount <= Self.chunkLineLimit else {
                throw .bad("a line with a chunk size must have at most \(Self.chunkLineLimit) bytes")
            }
            return false
        }
        guard end > position, buffer[end - 1] == 13 else { throw .bad("a line with a chunk size must end with CR LF") }
        let digits = buffer[position..<(end - 1)].prefix { $0 != UInt8(ascii: ";") }.trimmingBlanks()
        guard (1...15).contains(digits.count), digits.startIndex == position, digits.allSatisfy(\.isHexDigit),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .bad("a chunk size must be a hexadecimal number") }
        advance(to: end + 1)
        state = size == 0 ? .trailers : .chunkData(remaining: size)
        return true
    }

    private mutating func readChunkEnd() throws(LoopbackError) -> Bool {
        let end = buffer[position...].prefix(2)
        guard end.elementsEqual([13, 10].prefix(end.count)) else { throw .bad("a chunk must end with CR LF") }
        guard end.count == 2 else { return false }
        advance(to: position + 2)
        state = .chunkSize
        return true
    }

    private mutating func advance(to newPosition: Int) {
        position = newPosition
        lines.restart(at: newPosition)
    }

    private static let chunkLineLimit = 4096
    private static let compactionLimit = 65_536
}

/// A scanner that finds the empty line at the end of a head and examines each byte only once.
private struct LineScanner {
    private var scanned = 0
    private var lineStart = 0

    mutating func restart(at position: Int) {
        scanned = position
        lineStart = position
    }

    mutating func move(by offset: Int) {
        scanned += offset
        lineStart += offset
    }

    /// Returns the position after the empty line, or `nil` if it has not arrived.
    ///
    /// Throws an error if a line feed has no carriage return before it.
    mutating func endOfBlock(in buffer: [UInt8], from position: Int) throws(LoopbackError) -> Int? {
        while scanned < buffer.count {
            defer { scanned += 1 }
            guard buffer[scanned] == 10 else { continue }
            guard scanned > lineStart, buffer[scanned - 1] == 13 else { throw .bad("a line must end with CR LF") }
            if scanned - lineStart == 1 { return scanned + 1 }
            lineStart = scanned + 1
        }
        return nil
    }
}

extension LoopbackError {
    fileprivate static let headTooLarge = LoopbackError.badRequest(status: 431, reason: "the head is too large")
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
