extension SwitchingCore {
    /// Creates the core of a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - now: The time.
    ///   - seed: The seed of all random numbers.
    ///   - installation: See ``init(members:policy:at:seed:installation:)``.
    /// - Throws: What is wrong with the policy.
    public init(
        service: Service,
        at now: MonotonicTime,
        seed: UInt64,
        installation: UInt64? = nil
    ) throws(SwitchError) {
        let members = service.servers.map { Member(id: $0.id, weight: $0.weight) }
        try self.init(members: members, policy: service.switching, at: now, seed: seed, installation: installation)
    }
}
