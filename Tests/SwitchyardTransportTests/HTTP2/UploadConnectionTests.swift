#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTransport
    import Testing

    /// The HTTP/2 connections on which bodies are sent that cannot be sent again.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct UploadConnectionTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        /// A server that responds to the end of each request.
        private func serve() throws -> HTTP2Server {
            try lab.serve { event in
                switch event {
                case .head(let stream, true), .data(_, let stream, true): HTTP2Frame.answer("ok", to: stream)
                default: []
                }
            }
        }

        private static let upload = HTTPBody.stream(
            HTTPBody.Stream(length: nil) { PiecesReader([.pattern(1_000)]) }
        )

        @Test func `a streamed upload does not use a connection whose server has not announced its stream limit`()
            async throws
        {
            let isOpen = Latch()
            let busy = try lab.serve(sendsSettings: false) { event in
                switch event {
                case .head(1, _):
                    isOpen.open()
                    return []
                // The refusal arrives after the body has been read, which cannot be read again.
                case .data(_, let stream, _):
                    return HTTP2Frame.greeting(window: 1 << 20, streams: 1) + [.reset(stream, .refusedStream)]
                default: return []
                }
            }
            let next = try serve()
            let relay = try TCPRelay(to: [busy.url, next.url])
            let get = try lab.request(at: relay.url)
            let waiting = Task { [lab] in try await lab.send(get) }
            defer { waiting.cancel() }
            await isOpen.wait()

            let response = try await lab.send(try lab.request(at: relay.url, method: .post, body: Self.upload))

            #expect(response.status == 200)
        }

        @Test func `a streamed upload uses a connection on which its server has responded`() async throws {
            let servers = [try serve(), try serve()]
            let relay = try TCPRelay(to: servers.map(\.url))
            _ = try await lab.send(try lab.request(at: relay.url))

            let response = try await lab.send(try lab.request(at: relay.url, method: .post, body: Self.upload))

            #expect(response.status == 200)
            #expect(relay.connections == 1)
        }
    }
#endif
