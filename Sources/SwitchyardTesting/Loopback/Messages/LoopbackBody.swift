public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// The body of a ``LoopbackResponse``.
public enum LoopbackBody: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// Bytes written while they are sent; the length is announced unless it is `nil`.
    case stream(length: Int?, @Sendable (LoopbackBodyWriter) async throws -> Void)

    /// No bytes.
    public static let empty = LoopbackBody.data(Data())

    /// The number of bytes, when it is known beforehand.
    var length: Int? {
        switch self {
        case .data(let bytes): bytes.count
        case .stream(let length, _): length.map { max(0, $0) }
        }
    }
}

/// Sends the body of a streamed response.
public struct LoopbackBodyWriter: Sendable {
    let exchange: ExchangeID
    let mailbox: Mailbox

    /// Sends bytes, and returns when the next ones may follow.
    ///
    /// A client that does not read makes it wait: at most a bounded amount is kept in memory. With chunks, each call
    /// makes one; no bytes are no chunk.
    ///
    /// - Throws: ``LoopbackError/connectionClosed`` when the client has gone.
    public func write(_ bytes: Data) async throws(LoopbackError) {
        let isOpen = await withCheckedContinuation { continuation in
            let acknowledgement = Acknowledgement { continuation.resume(returning: $0) }
            if !mailbox.post(.write(exchange, bytes, acknowledgement)) { acknowledgement.call(false) }
        }
        guard isOpen else { throw .connectionClosed }
    }

    /// Sends text as UTF-8, and returns when the next bytes may follow.
    ///
    /// - Throws: ``LoopbackError/connectionClosed`` when the client has gone.
    public func write(_ text: String) async throws(LoopbackError) {
        try await write(Data(text.utf8))
    }

    /// Replaces the trailer fields of the response, which are sent behind a body in chunks.
    public func setTrailers(_ trailers: HTTPHeaders) {
        _ = mailbox.post(.trailers(exchange, trailers))
    }
}

/// Tells a writer whether its bytes were taken; called exactly once by whoever holds it.
struct Acknowledgement: Sendable {
    let call: @Sendable (Bool) -> Void
}
