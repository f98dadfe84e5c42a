#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    @testable import SwitchyardTransport

    /// Bytes that a server sends on an idle connection are not the response to the next request (RFC 9112 section 9.2).
    @Suite(.timeLimit(.minutes(5)), .prompt) struct UnsolicitedBytesTests {
        /// The first request and its response, and the bytes that arrive later without a request.
        struct Sample: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var method = HTTPMethod.get
            let answer: String
            let late: String

            init(_ name: String, method: HTTPMethod = .get, behind answer: String = Sample.named, _ late: String) {
                (testDescription, self.method, self.answer, self.late) = (name, method, answer, late)
            }

            static let named = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"name\":\"x\"}"
        }

        static let samples = [
            Sample("another answer", Sample.named),
            Sample("the end of another answer", "}"),
            Sample("an empty line", "\r\n"),
            Sample("408", "HTTP/1.0 408 Request Time-out\r\nConnection: close\r\n\r\n"),
            Sample("an interim response", "HTTP/1.1 103 Early Hints\r\n\r\n"),
            Sample("a body behind 204", behind: "HTTP/1.1 204 No Content\r\n\r\n", "late"),
            Sample("a body behind 304", behind: "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", "late"),
            Sample("a body behind HEAD", method: .head, behind: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "late"),
            Sample(
                "bytes behind chunks",
                behind: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                "2\r\nok\r\n"
            ),
        ]

        private static let expected = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nright"

        /// Responds, sends unsolicited bytes when signalled, and waits for the client to close.
        private static func serve(_ sample: Sample, on connection: Int32, after isAnswered: DispatchSemaphore) {
            _ = RawHTTP.request(on: connection)
            RawHTTP.say(sample.answer, on: connection)
            isAnswered.wait()
            RawHTTP.say(sample.late, on: connection)
            var byte: UInt8 = 0
            while read(connection, &byte, 1) > 0 {}
        }

        @Test(arguments: samples, [HTTPMethod.get, .post])
        func `unexpected bytes on an idle connection close it, and the next request opens a new connection`(
            _ sample: Sample,
            _ next: HTTPMethod
        ) async throws {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let isAnswered = DispatchSemaphore(value: 0)
            async let talk: Void = listener.serveOne { Self.serve(sample, on: $0, after: isAnswered) }

            _ = try await transport.send(HTTPRequest(method: sample.method, url: url))
            isAnswered.signal()
            await talk
            async let answer: Void = listener.serveOne { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say(Self.expected, on: connection)
            }
            let response = try await transport.send(HTTPRequest(method: next, url: url))
            await answer

            #expect(response.status == 200)
            #expect(try await response.bytes() == Data("right".utf8))
        }

        /// libcurl then only waits to send, so the connection is not read when the upload is complete.
        @Test
        func `a connection whose response arrived before the end of the upload is also checked for unexpected bytes`()
            async throws
        {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let (body, isAnswered) = (Data(count: 8 << 20), DispatchSemaphore(value: 0))
            async let talk = listener.serveOne { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say(Sample.named, on: connection)
                RawHTTP.read(body.count, on: connection)
                isAnswered.wait()
                RawHTTP.say(Sample.named, on: connection)
                return dup(connection)  // Stays open, because a closed connection would be noticed anyway.
            }

            _ = try await transport.send(HTTPRequest(method: .post, url: url, body: .data(body)))
            isAnswered.signal()
            let held = await talk
            defer { close(held) }
            async let answer: Void = listener.serveOne { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say(Self.expected, on: connection)
            }
            let response = try await transport.send(HTTPRequest(method: .post, url: url))
            await answer

            #expect(try await response.bytes() == Data("right".utf8))
        }

        // libcurl does not report a reused connection if the response fills the window in the call that sends the
        // request.
        @Test func `a response that fills the stream buffer while its request is sent is received completely`()
            async throws
        {
            let listener = try TCPListener()
            var configuration = CurlTransport.Configuration()
            configuration.streamBufferSize = 16 << 10
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let (count, text) = (Rounds.count(500, thorough: 2_500), String(repeating: "x", count: 100_000))
            async let served: Void = listener.serveOne { connection in
                for _ in 0..<count {
                    _ = RawHTTP.request(on: connection)
                    RawHTTP.say("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n" + text, on: connection)
                }
            }

            for _ in 0..<count {
                let response = try await transport.send(HTTPRequest(url: url, delivery: .stream))
                #expect(try await response.bytes().count == text.utf8.count)
            }
            await served
        }

        @Test func `a write succeeds although the server closes the idle connection`() async throws {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))

            for _ in 0..<Rounds.count(20, thorough: 1_000) {
                async let answer: Void = listener.serveOne { connection in
                    _ = RawHTTP.request(on: connection)
                    RawHTTP.say(Sample.named, on: connection)
                    RawHTTP.end(connection)
                }
                #expect(try await transport.send(HTTPRequest(method: .post, url: url)).status == 200)
                await answer
            }
        }

        /// A child process that is being started briefly has copies of all descriptors of this process.
        @Test func `a write succeeds even if child processes start while the server closes the idle connection`()
            async throws
        {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let hasEnded = Locked(false)
            defer { hasEnded.withLock { $0 = true } }
            Thread.detachNewThread {
                while hasEnded.withLock({ !$0 }) { _ = try? ChildCommand(["true"]).wait() }
            }

            for _ in 0..<Rounds.count(100, thorough: 1_000) {
                async let answer: Void = listener.serveOne { connection in
                    _ = RawHTTP.request(on: connection)
                    RawHTTP.say(Sample.named, on: connection)
                    RawHTTP.end(connection)
                }
                #expect(try await transport.send(HTTPRequest(method: .post, url: url)).status == 200)
                await answer
            }
        }

        // The rule must not cost a connection without unsolicited bytes.
        @Test func `a connection without unsolicited bytes is reused`() async throws {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            async let talk: Void = listener.serveOne { connection in
                for _ in 0..<5 {
                    _ = RawHTTP.request(on: connection)
                    RawHTTP.say(Sample.named, on: connection)
                }
            }

            for number in 0..<5 {
                let response = try await transport.send(HTTPRequest(method: .post, url: url))
                #expect(response.metrics?.reusedConnection == (number > 0))
            }
            await talk
        }

        // A connection that is paused because of a slow reader is not idle, whatever the server sends meanwhile.
        @Test func `a connection with a slow reader is not closed when data arrives`() async throws {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let count = 8 << 20
            async let talk: Void = listener.serveOne { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n", on: connection)
                let piece = [UInt8](repeating: 7, count: 1 << 20)
                for _ in 0..<8 {
                    var sent = 0
                    while sent < piece.count {
                        let more = piece[sent...].withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
                        guard more > 0 else { return }
                        sent += more
                    }
                }
            }

            let response = try await transport.send(HTTPRequest(url: url, delivery: .stream))
            guard case .stream(let body) = response.body else { return #expect(Bool(false)) }
            var received = 0
            for try await piece in body {
                received += piece.count
                await Task.yield()
            }
            await talk

            #expect(received == count)
        }
    }
#endif
