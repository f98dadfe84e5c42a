package import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTransport

/// The user and servers for which the stored credential is loaded before a stored transfer continues.
private struct OwnerQuestion: CredentialUser {
    let core: ClientCore
    let callOwner: CallOwner?
    let pool: ServerPool
    var environment: ServiceEnvironment { pool.environment }
    var isRunning: Bool { true }
}

/// The properties that all requests of one transfer have in common: identifier, owner, servers and clock.
///
/// For its caller, a transfer is a single call, but it may need several requests. For example, an interrupted download
/// continues with another request, and an event stream is opened again.
package struct Transfer: Sendable {
    package let id: RequestID
    let owner: OwnerID
    package let core: ClientCore
    let usesCredentials: Bool
    /// The user and environment of the transfer and all its requests, or `nil` for a client without credentials, users
    /// and cookies.
    package let callOwner: CallOwner?
    package let pool: ServerPool
    package let startedAt: MonotonicTime
    /// Whether the transfer ends by itself, so that a shutdown may wait for it.
    let hasEnd: Bool
    package let handle = TransferHandle()

    package init(id: RequestID, client: NetworkClient, hasEnd: Bool = true) {
        self.id = id
        self.hasEnd = hasEnd
        owner = client.owner
        core = client.core
        usesCredentials = client.usesCredentials
        pool = client.pool
        callOwner = client.callOwner(of: APIConfiguration())
        startedAt = core.now
    }

    /// Returns the strings that identify the owner of a call (its user and environment) in files on disk, which are
    /// empty if the call has no owner.
    package func marks(of configuration: APIConfiguration) -> [String] { owner(of: configuration)?.marks ?? [] }

    /// Loads the stored credential before a stored transfer is continued, because only its provider may know the user.
    package func loadOwner() async {
        guard let callOwner, callOwner.isBound, let credentials = core.options.credentials, !credentials.isBypassed
        else {
            return
        }
        // If loading fails, the error is ignored here, because the first request reports it.
        try? await credentials.load(for: OwnerQuestion(core: core, callOwner: callOwner, pool: pool))
        callOwner.adopt(credentials.login(in: pool.environment))
    }

    // MARK: Requests

    /// Adds the transfer to the client's table, where it stays until ``end()``.
    ///
    /// - Parameters:
    ///   - configuration: The call. Its timeout limits the duration of the whole transfer. A timeout that a rule sets
    ///     limits the duration only if the transfer ends by itself. Without a timeout, the duration is not limited.
    ///   - delivery: The way in which the body of the response is delivered.
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    package func begin(
        _ configuration: APIConfiguration,
        delivery: HTTPRequest.Delivery = .stream
    ) throws(RequestFailure.Reason) {
        var asked = core.ruled(configuration, in: pool) ?? configuration
        asked.delivery = delivery
        asked.callOwner = owner(of: asked)
        let request = ActiveRequest(id: id, configuration: asked, environment: pool.environment)
        let isOfRefresh = core.options.credentials?.isBypassed ?? false
        try core.transfers.insert(handle, of: request, owner: owner, hasEnd: hasEnd, isOfRefresh: isOfRefresh)
        handle.setOwner(asked.outlivesLogout ? nil : asked.callOwner)
        // The user may have logged out before the transfer was in the table.
        if let reason = asked.refusal(in: pool.environment) { handle.cancel(reason) }
        guard let timeout = hasEnd ? asked.timeout : configuration.timeout else { return }
        handle.setDeadline(startedAt.advanced(by: timeout), on: core.time)
    }

    /// Returns the user and environment of one request of the transfer.
    ///
    /// This is the transfer's owner if the request carries the client's credentials. Otherwise the owner has no user.
    private func owner(of configuration: APIConfiguration) -> CallOwner? {
        guard let callOwner, !core.goesAsPresentUser(configuration) else { return callOwner }
        return CallOwner(environment: pool.environment, cookies: callOwner.cookies)
    }

    /// Ends the transfer.
    ///
    /// Ends the handle, calls `completion`, and then removes the transfer from the table. If no transfer is left,
    /// callers that wait for the end of all transfers are resumed.
    package func end(telling completion: () -> Void = {}) {
        handle.finish()
        completion()
        core.transfers.remove(handle, id: id)
    }

    /// Performs the transfer in a task of its own and then ends the transfer.
    ///
    /// The transfer's handle can cancel the task.
    ///
    /// - Parameters:
    ///   - completion: Receives the result.
    ///   - work: The work of the transfer.
    package func carryOut<Outcome: Sendable>(
        completion: @escaping @Sendable (Outcome) -> Void,
        _ work: @escaping @Sendable () async -> Outcome
    ) {
        let task = Task {
            let outcome = await work()
            end { completion(outcome) }
        }
        handle.attach { task.cancel() }
    }

    /// Cancels the transfer.
    package func cancel() { handle.cancel(.cancelled) }

    /// Sends one request and waits for the head of its response.
    ///
    /// With the default `delivery`, the body then follows as a stream.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - avoided: The servers that are used only if no other server is available.
    ///   - name: The identifier in the dispatch table. If `nil`, the transfer's identifier is used. If several requests
    ///     of the transfer are in flight, each needs an identifier of its own.
    ///   - endsByHandle: Whether the transfer's handle cancels the request. If `false`, the handle cancels the waiting
    ///     task.
    ///   - delivery: The way in which the body is delivered.
    ///   - progress: A handler for sent and received bytes, by default none.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``RequestFailure``.
    package func open(
        _ configuration: APIConfiguration,
        avoiding avoided: [Server.ID] = [],
        name: RequestID? = nil,
        endsByHandle: Bool = false,
        delivery: HTTPRequest.Delivery = .stream,
        progress: TransferProgressHandler? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        var configuration = configuration
        configuration.delivery = delivery
        let requestHandle = DispatchHandle()
        if endsByHandle { handle.attach { requestHandle.cancel() } }
        let result: Result<ServiceResponse, RequestFailure> = await withTaskCancellationHandler { [configuration] in
            await withCheckedContinuation { continuation in
                let request = makeRequest(configuration, avoided, name ?? id, progress) {
                    continuation.resume(returning: $0)
                }
                requestHandle.hold(request)
                core.dispatch(request, continues: hasEnd)
            }
        } onCancel: {
            requestHandle.cancel()
        }
        return try result.mapError(explained).get()
    }

    /// Creates a request of the transfer, with its user and environment, and with rules and a flow plan like any other
    /// request that the client sends.
    private func makeRequest(
        _ configuration: APIConfiguration,
        _ avoided: [Server.ID],
        _ name: RequestID,
        _ progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) -> any DispatchedRequest {
        let delivery = configuration.delivery
        var configuration = (core.ruled(configuration, in: pool) ?? configuration).snapshot()
        configuration.delivery = delivery
        configuration.callOwner = owner(of: configuration)
        let observers = core.present.clientObservers
        let plan = FlowPlan(configuration, in: core, usesCredentials: usesCredentials, observers)
        return core.makeRequest(
            configuration,
            id: name,
            sender: ClientCore.Sender(
                owner: name == id ? owner : ClientCore.ownerOfShared,
                usesCredentials: usesCredentials,
                pool: pool,
                avoided: avoided
            ),
            plan: plan.map { ownPlan($0, of: name) },
            pool: pool,
            progress: progress,
            completion: completion
        )
    }

    /// Returns the flow plan for one request of the transfer.
    ///
    /// The transfer as a whole passes the pacing limits only once.
    private func ownPlan(_ plan: FlowPlan, of name: RequestID) -> FlowPlan {
        guard name == id else { return plan.ofPart }
        return handle.takeTurn() ? plan : plan.ofContinuation
    }

    /// Returns the failure.
    ///
    /// If the transfer was ended by its handle, the reason is replaced with the handle's reason.
    private func explained(_ failure: RequestFailure) -> RequestFailure {
        guard failure.isCancellation, let reason = handle.reason else { return failure }
        return RequestFailure(reason, id: id, context: failure.context)
    }

    // MARK: Interrupted bodies

    /// Waits before the next request to a server that has interrupted a body.
    ///
    /// The pause is 0.2 s and doubles with each interruption, up to 5 s. It is shortened at random by up to a half, so
    /// that many interrupted clients do not return at the same moment.
    ///
    /// - Parameters:
    ///   - number: The number of interruptions so far.
    ///   - least: The pause that the server asks for.
    package func pause(afterBreak number: Int, atLeast least: Duration = .zero) async {
        let longest = min(5, 0.2 * Double(1 << min(max(number, 1) - 1, 8)))
        await core.time.pause(for: max(least, .seconds(longest * Double.random(in: 0.5...1))))
    }

    /// An attempt whose body was interrupted, and its failure.
    package struct Break: Sendable {
        var attempt: Attempt
        var outcome: AttemptOutcome

        package init(attempt: Attempt, outcome: AttemptOutcome) {
            self.attempt = attempt
            self.outcome = outcome
        }
    }

    /// Counts an interrupted body as a failure of its server, unless the attempt is too old to count.
    ///
    /// - Parameters:
    ///   - broken: The attempt and its failure.
    ///   - confirmation: An attempt at another server that has completed the same request since then. If there is one,
    ///     it confirms the failure.
    package func charge(_ broken: Break, confirmedBy confirmation: Attempt? = nil) {
        var settled = [SettledAttempt(broken.attempt.afterwards, broken.outcome)]
        if let confirmation, confirmation.isElsewhere(than: broken.attempt) {
            settled.append(SettledAttempt(confirmation.afterwards, .answered))
        }
        core.publish(pool.settle(settled, resumedAt: core.clock.resumedAt, at: core.now), from: pool)
    }

    /// Returns the context of a failure for which no request was sent.
    package func context(of configuration: APIConfiguration) -> RequestContext {
        var context = RequestContext(
            service: pool.service,
            environment: pool.environment,
            method: configuration.sentMethod,
            elapsed: startedAt.duration(to: core.now)
        )
        context.path = configuration.place
        return context
    }
}
