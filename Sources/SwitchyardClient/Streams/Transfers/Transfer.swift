package import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTransport

/// A look at who is logged in.
private struct OwnerQuestion: CredentialUser {
    let core: ClientCore
    let callOwner: CallOwner?
    let pool: ServerPool
    var environment: ServiceEnvironment { pool.environment }
    var isRunning: Bool { true }
}

/// What all requests of one transfer share: its identifier, its owner, its servers and the clock.
///
/// A transfer is one call for its caller, and may take several requests: a download that was cut goes on with another,
/// an event stream is opened again.
package struct Transfer: Sendable {
    package let id: RequestID
    let owner: OwnerID
    package let core: ClientCore
    let usesCredentials: Bool
    /// Whose transfer it is, with all of its requests; `nil` for a client without credentials, users and cookies.
    package let callOwner: CallOwner?
    package let pool: ServerPool
    package let startedAt: MonotonicTime
    /// Whether it ends by itself, so that a shutdown may wait for it.
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

    /// What names the owner of a call of the transfer on a disk.
    package func marks(of configuration: APIConfiguration) -> [String] { owner(of: configuration)?.marks ?? [] }

    /// Finds out who is logged in, where only the provider of the credentials knows it, before anything that was kept is
    /// gone on with.
    package func loadOwner() async {
        guard let callOwner, callOwner.isBound, let credentials = core.options.credentials, !credentials.isBypassed
        else {
            return
        }
        // What cannot be read is reported by the first request.
        try? await credentials.load(for: OwnerQuestion(core: core, callOwner: callOwner, pool: pool))
        callOwner.adopt(credentials.login(in: pool.environment))
    }

    // MARK: From the first request to the last byte

    /// Enters the transfer in the table, where it stays until ``end()``.
    ///
    /// - Parameters:
    ///   - configuration: What was asked for; its timeout bounds the transfer in all, and so does a rule's if it has an
    ///     end. Without one nothing does.
    ///   - delivery: How the body of the answer is handed over.
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    package func begin(
        _ configuration: APIConfiguration,
        delivery: HTTPRequest.Delivery = .stream
    ) throws(RequestFailure.Reason) {
        var asked = core.ruled(configuration, in: pool) ?? configuration
        asked.delivery = delivery
        asked.callOwner = owner(of: asked)
        let request = ActiveRequest(id: id, configuration: asked, environment: pool.environment)
        let isOfRenewal = core.options.credentials?.isBypassed ?? false
        try core.transfers.insert(handle, of: request, owner: owner, hasEnd: hasEnd, isOfRenewal: isOfRenewal)
        // One who has gone before it was in the table.
        if let reason = asked.refusal(in: pool.environment) { handle.cancel(reason) }
        guard let timeout = hasEnd ? asked.timeout : configuration.timeout else { return }
        handle.setDeadline(startedAt.advanced(by: timeout), on: core.time)
    }

    /// The transfer's owner, as far as a request of it goes as whoever is logged in.
    private func owner(of configuration: APIConfiguration) -> CallOwner? {
        guard let callOwner, callOwner.isBound, !core.isBoundToLogin(configuration) else { return callOwner }
        return CallOwner(environment: callOwner.environment, client: callOwner.client, cookies: callOwner.cookies)
    }

    /// Ends the transfer: tells its caller, and then those who wait for the last transfer's end.
    package func end(telling completion: () -> Void = {}) {
        handle.finish()
        completion()
        core.transfers.remove(handle, id: id)
    }

    /// Carries the transfer out in a task of its own, which its handle and its monitor can cancel, and ends it.
    ///
    /// - Parameters:
    ///   - monitor: Shows the transfer; nobody when `nil`.
    ///   - completion: Told how it ended.
    ///   - work: What is done.
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

    /// Sends one request and waits for the head of its answer; the body follows as a stream unless it is asked for whole.
    ///
    /// - Parameters:
    ///   - configuration: What to send.
    ///   - avoided: Servers that are not asked as long as there is another.
    ///   - name: The name in the dispatch table; the transfer's own unless several requests are under way at a time.
    ///   - endsByHandle: Whether the transfer's handle ends the request; not where it ends the task that waits.
    ///   - delivery: How the body is handed over.
    ///   - progress: Told about bytes sent and received; nobody unless given.
    /// - Returns: The answer, whatever its status.
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

    /// Makes a request of the transfer, like every other request of the client.
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
        let plan = core.plan(for: configuration, usesCredentials: usesCredentials, core.present.onlookers)
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

    /// What surrounds a request of a transfer, which has one turn with all that it takes.
    private func ownPlan(_ plan: FlowPlan, of name: RequestID) -> FlowPlan {
        guard name == id else { return plan.ofPart }
        return handle.takeTurn() ? plan : plan.ofContinuation
    }

    /// The failure with the reason for which the transfer was ended from outside, if it was.
    private func explained(_ failure: RequestFailure) -> RequestFailure {
        guard failure.isCancellation, let reason = handle.reason else { return failure }
        return RequestFailure(reason, id: id, context: failure.context)
    }

    // MARK: Breaks

    /// Waits before a server is asked again that has broken something off.
    ///
    /// 0.2 s, then twice as long each time up to 5 s, shortened at random by up to a half, so that the many whom one server
    /// has cut do not come back at once.
    ///
    /// - Parameters:
    ///   - number: How often that has happened.
    ///   - least: How long the server asks for.
    package func pause(afterBreak number: Int, atLeast least: Duration = .zero) async {
        let longest = min(5, 0.2 * Double(1 << min(max(number, 1) - 1, 8)))
        await core.time.pause(for: max(least, .seconds(longest * Double.random(in: 0.5...1))))
    }

    /// An attempt whose body broke off, and how.
    package struct Break: Sendable {
        var attempt: Attempt
        var outcome: AttemptOutcome

        package init(attempt: Attempt, outcome: AttemptOutcome) {
            self.attempt = attempt
            self.outcome = outcome
        }
    }

    /// Charges a server for a body that it broke off, as far as the attempt still says something about it.
    ///
    /// - Parameters:
    ///   - broken: The attempt, and how it failed.
    ///   - witness: An attempt that has answered the same request since; then the failure counts in full.
    package func charge(_ broken: Break, witness: Attempt? = nil) {
        var settled = [SettledAttempt(broken.attempt.afterwards, broken.outcome)]
        if let witness, witness.isElsewhere(than: broken.attempt) {
            settled.append(SettledAttempt(witness.afterwards, .answered))
        }
        core.publish(pool.settle(settled, resumedAt: core.clock.resumedAt, at: core.now), from: pool)
    }

    /// The context of a failure that no request has.
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
