import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardStreams

/// The cases of the Autobahn test suite, run against an echo client.
@Suite struct AutobahnTests {
    @Test func `the WebSocket frame state machine passes every case of the Autobahn test suite`() throws {
        try CaseFile("autobahn_websocket").run { item in
            let course = try AutobahnCourse(item)
            var client = EchoMachine()
            for step in course.steps {
                switch step {
                case .bytes(let bytes): client.receive(bytes)
                case .wait(let tag): client.noteWait(tag)
                }
            }
            if course.sendsClose { client.receive(Data([0x88, 0x02, 0x03, 0xE8])) }
            return try course.judge(client.output, waits: client.waits)
        }
    }

    @Test func `compressed messages are inflated to the data that zlib compressed`() throws {
        try CaseFile("autobahn_deflate").run { item in
            let handshake = Handshake(subprotocols: [], offersCompression: true)
            let extensions = try #require(item["extensions"]?.string)
            let agreement = try handshake.agreement(in: .acceptance(of: handshake, extensions: extensions))
            let compression = try #require(agreement.compression)
            var client = EchoMachine(inflater: Inflater(keepsContext: compression.serverKeepsContext))
            for step in try AutobahnCourse.steps(of: item) {
                if case .bytes(let bytes) = step { client.receive(bytes) }
            }
            let expected = try #require(item["messages"]?.array).map { ($0.array?[0].int, $0.array?[1].string) }
            let received = client.messages.map(\.bytes).map { bytes in
                (bytes.count, SHA1.digest(bytes).map { String(UInt8($0), radix: 16).leftPadded }.joined())
            }
            guard expected.count == received.count else { return .failed("\(received.count) messages") }
            for (expected, received) in zip(expected, received) {
                guard expected.0 == received.0, expected.1 == received.1 else { return .failed("another message") }
            }
            return .passed
        }
    }
}

/// The bytes that the server of a case sends, and the expected frames.
struct AutobahnCourse {
    enum Step {
        case bytes(Data)
        case wait(String)
    }

    /// An action of the client.
    enum Event: Equatable {
        case message(isText: Bool, [UInt8])
        case pong([UInt8])
        case ping([UInt8])
        case wait(String)
    }

    let steps: [Step]
    let sendsClose: Bool
    private let expected: [(name: String, events: [Event])]
    private let isClosedByServer: Bool
    private let codes: [Int]
    /// Whether any behavior passes as long as the client closes the connection.
    private let isInformational: Bool

    init(_ item: CaseValue) throws {
        steps = try Self.steps(of: item)
        sendsClose = item["sends_close"]?.bool ?? false
        isClosedByServer = item["closed_by_server"]?.bool ?? false
        isInformational = item["informational"]?.bool ?? false
        codes = item["codes"]?.array?.compactMap(\.int) ?? []
        expected = try #require(item["expected"]?.array).map { pair in
            let parts = try #require(pair.array)
            return (try #require(parts[0].string), try #require(parts[1].array).map(Self.event))
        }
    }

