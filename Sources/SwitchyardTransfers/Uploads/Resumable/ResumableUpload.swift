import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// An active resumable upload.
///
/// This type opens the upload on a server and sends the bytes. After an interruption, it asks the server for its offset
/// (the number of bytes that the server has) and continues there.
///
/// The value is used by one task only. ``UploadDialect`` decides which requests to send and what a response means, and
/// ``UploadState`` tracks the progress.
struct ResumableUpload {
    let transfer: Transfer
    let configuration: UploadConfiguration
    let resumption: UploadResumption
    let dialect: UploadDialect
    let pieces: UploadPieces
    /// The user who was logged in when the upload was started.
    ///
    /// No other user may continue the upload.
    let user: String?
    let place: UploadRecord.Place?
    let progress: UploadProgress
    var state = UploadState()
    private var context: RequestContext

    init(
        _ transfer: Transfer,
        _ configuration: UploadConfiguration,
        _ resumption: UploadResumption,
        progress: UploadProgress
    ) throws(RequestFailure) {
        self.transfer = transfer
        self.configuration = configuration
        self.resumption = resumption
        self.progress = progress
        context = transfer.context(of: configuration.request)
        user = transfer.callOwner?.name ?? transfer.core.user(in: transfer.pool.environment)
        do throws(RequestError) {
            let source = configuration.source
            pieces = try UploadPieces(source, monitor: configuration.monitor)
            dialect = try UploadDialect(resumption.dialect, total: pieces.length, contentType: source.contentType)
            place = Self.place(configuration, resumption, transfer, of: user)
        } catch {
            throw RequestFailure(.invalidRequest(error), id: transfer.id, context: context)
        }
    }

    /// Returns the location of the upload's record for a user, or the location for no user if `user` is `nil`.
    static func place(
        _ configuration: UploadConfiguration,
        _ resumption: UploadResumption,
        _ transfer: Transfer,
        of user: String?
    ) -> UploadRecord.Place? {
        guard let directory = resumption.directory, case .file(let file) = configuration.source.kind else { return nil }
        let subject = TransferSubject(
            configuration.request,
            service: transfer.pool.service,
            environment: transfer.pool.environment.rawValue
        )
        let told = resumption.dialect.told(in: transfer.pool.generator.bodyContext)
        // The path follows the user name directly. It starts with a slash, so it is clear where the user name ends.
        let text = "\(told) \(subject.digest) \(user?.framed ?? "")\(file.standardizedFileURL.path)"
        return UploadRecord.Place(in: directory, subject: text)
    }

    /// Runs the upload to its end, and returns the last response.
    mutating func run() async throws(RequestFailure) -> ServiceResponse {
        do throws(RequestFailure) {
            try adoptRecord()
            while true {
                let answer =
                    switch state.next {
                    case .open: try await open()
                    case .ask: try await ask()
                    case .send: try await send()
                    }
                if let answer { return inAll(answer) }
            }
        } catch {
            throw inAll(error)
        }
    }

    // MARK: - Steps

    /// Opens an upload on a server.
    ///
    /// - Returns: The response if it ends the upload; otherwise, `nil`.
    private mutating func open() async throws(RequestFailure) -> ServiceResponse? {
        var request = plain(configuration.request)
        dialect.open(&request)
        // A server eventually discards an open upload without bytes, so the request that opens an upload may be
        // repeated. If an upload is complete as soon as it is open, the request is treated like any other POST.
        if !dialect.isCompleteWhenOpen { request.mayBeRepeated = request.mayBeRepeated ?? true }
        let response = try await dispatch(request, avoiding: transfer.pool.avoidable(state.lost))
        guard 200..<300 ~= response.status else { return response }
        let url = try url(of: response)
        state.session = UploadState.Session(url: url, server: response.context.server)
        state.arrived(0)
        try keepRecord()
        resumption.onEvent?(.began(url))
        return dialect.isCompleteWhenOpen ? complete(response) : nil
    }

    /// Returns the URL that the server named for the upload.
    ///
    /// Throws if the URL uses http although the upload was opened over https.
    private func url(of response: ServiceResponse) throws(RequestFailure) -> RequestURL {
        do throws(RequestError) {
            if let location = response.headers["Location"], let base = response.context.url {
                return try base.linked(to: location)
            }
        } catch {
            if case .url(_, .downgrade) = error { throw failure(.invalidRequest(error)) }
        }
        throw unusable("the server has created no upload: its response has no valid Location")
    }

