import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices

@testable import SwitchyardStreams

/// A link whose remote end is the test.
final class HeldLink: WebSocketLink {
    private struct State {
        var input: [Data] = []
        var end: Result<Data?, TransportError>?
        var reader: CheckedContinuation<Result<Data?, TransportError>, Never>?
        var written = Data()
        var writes = 0
        var holdsWrites: Bool
        var writers: [CheckedContinuation<Result<Void, TransportError>, Never>] = []
        var isEnded = false
        var fault: TransportError?
    }

    private let state: Locked<State>

    init(holdsWrites: Bool = false) {
        state = Locked(State(holdsWrites: holdsWrites))
    }

    var written: Data { state.withLock { $0.written } }
    var writes: Int { state.withLock { $0.writes } }
    var unread: Int { state.withLock { $0.input.count } }
    var isEnded: Bool { state.withLock { $0.isEnded } }
    var fault: TransportError? { state.withLock { $0.fault } }

    func give(_ bytes: [UInt8]) {
        let reader = state.withLock { state in
            if state.reader == nil { state.input.append(Data(bytes)) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: .success(Data(bytes)))
    }

    func finish() { end(with: .success(nil)) }

    func fail(_ error: TransportError) {
        end(with: .failure(error))
        let writers = state.withLock { state in
            defer { state.writers = [] }
            return state.writers
        }
        for writer in writers { writer.resume(returning: .failure(error)) }
    }

    private func end(with outcome: Result<Data?, TransportError>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = outcome }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: outcome)
    }

    func waitUntilRead() async {
        await until { self.state.withLock { $0.input.isEmpty && $0.reader != nil } }
    }

    func releaseWrites() {
        let writers = state.withLock { state in
            state.holdsWrites = false
            defer { state.writers = [] }
            return state.writers
        }
        for writer in writers { writer.resume(returning: .success(())) }
    }

    // MARK: WebSocketLink

    func receive() async throws(TransportError) -> Data? {
        let outcome = await withCheckedContinuation {
            (reader: CheckedContinuation<Result<Data?, TransportError>, Never>) in
            let outcome: Result<Data?, TransportError>? = state.withLock { state in
                if !state.input.isEmpty { return .success(state.input.removeFirst()) }
                if state.end == nil { state.reader = reader }
                return state.end
            }
            if let outcome { reader.resume(returning: outcome) }
        }
        return try outcome.get()
    }

    func send(_ bytes: Data) async throws(TransportError) {
        let outcome = await withCheckedContinuation {
            (writer: CheckedContinuation<Result<Void, TransportError>, Never>) in
            let outcome: Result<Void, TransportError>? = state.withLock { state in
                state.written += bytes
                state.writes += 1
                if case .failure(let error)? = state.end { return .failure(error) }
                guard state.holdsWrites else { return .success(()) }
                state.writers.append(writer)
                return nil
            }
            if let outcome { writer.resume(returning: outcome) }
        }
        try outcome.get()
    }

    func end(_ failure: TransportError?) {
        state.withLock { state in
            state.isEnded = true
            state.fault = state.fault ?? failure
        }
        end(with: .failure(TransportError(.cancelled, message: "ended")))
    }
}
