import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension DownloadRun {
    /// The number of bytes that are written to the partial file between two updates of the resume record.
    private static let checkpointInterval: Int64 = 64 << 20

    /// Writes the body of a response to the partial file.
    ///
    /// Returns `true` if the content is complete, and `false` if the rest must be requested.
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

    /// Writes a response body to the partial file until the body ends or is interrupted.
    ///
    /// - Returns: The error that interrupted the body, or `nil` if the body ended normally.
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
                // The transport may have buffered many bytes, so the download checks for a cancellation before it
                // writes each chunk.
                try checkRunning()
                try take(piece)
            } catch {
                stream.cancel()
                throw error
            }
            if state.offset - state.checkpoint >= Self.checkpointInterval { try await keepRecord() }
        }
    }

    /// Throws an error if the download was cancelled.
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
            // The bytes that were written before the error are valid, so they count as received.
            state.offset = min(file.length, end)
            throw error
        }
        if state.digest?.count == state.offset { state.digest?.update(piece) }
        state.offset = end
        state.received += Int64(piece.count)
        progress()
    }

    /// Throws an error if the content is longer than ``DownloadConfiguration/maximumLength``.
    func check(length: Int64) throws(DownloadFailure) {
        guard let limit = configuration.maximumLength, length > limit else { return }
        let error = TransportError(.bodyTooLarge, message: "the file is larger than the \(limit) bytes allowed")
        throw failure(.request(.transport(error)))
    }
}

// MARK: - Continuing after an interruption

extension DownloadRun {
    /// The servers to which the next request is sent only if no other server is available.
    ///
    /// If every server has interrupted a body or sent unexpected content, a server that interrupted a body is preferred
    /// to a server whose content had an unexpected digest.
    var avoided: [Server.ID] {
        let faulty = faulty
        return faulty.isEmpty ? transfer.pool.avoidable(state.strangers) : faulty
    }

    /// The servers that interrupted a body or whose content had an unexpected digest.
    ///
    /// The list is empty if every server has done so.
    private var faulty: [Server.ID] { transfer.pool.avoidable(state.breaks.servers + state.strangers) }

    /// Prepares the next request after a body was interrupted.
    ///
    /// - Throws: The failure of the download if continuing is impossible or not allowed.
    private mutating func survive(_ error: TransportError, of response: ServiceResponse) async throws(DownloadFailure) {
        try checkRunning()
        let outcome = AttemptOutcome(error.kind)
        guard Transience(error.kind) != .permanent else { throw failure(.request(.transport(error))) }
        configuration.onEvent?(.interrupted(at: state.offset, error))
        state.breaks.add(response.context, outcome)
        state.interruptions += 1
        let mayGoOn = configuration.request.resendRule == .anytime
        guard state.interruptions <= configuration.maximumContinuations, mayGoOn else {
            state.breaks.charge(in: transfer)
            throw failure(.request(.transport(error)))
        }
        if faulty.isEmpty { await transfer.pause(afterBreak: state.interruptions) }
    }

    /// Whether the download waits and tries again while no server is available to continue an interrupted body.
    var outlastsOutage: Bool {
        state.interruptions > 0 && state.interruptions < configuration.maximumContinuations
    }

    /// Records the outage as an interruption, and waits before the next request.
    mutating func outlast(_ outage: ServerOutage) async throws(DownloadFailure) {
        try checkRunning()
        configuration.onEvent?(.interrupted(at: state.offset, outage.error))
        state.interruptions += 1
        await transfer.pause(afterBreak: state.interruptions, atLeast: outage.pause)
    }
}

extension DownloadRun {
    // MARK: - The record

    /// Writes the record that describes the content of the partial file.
    ///
    /// If the bytes cannot be resumed (`state.record` is `nil`), removes the record of an earlier download instead.
    func writeRecord() throws(DownloadFailure) {
        guard place.isKept else { return }
        guard let record = state.record else {
            unlink(place.record.path)
            return
        }
        let url = place.record
        try disk { (_) throws(FileFailure) in try record.write(to: url) }
    }

