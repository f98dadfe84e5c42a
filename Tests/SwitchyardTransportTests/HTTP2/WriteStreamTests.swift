#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    /// A write over HTTP/2 is sent again only if its server has certainly not processed it.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct WriteStreamTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        /// A server that counts the requests it reads, and answers them.
        private func counting(_ count: Locked<Int>) throws -> HTTP2Server {
            try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                count.withLock { $0 += 1 }
                return HTTP2Frame.answer("second", to: stream)
            }
        }

        private func post(to url: String, _ count: Int = 100_000) throws -> HTTPRequest {
            try lab.request(at: url, method: .post, body: .data(Data(repeating: 7, count: count)))
        }

        @Test(arguments: [true, false])
        func `a write whose stream is reset with NO_ERROR after its response is not sent again`(
            isMeasured: Bool
        ) async throws {
            let first = try lab.serve(window: 1000) { event in
                guard case .head(let stream, _) = event else { return [] }
                let answer =
                    isMeasured
                    ? HTTP2Frame.measuredAnswer("done", to: stream, status: 200) : HTTP2Frame.answer("done", to: stream)
                return answer + [.reset(stream, .none)]
            }
            let again = Locked(0)
            let relay = try TCPRelay(to: [first.url, try counting(again).url])

            do {
                let response = try await lab.send(try post(to: relay.url))
                #expect(try await response.bytes() == Data("done".utf8))
            } catch let error as TransportError {
                // libcurl 7.88 loses a response that arrives together with the reset.
                #expect(error.mayHaveBeenSent)
            }
            #expect(again.withLock { $0 } == 0)
        }

        /// The end of a connection after a goodbye that includes the request.
        enum After: CaseIterable { case answers, hangsUp, resets, refuses }

        @Test(arguments: After.allCases, [true, false])
        func `a write whose stream is included in a GOAWAY frame is not sent again`(
            after: After,
            isKept: Bool
        ) async throws {
            let again = Locked(0)
            let first = try lab.serve { event in
                switch event {
                case .head(1, true): return HTTP2Frame.answer("first", to: 1)
                case .head(let stream, _): return [.goAway(last: stream)]
                case .data(_, let stream, let ends):
                    switch after {
                    case .answers: return ends ? HTTP2Frame.measuredAnswer("done", to: stream, status: 200) : []
                    case .hangsUp: return nil
                    case .resets: return [.reset(stream, .internalError)]
                    case .refuses: return [.head([":status": "103"], of: stream), .reset(stream, .refusedStream)]
                    }
                default: return []
                }
            }
            let relay = try TCPRelay(to: [first.url, try counting(again).url])
            if isKept { _ = try await lab.send(try lab.request(at: relay.url)) }

            do {
                _ = try await lab.send(try post(to: relay.url))
                #expect(after == .answers)
            } catch let error as TransportError {
                #expect(error.mayHaveBeenSent, "\(error)")
            }
            #expect(again.withLock { $0 } == 0)
        }

        @Test(arguments: [100, 103])
        func `a write that is refused after an interim response is not sent again`(status: Int) async throws {
            for refusal in [
                [HTTP2Frame.reset(1, .refusedStream)], [.goAway(last: 0)],
                [.goAway(last: 0), .reset(1, .refusedStream)],
                [.reset(1, .http11Required)],
            ] {
                let again = Locked(0)
                let first = try lab.serve { event in
                    switch event {
                    case .head(let stream, _): [.head([":status": "\(status)"], of: stream), .ping]
                    case .pong: refusal
                    default: []
                    }
                }
                let relay = try TCPRelay(to: [first.url, try counting(again).url])

                let error = await lab.failure(of: try post(to: relay.url, 10))

                #expect(error?.mayHaveBeenSent == true)
                #expect(again.withLock { $0 } == 0)
            }
        }

        @Test(arguments: [HTTP2Frame.Code.refusedStream, .http11Required, .none, .cancel])
        func `a write whose response is interrupted is not sent again`(code: HTTP2Frame.Code) async throws {
            let again = Locked(0)
            let first = try lab.serve { event in
                switch event {
                case .head(let stream, _):
                    [
                        .head([":status": "200", "content-length": "10"], of: stream),
                        .data("half", of: stream, ends: false), .ping,
                    ]
                case .pong: [.reset(1, code), .goAway(last: 0)]
                default: []
                }
            }
            let relay = try TCPRelay(to: [first.url, try counting(again).url])

            let error = await lab.failure(of: try post(to: relay.url, 10))

            #expect(error?.mayHaveBeenSent == true)
            #expect(again.withLock { $0 } == 0)
        }

        @Test func `a write whose stream is included in two GOAWAY frames is not sent again`() async throws {
            let again = Locked(0)
            let first = try lab.serve { event in
                switch event {
                case .head(1, true): return HTTP2Frame.answer("first", to: 1)
                case .head(let stream, _): return [.goAway(last: 0x7fff_ffff), .goAway(last: stream), .ping]
                case .pong: return nil
                default: return []
                }
            }
            let relay = try TCPRelay(to: [first.url, try counting(again).url])
            _ = try await lab.send(try lab.request(at: relay.url))

            let error = await lab.failure(of: try post(to: relay.url, 10))

            #expect(error?.mayHaveBeenSent == true)
            #expect(again.withLock { $0 } == 0)
        }

        @Test func `a write that is refused and is lost when it is sent again may have been sent`() async throws {
            let again = Locked(0)
            let first = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return [.goAway(last: stream - 1)]
            }
            let second = try lab.serve { event in
                guard case .head = event else { return [] }
                return nil
            }
            let relay = try TCPRelay(to: [first.url, second.url, try counting(again).url])

            let error = await lab.failure(of: try post(to: relay.url, 10))

            #expect(error?.mayHaveBeenSent == true)
            #expect(again.withLock { $0 } == 0)
        }

        @Test(arguments: [421, 425, 503])
        func `a write that gets a 421, 425 or 503 response is not sent again`(status: Int) async throws {
            let again = Locked(0)
            let first = try lab.serve { event in
                guard case .data(_, let stream, true) = event else { return [] }
                return HTTP2Frame.measuredAnswer("no", to: stream, status: status)
            }
            let relay = try TCPRelay(to: [first.url, try counting(again).url])

            let response = try await lab.send(try post(to: relay.url, 10))

            #expect(response.status == status)
            #expect(again.withLock { $0 } == 0)
        }

        @Test func `a write whose connection is lost before the trailers may have been sent`()
            async throws
        {
            let whole = try lab.serve { event in
                guard case .data(_, let stream, true) = event else { return [] }
                return [
                    .head([":status": "200"], of: stream), .data("done", of: stream, ends: false),
                    .head(["x-sum": "1"], of: stream, ends: true),
                ]
            }
            let cut = try lab.serve { event in
                switch event {
                case .data(_, let stream, true):
                    [.head([":status": "200"], of: stream), .data("done", of: stream, ends: false), .ping]
                case .pong: nil
                default: []
                }
            }
            let again = Locked(0)
            let relay = try TCPRelay(to: [cut.url, try counting(again).url])

            let response = try await lab.send(try post(to: whole.url, 10))
            let error = await lab.failure(of: try post(to: relay.url, 10))

            #expect(try await response.bytes() == Data("done".utf8))
            #expect(error?.mayHaveBeenSent == true)
            #expect(again.withLock { $0 } == 0)
        }
    }
#endif
