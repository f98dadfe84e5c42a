import Foundation
import Switchyard
import SwitchyardStreams
import SwitchyardTransfers

// The samples of the guide from Alamofire, word for word.

enum AlamofireSamples {
    final class ForumAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        // sample
        struct Search: Encodable, Sendable {
            var words: String
            var tags: [String]
        }

        func search(_ search: Search) async throws -> [Topic] {
            var configuration = APIConfiguration(path: "topics", query: try Parameters(encoding: search))
            configuration.timeout = .seconds(30)
            configuration.retry = RetryPolicy(maximumRetries: 2)
            return try await value(for: configuration)
        }
        // end
    }

    static func interceptors(_ options: inout NetworkClient.Options, version: String) {
        // sample
        options.interceptors = [
            .adapting("version") { configuration, _ in configuration.headers["X-Version"] = version },
            .retrying("busy") { round in
                round.status == 423 && round.context.retries < 3 ? .retry(after: .milliseconds(200)) : .undecided
            },
            .observing("log") { event in
                if case .ended(let result) = event.kind { print(event.id, (try? result.get())?.status ?? 0) }
            },
        ]
        // end
    }

    static func credentials(_ options: inout NetworkClient.Options) -> Credentials {
        // sample
        struct Token: Decodable {
            var accessToken: String
            var refreshToken: String
        }

        let credentials = Credentials { refresh in
            guard let old = refresh.credential?.refreshToken else { return nil }
            let call = APIConfiguration(path: "token", method: .post, body: .form(["refresh_token": old]))
            let answer = try await refresh.client.send(call)
            guard answer.status == 200, case .whole(let data) = answer.response.body else { return nil }
            let token = try JSONDecoder().decode(Token.self, from: data)
            return .bearer(token.accessToken, refreshToken: token.refreshToken)
        }
        options.credentials = credentials
        // end
        return credentials
    }

    struct Tick: Decodable, Sendable {
        var price: Double
    }

    static func stream(_ client: NetworkClient, show: (Tick) -> Void) async throws {
        // sample
        let answer = try await client.stream(APIConfiguration(path: "ticks"))
        for try await tick in answer.bytes.values(of: Tick.self) { show(tick) }
        // end
    }

    static func errors(_ forum: ForumAPI, show: (String) -> Void) async {
        // sample
        struct Problem: Decodable { var fields: [String: String] }

        do throws(APIError) {
            try await forum.send(APIConfiguration(path: "topics", method: .post, body: .json(["title": ""])))
        } catch {
            if error.status == 422, let problem = error.decodedBody(as: Problem.self) {
                show(problem.fields["title"] ?? "")
            } else if let words = error.userMessage {
                show(words)
            }
        }
        // end
    }

    static func download(_ client: NetworkClient, to folder: URL) async throws -> URL {
        // sample
        var download = DownloadConfiguration(
            path: "report",
            to: .custom { _, answer in folder.appendingPathComponent("new-" + answer.suggestedName) }
        )
        download.createsDirectories = true
        download.existingFile = .replace
        let report = try await client.download(download)
        // end
        return report.url
    }
}
