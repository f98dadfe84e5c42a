extension LoopbackServer {
    /// The requests that have arrived, in the order of their heads; the number that is kept is limited.
    ///
    /// A request is here as soon as its head is, with the part of the body that has come so far.
    public var requests: [RecordedRequest] { board.read { $0.log.kept } }

    /// The counts.
    public var statistics: LoopbackStatistics { board.read { $0.statistics } }

    /// Forgets the recorded requests and sets the counts to 0, but for what is open or in progress.
    public func clearRecords() {
        board.change { state in
            let old = state.statistics
            state.log.removeAll()
            state.statistics = LoopbackStatistics()
            state.statistics.connectionsOpen = old.connectionsOpen
            state.statistics.requestsInProgress = old.requestsInProgress
        }
    }

    /// Waits until so many requests have arrived to their end since the server was made or its records cleared.
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> Bool {
        await wait { $0.requestsCompleted >= count }
    }

    /// Waits until no request is in progress.
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func waitUntilIdle() async -> Bool {
        await wait { $0.requestsInProgress == 0 }
    }

    /// Waits until the counts fulfil a condition; it is looked at again after every change.
    ///
    ///     await server.wait { $0.connectionsOpen == 0 }
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func wait(until condition: @Sendable (LoopbackStatistics) -> Bool) async -> Bool {
        await board.wait(until: condition)
    }
}
