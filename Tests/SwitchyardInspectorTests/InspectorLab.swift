import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardInspector

/// An inspector of a client on a manual clock, and a page that queries it over the loopback interface.
struct InspectorLab {
    let clock = ManualClock()
    let stub: StubTransport
    let client: NetworkClient
    let inspector: TrafficInspector
    let page: PageClient

    init(
        servers: Int = 2,
        switching: SwitchPolicy = .recommended,
        retry: RetryPolicy? = nil,
        inspector own: TrafficInspector.Options = .quiet(),
        answer: @escaping @Sendable (HTTPRequest, ManualClock) -> StubResponse = { _, _ in .json("[]") }
    ) throws {
        // Completes inline, so that everything due has happened when `advance` returns.
        stub = StubTransport(completion: .inline) { [clock] in answer($0, clock) }
        var options = NetworkClient.Options(seed: 1)
        options.retry = retry
        client = try NetworkClient(
            service: .topics(switching: switching, servers: servers),
            transport: stub,
            options: options,
            time: clock
        )
        inspector = try TrafficInspector(client, options: own)
        page = try PageClient(inspector)
    }

    /// The feed after the given number of calls have ended in it.
    func feed(ended calls: Int) async throws -> InspectorFeed {
        await until { inspector.desk.book.news(after: 0).calls.count { $0.end != nil } >= calls }
        return try await page.feed()
    }
}

/// Queries an inspector as a browser does.
struct PageClient {
    let address: String
    private let transport = try? Transports.systemDefault()

    init(_ inspector: TrafficInspector) throws {
        address = inspector.address
    }

    /// Requests a path below the page's address, or an absolute URL.
    func ask(
        _ place: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: String? = nil
    ) async throws -> HTTPResponse {
        let url = try #require(RequestURL(place.hasPrefix("http") ? place : address + place))
        var request = HTTPRequest(method: method, url: url)
        request.headers = headers
        if let body { request.body = .data(Data(body.utf8)) }
        return try await #require(transport).send(request)
    }

    /// The feed after a cursor.
    func feed(after cursor: Int = 0) async throws -> InspectorFeed {
        let data = try #require(try await ask("feed?after=\(cursor)").data)
        return try JSONDecoder().decode(InspectorFeed.self, from: data)
    }

    /// The details of a call.
    func detail(of id: String) async throws -> CallDetail {
        let data = try #require(try await ask("calls/\(id)").data)
        return try JSONDecoder().decode(CallDetail.self, from: data)
    }

    /// Sends a command as the page does.
    func command(_ json: String, headers: HTTPHeaders = [:]) async throws -> HTTPResponse {
        var own: HTTPHeaders = ["X-Inspector": "1", "Content-Type": "application/json"]
        for field in headers { own.set(field.name, field.value) }
        return try await ask("command", method: .post, headers: own, body: json)
    }
}

extension TrafficInspector.Options {
    /// Options that print nothing and store no address.
    static func quiet(_ change: (inout Self) -> Void = { _ in }) -> Self {
        var options = Self()
        options.printsAddress = false
        options.keepsAddress = false
        change(&options)
        return options
    }
}
