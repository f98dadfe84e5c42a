import Foundation
import Switchyard

/// The samples of the recipe on home and away, word for word.
enum HomeAndAwaySamples {
    // sample
    // Chooses between the address at home and the public one whenever the network path changes.
    actor AddressChoice: RequestLimit {
        private let instance: String
        private var choice: Task<Void, Never>?

        init(instance: String) {
            self.instance = instance
        }

        // Calls that begin during a choice wait for its end, at most 250 ms.
        func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
            while configuration.server == .automatic, let choice { await choice.value }
            return .free
        }

        func follow(_ network: some ReachabilityProvider, for client: NetworkClient) async {
            for await status in network.updates() {
                client.networkChanged(isOnline: status.isReachable)
                guard status.isReachable else { continue }
                client.networkPathChanged()
                choice?.cancel()
                choice = Task { await choose(for: client) }
            }
        }

        private func choose(for client: NetworkClient) async {
            // This request opens a connection, even if its response is not needed.
            Task { await responds("away", within: .seconds(5), client) }
            let isHome = await responds("home", within: .milliseconds(250), client)
            guard !Task.isCancelled else { return }
            try? client.switchServer(to: isHome ? "home" : "away")
            choice = nil
        }

        private func responds(_ server: String, within limit: Duration, _ client: NetworkClient) async -> Bool {
            var identity = APIConfiguration(path: "identity", timeout: limit)
            identity.server = .named(server)
            let response = try? await client.send(identity)
            return response?.status == 200 && response?.text == instance
        }
    }
    // end

    static func client(
        _ file: URL,
        _ instance: String,
        _ network: some ReachabilityProvider,
        time: any TimeSource = SystemTime.shared
    ) throws -> (NetworkClient, Task<Void, Never>) {
        // sample
        let addresses = AddressChoice(instance: instance)
        let service = try ServiceCatalog.service(contentsOf: file)
        let client = try NetworkClient(service: service, time: time) { options in
            options.limits = [addresses]
        }
        let following = Task { await addresses.follow(network, for: client) }
        // end
        return (client, following)
    }
}
