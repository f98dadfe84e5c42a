import Switchyard

// The samples of the article on switching, word for word.

enum SwitchingSamples {
    static func watch(_ client: NetworkClient) async {
        // sample
        for server in client.servers { print(server) }  // primary: healthy, current, 2 of 60 requests failed, ...
        for await event in client.events() { print(event) }  // release: switched from primary to secondary (score)
        // end
    }

    static func choose() throws -> Service {
        // sample
        let servers = try [
            Server(name: "primary", baseURLs: [.release: ServerURL("https://api.example.com/v1")]),
            Server(name: "secondary", baseURLs: [.release: ServerURL("https://api2.example.com/v1")]),
        ]
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
        client.restoreHealth(memory)  // in the next run, before the first request
        // end
    }
}
