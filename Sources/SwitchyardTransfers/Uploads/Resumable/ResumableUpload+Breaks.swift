import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension ResumableUpload {
    /// Asks the server, or any that may know the upload, what has arrived.
    ///
    /// - Returns: The answer, when that is the end of it.
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
            return try await leaveServer(or: .failure(unusable("the server that may have the upload does not answer")))
        case .unknown: try forget("the server does not know the upload (\(response.status))", isGone: true)
        case .unusable(let text): try startOver(text)
        case .unsettled: return try await leaveServer(or: .success(response))
        case .tooLarge: return response
        case .refused: return try refuse(response)
        }
        return nil
    }

    /// Opens another upload after the server refused to say what has arrived of this one; the record stays until then.
    ///
    /// tus servers may say so with 403 of an upload that is gone. A login that is missing says nothing about the upload.
    ///
    /// - Returns: The response if it is the end of the upload.
    private mutating func refuse(_ response: ServiceResponse) throws(RequestFailure) -> ServiceResponse? {
        let isLogin = response.status == 401 || response.status == 407
        guard !isLogin, mayOpenAnother, state.restarts < resumption.maximumContinuations else { return response }
        try startOver("the server refuses to say what has arrived (\(response.status))")
        return nil
    }

    /// Goes on behind what a server has.
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

    // MARK: - Breaks

    /// Prepares the next step after a piece was not answered.
    ///
    /// - Throws: The failure, when nothing more may or can be tried.
    mutating func survive(_ failure: RequestFailure) async throws(RequestFailure) {
        // Nor would a later call be able to ask there.
        if failure.isAboutPlace { place?.remove() }
        try checkRunning(failure)
        guard try await isSurvived(failure.reason.description, nil) else { throw failure }
    }

    /// Takes note of a break, and has the server asked what has arrived.
    ///
    /// - Returns: `false` when that has happened too often.
    mutating func isSurvived(_ reason: String, _ response: ServiceResponse?) async throws(RequestFailure) -> Bool {
        resumption.onEvent?(.interrupted(at: state.offset, reason: reason))
        state.breaks += 1
        guard state.breaks <= resumption.maximumContinuations else { return false }
        state.next = .ask
        // One that has answered asks for time; one that has not is asked at once whether it is still there.
        if let response { try await pause(after: response) }
        return true
    }

    /// Leaves a server that does not say what it has: others are asked for the upload, or it begins anew with them.
    ///
    /// A server that may have all of it is asked again: with another upload there would be two.
    ///
    /// - Parameter last: What the upload ends with when nothing more is tried.
    /// - Returns: The answer, when that is the end of it.
    /// - Throws: The failure, when that is the end of it.
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
            // All have been asked: the one that had it comes first again.
            state.lost = []
            state.session?.isSought = false
            try await pause(after: nil)
            return nil
        }
        if isSeekable {
            session.isSought = true
            state.session = session
        } else {
            try startOver("the server that has the upload does not answer")
        }
        return nil
    }

    /// Starts over with an upload that no server knows, or that cannot be asked for: its record is removed.
    ///
    /// - Parameters:
    ///   - why: Why it starts over.
    ///   - isGone: Whether its server says that there is no such upload.
    /// - Throws: The failure if the upload has started over too often. The next call opens another upload.
    mutating func forget(_ why: String, isGone: Bool = false) throws(RequestFailure) {
        place?.remove()
        if isGone { state.mayBeWhole = false }
        try startOver(why)
    }

    /// Whether there is no second copy when another upload is opened, or the app has said that one does no harm.
    private var mayOpenAnother: Bool { !state.mayBeWhole || configuration.request.resendRule == .anytime }

    /// Starts over; the record stays until another upload is open.
    ///
    /// - Throws: The failure if the upload has started over too often, or its server may have all of it.
    mutating func startOver(_ why: String) throws(RequestFailure) {
        guard mayOpenAnother, state.restarts < resumption.maximumContinuations else { throw unusable(why) }
        state.startOver()
        resumption.onEvent?(.restarted(why))
    }

    /// Throws a failure after which nothing more is to be tried: the caller's end of the upload, or one that the server
    /// has no part in.
    private func checkRunning(_ failure: RequestFailure) throws(RequestFailure) {
        if transfer.handle.reason != nil || Task.isCancelled { throw failure }
        switch failure.reason {
        case .transport(let error) where Transience(error.kind) != .permanent: return
        case .deadlineExceeded, .unknownServer, .overloaded, .credentials(.unavailable), .credentials(.renewalTimedOut):
            return
        default: throw failure
        }
    }

    /// Waits before the same server is asked again, as long as it asks for within a minute.
    private func pause(after response: ServiceResponse?) async throws(RequestFailure) {
        let asked = response.flatMap { RetryAfter.duration(in: $0.headers, now: Date()) } ?? .zero
        await transfer.pause(afterBreak: state.breaks, atLeast: min(asked, .seconds(60)))
        if let reason = transfer.handle.reason { throw failure(reason) }
        if Task.isCancelled { throw failure(.cancelled) }
    }

    // MARK: - The record

    /// Takes up what an earlier call has left: of the user who is logged in, else of nobody, which is this user's then.
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

    /// Writes down where the upload goes on.
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
    /// Whether it was the URL that could not be asked: one that a server has named, and that this client may not go to.
    fileprivate var isAboutPlace: Bool {
        switch reason {
        case .invalidRequest(.url): true
        case .transport(let error): error.kind == .invalidRequest
        default: false
        }
    }
}
