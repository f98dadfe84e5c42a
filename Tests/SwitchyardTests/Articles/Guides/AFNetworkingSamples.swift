import Dispatch
import Foundation
import Switchyard
import SwitchyardRequests
import SwitchyardTransfers

// The samples of the guide from AFNetworking, word for word.

enum AFNetworkingSamples {
    // sample
    final class ForumAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        func topics(tag: String) async throws(APIError) -> [Topic] {
            try await value(for: APIConfiguration(path: "topics", query: ["tag": tag]))
        }

        func create(title: String) async throws(APIError) -> Topic {
            try await value(for: APIConfiguration(path: "topics", method: .post, body: .json(["title": title])))
        }
    }
    // end

    static func setUp(_ service: Service) throws -> NetworkClient {
        // sample
        let client = try NetworkClient(service: service) { options in
            options.generator.headers.set("X-App", "demo")
            options.generator.timeouts.total = .seconds(20)
            options.generator.queryMethods = [.get, .head]
            options.generator.queryOptions.arrays = .repeated
            options.generator.formOptions.nulls = .bare
        }
        // end
        return client
    }

    static func callBack(_ forum: ForumAPI, on queue: DispatchQueue, show: @escaping @Sendable (Any) -> Void) {
        // sample
        let id = forum.value([Topic].self, for: APIConfiguration(path: "topics"), on: queue) { result in
            switch result {
            case .success(let topics): show(topics)
            case .failure(let error) where error.isCancellation: break
            case .failure(let error): show(error.message)
            }
        }
        forum.cancel(id)
        // end
    }

    static func upload(
        _ photo: URL,
        _ title: String,
        with client: NetworkClient,
        show: @escaping @Sendable (Double?) -> Void
    ) async throws -> Int {
        // sample
        var form = MultipartForm()
        form.append(.field("title", title))
        form.append(.file(photo, name: "photo"))

        let upload = UploadConfiguration(path: "photos", from: .form(form))
        let answer = try await client.upload(upload) { progress in show(progress.fraction) }
        // end
        return answer.status
    }

    static func download(
        _ forum: ForumAPI,
        to folder: URL,
        show: @escaping @Sendable (Double?) -> Void
    ) async throws -> URL {
        // sample
        var download = DownloadConfiguration(path: "films/7.mov", to: .directory(folder))
        download.existingFile = .replace
        let film = try await forum.download(download) { progress in show(progress.fraction) }
        // end
        return film.url
    }

    static func pin(_ service: Service, certificates folder: URL) throws -> NetworkClient {
        // sample
        let rule = try PinRule(hosts: "api.example.com", pins: TLSPin.certificates(in: folder))
        let transport = try PinnedTransport(rules: [rule]) { pins throws(TransportError) in
            try Transports.systemDefault(tls: TLSConfiguration(pins: pins))
        }
        let client = try NetworkClient(service: service, transport: transport)
        // end
        return client
    }

    static func watch(
        _ client: NetworkClient,
        _ provider: some ReachabilityProvider,
        show: @escaping @Sendable (String) -> Void
    ) async -> ReachabilityMonitor {
        // sample
        let monitor = ReachabilityMonitor(provider)
        monitor.start { status in show(status.text()) }

        await client.waitUntilIdle()
        // end
        return monitor
    }
}
