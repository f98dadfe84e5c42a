extension Server {
    /// Checks the role, the priority and the zone of the server.
    ///
    /// - Parameter path: The path of the server in the service file.
    /// - Throws: The ``CatalogError`` of the first invalid value.
    func checkRole(at path: String) throws(CatalogError) {
        try serves.check(at: "\(path).serves")
        _ = try PathRewrite.all(in: rewrites, at: "\(path).rewrites")
        if let priority, priority < 1 {
            let expected = "an integer of at least 1"
            throw CatalogError(.invalidValue, at: "\(path).priority", expected: expected, found: "\(priority)")
        }
        guard zone?.isEmpty != true else {
            throw CatalogError(.invalidValue, at: "\(path).zone", expected: "a name that is not empty")
        }
    }
}

extension Service {
    /// Checks that either all servers have a priority or no server has one, that the priorities leave no gap, and that
    /// ``SwitchPolicy/failsBack`` is `true` if servers have equal priorities.
    func checkPriorities() throws(CatalogError) {
        let priorities = servers.compactMap(\.priority)
        guard !priorities.isEmpty else { return }
        if let missing = servers.firstIndex(where: { $0.priority == nil }) {
            let place = "servers[\(missing)].priority"
            throw CatalogError(.missingKey, at: place, expected: "a priority, because other servers have one")
        }
        for (index, server) in servers.enumerated() {
            guard let priority = server.priority, priority > 1, !priorities.contains(priority - 1) else { continue }
            let expected = "priorities without a gap, but no server has priority \(priority - 1)"
            let place = "servers[\(index)].priority"
            throw CatalogError(.invalidValue, at: place, expected: expected, found: "\(priority)")
        }
        guard switching.failsBack || Set(priorities).count == priorities.count else {
            let expected = "true, because servers of equal priority share the traffic"
            throw CatalogError(.invalidValue, at: "switching.failsBack", expected: expected, found: "false")
        }
    }
}

extension SwitchingCore {
    /// Creates the switching core for the servers of a service in one environment.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - environment: An environment of the service.
    ///   - now: The current time.
    ///   - seed: The seed of all random numbers.
    ///   - installation: See ``init(members:policy:at:seed:installation:)``.
    /// - Throws: A ``SwitchError`` if the policy is invalid.
    public init(
        service: Service,
        environment: ServiceEnvironment,
        at now: MonotonicTime,
        seed: UInt64,
        installation: UInt64? = nil
    ) throws(SwitchError) {
        let members = service.servers(in: environment).map { Member($0) }
        try self.init(members: members, policy: service.switching, at: now, seed: seed, installation: installation)
    }
}
