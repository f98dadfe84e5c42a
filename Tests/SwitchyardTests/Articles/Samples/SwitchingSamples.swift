import Switchyard

// The sample of the article on switching, word for word.

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
}
