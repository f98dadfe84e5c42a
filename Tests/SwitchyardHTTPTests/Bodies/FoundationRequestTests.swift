import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5)), .prompt) struct FoundationRequestTests {
    private func foundation(_ url: String = "https://o.example/x?a=1#top") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "PUT"
        request.setValue("1", forHTTPHeaderField: "X-Own")
        request.httpBody = Data("body".utf8)
        request.timeoutInterval = 2.5
        return request
    }

    // It uses the same pipeline, including modifiers and timeouts.
    @Test func `a URLRequest can be sent`() async throws {
        var configuration = APIConfiguration(path: "ignored", headers: ["X-Ignored": "1"])
        configuration.prebuiltRequest = try HTTPRequest(foundation())
        let (client, transport) = try NetworkClient.stubbed(generator: {
            $0.modifiers = [{ $0.headers.add("X-Signed", "yes") }]
        })

        _ = try await client.send(configuration)

        let request = try #require(transport.requests.first)
        #expect(request.method == .put)
        #expect(request.url.text == "https://o.example/x?a=1")
        #expect(request.headers["X-Own"] == "1")
        #expect(request.headers["X-Ignored"] == nil)
        #expect(request.headers["X-Signed"] == "yes")
        #expect(BuiltRequest.text(request.body) == "body")
    }

    @Test func `timeout, network access and cache policy are taken from a URLRequest`() throws {
        var request = try foundation()
        request.allowsCellularAccess = false
        request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData

        let taken = try HTTPRequest(request)

        #expect(taken.timeouts.total == .seconds(2.5))
        #expect(!taken.networkAccess.allowsCellular)
        #expect(taken.headers["Cache-Control"] == "no-cache")
    }

    @Test func `a URLRequest that cannot be converted is an error`() throws {
        var streamed = try foundation()
        streamed.httpBodyStream = InputStream(data: Data())
        #expect(throws: RequestError.body(kind: "streamed", reason: .notInMemory)) { try HTTPRequest(streamed) }
        #expect(throws: RequestError.self) { try HTTPRequest(foundation("ftp://o.example/x")) }
        #expect(throws: RequestError.self) { try HTTPRequest(foundation("/x")) }
    }

    @Test func `a built request can be converted to a URLRequest`() throws {
        var configuration = APIConfiguration(path: "x", method: .post, body: .json(["a": 1]), timeout: .seconds(2))
        configuration.networkAccess.allowsCellular = false

        let request = try BuiltRequest.request(configuration).foundationRequest()

        #expect(request.url?.absoluteString == "https://api.example.com/v1/x")
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(request.httpBody == Data(#"{"a":1}"#.utf8))
        #expect(request.timeoutInterval == 2)
        #expect(request.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(!request.allowsCellularAccess)
    }

    // A request that forbids a network is rejected where network types cannot be distinguished.
    #if !canImport(Darwin)
        @Test(arguments: [
            HTTPRequest.NetworkAccess(allowsCellular: false), .init(allowsExpensive: false),
            .init(allowsConstrained: false),
        ])
        func `a request that forbids a kind of network is rejected if the transport cannot exclude it`(
            access: HTTPRequest.NetworkAccess
        ) async throws {
            let server = LoopbackServer()
            try server.start()
            defer { server.stop() }
            let request = try BuiltRequest.request(
                {
                    var configuration = APIConfiguration(path: "x")
                    configuration.networkAccess = access
                    return configuration
                }(),
                on: server.baseURL
            )
            let transports: [any Transport] = [try Transports.systemDefault(), try URLSessionTransport()]

            for transport in transports {
                let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
                #expect(error?.kind == .unsupported)
                transport.shutdown()
            }
            #expect(server.requests.isEmpty)
        }
    #endif

    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, .nan, 0, -1, 1e20])
    func `an invalid or infinite timeout interval means no timeout`(interval: TimeInterval) throws {
        var request = try foundation()
        request.timeoutInterval = interval

        #expect(try HTTPRequest(request).timeouts.total == nil)
    }
}