    /// Sends the next part of the source.
    ///
    /// - Returns: The response if it ends the upload; otherwise, `nil`.
    private mutating func send() async throws(RequestFailure) -> ServiceResponse? {
        guard let session = state.session else { return nil }
        let length = max(1, min(resumption.pieceLength ?? .max, state.pieceLimit ?? .max))
        let range = state.offset..<state.offset + min(length, pieces.length - state.offset)
        pieces.ledger.note(count: 0)
        let response: ServiceResponse
        do throws(RequestFailure) {
            response = try await dispatch(pieceRequest(range, of: session), progress: report(from: range.lowerBound))
        } catch {
            noteEnd(of: range, error.mayHaveBeenExecuted)
            try await survive(error)
            return nil
        }
        noteEnd(of: range, response.context.mayHaveBeenExecuted)
        switch dialect.answer(status: response.status, headers: response.headers) {
        case .has(let count): try await accept(count, response)
        case .complete: return complete(response)
        case .unknown: try forget("the server no longer knows the upload (status \(response.status))", isGone: true)
        case .refused: return response
        case .tooLarge:
            guard let shorter = dialect.shorterPiece(than: range.upperBound - range.lowerBound) else { return response }
            state.shortenPieces(to: shorter)
            resumption.onEvent?(.shortened(to: shorter))
        case .unsettled: return try await isSurvived("status \(response.status)", response) ? nil : response
        case .unusable(let text):
            guard try await isSurvived(text, response) else { throw unusable(text) }
        }
        return nil
    }

    /// Records that the server may have received the last part of the source, although no response has confirmed this.
    private mutating func noteEnd(of range: Range<Int64>, _ mayHaveArrived: Bool) {
        let isLast = range.upperBound == pieces.length && pieces.ledger.count >= Int64(range.count)
        guard isLast, mayHaveArrived else { return }
        state.mayBeWhole = true
        // If the record cannot be written, only a later call is affected, so this upload continues.
        do throws(RequestFailure) { try keepRecord() } catch {}
    }

    /// Records that the server now has `count` bytes.
    ///
    /// If `count` shows no new byte, this counts as an interruption.
    private mutating func accept(_ count: Int64, _ response: ServiceResponse) async throws(RequestFailure) {
        guard count <= state.offset else {
            state.arrived(count)
            return
        }
        let text = "the server still has \(count) bytes and accepted no more"
        guard try await isSurvived(text, response) else { throw unusable(text) }
    }

    // MARK: - Completion

    /// Records that the server has all bytes.
    ///
    /// - Parameters:
    ///   - response: The response that reports that the upload is complete.
    ///   - isFromQuestion: Whether the response belongs to a request for the offset. In tus, this response has no body.
    ///     If the app needs the body, the record is kept so that the next call does not upload the source a second
    ///     time.
    /// - Returns: The same response.
    mutating func complete(_ response: ServiceResponse, isFromQuestion: Bool = false) -> ServiceResponse {
        state.isComplete = true
        if !(isFromQuestion && resumption.needsResponse && response.context.method == .head) { place?.remove() }
        progress.finish(length: pieces.length)
        return response
    }

    func unusable(_ text: String) -> RequestFailure {
        failure(.transport(TransportError(.protocolViolation, message: text)))
    }

    func failure(_ reason: RequestFailure.Reason) -> RequestFailure {
        RequestFailure(reason, id: transfer.id, context: context)
    }

    // MARK: - Progress

    private func report(from offset: Int64) -> TransferProgressHandler {
        { [progress, total = pieces.length] report in
            guard report.direction == .upload else { return }
            let sent = min(total, offset + report.completed)
            progress.report(TransferProgress(direction: .upload, completed: sent, total: total))
        }
    }

    /// Adds the attempts of a request to the state, and stores its context.
    mutating func take(note context: RequestContext) {
        state.attempts += context.attempts
        if context.mayHaveBeenExecuted { state.mayHaveBeenExecuted = true }
        self.context = inAll(context)
    }

    private func inAll(_ context: RequestContext) -> RequestContext {
        var context = context
        context.attempts = state.attempts
        context.mayHaveBeenExecuted = state.mayHaveBeenExecuted
        // Until the server has all bytes, it has not processed the upload, so an incomplete upload counts as not sent.
        context.fate = state.isComplete ? .done : .unsent
        context.elapsed = transfer.startedAt.duration(to: transfer.core.now)
        return context
    }

    private func inAll(_ response: ServiceResponse) -> ServiceResponse {
        var response = response
        response.context = inAll(response.context)
        return response
    }

