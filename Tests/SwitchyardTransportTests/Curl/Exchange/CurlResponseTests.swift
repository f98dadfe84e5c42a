#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// Responses of a hostile or faulty server, byte by byte.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlResponseTests {
        struct Answer: Sendable, CustomTestStringConvertible {
            let name: String
            let text: String
            var testDescription: String { name }

            init(_ name: String, _ fields: String, _ body: String = "ok", status: String = "HTTP/1.1 200 OK") {
                self.name = name
                text = "\(status)\r\n\(fields.isEmpty ? "" : fields + "\r\n")\r\n\(body)"
            }

            var bytes: Data { Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }) }
        }

        private static let chunked = "Transfer-Encoding: chunked"
        private static let hello = "2\r\nok\r\n0\r\n"

        private func send(_ answer: Answer, _ delivery: HTTPRequest.Delivery) async throws -> (HTTPResponse, Data) {
            let server = LoopbackServer()
            server.fault = .garbage(answer.bytes)
            try server.start()
            let url = try #require(RequestURL(server.baseURL))
            let timeouts = HTTPRequest.Timeouts(total: .seconds(240))
            let response = try await CurlTransport().send(
                HTTPRequest(url: url, timeouts: timeouts, delivery: delivery)
            )
            return (response, try await response.bytes())
        }

        // A body with two contradictory lengths has no defined end (RFC 9112 section 6.3).
        @Test(
            arguments: [
                Answer("two lengths", "Content-Length: 5\r\nContent-Length: 2"),
                Answer("two lengths, the longer last", "Content-Length: 2\r\nContent-Length: 5", "okabc"),
                Answer("a list of two lengths", "Content-Length: 2, 5", "okabc"),
                Answer("a negative length", "Content-Length: -2"),
                Answer("a length with a sign", "Content-Length: +2"),
                Answer("a word for a length", "Content-Length: abc"),
                Answer("a number and a word", "Content-Length: 2x"),
                Answer("a hexadecimal length", "Content-Length: 0x2"),
                Answer("two numbers", "Content-Length: 2 2"),
                Answer("a letter between two equal numbers", "Content-Length: 2x2"),
                Answer("a semicolon between two equal numbers", "Content-Length: 2;2"),
                Answer("no length", "Content-Length: "),
                Answer("a length beyond all numbers", "Content-Length: 99999999999999999999"),
                Answer("a name that is folded away", "X: a\r\nContent-Length:\r\n 2"),
                Answer("a trailer without a colon", chunked, "2\r\nok\r\n0\r\nno trailer\r\n\r\n"),
                Answer("a chunk without an end", chunked, "2\r\nokXX0\r\n\r\n"),
                Answer("a chunk of a negative size", chunked, "-2\r\nok\r\n0\r\n\r\n"),
                Answer("a status of four digits", "Content-Length: 2", status: "HTTP/1.1 2000 OK"),
                Answer("a status below 100", "Content-Length: 2", status: "HTTP/1.1 099 OK"),
                Answer("a version that is none", "Content-Length: 2", status: "HTTP/9.9 200 OK"),
            ],
            [HTTPRequest.Delivery.whole, .stream]
        )
        func `an invalid HTTP response is a protocol violation`(_ answer: Answer, _ delivery: HTTPRequest.Delivery)
            async throws
        {
            await #expect {
                _ = try await send(answer, delivery)
            } throws: {
                ($0 as? TransportError)?.kind == .protocolViolation
            }
        }

        // The rest of the head may decide how the response is used.
        @Test func `a response that ends within its head is an error`() async throws {
            let listener = try TCPListener()
            async let served: Void = listener.serveOne { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say("HTTP/1.1 503 Down\r\nRetry-After: 5\r\n", on: connection)
                RawHTTP.read(1, on: connection)
            }
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let request = HTTPRequest(url: url, timeouts: .init(total: .milliseconds(300)))

            let error = try await CurlTransport().failure(of: request)
            await served

            #expect(error?.kind == .timeout)
        }

        @Test(
            arguments: [
                Answer("one length twice", "Content-Length: 2\r\nContent-Length: 2"),
                Answer("a list of one length", "Content-Length: 2, 2"),
                Answer("chunks count before a length", "Content-Length: 1\r\n" + chunked, hello + "\r\n"),
                Answer("chunks with extensions", chunked, "2;a=\"b\"\r\nok\r\n0;c\r\n\r\n"),
                Answer("no reason", "Content-Length: 2", status: "HTTP/1.1 200"),
                Answer("lower case", "content-length: 2", status: "http/1.1 200 ok"),
                Answer("HTTP 1.0", "", status: "HTTP/1.0 200 OK"),
                Answer("two spaces", "Content-Length: 2", status: "HTTP/1.1  103 A\r\nX: y\r\n\r\nHTTP/1.1  200 OK"),
                Answer("more than announced", "Content-Length: 2", "okabc"),
            ],
            [HTTPRequest.Delivery.whole, .stream]
        )
        func `an unusual but unambiguous HTTP response is accepted`(_ answer: Answer, _ delivery: HTTPRequest.Delivery)
            async throws
        {
            let (response, body) = try await send(answer, delivery)

            #expect(response.status == 200)
            #expect(response.headers["X"] == nil)
            #expect(body == Data("ok".utf8))
        }

        @Test(
            arguments: [
                Answer("a trailer", chunked, hello + "X: y\r\n\r\n"),
                Answer("a trailer that looks like a head", chunked, hello + "HTTP/1.1 404: No\r\nX: y\r\n\r\n"),
                Answer("a trailer that looks like a length", chunked, hello + "Content-Length: 9\r\nX: y\r\n\r\n"),
            ],
            [HTTPRequest.Delivery.whole, .stream]
        )
        func `trailers do not become part of the response head`(_ answer: Answer, _ delivery: HTTPRequest.Delivery)
            async throws
        {
            let (response, body) = try await send(answer, delivery)

            #expect(response.status == 200)
            #expect(response.headers.map(\.name) == ["Transfer-Encoding"])
            #expect(body == Data("ok".utf8))
        }

        @Test func `a carriage return inside the value of a header field is replaced`() async throws {
            let answer = Answer("stray returns", "X: a\rb\r\nETag: \"c\r\"\r\r\nContent-Length: 2")

            let headers = try await send(answer, .whole).0.headers

            #expect(headers["X"] == "a b")
            #expect(headers["ETag"] == "\"c \"")
            #expect(headers.firstInvalidField == nil)
        }

        @Test func `too many interim responses are treated like an oversized head`() async throws {
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
            let answer = Answer(
                "",
                "Content-Length: 2",
                status: String(repeating: interim, count: 4000) + "HTTP/1.1 200 OK"
            )

            await #expect {
                _ = try await send(answer, .whole)
            } throws: {
                ($0 as? TransportError)?.kind == .headersTooLarge
            }
        }

        // libcurl keeps all of them.
        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `too many trailers are treated like an oversized head`(_ delivery: HTTPRequest.Delivery) async throws {
            let trailers = String(repeating: "X: \(String(repeating: "a", count: 1000))\r\n", count: 200)
            let answer = Answer("", Self.chunked, Self.hello + trailers + "\r\n")

            await #expect {
                _ = try await send(answer, delivery)
            } throws: {
                ($0 as? TransportError)?.kind == .headersTooLarge
            }
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `data after the compressed body is a decoding error`(_ delivery: HTTPRequest.Delivery) async throws {
            let server = LoopbackServer()
            server.route(.get, "/", answering: Compressed.response(Compressed.hellos + Data("more".utf8)))
            try server.start()
            let url = try #require(RequestURL(server.baseURL))

            await #expect {
                _ = try await CurlTransport().send(HTTPRequest(url: url, delivery: delivery)).bytes()
            } throws: {
                ($0 as? TransportError)?.kind == .decodingFailed
            }
        }

        // RFC 9110 section 15.2.2: the status is for requests that asked for another protocol.
        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a 101 response that was not requested ends the exchange immediately`(_ delivery: HTTPRequest.Delivery)
            async throws
        {
            let listener = try TCPListener()
            async let talk: Void = listener.serveOne { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", on: connection)
                var byte: UInt8 = 0
                while read(connection, &byte, 1) > 0 {}
            }
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))

            await #expect {
                _ = try await CurlTransport().send(HTTPRequest(url: url, delivery: delivery))
            } throws: {
                ($0 as? TransportError)?.kind == .protocolViolation
            }
            await talk
        }
    }
#endif
