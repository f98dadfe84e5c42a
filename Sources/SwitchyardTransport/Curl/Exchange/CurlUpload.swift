#if os(Linux)
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// Reads a streamed body in a task of its own, one piece ahead of the transfer.
    final class CurlUpload: Sendable {
        private static let pieceSize = 256 << 10

        private struct State {
            /// A piece is read, or is on its way to the transfer.
            var isUnderWay = false
            var isEnded = false
            var given: Int64 = 0
            var task: Task<Void, Never>?
        }

        private let reader: any HTTPBodyReader
        private let length: Int64?
        private let state = Locked(State())

        /// - Throws: ``TransportError`` with ``TransportError/Kind/requestBodyFailed`` when there is no reader.
        init(_ stream: HTTPBody.Stream) throws(TransportError) {
            length = stream.length
            do { reader = try stream.makeReader() } catch { throw Self.failure("\(error)") }
        }

        /// Reads the next piece, unless the transfer has still to take the one before it, or the end was reached.
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

        /// Takes note that the transfer has the piece; were the next one read before that, it could get there first.
        func hasTaken() {
            state.withLock { $0.isUnderWay = false }
        }

        /// Ends a read that is under way; nobody wants its bytes any more.
        func stop() {
            let task = state.withLock { state in
                state.isEnded = true
                defer { state.task = nil }
                return state.task
            }
            task?.cancel()
        }

        private func read() async -> Result<Data?, TransportError> {
            // The announced end is the end: what a reader has beyond it is not asked for.
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
            return .failure(Self.failure("it gave more than the \(length) bytes announced"))
        }

        private func accountForEnd() -> Result<Data?, TransportError> {
            let given = state.withLock { state in
                state.isEnded = true
                return state.given
            }
            guard let length, given < length else { return .success(nil) }
            return .failure(Self.failure("it ended after \(given) of \(length) bytes"))
        }

        private static func failure(_ reason: String) -> TransportError {
            TransportError(.requestBodyFailed, message: "the request's body failed: \(reason)")
        }
    }
#endif
