import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension ResumableUpload {
    /// Asks the server, or any server that may know the upload, how many bytes have arrived.
    ///
    /// - Returns: The response, if it ends the upload.
    mutating func ask() async throws(RequestFailure) -> ServiceResponse? {
        guard let session = state.session else { return nil }
        let response: ServiceResponse
        do throws(RequestFailure) {
            let avoided = session.isSought ? transfer.pool.avoidable(state.lost) : []
            response = try await dispatch(question(of: session), avoiding: avoided)
        } catch {
            if error.isAboutPlace {
                try forget("the upload's URL cannot be asked: \(error.reason)")
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
        case .unknown: try forget("the server does not know the upload (\(response.status))", isGone: true)
        case .unusable(let text): try startOver(text)
        case .unsettled: return try await leaveServer(or: .success(response))
        case .tooLarge: return response
        case .refused: return try refuse(response)
        }
        return nil
    }

    /// Opens another upload after the server refused to report the offset of this one; the record is kept until the new
    /// upload is open.
    ///
    /// tus servers may respond with 403 for an upload that is gone. A missing login says nothing about the upload.
    ///
    /// - Returns: The response if it ends the upload.
    private mutating func refuse(_ response: ServiceResponse) throws(RequestFailure) -> ServiceResponse? {
        let isLogin = response.status == 401 || response.status == 407
        guard !isLogin, mayOpenAnother, state.restarts < resumption.maximumContinuations else { return response }
        try startOver("the server refuses to report what has arrived (\(response.status))")
        return nil
    }

    /// Continues after the bytes that a server has.
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

    /// Prepares the next step after a piece received no response.
    ///
    /// - Throws: The failure, if nothing more may or can be tried.
    mutating func survive(_ failure: RequestFailure) async throws(RequestFailure) {
        // A later call could not ask at this URL either.
        if failure.isAboutPlace { place?.remove() }
        try checkRunning(failure)
        guard try await isSurvived(failure.reason.description, nil) else { throw failure }
    }

    /// Records an interruption, and makes the next step ask the server how many bytes have arrived.
    ///
    /// - Returns: `false` if there were too many interruptions.
    mutating func isSurvived(_ reason: String, _ response: ServiceResponse?) async throws(RequestFailure) -> Bool {
        resumption.onEvent?(.interrupted(at: state.offset, reason: reason))
        state.breaks += 1
        guard state.breaks <= resumption.maximumContinuations else { return false }
        state.next = .ask
        // A server that responded gets a pause. A server that did not respond is asked immediately, to find out whether
        // it is still available.
        if let response { try await pause(after: response) }
        return true
    }

    /// Leaves a server that does not report its offset: other servers are asked for the upload, or the upload starts
    /// over with another server.
    ///
    /// A server that may have all bytes is asked again, because another upload would be a second copy.
    ///
    /// - Parameter last: The result of the upload if nothing more is tried.
    /// - Returns: The response, if it ends the upload.
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
        guard transfer.pool.hasOthers(than: state.lost), isSeekable || mayOpenAnother else {
            // All servers have been asked, so the server that had the upload is preferred again.
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

    /// Starts over if no server knows the upload or no server can be asked for it, and removes the record.
    ///
    /// - Parameters:
    ///   - why: The reason.
    ///   - isGone: Whether the upload's server reports that there is no such upload.
    /// - Throws: The failure if the upload has started over too often. The next call opens another upload.
    mutating func forget(_ why: String, isGone: Bool = false) throws(RequestFailure) {
        place?.remove()
        if isGone { state.mayBeWhole = false }
        try startOver(why)
    }

    /// Whether opening another upload cannot create a second copy, or the app allows a second copy.
    private var mayOpenAnother: Bool { !state.mayBeWhole || configuration.request.resendRule == .anytime }

    /// Starts over; the record stays until another upload is open.
    ///
    /// - Throws: The failure if the upload has started over too often, or its server may have all of it.
    mutating func startOver(_ why: String) throws(RequestFailure) {
        guard mayOpenAnother, state.restarts < resumption.maximumContinuations else { throw unusable(why) }
        state.startOver()
        resumption.onEvent?(.restarted(why))
    }

    /// Throws a failure that ends the upload: a cancellation, or a failure that another server could not avoid.
    private func checkRunning(_ failure: RequestFailure) throws(RequestFailure) {
        if transfer.handle.reason != nil || Task.isCancelled { throw failure }
        switch failure.reason {
        case .transport(let error) where Transience(error.kind) != .permanent: return
        case .deadlineExceeded, .unknownServer, .overloaded, .credentials(.unavailable), .credentials(.refreshTimedOut):
            return
        default: throw failure
        }
    }

    /// Waits before the same server is asked again, for as long as the server requests, at most one minute.
    private func pause(after response: ServiceResponse?) async throws(RequestFailure) {
        let asked = response.flatMap { RetryAfter.duration(in: $0.headers, now: Date()) } ?? .zero
        await transfer.pause(afterBreak: state.breaks, atLeast: min(asked, .seconds(60)))
        if let reason = transfer.handle.reason { throw failure(reason) }
        if Task.isCancelled { throw failure(.cancelled) }
    }

    // MARK: - The record

    /// Adopts the record of an earlier call: the record of the logged-in user, or else a record without a user, which
    /// then belongs to this user.
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

    /// Writes the record from which the upload can be resumed.
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
    /// Whether the failure concerns the URL that a server has named for the upload, and that this client may not
    /// request.
    fileprivate var isAboutPlace: Bool {
        switch reason {
        case .invalidRequest(.url): true
        case .transport(let error): error.kind == .invalidRequest
        default: false
        }
    }
}
