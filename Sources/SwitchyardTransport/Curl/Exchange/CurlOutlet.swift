#if os(Linux)
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// Sends over a connection that has been handed over, one piece at a time.
    final class CurlOutlet: ByteConnection {
        typealias Outcome = Result<Void, TransportError>

        private struct State {
            var sender: CheckedContinuation<Outcome, Never>?
            var end: TransportError?
        }

        private let state = Locked(State())
        private let submit: @Sendable (Data) -> Void

        /// - Parameter submit: Has the loop's thread send bytes, after which it calls ``hasSent()``.
        init(submit: @escaping @Sendable (Data) -> Void) {
            self.submit = submit
        }

        func send(_ bytes: Data) async throws(TransportError) {
            let outcome = await withCheckedContinuation { begin(bytes, $0) }
            try outcome.get()
        }

        private func begin(_ bytes: Data, _ sender: CheckedContinuation<Outcome, Never>) {
            let refusal: TransportError? = state.withLock { state in
                if let end = state.end { return end }
                guard state.sender == nil else { return .sendsTwice }
                state.sender = sender
                return nil
            }
            guard let refusal else { return submit(bytes) }
            sender.resume(returning: .failure(refusal))
        }

        /// Takes note that the system has all bytes of the last call.
        func hasSent() {
            take()?.resume(returning: .success(()))
        }

        /// Takes note of how the exchange has ended.
        func finish(_ result: Result<HTTPResponse, TransportError>) {
            let end = if case .failure(let error) = result { error } else { TransportError.connectionEnded }
            let sender = state.withLock { state in
                if state.end == nil { state.end = end }
                defer { state.sender = nil }
                return state.sender
            }
            sender?.resume(returning: .failure(end))
        }

        private func take() -> CheckedContinuation<Outcome, Never>? {
            state.withLock { state in
                defer { state.sender = nil }
                return state.sender
            }
        }
    }

    extension TransportError {
        fileprivate static let sendsTwice = TransportError(
            .invalidRequest,
            message: "a connection sends one piece at a time",
            mayHaveBeenSent: false
        )
        fileprivate static let connectionEnded = TransportError(
            .connectionReset,
            message: "the server has closed the connection"
        )
    }
#endif
