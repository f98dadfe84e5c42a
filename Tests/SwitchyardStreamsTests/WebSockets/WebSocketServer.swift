import Foundation
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting

@testable import SwitchyardStreams

/// A scripted WebSocket server on real sockets with one thread per connection.
final class WebSocketServer: Sendable {
    /// The server's response to the opening handshake.
    enum Opening: Sendable {
        /// A successful handshake with these additional header fields.
        case accept([String] = [])
        /// A response with another status.
        case status(Int, [String] = [])
        /// A 101 response whose `Sec-WebSocket-Accept` belongs to another key.
        case wrongAccept
        /// The given text, then the end of the connection.
        case raw(String)
        /// No response.
        case silence
    }

    typealias Script = @Sendable (WebSocketPeer) throws -> Void

    private struct State {
        var listener: Int32 = -1
        var port: UInt16 = 0
        var peers: [Int32: WebSocketPeer] = [:]
        var heads: [String] = []
        var opening: Opening
    }

    private let state: Locked<State>
    private let script: Script

    init(_ opening: Opening = .accept(), script: @escaping Script) throws {
        state = Locked(State(opening: opening))
        self.script = script
        try start()
    }

    deinit {
        stop()
    }

    /// A server that sends every message back.
    static func echo(_ opening: Opening = .accept()) throws -> WebSocketServer {
        try WebSocketServer(opening) { try $0.echo() }
    }

    var baseURL: String { "http://127.0.0.1:\(state.withLock { $0.port })" }
    /// The heads of the received requests.
    var heads: [String] { state.withLock { $0.heads } }
    var connections: Int { state.withLock { $0.peers.count } }

    func set(_ opening: Opening) {
        state.withLock { $0.opening = opening }
    }

    /// Waits until the server has received `count` requests.
    func waitForRequests(_ count: Int) async {
        await until { self.heads.count >= count }
    }

    /// Listens on the previous port, or on a free port at the first start.
    func start() throws {
        let port = state.withLock { $0.port }
        let (listener, bound) = try PosixSocket.listen(port: port)
        state.withLock { state in
            state.listener = listener
            state.port = bound
        }
        Thread.detachNewThread { [state, weak self] in
            // Only the accepting thread closes the socket, and `stop` no longer shuts it down then, because another
            // test could reuse the closed descriptor.
            defer {
                state.withLock { if $0.listener == listener { $0.listener = -1 } }
                PosixSocket.close(listener)
            }
            while let descriptor = PosixSocket.accept(listener) {
                guard let self else { return PosixSocket.close(descriptor) }
                self.serve(descriptor)
            }
        }
    }

    /// Stops listening and resets all connections, like a killed process.
    func stop() {
        let peers = state.withLock { state in
            if state.listener >= 0 { PosixSocket.shutdown(state.listener) }
            defer {
                state.listener = -1
                state.peers = [:]
            }
            return Array(state.peers.values)
        }
        for peer in peers { peer.reset() }
    }

    private func serve(_ descriptor: Int32) {
        let peer = WebSocketPeer(descriptor)
        let isOpen = state.withLock { state in
            guard state.listener >= 0 else { return false }
            state.peers[descriptor] = peer
            return true
        }
        guard isOpen else { return peer.reset() }
        Thread.detachNewThread { [self] in
            do { if try open(peer) { try script(peer) } } catch {}
            _ = state.withLock { $0.peers.removeValue(forKey: descriptor) }
            peer.close()
        }
    }

    private func open(_ peer: WebSocketPeer) throws -> Bool {
        let head = try peer.readHead()
        let opening = state.withLock { state in
            state.heads.append(head)
            return state.opening
        }
        switch opening {
        case .accept(let fields):
            try peer.write(Self.acceptance(of: Self.key(in: head), fields))
            return true
        case .wrongAccept: try peer.write(Self.acceptance(of: "another key", []))
        case .status(let status, let fields):
            let lines = ["HTTP/1.1 \(status) Text", "Content-Length: 0"] + fields
            try peer.write(lines.joined(separator: "\r\n") + "\r\n\r\n")
        case .raw(let text): try peer.write(text)
        case .silence: break
        }
        // Waits until the client disconnects.
        if case .raw = opening { return false }
        while try !peer.readBytes().isEmpty {}
        return false
    }

    static func key(in head: String) -> String {
        let line = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }
        return line?.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    }

    static func acceptance(of key: String, _ fields: [String]) -> String {
        let digest = SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        let lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(Data(digest).base64EncodedString())",
        ]
        return (lines + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }
}

/// A connection of a ``WebSocketServer``, which its own thread uses and any thread may end.
final class WebSocketPeer: Sendable {
    struct Gone: Error {}

