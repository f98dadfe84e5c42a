import Dispatch
import Foundation
import Switchyard
import SwitchyardResources
import SwitchyardRequests
import SwitchyardTransfers

// The samples of the guide from YTKNetwork, word for word.

enum YTKNetworkSamples {
    // sample
    struct Registration: APITarget {
        var name: String
        var password: String

        var path: String { "users" }
        var method: HTTPMethod { .post }
        var body: RequestBody { .json(["name": name, "password": password]) }

        func configure(_ configuration: inout APIConfiguration) {
            configuration.rules = ResponseRules(shape: .object(["id": .integer, "nick": .optional(.string)]))
        }
    }

    final class AccountAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        func register(_ name: String, _ password: String) async throws(APIError) -> User {
            try await value(for: Registration(name: name, password: password).configuration)
        }
    }
    // end

    static func setUp(_ service: Service) throws -> NetworkClient {
        // sample
        let client = try NetworkClient(service: service) { options in
            options.generator.parameters = ["version": "2.1"]
            options.generator.computedParameters = { _ in ["time": Int(Date().timeIntervalSince1970)] }
            options.generator.transforms = [{ $0.query.set("platform", "ios") }]
            options.rules.add("/images/**") { $0.usesCDN = true }
        }
        // end
        return client
    }

    static func cached(_ accounts: AccountAPI, token: String, isRefresh: Bool, show: (User, Bool) -> Void) async throws
    {
        // sample
        var configuration = APIConfiguration(path: "users/7")
        configuration.cache.lifetime = .seconds(180)
        configuration.cache.version = 2
        configuration.cache.sensitiveData = token
        configuration.cache.reading = isRefresh ? .never : .whenFresh

        for try await answer in accounts.responses(User.self, for: configuration) {
            show(answer.value, answer.isFromCache)
        }
        // end
    }

    static func batch(_ accounts: AccountAPI, _ ids: [Int], on queue: DispatchQueue) async -> BatchReport<User> {
        // sample
        let batch = RequestBatch(
            ids.map { accounts.request(User.self, for: APIConfiguration(path: "users/\($0)"), on: queue) },
            options: GroupOptions(policy: .collectAll, limit: 4, queue: queue)
        )
        let report = await batch.finished()
        for case .failure(let error) in report.results { print(error.message) }
        // end
        return report
    }

    static func chain(_ accounts: AccountAPI, on queue: DispatchQueue) async -> GroupReport {
        // sample
        let registration = Registration(name: "seven", password: "secret").configuration
        let chain = RequestChain(options: GroupOptions(policy: .failFast, queue: queue))
        chain.add(accounts.request(User.self, for: registration, on: queue)) { user, chain in
            let profile = APIConfiguration(path: "users/\(user.id)")
            chain.add(accounts.request(User.self, for: profile, on: queue))
        }
        let report = await chain.finished()
        // end
        return report
    }

    static func accessory(
        _ accounts: AccountAPI,
        on queue: DispatchQueue,
        show: @escaping @Sendable (String) -> Void
    ) -> APIRequest<User> {
        // sample
        let request = accounts.request(User.self, for: APIConfiguration(path: "users/7"), on: queue)
            .adding(ClosureAccessory(willStart: { _ in show("busy") }, didStop: { _ in show("idle") }))
            .onSuccess { user in show(user.name) }
            .onFailure { error in show("\(error.validationNumber ?? error.code.number): \(error.message)") }
        request.resume()
        // end
        return request
    }

    static func download(_ accounts: AccountAPI, to file: URL) async throws -> DownloadedFile {
        // sample
        var download = DownloadConfiguration(path: "films/7.mov", to: .file(file))
        download.existingFile = .replace
        let film = try await accounts.download(download)
        print("\(film.resumedBytes) bytes were there already")
        // end
        return film
    }
}
