import Foundation
import Switchyard

/// A benchmark of the library's processor time per request, with a transport that responds immediately.
struct PipelineBenchmark {
    let isJSON: Bool
    /// The contender (implementation) to run alone, for a profiler, or `nil` for all contenders.
    var only: String?

    func run() async throws {
        let contest = Contest(contenders: try contenders().chosen(only), concurrency: 1)
        let scores = try await contest.run()
        let rows = scores.mapValues { Spread($0.map(\.cpuMicroseconds)) }
        if isJSON { return print(String(decoding: try JSONEncoder().encode(rows), as: UTF8.self)) }
        print("CPU microseconds per request, with a transport that responds immediately")
        for contender in contest.contenders {
            guard let row = rows[contender.name] else { continue }
            let name = contender.name.padding(toLength: 28, withPad: " ", startingAt: 0)
            print(name + String(format: "%7.2f  (%.2f ... %.2f)", row.median, row.minimum, row.maximum))
        }
    }

    private func contenders() throws -> [Contender] {
        let transport = InstantTransport(json: SampleTopics.json)
        let client = try NetworkClient(service: .sample, transport: transport)
        let manager = SampleTopicAPI(client: client)
        let decoder = JSONDecoder()
        guard let url = RequestURL("http://127.0.0.1/topics") else { throw BenchmarkError("not a URL") }
        return [
            Contender(name: "transport alone") { _ = try await transport.send(HTTPRequest(url: url)) },
            Contender(name: "NetworkClient") { _ = try await client.send(APIConfiguration(path: "topics")) },
            Contender(name: "APIManager, no decoding") { try await manager.send(APIConfiguration(path: "topics")) },
            Contender(name: "JSONDecoder alone") {
                guard case .whole(let body) = transport.response.body else { return }
                _ = try decoder.decode([SampleTopic].self, from: body)
            },
            Contender(name: "APIManager, decoded") { _ = try await manager.topics(at: "topics") },
        ]
    }
}

extension Service {
    /// A service with two servers to which no request is sent.
    fileprivate static var sample: Service {
        get throws {
            try Service(
                name: "topics",
                servers: [
                    Server(name: "primary", baseURLs: [.test: try ServerURL("http://127.0.0.1:1")]),
                    Server(name: "secondary", baseURLs: [.test: try ServerURL("http://127.0.0.1:2")]),
                ],
                defaultEnvironment: .test
            )
        }
    }
}
