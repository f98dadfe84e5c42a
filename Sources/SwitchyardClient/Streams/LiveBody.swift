package import Foundation
package import SwitchyardHTTP
import SwitchyardServices

/// The body of a response that is read as it arrives.
///
/// The client can cancel the body. If the body is truncated, this counts as a failure of its server.
package final class LiveBody: Sendable {
    let transfer: Transfer
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
            // If no reader is waiting, only this call ends the transfer.
            if endsTransfer { transfer.end() }
        }
    }

    deinit {
        endTransfer()
        stream?.cancel()
    }

    /// Waits for the next chunk of the body, and returns `nil` at the end of the body.
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

    /// Throws if the user of the transfer has logged out, so that buffered data is not delivered.
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

    /// Ends the transfer because the reader cannot use the body, and returns the failure.
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

    /// Counts a failure against the server if the server caused the failure.
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
