#if os(Linux)
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// The sending half of a connection that has switched to another protocol.
    ///
    /// The outlet sends one chunk at a time.
    final class CurlOutlet: ByteConnection {
        typealias Outcome = Result<Void, TransportError>

        private struct State {
            var sender: CheckedContinuation<Outcome, Never>?
            var end: TransportError?
        }

        private let state = Locked(State())
        private let submit: @Sendable (Data) -> Void

        /// - Parameter submit: A closure that makes the loop's thread send bytes and then call ``hasSent()``.
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

        /// Records that all bytes of the last call have been passed to the system.
        func hasSent() {
            take()?.resume(returning: .success(()))
        }

        /// Records the result of the exchange.
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
            message: "another chunk is still being sent: chunks must be sent one at a time",
            mayHaveBeenSent: false
        )
        fileprivate static let connectionEnded = TransportError(
            .connectionReset,
            message: "the server has closed the connection"
        )
    }
#endif