    /// Flushes the received bytes to the disk, and then updates the record with their number.
    mutating func keepRecord() async throws(DownloadFailure) {
        guard place.isKept, state.record != nil else { return }
        do throws(FileFailure) {
            try await BlockingWork.run { [file] () throws(FileFailure) in try file.synchronize() }
        } catch {
            throw failure(.file(error))
        }
        state.record?.offset = state.offset
        state.record?.boot = BootSession.current
        state.checkpoint = state.offset
        try writeRecord()
    }

    /// Adds the number of kept bytes and the resume data to a failure.
    ///
    /// If the bytes cannot be used again, removes the partial file instead.
    mutating func keeping(_ failure: DownloadFailure) async -> DownloadFailure {
        state.breaks.charge(in: transfer)
        var failure = failure
        guard place.isKept, state.record != nil, state.offset > 0, !failure.isFinal else {
            discard()
            return failure
        }
        // The error is ignored because the record that was written at the start of the body is still valid. The updated
        // record matters only after a power loss.
        try? await keepRecord()
        failure.keptBytes = state.offset
        failure.resumeData = place.resumeData
        return failure
    }

    private func discard() {
        file.remove()
        if place.isKept { unlink(place.record.path) }
    }

    // MARK: - Error responses

    /// Returns the failure for a response that provides no file, with the response's body up to the limit.
    func refusal(_ response: ServiceResponse) async -> DownloadFailure {
        var failure = failure(.status(response.status))
        failure.headers = response.headers
        failure.body = await response.response.collectPrefix(configuration.errorBodyLimit)
        return failure
    }

    // MARK: - The complete file

    /// Moves the complete file to its destination.
    mutating func deliver(_ response: ServiceResponse) async throws(DownloadFailure) -> DownloadedFile {
        let answer = DownloadedFile.Answer(
            status: response.status,
            headers: response.headers,
            url: context.url,
            suggestedName: response.headers.contentDisposition?.safeFileName ?? state.record?.name
                ?? SuggestedFileName.name(of: context.url)
        )
        let target = try target(for: answer)
        let url: URL
        do throws(FileFailure) {
            url = try await BlockingWork.run { [file, placement] () throws(FileFailure) in
                try file.synchronize()
                return try placement.place(file.url, at: target)
            }
        } catch {
            configuration.onEvent?(.moveFailed(error))
            throw failure(.file(error))
        }
        if place.isKept { unlink(place.record.path) }
        place.removeOutdated()
        progress(isEnd: true)
        configuration.onEvent?(.moved(url))
        return DownloadedFile(
            url: url,
            length: state.offset,
            resumedBytes: state.resumed,
            receivedBytes: state.received,
            answer: answer,
            context: context
        )
    }

    private func target(for answer: DownloadedFile.Answer) throws(DownloadFailure) -> URL {
        switch configuration.destination {
        case .file(let url): return url
        case .directory(let directory): return directory.appendingPathComponent(answer.suggestedName)
        case .temporary:
            let name = "\(UUID().uuidString)-\(answer.suggestedName)"
            return FileManager.default.temporaryDirectory.appendingPathComponent(name)
        case .custom(let choose):
            do { return try choose(file.url, answer) } catch { throw failure(.destination("\(error)")) }
        }
    }
}

extension DownloadFailure {
    /// Whether the received bytes cannot be used again, because the content no longer exists or the server is
    /// unreliable.
    fileprivate var isFinal: Bool {
        switch reason {
        case .status(404), .status(410), .unusableRange, .lengthMismatch, .digestMismatch: true
        default: false
        }
    }
}

extension SuggestedFileName {
    /// Returns the last component of the URL's path, or else `download`.
    static func name(of url: RequestURL?) -> String {
        let path = url?.text.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false) ?? []
        // The first three elements are the scheme, an empty string, and the host; they are not part of the path.
        let last = path.count > 3 ? String(path[path.count - 1]) : ""
        let name = safe(last.removingPercentEncoding ?? last)
        return name.isEmpty ? "download" : name
    }
}
