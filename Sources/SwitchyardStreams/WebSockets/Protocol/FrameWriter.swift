import Foundation
import SwitchyardHTTP

/// A writer of a client's frames, each masked with a new random key (RFC 6455 section 5.3).
enum FrameWriter {
    /// Returns the encoded bytes of a frame.
    static func frame(
        _ opcode: FrameOpcode,
        _ payload: Data,
        isFinal: Bool = true,
        isCompressed: Bool = false,
        mask: UInt32 = .random(in: 0 ... .max)
    ) -> Data {
        var frame = Data(capacity: payload.count + 14)
        frame.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        appendLength(payload.count, to: &frame)
        let key = withUnsafeBytes(of: mask.bigEndian, Array.init)
        frame.append(contentsOf: key)
        let start = frame.count
        frame.append(payload)
        frame.withUnsafeMutableBytes { bytes in
            for index in start..<bytes.count { bytes[index] ^= key[(index - start) & 3] }
        }
        return frame
    }

    private static func appendLength(_ length: Int, to frame: inout Data) {
        switch length {
        case ...125: frame.append(0x80 | UInt8(length))
        case ...0xFFFF:
            frame.append(0x80 | 126)
            withUnsafeBytes(of: UInt16(length).bigEndian) { frame.append(contentsOf: $0) }
        default:
            frame.append(0x80 | 127)
            withUnsafeBytes(of: UInt64(length).bigEndian) { frame.append(contentsOf: $0) }
        }
    }

    /// Returns a Close frame.
    ///
    /// For ``WebSocket/CloseCode/noStatus``, the frame has no payload.
    ///
    /// A Close frame has room for a reason of 123 bytes. A longer reason is cut at a character boundary.
    static func close(_ code: WebSocket.CloseCode, reason: String) -> Data {
        guard code != .noStatus else { return frame(.close, Data()) }
        var payload = withUnsafeBytes(of: code.rawValue.bigEndian) { Data($0) }
        for character in reason.unicodeScalars {
            let bytes = UTF8.encode(character) ?? UTF8.encodedReplacementCharacter
            guard payload.count + bytes.count <= 125 else { break }
            payload.append(contentsOf: bytes)
        }
        return frame(.close, payload)
    }
}

/// A message that is sent in one or more frames.
struct OutgoingMessage: Sendable {
    private let opcode: FrameOpcode
    private let isCompressed: Bool
    private let payload: Data
    private let fragment: Int
    private var position = 0
    private(set) var isSent = false

    /// Whether at least one frame of the message has been returned by ``nextFrame()``.
    var hasBegun: Bool { isSent || position > 0 }

    /// - Parameters:
    ///   - message: The message to send.
    ///   - compresses: Whether compression was negotiated.
    ///   - fragment: The maximum payload of a frame in bytes.
    init(_ message: WebSocket.Message, compresses: Bool, fragment: Int) {
        let bytes: Data
        switch message {
        case .text(let text): (opcode, bytes) = (.text, Data(text.utf8))
        case .data(let data): (opcode, bytes) = (.binary, data)
        }
        // Shorter messages hardly benefit from compression.
        isCompressed = compresses && bytes.count >= 64
        payload = isCompressed ? Data(Deflate.flushed(Array(bytes))) : bytes
        self.fragment = max(1, fragment)
    }

    /// Returns the next frame of the message.
    mutating func nextFrame() -> Data {
        let piece = payload.dropFirst(position).prefix(fragment)
        let isFirst = position == 0
        position += piece.count
        isSent = position >= payload.count
        return FrameWriter.frame(
            isFirst ? opcode : .continuation,
            piece,
            isFinal: isSent,
            isCompressed: isFirst && isCompressed
        )
    }
}
