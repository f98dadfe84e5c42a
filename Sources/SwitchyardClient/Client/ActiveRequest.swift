import SwitchyardHTTP
public import SwitchyardServices

/// The description of an active request, by which requests can be listed and selected for cancellation.
public struct ActiveRequest: Sendable {
    /// The kind of a request, by how its bodies are transferred.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The bodies of the request and the response are in memory as a whole.
        case data
        /// The request sends a file, a stream or a multipart form.
        case upload
        /// The response body is read as it arrives.
        case download
    }

    /// The identifier of the request.
    public var id: RequestID
    /// The configuration of the request.
    public var configuration: APIConfiguration
    /// The environment that the request is built for.
    public var environment: ServiceEnvironment

    /// Creates the description of an active request, for instance to preview a view.
    package init(id: RequestID = RequestID(), configuration: APIConfiguration, environment: ServiceEnvironment) {
        self.id = id
        self.configuration = configuration
        self.environment = environment
    }

    /// The kind of the request, derived from its configuration.
    public var kind: Kind {
        if configuration.delivery == .stream { return .download }
        let isUpload = configuration.prebuiltRequest?.body.isStreamed ?? configuration.body.isStreamed
        return isUpload ? .upload : .data
    }
}

extension RequestBody {
    /// Whether the body is read while it is being sent.
    fileprivate var isStreamed: Bool {
        switch kind {
        case .file, .stream, .multipart, .custom: true
        case .none, .form, .parameters, .json, .text, .propertyList, .data: false
        }
    }
}

extension HTTPBody {
    /// Whether the body is read while it is being sent.
    fileprivate var isStreamed: Bool {
        switch self {
        case .file, .stream: true
        case .none, .data: false
        }
    }
}

// MARK: - Active requests

extension NetworkClient {
    /// Returns the active requests that satisfy a condition, oldest first.
    ///
    /// If this client was created by ``NetworkClient/scoped()``, the result contains only the requests that were sent
    /// through this client. Otherwise, it contains the requests of all handles. Downloads and streams are active until
    /// their last byte.
    ///
    /// - Parameter condition: A closure that returns whether to include a request.
    /// - Returns: The requests.
    public func activeRequests(where condition: (ActiveRequest) throws -> Bool) rethrows -> [ActiveRequest] {
        let transfers = core.transfers.requests(of: scope)
        let names = Set(transfers.map(\.id))
        // Until its response arrives, a transfer is in the dispatch table too. That entry is left out here.
        let requests = active.filter { !names.contains($0.id) }
            .map { ActiveRequest(id: $0.id, configuration: $0.configuration, environment: $0.environment) }
        return try (transfers + requests).filter(condition).sorted { $0.id < $1.id }
    }

    /// Returns the active requests of one kind, oldest first.
    public func activeRequests(of kind: ActiveRequest.Kind) -> [ActiveRequest] {
        activeRequests { $0.kind == kind }
    }

    /// Calls a closure for each active request, oldest first.
    package func forEachActiveRequest(_ body: (ActiveRequest) throws -> Void) rethrows {
        for request in activeRequests(where: { _ in true }) { try body(request) }
    }

    /// Whether any request is active.
    public var isLoading: Bool { !activeRequests.isEmpty }
}

// MARK: - Cancellation

extension NetworkClient {
    /// Cancels the requests that satisfy a condition.
    ///
    /// If this client was created by ``NetworkClient/scoped()``, only requests that were sent through this client are
    /// cancelled. When this method returns, a cancelled request is no longer active, and its completion has been called
    /// or passed to its queue. A download or stream whose response head has arrived stays active for a short time
    /// afterwards.
    ///
    /// - Parameter condition: A closure that returns whether to cancel a request.
    /// - Returns: The identifiers of the selected requests.
    @discardableResult
    public func cancel(where condition: (ActiveRequest) throws -> Bool) rethrows -> [RequestID] {
        let picked = try activeRequests(where: condition).map(\.id)
        cancel(picked)
        return picked
    }

    /// Cancels the requests with a tag.
    ///
    /// - Parameter tag: One of ``APIConfiguration/tags``.
    /// - Returns: The identifiers of the selected requests.
    @discardableResult
    public func cancel(tag: String) -> [RequestID] {
        cancel { $0.configuration.tags.contains(tag) }
    }
}

// MARK: - Shutdown

extension NetworkClient {
    /// Waits until no request is active in the client and in all handles that ``NetworkClient/scoped()`` created.
    ///
    /// At that point all completions have been called or passed to their queues. A download or stream is active until
    /// its last byte. This method does not wait for event sources, because they do not end by themselves.
    ///
    /// - Returns: `true` when no request is active, or `false` if the current task was cancelled first.
    @discardableResult
    public func waitUntilIdle() async -> Bool {
        await core.waitUntilIdle()
    }

    /// Refuses new requests, waits until the active requests have ended, and shuts the client down.
    ///
    /// Active operations may still send the requests that they need: a download may request the rest of an interrupted
    /// body or its next part, and a call may refresh its credential.
    ///
    /// - Parameter grace: The maximum time to wait, after which active requests end with
    ///   ``RequestFailure/Reason/closed``. If `nil`, the wait is unlimited.
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

    /// Cancels all requests, as ``cancelAll()`` does, and resets the health of the servers.
    ///
    /// - Throws: ``ClientError`` if a server has lost its base URL. In this case the health is unchanged.
    public func reset() throws(ClientError) {
        core.cancelAll(of: nil)
        try core.forgetHealth()
    }
}
