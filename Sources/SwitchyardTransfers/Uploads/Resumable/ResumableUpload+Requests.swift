import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ResumableUpload {
    /// How long a server may take to say what it has, as long as there is another one.
    private static let patience = Duration.seconds(10)

    /// Sends a request of the upload and waits for its answer, whatever its status.
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

    /// A request as all of the upload's are: neither cached nor shared, and nobody knows how long it takes.
    func plain(_ request: APIConfiguration) -> APIConfiguration {
        var request = request
        request.cacheLifetime = nil
        request.sharing = .off
        request.user = user
        request.limitTime(in: transfer.pool)
        return request
    }

    /// The request that sends a part.
    func pieceRequest(_ range: Range<Int64>, of session: UploadState.Session) -> APIConfiguration {
        var request = request(at: session)
        let body = pieces.body(range)
        request.body = .custom(contentType: nil) { body }
        // A second one would be sent behind what the first has left: the server is asked in between.
        request.mayBeRepeated = false
        if let algorithm = configuration.digest {
            var part = UploadSource.data(Data())
            if case .stream(let stream) = body { part = .stream(stream) }
            request.interceptors.append(.sendingDigest(algorithm, of: part, configuration.monitor))
        }
        dialect.take(.piece(range), in: &request)
        return request
    }

    /// The request that asks what has arrived.
    func question(of session: UploadState.Session) -> APIConfiguration {
        var request = request(at: session)
        dialect.take(.question, in: &request)
        request.mayBeRepeated = true
        if transfer.pool.hasAlternatives { request.timeout = Self.patience }
        return request
    }

    /// A request to the upload's own URL, at the server that has it.
    private func request(at session: UploadState.Session) -> APIConfiguration {
        var request = plain(configuration.request)
        if let prebuilt = request.prebuiltRequest {
            request.headers = prebuilt.headers
            request.prebuiltRequest = nil
        }
        request.body = .none
        request.query = [:]
        request.parameters = [:]
        // A body of common parameters would be taken for bytes of the upload.
        request.parameterDestination = .query
        request.pathValues = [:]
        request.urlRule = nil
        request.apiVersion = ""
        request.idempotencyKey = .none
        request.path = session.url.text
        request.server = session.server.map { .named($0) } ?? .automatic
        if leadsAway(session.url) { request.headers = request.headers.withoutCredentials }
        if session.isSought, let path = transfer.pool.path(of: session.url, below: session.server) {
            request.path = path
            request.server = .automatic
        }
        return request
    }

    /// Whether the server has named a place for the upload that the caller has not: credentials do not go there, as they
    /// do not along a redirect.
    private func leadsAway(_ url: RequestURL) -> Bool {
        guard transfer.pool.base(of: url) == nil else { return false }
        let call = configuration.request
        var asked = call.prebuiltRequest?.url ?? RequestURL(call.path)
        if asked == nil, case .baseURL(let base) = call.server { asked = base }
        return url.origin != asked?.origin
    }
}

extension HTTPHeaders {
    /// The fields but for those whose values are credentials.
    fileprivate var withoutCredentials: HTTPHeaders {
        HTTPHeaders(fields.filter { !HTTPHeaders.sensitiveNames.contains($0.name.lowercased()) })
    }
}

extension APIConfiguration {
    /// Lets a request take as long as bytes are under way, unless the caller has said how long it may take in all.
    mutating func limitTime(in pool: ServerPool) {
        timeout = timeout ?? .seconds(31_536_000)
        idleTimeout = idleTimeout ?? pool.generator.timeouts.idle ?? .seconds(60)
    }
}
