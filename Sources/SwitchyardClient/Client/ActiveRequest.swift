import SwitchyardHTTP
public import SwitchyardServices

/// A request that is under way, as it can be looked at and picked for cancelling.
public struct ActiveRequest: Sendable {
    /// What a request mainly does.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Small bodies both ways.
        case data
        /// It sends a file, a stream or a form of parts.
        case upload
        /// Its answer is taken piece by piece.
        case download
    }

    /// The name of the request.
    public var id: RequestID
    /// What was asked for.
    public var configuration: APIConfiguration
    /// The environment it is built for.
    public var environment: ServiceEnvironment

    /// Creates what is known of a request under way, for a view that shows it.
    public init(id: RequestID = RequestID(), configuration: APIConfiguration, environment: ServiceEnvironment) {
        self.id = id
        self.configuration = configuration
        self.environment = environment
    }

    /// What it mainly does.
    public var kind: Kind {
        if configuration.delivery == .stream { return .download }
        let isUpload = configuration.prebuiltRequest?.body.isStreamed ?? configuration.body.isStreamed
        return isUpload ? .upload : .data
    }
}

extension RequestBody {
    /// Whether the body is read while it is sent.
    fileprivate var isStreamed: Bool {
        switch kind {
        case .file, .stream, .multipart, .custom: true
        case .none, .form, .parameters, .json, .text, .propertyList, .data: false
        }
    }
}

extension HTTPBody {
    /// Whether the body is read while it is sent.
    fileprivate var isStreamed: Bool {
        switch self {
        case .file, .stream: true
        case .none, .data: false
        }
    }
}

// MARK: - Looking

extension NetworkClient {
    /// The requests under way for which a condition holds, oldest first: of this scope, or of all when it is none.
    ///
    /// Downloads and streams are under way until their last byte.
    ///
    /// - Parameter condition: Which to list.
    /// - Returns: The requests.
    public func activeRequests(where condition: (ActiveRequest) throws -> Bool) rethrows -> [ActiveRequest] {
        let transfers = core.transfers.requests(of: scope)
        let names = Set(transfers.map(\.id))
        // A transfer whose request waits for its answer is in both tables.
        let requests = active.filter { !names.contains($0.id) }
            .map { ActiveRequest(id: $0.id, configuration: $0.configuration, environment: $0.environment) }
        return try (transfers + requests).filter(condition).sorted { $0.id < $1.id }
    }

    /// The requests under way of one kind, oldest first.
    public func activeRequests(of kind: ActiveRequest.Kind) -> [ActiveRequest] {
        activeRequests { $0.kind == kind }
    }

    /// Hands every request under way to a closure, oldest first.
    public func forEachActiveRequest(_ body: (ActiveRequest) throws -> Void) rethrows {
        for request in activeRequests(where: { _ in true }) { try body(request) }
    }

    /// Whether a request is under way.
    public var isLoading: Bool { !activeRequests.isEmpty }
}

// MARK: - Cancelling

extension NetworkClient {
    /// Cancels the requests for which a condition holds: of this scope, or of all when it is none.
    ///
    /// A cancelled request has left the table, and its completion has been called or handed to its queue, when this
    /// returns; a download or a stream that has had the head of its answer leaves it soon after.
    ///
    /// - Parameter condition: Which to cancel.
    /// - Returns: The names of those that were picked.
    @discardableResult
    public func cancel(where condition: (ActiveRequest) throws -> Bool) rethrows -> [RequestID] {
        let picked = try activeRequests(where: condition).map(\.id)
        cancel(picked)
        return picked
    }

    /// Cancels the requests with a tag.
    ///
    /// - Parameter tag: One of ``APIConfiguration/tags``.
    /// - Returns: The names of those that were picked.
    @discardableResult
    public func cancel(tag: String) -> [RequestID] {
        cancel { $0.configuration.tags.contains(tag) }
    }
}

// MARK: - The end

extension NetworkClient {
    /// Waits until no request is under way in the client with all its scopes, and all callers have been told, or their
    /// completions handed to their queues.
    ///
    /// A download or a stream is under way until its last byte. An event source, which never ends by itself, is not
    /// waited for.
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func waitUntilIdle() async -> Bool {
        await core.waitUntilIdle()
    }

    /// Refuses new requests, lets those under way end, and shuts the client down.
    ///
    /// What is under way may ask for what it still needs: a download for the rest of what was cut or for its next part, a
    /// call for a new credential.
    ///
    /// - Parameter grace: How long to wait; those that are under way then end with ``RequestFailure/Reason/closed``. As
    ///   long as it takes when `nil`.
    public func shutdown(finishingWithin grace: Duration?) async {
        core.refuseRequests()
        guard let grace else {
            _ = await core.waitUntilIdle()
            return core.shutdown()
        }
        let timer = core.time.schedule(at: core.now.advanced(by: grace)) { [core] in core.shutdown() }
        _ = await core.waitUntilIdle()
        timer.cancel()
        core.shutdown()
    }

    /// Cancels all requests, as ``cancelAll()`` does, and forgets what is known of the servers' health.
    ///
    /// - Throws: ``ClientError``, should a server have lost its base URL; then the health is as it was.
    public func reset() throws(ClientError) {
        core.cancelAll(of: nil)
        try core.forgetHealth()
    }
}
