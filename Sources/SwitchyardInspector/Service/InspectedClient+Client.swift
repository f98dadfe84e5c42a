import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension InspectedClient {
    /// A client as it is now.
    init(_ client: NetworkClient, _ redaction: Redaction, fault: String?, mayControl: Bool) {
        let (list, environment) = (client.service.servers, client.environment)
        service = client.service.name
        self.environment = environment.rawValue
        environments = Self.environments(of: list)
        current = client.currentServer
        self.mayControl = mayControl
        self.fault = fault
        servers = client.servers.map { snapshot in
            let url = list.first { $0.name == snapshot.id }?.baseURLs[environment]?.text ?? ""
            return Server(snapshot, url: redaction.url(url))
        }
    }

    /// The environments that every server is in.
    private static func environments(of servers: [SwitchyardServices.Server]) -> [String] {
        let all = servers.map { Set($0.baseURLs.keys.map(\.rawValue)) }
        guard let first = all.first else { return [] }
        return all.reduce(first) { $0.intersection($1) }.sorted()
    }
}

extension InspectedClient.Server {
    fileprivate init(_ snapshot: ServerSnapshot, url: String) {
        name = snapshot.id
        self.url = url
        words = snapshot.description
        calls = snapshot.statistics.requests
        failures = snapshot.statistics.failures
        latency = snapshot.p50.map { $0.inSeconds * 1_000 }
        state =
            switch snapshot.state {
            case .ejected: .ejected
            case .trial: .probing
            case .healthy: snapshot.isCurrent ? .inUse : .standby
            }
    }
}