    static func steps(of item: CaseValue) throws -> [Step] {
        try #require(item["steps"]?.array).flatMap { step -> [Step] in
            if let tag = step["wait"]?.string { return [.wait(tag)] }
            let bytes = try payload(of: step)
            let chop = step["chop"]?.int ?? bytes.count
            let pieces = stride(from: 0, to: bytes.count, by: max(1, chop)).map { start in
                Step.bytes(Data(bytes[start..<min(start + max(1, chop), bytes.count)]))
            }
            return Array(repeatElement(pieces, count: step["times"]?.int ?? 1).joined())
        }
    }

    private static func payload(of value: CaseValue) throws -> [UInt8] {
        let bytes = hex(value["bytes"]?.string ?? "")
        guard let repeated = value["payload"]?.array, let length = repeated[1].int else { return bytes }
        let unit = hex(repeated[0].string ?? "")
        var payload = unit.count == 1 ? [UInt8](repeating: unit[0], count: length) : []
        while payload.count < length { payload += unit }
        return bytes + payload.prefix(length)
    }

    private static func hex(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    private static func event(_ value: CaseValue) throws -> Event {
        switch value["kind"]?.string {
        case "text": .message(isText: true, try payload(of: value))
        case "binary": .message(isText: false, try payload(of: value))
        case "pong": .pong(try payload(of: value))
        case "ping": .ping(try payload(of: value))
        default: .wait(value["tag"]?.string ?? "")
        }
    }

    /// The number of frames that the client should send before the server closes.
    var expectedCount: Int {
        expected.first?.events.count { event in
            if case .wait = event { false } else { true }
        } ?? 0
    }

    /// Judges the frames that the client has written.
    ///
    /// - Parameters:
    ///   - output: The bytes that the client has written.
    ///   - waits: The waits after which the client was still connected, with the number of bytes written by then.
    /// - Returns: The outcome of the case.
    /// - Throws: An error if a frame is invalid.
    func judge(_ output: Data, waits: [(tag: String, position: Int)]) throws -> CaseOutcome {
        let (events, close) = try Self.events(in: output, waits)
        let isAnything = isInformational && close != nil
        let match = expected.first { $0.events == events } ?? (isAnything ? expected.first : nil)
        guard let match else { return .failed("did \(events)") }
        guard let close else { return .failed("sent no Close frame") }
        guard close.code == nil || codes.contains(close.code ?? 0) else {
            return .failed("closed with \(close.code ?? 0), expected \(codes)")
        }
        return match.name == "OK" ? .passed : .differs("not strict")
    }

    private static func events(
        in output: Data,
        _ waits: [(tag: String, position: Int)]
    ) throws -> (events: [Event], close: (code: Int?, Void)?) {
        var events: [Event] = []
        var close: (code: Int?, Void)?
        var (message, isText, position) = ([UInt8](), false, 0)
        var waits = waits[...]
        for frame in try SentFrame.frames(in: output) {
            while let wait = waits.first, wait.position <= position {
                if !wait.tag.isEmpty { events.append(.wait(wait.tag)) }
                waits.removeFirst()
            }
            position += frame.size
            guard frame.isMasked else { throw WebSocketPeer.Gone() }
            switch frame.opcode {
            case .pong: events.append(.pong(frame.payload))
            case .ping: events.append(.ping(frame.payload))
            case .close:
                let code = frame.payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }
                close = (frame.payload.count < 2 ? nil : code, ())
            default:
                if frame.opcode != .continuation { (message, isText) = ([], frame.opcode == .text) }
                message += frame.payload
                if frame.isFinal { events.append(.message(isText: isText, message)) }
            }
        }
        events += waits.filter { !$0.tag.isEmpty }.map { .wait($0.tag) }
        return (events, close)
    }
}

/// An echo client without a connection.
private struct EchoMachine {
    private var state: FramedWebSocketState
    private let compresses: Bool
    private(set) var output = Data()
    private(set) var waits: [(tag: String, position: Int)] = []
    private(set) var messages: [WebSocket.Message] = []
    private let time = MonotonicTime.zero

    init(inflater: Inflater? = nil) {
        var options = WebSocket.Options()
        options.maximumMessageSize = 16 << 20
        compresses = inflater != nil
        state = FramedWebSocketState(options, inflater: inflater, at: time)
    }

    mutating func receive(_ bytes: Data) {
        _ = state.receive(bytes, at: time)
        write()
        state.isAsked = true
        while case .success(let message) = state.takeForReader() {
            messages.append(message)
            let outgoing = OutgoingMessage(message, compresses: compresses, fragment: 64 << 10)
            _ = state.add(outgoing, id: state.nextID()) { _ in }
            write()
            state.isAsked = true
        }
    }

    private mutating func write() {
        while let bytes = state.nextWrite() {
            output += bytes
            state.hasWritten()?(.success(()))
        }
    }

    mutating func noteWait(_ tag: String) {
        if state.closure == nil { waits.append((tag, output.count)) }
    }
}

extension WebSocket.Message {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .data(let data): Array(data)
        }
    }
}

extension SentFrame {
    /// The size of a masked frame in bytes.
    fileprivate var size: Int {
        let length = payload.count <= 125 ? 0 : payload.count <= 0xFFFF ? 2 : 8
        return 2 + length + 4 + payload.count
    }
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}

extension HTTPHeaders {
    /// The header fields of a successful handshake.
    static func acceptance(of handshake: Handshake, extensions: String? = nil, subprotocol: String? = nil) -> Self {
        var headers = HTTPHeaders()
        headers.add("Upgrade", "websocket")
        headers.add("Connection", "Upgrade")
        headers.add("Sec-WebSocket-Accept", handshake.accept)
        if let extensions { headers.add("Sec-WebSocket-Extensions", extensions) }
        if let subprotocol { headers.add("Sec-WebSocket-Protocol", subprotocol) }
        return headers
    }
}
