import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension ResumableUpload {
    /// Asks the server how many bytes have arrived.
    ///
    /// If the server that opened the upload does not respond, other servers may be asked.
    ///
    /// - Returns: The response if it ends the upload; otherwise, `nil`.
    mutating func ask() async throws(RequestFailure) -> ServiceResponse? {
        guard let session = state.session else { return nil }
        let response: ServiceResponse
        do throws(RequestFailure) {
            let avoided = session.isSought ? transfer.pool.avoidable(state.lost) : []
            response = try await dispatch(question(of: session), avoiding: avoided)
        } catch {
            if error.isAboutPlace {
                try forget("no request can be sent to the upload's URL: \(error.reason)")
                return nil
            }
            try checkRunning(error)
            return try await leaveServer(or: .failure(error))
        }
        switch dialect.answer(status: response.status, headers: response.headers) {
        case .has(let count): try goOn(at: count, with: response)
        case .complete: return complete(response, isFromQuestion: true)
        case .unknown where session.isSought && !mayOpenAnother:
            return try await leaveServer(or: .failure(unusable("the server that may have the upload does not respond")))
        case .unknown: try forget("the server does not know the upload (status \(response.status))", isGone: true)
        case .unusable(let text): try startOver(text)
        case .unsettled: return try await leaveServer(or: .success(response))
        case .tooLarge: return response
        case .refused: return try refuse(response)
        }
        return nil
    }

    /// Starts the upload over after the server refused to report the offset.
    ///
    /// The record is kept until the new upload is open.
    ///
    /// tus servers may respond with 403 for an upload that no longer exists. A 401 or 407 says nothing about the
    /// upload, so the call ends with this response, and the record is kept.
    ///
    /// - Returns: The response if it ends the upload; otherwise, `nil`.
    private mutating func refuse(_ response: ServiceResponse) throws(RequestFailure) -> ServiceResponse? {
        let isLogin = response.status == 401 || response.status == 407
        guard !isLogin, mayOpenAnother, state.restarts < resumption.maximumContinuations else { return response }
        try startOver("the server refuses to report which bytes have arrived (status \(response.status))")
        return nil
    }

    /// Continues the upload after the first `count` bytes, which the server has received.
    private mutating func goOn(at count: Int64, with response: ServiceResponse) throws(RequestFailure) {
        if state.session?.isSought == true, let url = response.context.url {
            state.session = UploadState.Session(url: url, server: response.context.server)
            try keepRecord()
        }
        let wasOpen = state.mayBeWhole
        state.arrived(count)
        if wasOpen { try keepRecord() }
        if let url = state.session?.url { resumption.onEvent?(.resumed(at: count, url)) }
    }

    // MARK: - Interruptions

    /// Prepares the continuation of the upload after a request with bytes of the source failed without a response.
    ///
    /// - Throws: The failure, if it ends the upload.
    mutating func survive(_ failure: RequestFailure) async throws(RequestFailure) {
        // The record is removed, because a later call could not send a request to this URL either.
        if failure.isAboutPlace { place?.remove() }
        try checkRunning(failure)
        guard try await isSurvived(failure.reason.description, nil) else { throw failure }
    }

    /// Records an interruption, after which the upload asks the server how many bytes have arrived.
    ///
    /// - Returns: `false` if there were too many interruptions.
    mutating func isSurvived(_ reason: String, _ response: ServiceResponse?) async throws(RequestFailure) -> Bool {
        resumption.onEvent?(.interrupted(at: state.offset, reason: reason))
        state.breaks += 1
        guard state.breaks <= resumption.maximumContinuations else { return false }
        state.next = .ask
        // If a server responded, there is a pause. If no response came, the server is asked immediately to find out
        // whether it is still available.
        if let response { try await pause(after: response) }
        return true
    }

    /// Leaves a server that does not report its offset.
    ///
    /// The upload is then looked for on other servers, or starts over on another server.
    ///
    /// If the server may have received all bytes, the same server is asked again, because a new upload could be a
    /// second copy.
    ///
    /// - Parameter last: The result of the upload if nothing more is tried.
    /// - Returns: The response if it ends the upload; otherwise, `nil`.
    /// - Throws: The failure, if it ends the upload.
    private mutating func leaveServer(
        or last: Result<ServiceResponse, RequestFailure>
    ) async throws(RequestFailure) -> ServiceResponse? {
        state.breaks += 1
        guard state.breaks <= resumption.maximumContinuations, var session = state.session else {
            return try last.get()
        }
        let wasSought = session.isSought
        if let server = session.server, !state.lost.contains(server) { state.lost.append(server) }
        let isSeekable = !wasSought && transfer.pool.path(of: session.url, below: session.server) != nil
        guard transfer.pool.hasOthers(than: state.lost, for: configuration.request), isSeekable || mayOpenAnother else {
            // All servers have been asked, so the next request goes to the server that opened the upload.
            state.lost = []
            state.session?.isSought = false
            try await pause(after: nil)
            return nil
        }
        if isSeekable {
            session.isSought = true
            state.session = session
        } else {
            try startOver("the server that has the upload does not respond")
        }
        return nil
    }

    /// Removes the record and starts over, because no server that can be asked knows the upload.
    ///
    /// - Parameters:
    ///   - why: The reason for the restart.
    ///   - isGone: Whether the server that opened the upload reports that the upload no longer exists.
    /// - Throws: A failure if the upload has started over too often, or if a server may have received all bytes.
    mutating func forget(_ why: String, isGone: Bool = false) throws(RequestFailure) {
        place?.remove()
        if isGone { state.mayBeWhole = false }
        try startOver(why)
    }

    /// Whether another upload may be opened.
    ///
    /// This is the case if the server cannot end up with a second copy, or if the app allows a second copy.
    private var mayOpenAnother: Bool { !state.mayBeWhole || configuration.request.resendRule == .anytime }

    /// Starts over with a new upload.
    ///
    /// The record stays until the new upload is open.
    ///
    /// - Throws: A failure if the upload has started over too often, or if a server may have received all bytes.
    mutating func startOver(_ why: String) throws(RequestFailure) {
        guard mayOpenAnother, state.restarts < resumption.maximumContinuations else { throw unusable(why) }
        state.startOver()
        resumption.onEvent?(.restarted(why))
    }

    /// Throws the failure if it ends the upload.
    ///
    /// A cancellation ends the upload, and so does a failure that would also occur on another server.
    private func checkRunning(_ failure: RequestFailure) throws(RequestFailure) {
        if transfer.handle.reason != nil || Task.isCancelled { throw failure }
        switch failure.reason {
        case .transport(let error) where Transience(error.kind) != .permanent: return
        case .deadlineExceeded, .unknownServer, .overloaded, .credentials(.unavailable), .credentials(.refreshTimedOut):
            return
        default: throw failure
        }
    }

    /// Waits before the next request to the same server.
    ///
    /// The server can request a longer pause of up to one minute.
    private func pause(after response: ServiceResponse?) async throws(RequestFailure) {
        let asked = response.flatMap { RetryAfter.duration(in: $0.headers, now: Date()) } ?? .zero
        await transfer.pause(afterBreak: state.breaks, atLeast: min(asked, .seconds(60)))
        if let reason = transfer.handle.reason { throw failure(reason) }
        if Task.isCancelled { throw failure(.cancelled) }
    }

    // MARK: - The record

    /// Continues from the record of an earlier call.
    ///
    /// The record of the logged-in user comes first. If there is none, a record without a user is used, and is then
    /// assigned to this user.
    mutating func adoptRecord() throws(RequestFailure) {
        let unnamed = user == nil ? nil : Self.place(configuration, resumption, transfer, of: nil)
        let own = place?.read(pieces)
        let record = own ?? unnamed?.read(pieces)
        guard let record, record.belongs(to: marks), let url = try? RequestURL(validating: record.url) else { return }
        let server = record.server.flatMap { transfer.pool.has($0) ? $0 : nil }
        state.session = UploadState.Session(url: url, server: server)
        state.next = .ask
        if record.mayBeWhole == true { (state.mayBeWhole, state.mayHaveBeenExecuted) = (true, true) }
        guard own == nil else { return }
        try keepRecord()
        unnamed?.remove()
    }

    private var marks: [String] { transfer.marks(of: configuration.request) }

    /// Writes the record with which a later call can resume the upload.
    func keepRecord() throws(RequestFailure) {
        guard let place, let session = state.session, let file = pieces.fileState else { return }
        let record = UploadRecord(
            subject: place.subject,
            url: session.url.text,
            server: session.server,
            length: pieces.length,
            file: file,
            owners: marks,
            mayBeWhole: state.mayBeWhole ? true : nil
        )
        do throws(RequestError) { try place.write(record) } catch { throw failure(.invalidRequest(error)) }
    }
}

extension RequestFailure {
    /// Whether the upload failed because the client's rules forbid a request to the URL that the server named for the
    /// upload.
    fileprivate var isAboutPlace: Bool {
        switch reason {
        case .invalidRequest(.url): true
        case .transport(let error): error.kind == .invalidRequest
        default: false
        }
    }
}
