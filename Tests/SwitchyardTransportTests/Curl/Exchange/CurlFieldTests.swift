#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// Header fields of consecutive requests that reuse one libcurl handle.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlFieldTests {
        private let server = LoopbackServer()

        init() throws {
            server.setDefaultRoute { request in
                .json(request.headers.filter { $0.name != "Host" }.map(\.description).joined(separator: "\n"))
            }
            try server.start()
        }

        /// The fields that arrive with each of several consecutive requests.
        private func arriving(with requests: [HTTPRequest]) async throws -> [String] {
            let transport = try CurlTransport()
            var arrived: [String] = []
            for request in requests {
                arrived.append(String(decoding: try await transport.send(request).bytes(), as: UTF8.self))
            }
            return arrived
        }

        /// The fields that arrive with each request if it is the first of its transport.
        private func arrivingAlone(with requests: [HTTPRequest]) async throws -> [String] {
            var arrived: [String] = []
            for request in requests { arrived += try await arriving(with: [request]) }
            return arrived
        }

        private func request(
            _ headers: HTTPHeaders,
            _ method: HTTPMethod = .get,
            _ body: HTTPBody = .none
        ) throws -> HTTPRequest {
            HTTPRequest(method: method, url: try #require(RequestURL(server.baseURL)), headers: headers, body: body)
        }

        @Test func `a request sends its header fields even if the previous request had the same fields`() async throws {
            let request = try request(["Accept": "text/plain", "X-Number": "1"])
            let arrived = try await arriving(with: [request, request, request])
            #expect(arrived[0].hasPrefix("Accept: text/plain\nX-Number: 1"))
            #expect(arrived == [String](repeating: arrived[0], count: 3))
        }

        @Test func `the fields that libcurl adds for a body do not depend on earlier requests`() async throws {
            let headers: HTTPHeaders = ["X-Number": "1"]
            let large = HTTPBody.data(Data(count: 100_000))
            let requests = [
                try request(headers), try request(headers, .post, .data(Data("a".utf8))), try request(headers),
                try request(headers, .put, large), try request(headers, .post, .data(Data("b".utf8))),
            ]
            #expect(try await arriving(with: requests) == (try await arrivingAlone(with: requests)))
        }

        @Test func `a request does not send header fields of the previous request`() async throws {
            let requests = [
                try request(["X-First": "1", "Accept-Encoding": "identity"]), try request([:]),
                try request(["X-Third": "3"]), try request(["Range": "bytes=0-"]), try request(["X-Fifth": "5"]),
            ]
            #expect(try await arriving(with: requests) == (try await arrivingAlone(with: requests)))
        }

        @Test func `header fields that were changed in place are sent with their new values`() async throws {
            var changed = try request(["X-Number": "1"])
            let transport = try CurlTransport()
            _ = try await transport.send(changed).bytes()
            changed.headers.set("X-Number", "2")
            let arrived = String(decoding: try await transport.send(changed).bytes(), as: UTF8.self)
            #expect(arrived.hasPrefix("X-Number: 2"))
        }
    }
#endif
