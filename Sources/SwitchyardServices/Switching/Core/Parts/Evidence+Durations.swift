extension Evidence {
    /// Returns the 90th percentile of the latency of an endpoint or, while that is unknown, of a server.
    func bulk(of endpoint: UInt32, on position: Int?) -> Double? {
        endpoints.latency(of: endpoint).bulk ?? position.flatMap { servers[$0].latency.bulk }
    }

    /// Returns the seconds after which a response counts as late and a read is hedged.
    ///
    /// The time is shorter for an endpoint with few responses that take as long as ``HedgingRules/shortest``.
    func usualWait(for endpoint: UInt32, on position: Int?) -> Double {
        let (ownBulk, tail) = endpoints.latency(of: endpoint)
        let scaled = (ownBulk ?? position.flatMap { servers[$0].latency.bulk }).map { self.scaled($0) }
        let cautious = cautiousWait(scaled)
        guard cautious <= rules.shortestHedge, let scaled, let tail else { return cautious }
        return min(cautious, max(rules.earliestHedge, tail, scaled))
    }

    /// Returns the seconds after which a request that must not be repeated counts as late.
    func cautiousWait(for endpoint: UInt32, on position: Int?) -> Double {
        cautiousWait(bulk(of: endpoint, on: position).map { scaled($0) })
    }

    private func cautiousWait(_ scaled: Double?) -> Double { max(rules.shortestHedge, scaled ?? rules.unknownHedge) }

    /// Whether a response took at most twice as long as the quickest of the last 64 successes of its server.
    ///
    /// The result is `false` if no success is known.
    func isQuickest(_ latency: Double, on position: Int?) -> Bool {
        guard let shortest = position.flatMap({ servers[$0].latency.quantile(0) }) else { return false }
        return latency <= 2 * shortest
    }

    /// Returns the servers that a request that must not be repeated avoids.
    ///
    /// The result contains the servers that may be silent (``OvertakenAttempts/suggestsSilence(at:)``) and those whose
    /// last attempt failed, because a slow server is better than a failing one. If no server may be silent, the result
    /// is empty.
    func serversToAvoid(at time: Double) -> ServerSet {
        let silent = servers.indices.reduce(into: ServerSet()) { silent, position in
            if servers[position].overtaken.suggestsSilence(at: time) { silent.insert(position) }
        }
        return silent.isEmpty ? silent : silent.union(failedServers(at: time))
    }

    /// Returns a 90th percentile multiplied by ``HedgingRules/factor``, or unchanged if the policy does not hedge.
    private func scaled(_ bulk: Double) -> Double { (rules.policy.hedging?.factor ?? 1) * bulk }

    /// Whether a probe took longer than ``RecoveryRules/slownessFactor`` and ``RecoveryRules/slownessFloor`` allow.
    func isSlowProbe(_ latency: Double, on position: Int) -> Bool {
        guard let bulk = servers[position].latency.bulk else { return false }
        let recovery = rules.policy.recovery
        return latency > max(recovery.slownessFloor.inSeconds, recovery.slownessFactor * bulk)
    }

    /// Whether a response arrived later than a hedge would have been sent.
    func isLate(_ latency: Double, of endpoint: UInt32, on position: Int) -> Bool {
        guard rules.policy.detection.lateness != nil, rules.policy.hedging != nil else { return false }
        return latency > usualWait(for: endpoint, on: position)
    }

    /// Whether the response of a hedge was quick, that is, no slower than most responses of the endpoint.
    ///
    /// If it was slow too, all servers may have been slow at the time.
    func isQuick(_ outcome: AttemptOutcome, of endpoint: UInt32) -> Bool {
        guard case .success(let latency) = outcome else { return true }
        let usual = usualWait(for: endpoint, on: nil)
        return latency.inSeconds <= max(0.4 * rules.shortestHedge, usual > rules.shortestHedge ? usual : 0)
    }
}
