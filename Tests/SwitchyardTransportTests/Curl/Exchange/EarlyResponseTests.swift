#if os(Linux)
    import Foundation
    import SwitchyardFixtures
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardTransport

    /// Responses before the end of the body, in an exchange whose handle has been used for another one.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct EarlyResponseTests {
        private func request(
            to listener: TCPListener,
            _ body: @escaping @Sendable () -> any HTTPBodyReader
        ) throws -> HTTPRequest {
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let stream = HTTPBody.Stream(length: nil, makeReader: body)
            let timeouts = HTTPRequest.Timeouts(total: .seconds(60))
            return HTTPRequest(method: .post, url: url, body: .stream(stream), timeouts: timeouts)
        }

        @Test func `an upload that follows a rejected upload fails when the server closes the connection`() async throws
        {
            let listener = try TCPListener()
            let transport = try CurlTransport()
            let latch = Latch()
            defer { latch.open() }
            let upload = try request(to: listener) { WaitingReader(latch) }
            async let refusal: Void = listener.serveOne { connection in
                _ = RawHTTP.request(on: connection)
                RawHTTP.say("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno", on: connection)
            }
            #expect(try await transport.send(upload).status == 413)
            await refusal

            async let end: Void = listener.serveOne { _ = RawHTTP.request(on: $0) }
            await #expect { _ = try await transport.send(upload) } throws: {
                ($0 as? TransportError)?.kind == .connectionReset
            }
            await end
        }
    }
#endif
