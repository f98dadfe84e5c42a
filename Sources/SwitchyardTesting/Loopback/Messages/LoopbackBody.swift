public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// The body of a ``LoopbackResponse``.
public enum LoopbackBody: Sendable {
    /// A body whose bytes are in memory.
    case data(Data)
    /// A body that a closure writes while the body is sent.
    ///
    /// If the length is not `nil`, the response announces this length.
    case stream(length: Int?, @Sendable (LoopbackBodyWriter) async throws -> Void)

    /// An empty body.
    public static let empty = LoopbackBody.data(Data())

    /// The number of bytes, or `nil` if the number is not known in advance.
    var length: Int? {
        switch self {
        case .data(let bytes): bytes.count
        case .stream(let length, _): length.map { max(0, $0) }
        }
    }
}

/// A writer that sends the body of a streamed response.
public struct LoopbackBodyWriter: Sendable {
    let exchange: ExchangeID
    let mailbox: Mailbox

    /// Sends bytes, and returns when further bytes can be written.
    ///
    /// If the client does not read, this method waits, so only a bounded number of bytes is in memory. With chunked
    /// framing, each call sends one chunk. A call without bytes sends no chunk.
    ///
    /// - Throws: ``LoopbackError/connectionClosed`` if the client has disconnected.
    public func write(_ bytes: Data) async throws(LoopbackError) {
        let isOpen = await withCheckedContinuation { continuation in
            let acknowledgement = Acknowledgement { continuation.resume(returning: $0) }
            if !mailbox.post(.write(exchange, bytes, acknowledgement)) { acknowledgement.call(false) }
        }
        guard isOpen else { throw .connectionClosed }
    }

    /// Sends text as UTF-8, and returns when further bytes can be written.
    ///
    /// - Throws: ``LoopbackError/connectionClosed`` if the client has disconnected.
    public func write(_ text: String) async throws(LoopbackError) {
        try await write(Data(text.utf8))
    }

    /// Sets the trailer fields of the response.
    ///
    /// The fields replace the fields of an earlier call, and are sent after a chunked body.
    public func setTrailers(_ trailers: HTTPHeaders) {
        _ = mailbox.post(.trailers(exchange, trailers))
    }
}

/// A callback that reports whether a writer's bytes were accepted, and that must be called exactly once.
struct Acknowledgement: Sendable {
    let call: @Sendable (Bool) -> Void
}
