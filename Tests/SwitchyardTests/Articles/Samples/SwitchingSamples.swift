import Switchyard

// The samples of the article on switching, word for word.

enum SwitchingSamples {
    static func choose(_ servers: [Server]) throws -> Service {
        // sample
        var policy = SwitchPolicy.recommended
        policy.selection = .lowestLatency
        policy.warmUp = nil
        let service = try Service(name: "topics", servers: servers, defaultEnvironment: .release, switching: policy)
        // end
        return service
    }

    static func remember(_ client: NetworkClient) {
        // sample
        let memory = client.serverMemory()  // Codable; stored as the app goes to the background
        client.recall(memory)  // in the next run, before the first request
        // end
    }
}
