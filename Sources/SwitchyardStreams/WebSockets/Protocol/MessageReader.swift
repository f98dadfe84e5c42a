import Foundation

/// A reader that turns the bytes from a server into messages and control frames (RFC 6455 sections 5 and 6.2).
///
/// The value performs no I/O. The bytes may arrive in chunks of any size.
struct MessageReader {
    /// A completely received message or control frame.
    enum Event: Hashable {
        case message(WebSocket.Message)
        case ping(Data)
        case pong(Data)
        /// A Close frame.
        ///
        /// If the frame has no code, the code is ``WebSocket/CloseCode/noStatus``.
        case close(WebSocket.CloseCode, reason: String)
    }

    /// The limits for a received message and a received frame, in bytes.
    struct Limits {
        var message: Int
        var frame: Int
    }

    /// A message of which some frames have arrived, but not the last frame.
    private struct Partial {
        var isText: Bool
        var isCompressed: Bool
        var payload = Data()
        var text = UTF8Checker()
    }

    private let limits: Limits
    private var inflater: Inflater?
    private var head: [UInt8] = []
    private var frame: FrameHeader?
    private var controlPayload = Data()
    /// The number of payload bytes of the current frame that have not arrived yet.
    private var missing = 0
    private var message: Partial?
    /// Whether a Close frame or invalid data has arrived.
    ///
    /// All later bytes are ignored.
    private(set) var hasEnded = false

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limits: The limits for received data.
    ///   - inflater: The decompressor, or `nil` if compression was not negotiated.
    init(limits: Limits, inflater: Inflater? = nil) {
        self.limits = limits
        self.inflater = inflater
    }

    /// Reads the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - take: A closure that receives each event, in order. Events before a violation are received too.
    /// - Throws: ``WebSocketViolation``. All later bytes are then ignored.
    mutating func read(_ bytes: Data, _ take: (Event) -> Void) throws(WebSocketViolation) {
        var rest = bytes
        do throws(WebSocketViolation) {
            while !hasEnded, frame != nil && missing == 0 || !rest.isEmpty {
                if frame == nil { try readHead(&rest) } else { try readPayload(&rest) }
                if let header = frame, missing == 0 { try endFrame(header, take) }
            }
        } catch {
            hasEnded = true
            throw error
        }
    }

    private mutating func readHead(_ rest: inout Data) throws(WebSocketViolation) {
        while head.count < FrameHeader.size(head) {
            guard let byte = rest.popFirst() else { return }
            head.append(byte)
        }
        let header = try FrameHeader(head, allowsCompression: inflater != nil)
        head.removeAll(keepingCapacity: true)
        try begin(header)
        frame = header
        missing = header.length
    }

    private mutating func begin(_ header: FrameHeader) throws(WebSocketViolation) {
        guard !header.opcode.isControl else { return }
        guard header.length <= limits.frame else {
            throw .tooLarge("a frame has \(header.length) bytes: must have at most \(limits.frame)")
        }
        if header.opcode == .continuation {
            guard message != nil else { throw .protocolError("a continuation frame continues no message") }
        } else {
            guard message == nil else { throw .protocolError("a message begins before the previous message ends") }
            message = Partial(isText: header.opcode == .text, isCompressed: header.isCompressed)
        }
        let size = (message?.payload.count ?? 0).addingReportingOverflow(header.length)
        guard !size.overflow, size.partialValue <= limits.message else {
            throw .tooLarge("a message has more than \(limits.message) bytes, which is the limit")
        }
    }

    private mutating func readPayload(_ rest: inout Data) throws(WebSocketViolation) {
        guard let frame else { return }
        let piece = rest.prefix(missing)
        rest = rest.dropFirst(piece.count)
        missing -= piece.count
        if frame.opcode.isControl {
            controlPayload.append(piece)
        } else {
            message?.payload.append(piece)
            try checkText(piece)
        }
    }

    private mutating func checkText(_ piece: Data) throws(WebSocketViolation) {
        guard message?.isText == true, message?.isCompressed == false else { return }
        guard message?.text.accept(piece) == true else { throw .invalidText("a text message is not valid UTF-8") }
    }

    // MARK: The end of a frame

    private mutating func endFrame(_ header: FrameHeader, _ take: (Event) -> Void) throws(WebSocketViolation) {
        frame = nil
        guard header.opcode.isControl else {
            if header.isFinal, let whole = message { take(.message(try finished(whole))) }
            return
        }
        let payload = controlPayload
        controlPayload = Data()
        switch header.opcode {
        case .ping: take(.ping(payload))
        case .pong: take(.pong(payload))
        default:
            let close = try closeEvent(payload)
            hasEnded = true
            take(close)
        }
    }

    private mutating func finished(_ whole: Partial) throws(WebSocketViolation) -> WebSocket.Message {
        message = nil
        guard whole.isCompressed else {
            guard whole.isText else { return .data(whole.payload) }
            guard whole.text.isComplete else { throw .invalidText("a text message ends within a character") }
            return .text(String(decoding: whole.payload, as: UTF8.self))
        }
        let payload = try inflated(whole.payload)
        guard whole.isText else { return .data(payload) }
        guard let text = UTF8Checker.text(payload) else {
            throw .invalidText("a text message is not valid UTF-8")
        }
        return .text(text)
    }

    private mutating func inflated(_ payload: Data) throws(WebSocketViolation) -> Data {
        do throws(Inflater.Failure) {
            return try inflater?.message(payload, limit: limits.message) ?? payload
        } catch {
            switch error {
            case .tooLarge: throw .tooLarge("a message has more than \(limits.message) bytes, which is the limit")
            case .invalid: throw .invalidText("a message cannot be decompressed")
            }
        }
    }

    private func closeEvent(_ payload: Data) throws(WebSocketViolation) -> Event {
        guard !payload.isEmpty else { return .close(.noStatus, reason: "") }
        let bytes = Array(payload)
        guard bytes.count >= 2 else {
            throw .protocolError("the payload of a Close frame has 1 byte: must have 0 or at least 2")
        }
        let code = WebSocket.CloseCode(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
        guard code.isSendable else {
            throw .protocolError("a Close frame has the code \(code.rawValue), which is reserved")
        }
        guard let reason = UTF8Checker.text(payload.dropFirst(2)) else {
            throw .invalidText("the reason of a Close frame is not valid UTF-8")
        }
        return .close(code, reason: reason)
    }
}