    private let descriptor: Int32
    private let input = Locked<[UInt8]>([])
    private let isClosed = Locked(false)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    // MARK: Bytes

    func write(_ text: String) throws {
        try write(Array(text.utf8))
    }

    func write(_ bytes: [UInt8]) throws {
        guard PosixSocket.write(descriptor, bytes) else { throw Gone() }
    }

    /// The next bytes; empty at the end of the stream.
    func readBytes() throws -> [UInt8] {
        guard let bytes = PosixSocket.read(descriptor) else { throw Gone() }
        return bytes
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while input.withLock({ $0.count < count }) {
            let more = try readBytes()
            guard !more.isEmpty else { throw Gone() }
            input.withLock { $0 += more }
        }
        return input.withLock { input in
            defer { input.removeFirst(count) }
            return Array(input.prefix(count))
        }
    }

    func readHead() throws -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) { head += try take(1) }
        return String(decoding: head, as: UTF8.self)
    }

    // MARK: Frames

    /// The next frame of the client, unmasked.
    func readFrame() throws -> SentFrame {
        try SentFrame { try self.take($0) }
    }

    func write(_ opcode: FrameOpcode, _ payload: [UInt8] = [], isFinal: Bool = true) throws {
        try write(SentFrame.serverFrame(opcode, payload, isFinal: isFinal))
    }

    func write(text: String) throws {
        try write(.text, Array(text.utf8))
    }

    func writeClose(_ code: UInt16, _ reason: String = "") throws {
        try write(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    /// Returns the next message of the client and sends a pong for each ping before it.
    func readMessage() throws -> (opcode: FrameOpcode, payload: [UInt8]) {
        var whole: (opcode: FrameOpcode, payload: [UInt8])?
        while true {
            let frame = try readFrame()
            switch frame.opcode {
            case .ping: try write(.pong, frame.payload)
            case .pong: continue
            case .close: return (.close, frame.payload)
            case .text, .binary, .continuation:
                whole = (whole?.opcode ?? frame.opcode, (whole?.payload ?? []) + frame.payload)
                if frame.isFinal, let whole { return whole }
            }
        }
    }

    /// Sends every message back until the client closes.
    func echo() throws {
        while true {
            let message = try readMessage()
            try write(message.opcode, message.payload)
            guard message.opcode != .close else { return }
        }
    }

    // MARK: Ending the connection

    deinit {
        close()
        PosixSocket.close(descriptor)
    }

    /// Shuts the connection down and leaves the descriptor open, because another thread may be reading it.
    func close() {
        if isFirstEnd { PosixSocket.shutdown(descriptor) }
    }

    /// Resets the connection.
    func reset() {
        if isFirstEnd { PosixSocket.reset(descriptor) }
    }

    private var isFirstEnd: Bool {
        isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
    }
}

/// A frame that the client has sent.
struct SentFrame: Equatable {
    var opcode: FrameOpcode
    var isFinal: Bool
    var isCompressed: Bool
    var isMasked: Bool
    var payload: [UInt8]

    /// Reads a frame through `take`, which returns the requested number of bytes.
    init(_ take: (Int) throws -> [UInt8]) throws {
        let head = try take(2)
        opcode = FrameOpcode(rawValue: head[0] & 0x0F) ?? .continuation
        isFinal = head[0] & 0x80 != 0
        isCompressed = head[0] & 0x40 != 0
        isMasked = head[1] & 0x80 != 0
        var length = Int(head[1] & 0x7F)
        if length >= 126 { length = try take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        let key = isMasked ? try take(4) : [0, 0, 0, 0]
        payload = try take(length)
        for index in payload.indices { payload[index] ^= key[index & 3] }
    }

    /// The frames in the bytes that a client has written.
    static func frames(in bytes: Data) throws -> [SentFrame] {
        var rest = Array(bytes)[...]
        var frames: [SentFrame] = []
        while !rest.isEmpty {
            frames.append(
                try SentFrame { count in
                    guard rest.count >= count else { throw WebSocketPeer.Gone() }
                    defer { rest = rest.dropFirst(count) }
                    return Array(rest.prefix(count))
                }
            )
        }
        return frames
    }

    /// The bytes of a frame from a server.
    static func serverFrame(_ opcode: FrameOpcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        var frame = [(isFinal ? 0x80 : 0) | opcode.rawValue]
        switch payload.count {
        case ...125: frame.append(UInt8(payload.count))
        case ...0xFFFF: frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: frame += [127] + (0..<8).map { UInt8(payload.count >> (56 - 8 * $0) & 0xFF) }
        }
        return frame + payload
    }
}
