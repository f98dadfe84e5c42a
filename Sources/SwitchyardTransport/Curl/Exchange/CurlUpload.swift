#if os(Linux)
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// A reader of a streamed request body.
    ///
    /// The upload reads one chunk ahead of the transfer.
    final class CurlUpload: Sendable {
        private static let pieceSize = 256 << 10

        private struct State {
            /// Whether a chunk is being read or passed to the transfer.
            var isUnderWay = false
            var isEnded = false
            var given: Int64 = 0
            var task: Task<Void, Never>?
        }

        private let reader: any HTTPBodyReader
        private let length: Int64?
        private let state = Locked(State())

        /// - Throws: ``TransportError`` with ``/SwitchyardServices/WireFailure/requestBodyFailed`` if the stream cannot
        ///   create its reader.
        init(_ stream: HTTPBody.Stream) throws(TransportError) {
            length = stream.length
            do { reader = try stream.makeReader() } catch {
                var failure = Self.failure("\(error)")
                failure.mayHaveBeenSent = false
                throw failure
            }
        }

        /// Reads the next chunk, unless the transfer still has to take the previous chunk or the body has ended.
        func readNext(deliver: @escaping @Sendable (Result<Data?, TransportError>) -> Void) {
            let begins = state.withLock { state in
                guard !state.isUnderWay, !state.isEnded else { return false }
                state.isUnderWay = true
                return true
            }
            guard begins else { return }
            let task = Task { deliver(await self.read()) }
            state.withLock { state in
                if state.isEnded { task.cancel() } else { state.task = task }
            }
        }

        /// Records that the transfer has taken the chunk.
        ///
        /// The next chunk is read only after this call, because otherwise chunks could arrive in the wrong order.
        func hasTaken() {
            state.withLock { $0.isUnderWay = false }
        }

        /// Cancels the read in progress, because its bytes are no longer needed.
        func stop() {
            let task = state.withLock { state in
                state.isEnded = true
                defer { state.task = nil }
                return state.task
            }
            task?.cancel()
        }

        private func read() async -> Result<Data?, TransportError> {
            // After the announced number of bytes, no more bytes are requested from the reader.
            if let length, state.withLock({ $0.given }) == length { return accountForEnd() }
            do {
                while let piece = try await reader.read(maximumLength: Self.pieceSize) {
                    if !piece.isEmpty { return account(for: piece) }
                }
                return accountForEnd()
            } catch {
                return .failure(Self.failure("\(error)"))
            }
        }

        private func account(for piece: Data) -> Result<Data?, TransportError> {
            let given = state.withLock { state in
                state.given += Int64(piece.count)
                return state.given
            }
            guard let length, given > length else { return .success(piece) }
            return .failure(Self.failure("the stream has more than the announced \(length) bytes"))
        }

        private func accountForEnd() -> Result<Data?, TransportError> {
            let given = state.withLock { state in
                state.isEnded = true
                return state.given
            }
            guard let length, given < length else { return .success(nil) }
            return .failure(Self.failure("the stream ended after \(given) of \(length) bytes"))
        }

        private static func failure(_ reason: String) -> TransportError {
            TransportError(.requestBodyFailed, message: "the request's body failed: \(reason)")
        }
    }
#endif
