import SwitchyardClient
import SwitchyardServices

/// The servers that broke the body of a content, or of a part, off: who is not asked next, and who has been charged.
struct DownloadBreaks: Sendable {
    /// The servers.
    private(set) var servers: [Server.ID] = []
    private var uncharged: [Transfer.Break] = []

    /// Takes note of an answer whose body broke off.
    mutating func add(_ context: RequestContext, _ outcome: AttemptOutcome) {
        if let server = context.server { servers.append(server) }
        if let attempt = context.attempt { uncharged.append(Transfer.Break(attempt: attempt, outcome: outcome)) }
    }

    /// Servers that are not asked again as long as there is another.
    func avoided(in transfer: Transfer) -> [Server.ID] { transfer.pool.avoidable(servers) }

    /// Charges the servers, once another has answered or nothing more will be tried.
    mutating func settle(in transfer: Transfer, witness response: ServiceResponse? = nil) {
        let witness = response.flatMap { $0.status < 500 ? $0.context.attempt : nil }
        for one in uncharged { transfer.charge(one, witness: witness) }
        uncharged = []
    }
}