    /// Returns a failure with the attempts and duration of the whole upload, and with the source's error if the source
    /// failed.
    private func inAll(_ failure: RequestFailure) -> RequestFailure {
        var failure = failure
        failure.context = inAll(failure.context)
        return pieces.ledger.explained(failure)
    }
}

extension ResumableUpload {
    /// The timeout of a request for the offset if another server could be asked instead.
    private static let offsetTimeout = Duration.seconds(10)

    /// Sends a request of the upload and waits for its response, whatever its status.
    mutating func dispatch(
        _ request: APIConfiguration,
        avoiding avoided: [Server.ID] = [],
        progress: TransferProgressHandler? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        do throws(RequestFailure) {
            let response = try await transfer.open(request, avoiding: avoided, delivery: .whole, progress: progress)
            take(note: response.context)
            return response
        } catch {
            take(note: error.context)
            throw error
        }
    }

    /// Returns a request with the settings that all requests of the upload share: no caching, no coalescing, and no
    /// overall timeout.
    func plain(_ request: APIConfiguration) -> APIConfiguration {
        var request = request
        request.cacheLifetime = nil
        request.sharing = .off
        request.limitTime(in: transfer.pool)
        return request
    }

    /// Returns the request that sends the bytes in this range.
    func pieceRequest(_ range: Range<Int64>, of session: UploadState.Session) -> APIConfiguration {
        var request = request(at: session)
        let body = pieces.body(range)
        request.body = .custom(contentType: nil) { body }
        // The request must not be sent twice, because the server would append its bytes twice. After a failure, the
        // server is asked for its offset first.
        request.mayBeRepeated = false
        if let algorithm = configuration.digest {
            var part = UploadSource.data(Data())
            if case .stream(let stream) = body { part = .stream(stream) }
            request.interceptors.append(.sendingDigest(algorithm, of: part, configuration.monitor))
        }
        dialect.take(.piece(range), in: &request)
        return request
    }

    /// Returns the request that asks the server for its offset.
    func question(of session: UploadState.Session) -> APIConfiguration {
        var request = request(at: session)
        dialect.take(.question, in: &request)
        request.mayBeRepeated = true
        if transfer.pool.hasAlternatives { request.timeout = Self.offsetTimeout }
        return request
    }

    /// Returns a request to the URL that the server named for the upload, sent to the server that opened the upload.
    private func request(at session: UploadState.Session) -> APIConfiguration {
        var request = plain(configuration.request)
        if let prebuilt = request.prebuiltRequest {
            request.headers = prebuilt.headers
            request.prebuiltRequest = nil
        }
        request.body = .none
        request.query = [:]
        request.parameters = [:]
        // Common parameters in the body would become part of the uploaded content.
        request.parameterDestination = .query
        request.pathValues = [:]
        request.urlRule = nil
        request.apiVersion = ""
        request.idempotencyKey = .none
        request.path = session.url.text
        request.server = session.server.map { .named($0) } ?? .automatic
        request.continuesAtServer = session.server != nil
        if leadsAway(session.url) { request.headers = request.headers.withoutCredentials }
        if session.isSought, let path = transfer.pool.path(of: session.url, below: session.server) {
            request.path = path
            request.server = .automatic
            request.continuesAtServer = false
        }
        return request
    }

    /// Returns whether the upload's URL belongs neither to the service nor to the requested host.
    ///
    /// As on a redirect, credentials are not sent to such a URL.
    private func leadsAway(_ url: RequestURL) -> Bool {
        guard transfer.pool.base(of: url) == nil else { return false }
        let call = configuration.request
        var asked = call.prebuiltRequest?.url ?? RequestURL(call.path)
        if asked == nil, case .baseURL(let base) = call.server { asked = base }
        return url.origin != asked?.origin
    }
}

extension HTTPHeaders {
    /// The header fields without the fields whose values are credentials.
    fileprivate var withoutCredentials: HTTPHeaders {
        HTTPHeaders(fields.filter { !HTTPHeaders.sensitiveNames.contains($0.name.lowercased()) })
    }
}

extension APIConfiguration {
    /// Replaces the overall timeout by an idle timeout, unless the app has set a timeout for the whole upload.
    mutating func limitTime(in pool: ServerPool) {
        timeout = timeout ?? .seconds(31_536_000)
        idleTimeout = idleTimeout ?? pool.generator.timeouts.idle ?? .seconds(60)
    }
}
