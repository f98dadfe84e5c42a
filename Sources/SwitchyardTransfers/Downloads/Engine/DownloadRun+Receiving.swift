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

extension DownloadRun {
    // MARK: - The record

    /// Writes the record that says what the bytes are part of, or makes sure that there is none.
    func writeRecord() throws(DownloadFailure) {
        guard place.isKept else { return }
        guard let record = state.record else {
            unlink(place.record.path)
            return
        }
        let url = place.record
        try disk { (_) throws(FileFailure) in try record.write(to: url) }
    }

    /// Brings the record up to date, behind the bytes that it speaks of.
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

    /// The failure of the download, with what is kept for the next start; what cannot be used is removed.
    mutating func keeping(_ failure: DownloadFailure) async -> DownloadFailure {
        state.breaks.charge(in: transfer)
        var failure = failure
        guard place.isKept, state.record != nil, state.offset > 0, !failure.isFinal else {
            discard()
            return failure
        }
        // The record from the beginning of the body is there anyway; a newer one only matters after a loss of power.
        try? await keepRecord()
        failure.keptBytes = state.offset
        failure.resumeData = place.resumeData
        return failure
    }

    private func discard() {
        file.remove()
        if place.isKept { unlink(place.record.path) }
    }

    // MARK: - A refusal

    /// The failure of an answer that gives no file, with its body up to the limit.
    func refusal(_ response: ServiceResponse) async -> DownloadFailure {
        var failure = failure(.status(response.status))
        failure.headers = response.headers
        failure.body = await response.response.collectPrefix(configuration.errorBodyLimit)
        return failure
    }

    // MARK: - The whole file

    /// Puts the whole file in its place.
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
    /// Whether what has come is of no use any more: the content is gone, or the server cannot be believed.
    fileprivate var isFinal: Bool {
        switch reason {
        case .status(404), .status(410), .unusableRange, .lengthMismatch, .digestMismatch: true
        default: false
        }
    }
}

extension SuggestedFileName {
    /// The name from the last part of the URL's path, else `download`.
    static func name(of url: RequestURL?) -> String {
        let path = url?.text.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false) ?? []
        // Scheme, nothing and host are no part of the path.
        let last = path.count > 3 ? String(path[path.count - 1]) : ""
        let name = safe(last.removingPercentEncoding ?? last)
        return name.isEmpty ? "download" : name
    }
}
