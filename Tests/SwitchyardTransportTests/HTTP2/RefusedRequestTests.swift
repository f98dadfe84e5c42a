#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    /// Requests that a server has not processed (RFC 9113 section 8.7).
    @Suite(.timeLimit(.minutes(5)), .prompt) struct RefusedRequestTests {
        /// The signal by which a server refuses a request.
        enum Refusal: String, Sendable, CaseIterable {
            case refusedStream, goAway, http11Required

            /// The frames that refuse a stream.
            func frames(of stream: UInt32) -> [HTTP2Frame] {
                switch self {
                case .refusedStream: [.reset(stream, .refusedStream)]
                case .goAway: [.goAway(last: stream - 1)]
                case .http11Required: [.reset(stream, .http11Required)]
                }
            }
        }

        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        /// A server that refuses all streams from `first` on.
        private func refuse(_ refusal: Refusal, from first: UInt32) throws -> HTTP2Server {
            try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return stream < first ? HTTP2Frame.answer("first", to: stream) : refusal.frames(of: stream)
            }
        }

        @Test(arguments: Refusal.allCases, [HTTPMethod.get, .post, .delete])
        func `a request that was refused on its first connection is sent on a new connection`(
            _ refusal: Refusal,
            _ method: HTTPMethod
        ) async throws {
            let refusing = try refuse(refusal, from: 1)
            let answering = try lab.serveHTTP1("second")
            let relay = try TCPRelay(to: [refusing.url, answering.url])
            let body: HTTPBody = method == .post ? .data(Data("x".utf8)) : .none

            let response = try await lab.send(try lab.request(at: relay.url, method: method, body: body))

            #expect(response.status == 200)
            #expect(relay.connections == 2)
        }

        @Test(arguments: Refusal.allCases, [HTTPMethod.get, .post])
        func `a request that was refused on a kept-alive connection is sent on a new connection`(
            _ refusal: Refusal,
            _ method: HTTPMethod
        ) async throws {
            let refusing = try refuse(refusal, from: 3)
            let answering = try lab.serveHTTP1("second")
            let relay = try TCPRelay(to: [refusing.url, answering.url])
            _ = try await lab.send(try lab.request(at: relay.url))

            let response = try await lab.send(try lab.request(at: relay.url, method: method))

            #expect(try await response.bytes() == Data("second".utf8))
        }

        @Test func `the body limit excludes the bytes of a response that HTTP_1_1_REQUIRED interrupted`() async throws {
            let breaking = try lab.serve { event in
                switch event {
                case .head(let stream, _):
                    [.head([":status": "200"], of: stream), .data("first", of: stream, ends: false), .ping]
                case .pong: [.reset(1, .http11Required)]
                default: []
                }
            }
            let answering = try lab.serveHTTP1("second")
            let relay = try TCPRelay(to: [breaking.url, answering.url])
            var request = try lab.request(at: relay.url)
            request.responseBodyLimit = "second".utf8.count

            let response = try await lab.send(request)

            #expect(try await response.bytes() == Data("second".utf8))
        }

        @Test(arguments: [HTTPBody.data(Data(repeating: 7, count: 200_000)), .pieces([Data("ab".utf8)])])
        func `a refused request with a body sends the body again from its start or fails as not processed`(
            _ body: HTTPBody
        ) async throws {
            let received = Locked(Data())
            let refusing = try lab.serve(window: 1000) { event in
                if case .data(_, let stream, _) = event { Refusal.refusedStream.frames(of: stream) } else { [] }
            }
            let answering = try lab.serve { event in
                guard case .data(let bytes, let stream, let ends) = event else { return [] }
                received.withLock { $0.append(bytes) }
                return ends ? HTTP2Frame.answer("ok", to: stream) : []
            }
            let relay = try TCPRelay(to: [refusing.url, answering.url])

            do {
                _ = try await lab.send(try lab.request(at: relay.url, method: .post, body: body))
                #expect(received.withLock { $0.count } == 200_000)
            } catch let error as TransportError {
                #expect(!error.mayHaveBeenSent)
                #expect(body.length != 200_000)
            }
        }

        @Test(arguments: [Refusal.refusedStream, .goAway])
        func `a request that is refused repeatedly has certainly not been processed`(_ refusal: Refusal) async throws {
            let servers = [try refuse(refusal, from: 1), try refuse(refusal, from: 1), try refuse(refusal, from: 1)]
            let relay = try TCPRelay(to: servers.map(\.url))

            let error = await lab.failure(of: try lab.request(at: relay.url, method: .post))

            #expect(error?.kind == .connectionReset)
            #expect(error?.mayHaveBeenSent == false)
            #expect(relay.connections <= 3)
        }

        @Test func `a GOAWAY applies to every waiting request on the connection`() async throws {
            let waiting = Locked(0)
            let leaving = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                if stream == 1 { return HTTP2Frame.answer("first", to: 1) }
                let count = waiting.withLock { count in
                    count += 1
                    return count
                }
                return count == 3 ? [.goAway(last: 3)] + HTTP2Frame.answer("kept", to: 3) : []
            }
            let answering = (0..<3).map { _ in
                Result {
                    try lab.serve { event in
                        if case .head(let stream, _) = event { HTTP2Frame.answer("new", to: stream) } else { [] }
                    }
                }
            }
            let relay = try TCPRelay(to: [leaving.url] + (try answering.map { try $0.get().url }))
            _ = try await lab.send(try lab.request(at: relay.url))

            let bodies = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<3 {
                    let request = try lab.request(at: relay.url, method: .post)
                    group.addTask { [lab] in String(decoding: try await lab.send(request).bytes(), as: UTF8.self) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(bodies.sorted() == ["kept", "new", "new"])
        }
    }
#endif
