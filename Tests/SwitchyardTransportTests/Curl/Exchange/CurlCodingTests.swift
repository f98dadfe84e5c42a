#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardRequests
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// How bodies are decoded according to their `Content-Encoding` (RFC 9110 section 8.4).
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlCodingTests {
        private static let text = Data(String(repeating: "a member of many, ", count: 5_000).utf8)

        private static func gzip(_ data: Data) -> Data { RequestCompressor.compressed(data, .gzip) }

        /// The response to a request for a body with these fields.
        private func response(
            to delivery: HTTPRequest.Delivery = .whole,
            fields: [String],
            body: Data,
            limit: Int? = nil
        ) async throws -> HTTPResponse {
            let server = LoopbackServer()
            let head = (["HTTP/1.1 200 OK", "Content-Length: \(body.count)"] + fields).joined(separator: "\r\n")
            server.fault = .garbage(Data("\(head)\r\n\r\n".utf8) + body)
            try server.start()
            let request = HTTPRequest(
                url: try #require(RequestURL(server.baseURL)),
                timeouts: .init(total: .seconds(240)),
                delivery: delivery,
                responseBodyLimit: limit
            )
            return try await CurlTransport().send(request)
        }

        private func failure(_ coding: String, _ body: Data, limit: Int? = nil) async throws -> TransportError? {
            do {
                _ = try await response(fields: ["Content-Encoding: \(coding)"], body: body, limit: limit).bytes()
                return nil
            } catch let error as TransportError {
                return error
            }
        }

        @Test(
            arguments: [
                ["utf-8"], ["aws-chunked"], ["UTF-8"], ["gzip, aws-chunked"], ["aws-chunked", "gzip"], ["\"gzip\""],
            ],
            [HTTPRequest.Delivery.whole, .stream]
        )
        func `a response body in an unknown content coding is returned unchanged`(
            _ codings: [String],
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let fields = codings.map { "Content-Encoding: \($0)" }

            let response = try await response(to: delivery, fields: fields, body: Self.text)

            #expect(try await response.bytes() == Self.text)
            #expect(response.headers.values(of: "Content-Encoding") == codings)
        }

        @Test(arguments: ["identity", "none", "", "identity, identity"])
        func `a response body without a content coding is returned unchanged`(_ coding: String) async throws {
            let response = try await response(fields: ["Content-Encoding: \(coding)"], body: Self.text)

            #expect(try await response.bytes() == Self.text)
        }

        struct Members: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let body: Data
            let content: Data

            init(_ name: String, _ body: Data, _ content: Data) {
                (testDescription, self.body, self.content) = (name, body, content)
            }
        }

        private static let members = [
            Members("one member", gzip(text), text),
            Members("two members", gzip(text) + gzip(Data("and more".utf8)), text + Data("and more".utf8)),
            Members("an empty member between", gzip(text) + gzip(Data()) + gzip(text), text + text),
            Members("only empty members", gzip(Data()) + gzip(Data()), Data()),
            Members("zero padding behind", gzip(text) + Data(count: 5_000), text),
            Members("padding between members", gzip(text) + Data(count: 3) + gzip(text), text + text),
            Members("nothing at all", Data(), Data()),
        ]

        @Test(arguments: members, [HTTPRequest.Delivery.whole, .stream])
        func `all members of a gzip body are decoded`(_ sample: Members, _ delivery: HTTPRequest.Delivery) async throws
        {
            let response = try await response(
                to: delivery,
                fields: ["Content-Encoding: x-gzip"],
                body: sample.body
            )

            #expect(try await response.bytes() == sample.content)
        }

        // The chunks may end anywhere, even inside a member's head or trailer.
        @Test func `gzip members that arrive byte by byte are decoded`() async throws {
            let body = Self.gzip(Data("one,".utf8)) + Self.gzip(Data("two,".utf8)) + Data(count: 3)
            let server = LoopbackServer()
            server.route(.get, "/drip") { _ in
                var response = LoopbackResponse.stream { writer in
                    for byte in body { try await writer.write(Data([byte])) }
                }
                response.headers.set("Content-Encoding", "gzip")
                return response
            }
            try server.start()

            let url = try #require(RequestURL(server.baseURL + "/drip"))
            let response = try await CurlTransport().send(HTTPRequest(url: url))

            #expect(try await response.bytes() == Data("one,two,".utf8))
        }

        @Test(arguments: ["gzip", "x-gzip", "deflate", "gzip, deflate"])
        func `the error for a body that does not match its coding names the coding`(
            _ coding: String
        ) async throws {
            let error = try await failure(coding, Self.text)

            #expect(error?.kind == .decodingFailed)
            #expect(error?.message.contains("Content-Encoding: \(coding)") == true)
        }

        @Test(arguments: [Data("\r\n--".utf8), Data([0x1F]), Data([0x1F, 0x8B, 0xFF, 0xFF]), Data([0, 0, 1])])
        func `data after the last gzip member is an error`(_ rest: Data) async throws {
            #expect(try await failure("gzip", Self.gzip(Self.text) + rest)?.kind == .decodingFailed)
        }

        @Test(arguments: [1, 12, 500, -1, -8, -9])
        func `a gzip body that is truncated inside a member fails`(_ count: Int) async throws {
            let whole = Self.gzip(Data((0..<2_000).map { _ in UInt8.random(in: .min ... .max) }))

            let error = try await failure("gzip", count > 0 ? whole.prefix(count) : whole.dropLast(-count))

            #expect(error?.kind == .decodingFailed)
        }

        @Test func `the body limit applies to the decoded bytes of all gzip members`() async throws {
            let body = Self.gzip(Self.text) + Self.gzip(Self.text)

            #expect(try await failure("gzip", body, limit: 2 * Self.text.count) == nil)
            #expect(try await failure("gzip", body, limit: 2 * Self.text.count - 1)?.kind == .bodyTooLarge)
        }

        @Test func `each response on a connection is decoded by its own coding`() async throws {
            let server = LoopbackServer()
            for (path, coding, body) in [
                ("/plain", "", Self.text), ("/gzip", "gzip", Self.gzip(Self.text)), ("/raw", "utf-8", Self.text),
                ("/deflate", "deflate", RequestCompressor.compressed(Self.text, .deflate)),
            ] {
                var response = LoopbackResponse.data(body)
                response.headers.set("Content-Encoding", coding)
                server.route(.get, path, answering: response)
            }
            try server.start()
            let transport = try CurlTransport()

            for path in ["/gzip", "/raw", "/gzip", "/plain", "/deflate", "/raw", "/deflate", "/gzip", "/plain"] {
                let url = try #require(RequestURL(server.baseURL + path))
                #expect(try await transport.send(HTTPRequest(url: url)).bytes() == Self.text, "\(path)")
            }
        }
    }
#endif
