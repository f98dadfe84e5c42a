import Foundation
import Switchyard
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct ReadmeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.folder.appendingPathComponent(path), encoding: .utf8)
    }

    /// The lines of each block between two marks, without indentation.
    private func blocks(in text: String, from start: String, to end: String) -> [[String]] {
        var blocks: [[String]] = []
        var open: [String]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if open == nil, line == start {
                open = []
            } else if let block = open, line == end {
                blocks.append(block)
                open = nil
            } else {
                open?.append(line)
            }
        }
        return blocks
    }

    @Test func `every sample of the README is one that compiles here`() throws {
        let compiled = Set(blocks(in: try text("ReadmeSamples.swift"), from: "// sample", to: "// end"))
        let samples = blocks(in: try text("../../README.md"), from: "```swift", to: "```")
            .filter { $0.first?.hasPrefix(".package(") != true }

        #expect(samples.count == 7)
        for sample in samples { #expect(compiled.contains(sample), "not compiled: \(sample.first ?? "")") }
    }

    @Test(arguments: ["Switching", "Transports", "Performance", "Switchyard"])
    func `every sample of the articles is one that compiles here`(_ article: String) throws {
        let compiled = Set(blocks(in: try text("ReadmeSamples.swift"), from: "// sample", to: "// end"))
        let path = "../../Sources/Switchyard/Switchyard.docc/\(article).md"

        for sample in blocks(in: try text(path), from: "```swift", to: "```") {
            #expect(compiled.contains(sample), "not compiled: \(sample.first ?? "")")
        }
    }

    @Test func `a transport written in an evening carries requests`() async throws {
        let transport = TableTransport(answers: ["http://table.test/topics?page=1&size=20": Data("[]".utf8)])
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: [.test: try ServerURL("http://table.test")])],
            defaultEnvironment: .test
        )
        let client = try NetworkClient(service: service, transport: transport)
        var configuration = APIConfiguration(path: "topics", query: ["page": 1, "size": 20])
        configuration.timeout = .seconds(5)

        #expect(try await client.send(configuration).status == 200)
    }

    @Test func `the service file of the README is a valid one`() throws {
        let json = try #require(blocks(in: try text("../../README.md"), from: "```json", to: "```").first)

        let service = try ServiceCatalog.service(from: Data(json.joined(separator: "\n").utf8), named: "topics")

        #expect(service.servers.map(\.name) == ["primary", "secondary"])
        #expect(service.defaultEnvironment == .release)
    }

    @Test func `the module of the README refreshes and loads more`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/topics") { request in
            let page = Int(request.queryValue("page") ?? "") ?? 1
            let first = (page - 1) * 20
            let topics = (first..<min(first + 20, 30)).map { Topic(id: $0, title: "Topic \($0)") }
            return .json(try JSONEncoder().encode(topics))
        }
        try server.start()
        defer { server.stop() }
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: [.test: try ServerURL(server.baseURL)])],
            defaultEnvironment: .test
        )
        let api = TopicAPI(client: try NetworkClient(service: service))

        let first = try await api.refreshTopics()
        let all = try await api.loadMoreTopics()

        #expect(first.count == 20)
        #expect(all.map(\.id) == Array(20..<30) || all.map(\.id) == Array(0..<30))
    }
}
