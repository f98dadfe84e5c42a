import Foundation

/// The opcode of a frame (RFC 6455 section 5.2).
enum FrameOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// The header of a received frame.
struct FrameHeader {
    /// Whether the frame is the last of its message.
    var isFinal: Bool
    /// Whether the message is compressed (RFC 7692 section 6).
    var isCompressed: Bool
    var opcode: FrameOpcode
    /// The length of the payload in bytes.
    var length: Int

    /// Returns the size of a frame header in bytes, derived from its first two bytes.
    static func size(_ bytes: [UInt8]) -> Int {
        guard bytes.count >= 2 else { return 2 }
        switch bytes[1] & 0x7F {
        case 126: return 4
        case 127: return 10
        default: return 2
        }
    }

    /// Parses a header that a server has sent.
    ///
    /// - Parameters:
    ///   - bytes: The complete header.
    ///   - allowsCompression: Whether messages may be compressed.
    /// - Throws: ``WebSocketViolation``.
    init(_ bytes: [UInt8], allowsCompression: Bool) throws(WebSocketViolation) {
        isFinal = bytes[0] & 0x80 != 0
        isCompressed = bytes[0] & 0x40 != 0
        guard let opcode = FrameOpcode(rawValue: bytes[0] & 0x0F) else {
            throw .protocolError("a frame has the opcode \(bytes[0] & 0x0F), which is reserved")
        }
        self.opcode = opcode
        let mayBeCompressed = allowsCompression && (opcode == .text || opcode == .binary)
        guard bytes[0] & 0x30 == 0, mayBeCompressed || !isCompressed else {
            throw .protocolError("a reserved bit of a frame is 1: must be 0")
        }
        guard bytes[1] & 0x80 == 0 else { throw .protocolError("a frame from the server must not be masked") }
        let announced = bytes.dropFirst(2).reduce(UInt64(bytes.count == 2 ? bytes[1] : 0)) { $0 << 8 | UInt64($1) }
        guard announced <= UInt64(Int64.max) else {
            throw .protocolError("a frame announces \(announced) bytes: must be at most \(Int64.max)")
        }
        length = Int(clamping: announced)
        guard !opcode.isControl || (isFinal && length <= 125) else {
            throw .protocolError("a control frame is fragmented, or longer than 125 bytes")
        }
    }
}

/// A violation of the protocol or of a local limit by the server.
///
/// A violation ends the connection (RFC 6455 section 7.1.7).
struct WebSocketViolation: Error, Hashable {
    /// The close code to send to the server.
    var code: WebSocket.CloseCode
    /// The description of the violation.
    var message: String

    static func protocolError(_ message: String) -> Self { Self(code: .protocolError, message: message) }
    static func invalidText(_ message: String) -> Self { Self(code: .invalidPayload, message: message) }
    static func tooLarge(_ message: String) -> Self { Self(code: .messageTooBig, message: message) }
}
