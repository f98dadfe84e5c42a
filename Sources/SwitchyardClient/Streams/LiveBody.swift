package import Foundation
package import SwitchyardHTTP
import SwitchyardServices

/// The body of a response while it arrives: the client can cancel it, and its server is charged if it is truncated.
package final class LiveBody: Sendable {
    private let transfer: Transfer
    private let context: RequestContext
    private let endsTransfer: Bool
    private let stream: HTTPBodyStream?
    private let whole = Locked<Data?>(nil)

    /// - Parameters:
    ///   - transfer: The transfer, which has begun.
    ///   - response: The response.
    ///   - endsTransfer: Whether the transfer ends with the body.
    package init(_ transfer: Transfer, _ response: ServiceResponse, endsTransfer: Bool = true) {
        self.transfer = transfer
        self.endsTransfer = endsTransfer
        context = response.context
        switch response.response.body {
        case .whole(let data):
            stream = nil
            whole.withLock { $0 = data }
        case .stream(let stream):
            self.stream = stream
        }
        transfer.handle.attach { [transfer, stream] in
            stream?.cancel()
            // There may be no reader that would notice.
            if endsTransfer { transfer.end() }
        }
    }

    deinit {
        endTransfer()
        stream?.cancel()
    }

    /// Waits for the next piece, and returns `nil` at the end.
    package func next() async throws(RequestFailure) -> Data? {
        if let reason = transfer.handle.reason { throw failure(reason) }
        try checkOwner()
        let piece: Data?
        do throws(TransportError) {
            piece = try await nextPiece()
        } catch {
            throw ended(by: error)
        }
        if piece == nil { endTransfer() }
        try checkOwner()
        return piece
    }

    /// Throws after the user of the transfer has left, before buffered data is delivered.
    package func checkOwner() throws(RequestFailure) {
        if let refusal = transfer.handle.refusal { throw failure(refusal) }
    }

    /// Cancels the transfer for a reason.
    package func cancel(_ reason: RequestFailure.Reason) {
        transfer.handle.cancel(reason)
    }

    /// Ends the body without reading the rest.
    package func end() {
        stream?.cancel()
        endTransfer()
    }

    /// Ends the transfer because the reader refuses the body.
    package func refuse(_ error: TransportError) -> RequestFailure {
        end()
        return failure(.transport(error))
    }

    private func nextPiece() async throws(TransportError) -> Data? {
        if let stream {
            var pieces = stream.makeAsyncIterator()
            return try await pieces.next()
        }
        return whole.withLock { data in
            defer { data = nil }
            return data.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    private func ended(by error: TransportError) -> RequestFailure {
        defer { endTransfer() }
        if let reason = transfer.handle.reason { return failure(reason) }
        if error.kind == .cancelled { return failure(.cancelled) }
        charge(error)
        return failure(.transport(error))
    }

    /// Charges the server with a failure if it is the server's fault.
    package func charge(_ error: TransportError) {
        let outcome = AttemptOutcome(error.kind)
        guard outcome.failureKind != nil, let attempt = context.attempt else { return }
        transfer.charge(Transfer.Break(attempt: attempt, outcome: outcome))
    }

    private func endTransfer() {
        if endsTransfer { transfer.end() }
    }

    private func failure(_ reason: RequestFailure.Reason) -> RequestFailure {
        var context = context
        context.elapsed = transfer.startedAt.duration(to: transfer.core.now)
        return RequestFailure(reason, id: transfer.id, context: context)
    }
}
