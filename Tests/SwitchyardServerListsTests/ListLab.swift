import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardServerLists

/// A real server that publishes a list under `/list.json`, with an entity tag.
final class ListServer: Sendable {
    let server = LoopbackServer()
    private let document: Locked<(number: Int, bytes: Data)>

    let url: URL
    /// The number of requests so far.
    var requestCount: Int { server.requests.count }

    init(_ document: Data) throws {
        let state = Locked((number: 1, bytes: document))
        self.document = state
        server.route(.get, "/list.json") { request in
            let (number, bytes) = state.withLock { $0 }
            let tag = "\"\(number)\""
            guard request.headers["If-None-Match"] != tag else { return .status(304, headers: ["ETag": tag]) }
            return .json(bytes, headers: ["ETag": tag])
        }
        try server.start()
        url = try #require(URL(string: "\(server.baseURL)/list.json"))
    }

    deinit { server.stop() }

    func publish(_ new: Data) { document.withLock { $0 = ($0.number + 1, new) } }
}

/// A client whose servers are real, and a folder for its list.
///
/// The clock stands still unless a test advances it, so a list is fetched only for a reason that the test gives.
final class ListLab: Sendable {
    let servers: [LoopbackServer]
    let clock = ManualClock()
    let client: NetworkClient
    let folder: TemporaryFolder
    let reachability = ManualReachability()

    /// Creates a lab with this number of built-in servers that respond to `GET /topics`.
    ///
    /// - Parameters:
    ///   - count: The number of servers.
    ///   - folder: The folder of the list.
    ///   - time: Returns the time source of the client, by default the clock.
    /// - Throws: An error if a server does not start.
    init(
        servers count: Int = 1,
        folder: TemporaryFolder = TemporaryFolder(),
        time: (ManualClock) -> any TimeSource = { $0 }
    ) throws {
        servers = try (0..<count).map { _ in try Self.topicServer() }
        client = try NetworkClient(service: .loopback(servers), time: time(clock))
        self.folder = folder
    }

    deinit {
        client.shutdown()
        for server in servers { server.stop() }
    }

    static func topicServer() throws -> LoopbackServer {
        let server = LoopbackServer()
        server.route(.get, "/topics", answering: .json("[]"))
        try server.start()
        return server
    }

    /// Creates the list, as a launch of the app does.
    func list(
        from urls: [URL],
        keys: [SigningKey] = [SigningKey("k1")],
        hosts: [String] = ["127.0.0.1"],
        _ change: (inout ServerList.Options) -> Void = { _ in }
    ) throws -> ServerList {
        var options = ServerList.Options()
        options.reachability = reachability
        options.seed = 1
        change(&options)
        return try ServerList(
            for: client,
            from: urls,
            keys: keys.map { try $0.trusted },
            hosts: hosts,
            store: folder.url,
            options: options
        )
    }

    /// The document of a list with these servers.
    func document(
        version: Int = 7,
        _ servers: [LoopbackServer],
        keys: [SigningKey] = [SigningKey("k1")]
    ) throws -> Data {
        try ListMaker(service: client.service.name, version: version, urls: servers.map(\.baseURL), keys: keys).document
    }
}

extension AsyncStream<ServerListEvent> {
    /// Returns the first event that satisfies a condition.
    func first(_ condition: (ServerListEvent) -> Bool) async -> ServerListEvent? {
        for await event in self where condition(event) { return event }
        return nil
    }
}

extension ServerListEvent {
    var isApplied: Bool { if case .applied = self { true } else { false } }
    var refusal: ServerListRefusal? { if case .refused(let refusal, _) = self { refusal } else { nil } }
    var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
}
