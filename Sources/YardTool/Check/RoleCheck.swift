import Switchyard

/// A search for requests that no server of an environment serves.
struct RoleCheck {
    let service: Service

    /// The warnings about environments in which no server serves everything, one line each.
    ///
    /// For each such environment, there is one warning, and a further warning for each pattern that only servers of
    /// other environments serve.
    var warnings: [String] {
        service.environments.flatMap { environment -> [String] in
            let servers = service.servers(in: environment)
            guard !servers.contains(where: { $0.serves == .everything }) else { return [] }
            let served = Set(servers.flatMap(\.serves.texts)).sorted().joined(separator: ", ")
            let place = "\(service.name): environment \(environment)"
            let general = "\(place): no server serves everything; requests other than \(served) fail"
            return [general] + missing(in: servers).map { "\(place): no server serves \($0)" }
        }
    }

    /// Returns the request patterns that only servers other than `servers` serve, each with the name of such a server.
    ///
    /// A pattern is returned once for each such server.
    private func missing(in servers: [Server]) -> [String] {
        let others = service.servers.filter { other in !servers.contains { $0.name == other.name } }
        return others.flatMap { other in
            other.serves.texts.filter { text in !servers.contains { $0.serves.covers(text) } }
                .map { "\($0), which \(other.name) serves in other environments" }
        }
    }
}
