import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension DownloadRun {
    /// The record is brought up to date when so many more bytes are there.
    private static let checkpointInterval: Int64 = 64 << 20

    /// Writes the body of an answer; `true` when the content is complete, `false` when more has to be asked for.
    mutating func receive(_ response: ServiceResponse) async throws(DownloadFailure) -> Bool {
        if let cut = try await write(response.response.body) {
            try await survive(cut, of: response)
            return false
        }
        switch state.completion {
        case .complete: return true
        case .goesOn: return false
        case .short:
            let text = "the body ended after \(state.offset) of \(state.limit) bytes"
            try await survive(TransportError(.truncated, message: text), of: response)
            return false
        }
    }

    /// Writes a body to its end, or to where it broke off.
    ///
    /// - Returns: How it broke off; `nil` for a body that came to its end.
    private mutating func write(_ body: HTTPResponse.Body) async throws(DownloadFailure) -> TransportError? {
        guard case .stream(let stream) = body else {
            if case .whole(let data) = body { try take(data) }
            return nil
        }
        var pieces = stream.makeAsyncIterator()
        while true {
            await configuration.monitor?.waitWhilePaused()
            let piece: Data?
            do throws(TransportError) { piece = try await pieces.next() } catch { return error }
            guard let piece else { return nil }
            do throws(DownloadFailure) {
                // Much may have come already when a download is ended.
                try checkRunning()
                try take(piece)
            } catch {
                stream.cancel()
                throw error
            }
            if state.offset - state.checkpoint >= Self.checkpointInterval { try await keepRecord() }
        }
    }

    /// Throws when the download was ended from outside.
    func checkRunning() throws(DownloadFailure) {
        if let reason = transfer.handle.reason { throw failure(.request(reason)) }
        if Task.isCancelled { throw failure(.request(.cancelled)) }
    }

    private mutating func take(_ piece: Data) throws(DownloadFailure) {
        let end = state.offset + Int64(piece.count)
        guard end <= state.limit else {
            throw failure(.lengthMismatch(announced: state.limit, actual: end))
        }
        try check(length: end)
        do throws(DownloadFailure) {
            try disk { (file) throws(FileFailure) in try file.append(piece) }
        } catch {
            // What did get there is right, and counts.
            state.offset = min(file.length, end)
            throw error
        }
        if state.digest?.count == state.offset { state.digest?.update(piece) }
        state.offset = end
        state.received += Int64(piece.count)
        progress()
    }

    /// Refuses a content that is larger than the caller accepts.
    func check(length: Int64) throws(DownloadFailure) {
        guard let limit = configuration.maximumLength, length > limit else { return }
        let error = TransportError(.bodyTooLarge, message: "the file is larger than the \(limit) bytes allowed")
        throw failure(.request(.transport(error)))
    }
}

// MARK: - Going on after a break

extension DownloadRun {
    /// Servers that are not asked again as long as there is another.
    ///
    /// When all have done something wrong, those that broke off are asked again before those that have another content.
    var avoided: [Server.ID] {
        let faulty = faulty
        return faulty.isEmpty ? transfer.pool.avoidable(state.strangers) : faulty
    }

    /// Servers that broke off or have another content; none when all have.
    private var faulty: [Server.ID] { transfer.pool.avoidable(state.breaks.servers + state.strangers) }

    /// Prepares the next request after a body broke off.
    ///
    /// - Throws: The failure of the download, when nothing more may or can be tried.
    private mutating func survive(_ error: TransportError, of response: ServiceResponse) async throws(DownloadFailure) {
        try checkRunning()
        let outcome = AttemptOutcome(error.kind)
        guard outcome.failureKind != nil else { throw failure(.request(.transport(error))) }
        configuration.onEvent?(.interrupted(at: state.offset, error))
        state.breaks.add(response.context, outcome)
        state.interruptions += 1
        guard state.interruptions <= configuration.maximumContinuations, configuration.request.isIdempotent else {
            state.breaks.settle(in: transfer)
            throw failure(.request(.transport(error)))
        }
        if faulty.isEmpty { await transfer.pause(afterBreak: state.interruptions) }
    }

    /// Whether the download goes on although no server is there yet to continue what was broken off.
    var outlastsOutage: Bool {
        state.interruptions > 0 && state.interruptions < configuration.maximumContinuations
    }

    /// Waits before it is asked again.
    mutating func outlast(_ outage: ServerOutage) async throws(DownloadFailure) {
        try checkRunning()
        configuration.onEvent?(.interrupted(at: state.offset, outage.error))
        state.interruptions += 1
        await transfer.pause(afterBreak: state.interruptions, atLeast: outage.pause)
    }
}
