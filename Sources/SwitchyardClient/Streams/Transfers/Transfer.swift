package import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTransport

/// A query for the user who is logged in.
private struct OwnerQuestion: CredentialUser {
    let core: ClientCore
    let callOwner: CallOwner?
    let pool: ServerPool
    var environment: ServiceEnvironment { pool.environment }
    var isRunning: Bool { true }
}

/// The common properties of all requests of one transfer: identifier, owner, servers and clock.
///
/// A transfer is one call for its caller and may need several requests: an interrupted download continues with another
/// one, and an event stream is opened again.
package struct Transfer: Sendable {
    package let id: RequestID
    let owner: OwnerID
    package let core: ClientCore
    let usesCredentials: Bool
    /// The owner of the transfer and all its requests; `nil` for a client without credentials, users and cookies.
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

    /// Returns the marks that identify the owner of a call of the transfer on a disk.
    package func marks(of configuration: APIConfiguration) -> [String] { owner(of: configuration)?.marks ?? [] }

    /// Loads the stored credential, if only its provider knows the user, before stored state is continued.
    package func loadOwner() async {
        guard let callOwner, callOwner.isBound, let credentials = core.options.credentials, !credentials.isBypassed
        else {
            return
        }
        // The first request reports a credential that cannot be read.
        try? await credentials.load(for: OwnerQuestion(core: core, callOwner: callOwner, pool: pool))
        callOwner.adopt(credentials.login(in: pool.environment))
    }

    // MARK: Requests

    /// Enters the transfer in the table, where it stays until ``end()``.
    ///
    /// - Parameters:
    ///   - configuration: The call; its timeout bounds the whole transfer, and so does a rule's timeout if the transfer
    ///     has an end. Without a timeout nothing bounds it.
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
        // The user may have left before the transfer was in the table.
        if let reason = asked.refusal(in: pool.environment) { handle.cancel(reason) }
        guard let timeout = hasEnd ? asked.timeout : configuration.timeout else { return }
        handle.setDeadline(startedAt.advanced(by: timeout), on: core.time)
    }

    /// Returns the transfer's owner if a request of it uses the credential of the logged-in user.
    private func owner(of configuration: APIConfiguration) -> CallOwner? {
        guard let callOwner, !core.goesAsPresentUser(configuration) else { return callOwner }
        return CallOwner(environment: pool.environment, cookies: callOwner.cookies)
    }

    /// Ends the transfer: calls its completion, and then resumes the waiters for the end of the last transfer.
    package func end(telling completion: () -> Void = {}) {
        handle.finish()
        completion()
        core.transfers.remove(handle, id: id)
    }

    /// Performs the transfer in its own task, which its handle and its monitor can cancel, and ends it.
    ///
    /// - Parameters:
    ///   - monitor: The monitor that shows the transfer, if any.
    ///   - completion: Receives the result.
    ///   - work: The work.
    package func carryOut<Outcome: Sendable>(
        shownBy monitor: TransferMonitor?,
        completion: @escaping @Sendable (Outcome) -> Void,
        _ work: @escaping @Sendable () async -> Outcome
    ) {
        let task = Task {
            let outcome = await work()
            monitor?.detach()
            end { completion(outcome) }
        }
        handle.attach { task.cancel() }
        monitor?.attach { [handle] in handle.cancel(.cancelled) }
    }

    /// Sends one request and waits for the head of its response; the body follows as a stream unless it is requested as
    /// a whole.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - avoided: The servers that are used only if there is no other.
    ///   - name: The identifier in the dispatch table; default is the transfer's own, unless several requests are in
    ///     flight.
    ///   - endsByHandle: Whether the transfer's handle ends the request; `false` if it ends the waiting task.
    ///   - delivery: The way in which the body is delivered.
    ///   - progress: A handler for sent and received bytes; default is none.
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

    /// Creates a request of the transfer like any other request of the client.
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
        let plan = core.plan(for: configuration, usesCredentials: usesCredentials, core.present.clientObservers)
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

    /// Returns the plan for a request of a transfer, which passes the pacing limits once for all its requests.
    private func ownPlan(_ plan: FlowPlan, of name: RequestID) -> FlowPlan {
        guard name == id else { return plan.ofPart }
        return handle.takeTurn() ? plan : plan.ofContinuation
    }

    /// Returns the failure with the reason why the transfer was ended from outside, if it was.
    private func explained(_ failure: RequestFailure) -> RequestFailure {
        guard failure.isCancellation, let reason = handle.reason else { return failure }
        return RequestFailure(reason, id: id, context: failure.context)
    }

    // MARK: Interrupted bodies

    /// Waits before the next request to a server that has interrupted a body.
    ///
    /// The pause is 0.2 s, then twice as long each time up to 5 s, shortened at random by up to a half, so that many
    /// interrupted clients do not return at once.
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

    /// Charges a server for an interrupted body, unless the attempt no longer says anything about the server.
    ///
    /// - Parameters:
    ///   - broken: The attempt and its failure.
    ///   - witness: An attempt that has completed the same request since; if there is one, the failure counts in full.
    package func charge(_ broken: Break, witness: Attempt? = nil) {
        var settled = [SettledAttempt(broken.attempt.afterwards, broken.outcome)]
        if let witness, witness.isElsewhere(than: broken.attempt) {
            settled.append(SettledAttempt(witness.afterwards, .answered))
        }
        core.publish(pool.settle(settled, resumedAt: core.clock.resumedAt, at: core.now), from: pool)
    }

    /// Returns the context of a failure without a request.
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
