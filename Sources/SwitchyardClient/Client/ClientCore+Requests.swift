import SwitchyardServices

extension ClientCore {
    /// Who sends a request.
    struct Sender {
        let owner: OwnerID
        let usesCredentials: Bool
    }

    /// The owner of transfers that several requests share, and of the parts of a transfer: nobody's handle.
    static let ownerOfShared: OwnerID = 0

    /// Makes an exchange; a journey of several where anything surrounds it; a share in a transfer where one is asked for.
    func makeRequest(
        _ configuration: APIConfiguration,
        id: RequestID,
        sender: Sender,
        progress: TransferProgressHandler?,
        completion: @escaping Exchange.Completion
    ) -> any DispatchedRequest {
        if let rare = configuration.rare,
            case let isShown = options.showsConfigurations(to: pool.generator),
            let name = rare.value.sharing.name(of: configuration, isShown: isShown)
        {
            return SharedRequest(
                id: id,
                sender: sender,
                configuration: configuration,
                name: name,
                core: self,
                progress: progress,
                completion: completion
            )
        }
        guard let plan = plan(for: configuration, usesCredentials: sender.usesCredentials) else {
            return Exchange(
                id: id,
                owner: sender.owner,
                configuration: configuration,
                core: self,
                progress: progress,
                completion: completion
            )
        }
        return Journey(
            id: id,
            owner: sender.owner,
            configuration: configuration,
            plan: plan,
            core: self,
            progress: progress,
            completion: completion
        )
    }
}
