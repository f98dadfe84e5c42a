import SwitchyardServices

/// The servers that broke the body of a content, or of a part, off: who is not asked next, and who has been charged.
struct DownloadBreaks: Sendable {
    private var broken: [Transfer.Break] = []
    private var charged = 0

    /// Takes note of a server that broke a body off.
    mutating func add(_ server: Server.ID?, _ outcome: AttemptOutcome) {
        if let server { broken.append(Transfer.Break(server: server, outcome: outcome)) }
    }

    /// The servers.
    var servers: [Server.ID] { broken.map(\.server) }

    /// Servers that are not asked again as long as there is another.
    func avoided(in transfer: Transfer) -> [Server.ID] { transfer.pool.avoidable(servers) }

    /// Charges the servers, once another has answered or nothing more will be tried.
    mutating func settle(in transfer: Transfer, witness response: ServiceResponse? = nil) {
        let witness = response.flatMap { $0.status < 500 ? $0.context.server : nil }
        for one in broken.dropFirst(charged) { transfer.charge(one, witness: witness) }
        charged = broken.count
    }
}
