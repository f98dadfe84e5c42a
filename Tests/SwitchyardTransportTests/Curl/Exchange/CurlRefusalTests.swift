#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// Requests that cannot be sent as given.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlRefusalTests {
        private func error(_ headers: HTTPHeaders, _ body: HTTPBody) async throws -> TransportError? {
            let server = LoopbackServer()
            server.route(nil, "*") { request in .data(try await request.body.collect(upTo: 1 << 20)) }
            try server.start()
            let url = try #require(RequestURL(server.baseURL + "/"))
            let request = HTTPRequest(method: .post, url: url, headers: headers, body: body)
            do throws(TransportError) {
                _ = try await CurlTransport().send(request)
                return nil
            } catch {
                return error
            }
        }

        @Test(arguments: ["abc", "", "5", "-1", "5, 5"])
        func `a Content-Length for a body of unknown length is rejected`(_ length: String) async throws {
            let error = try await error(["Content-Length": length], .pieces([Data("hello".utf8)]))

            #expect(error?.kind == .invalidRequest)
            #expect(error?.mayHaveBeenSent == false)
        }

        @Test(arguments: [("gzip", nil), ("chunked, chunked", nil), ("chunked", 5)] as [(String, Int64?)])
        func `a Transfer-Encoding that does not fit the body is rejected`(coding: String, length: Int64?) async throws {
            let error = try await error(["Transfer-Encoding": coding], .pieces([Data("hello".utf8)], length: length))

            #expect(error?.kind == .invalidRequest)
            #expect(error?.mayHaveBeenSent == false)
        }

        @Test func `a CONNECT request is rejected, because only proxies understand it`() async throws {
            let url = try #require(RequestURL("http://127.0.0.1:1/"))
            let request = HTTPRequest(method: try #require(HTTPMethod("CONNECT")), url: url)

            let transport = try CurlTransport()
            let error = await transport.failure(of: request)

            #expect(error?.kind == .unsupported && error?.mayHaveBeenSent == false)
        }

        @Test(arguments: [-1, -5, Int64.min])
        func `a body with a negative length is rejected`(_ length: Int64) async throws {
            let error = try await error([:], .pieces([Data("hello".utf8)], length: length))

            #expect(error?.kind == .invalidRequest)
            #expect(error?.mayHaveBeenSent == false)
        }

        @Test func `a request head that is too large is rejected`() async throws {
            let large = String(repeating: "x", count: 1 << 20)
            let body = HTTPBody.data(Data(count: 64 << 10))

            let error = try await error(["X-Large": large], body)

            #expect(error?.kind == .invalidRequest)
            #expect(error?.mayHaveBeenSent == false)
            #expect(error?.message.contains("head") == true)
        }
    }
#endif
