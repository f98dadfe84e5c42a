#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    /// Exchanges over HTTP/2.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct HTTP2Tests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        @Test func `HTTP/2 requests share a connection, and their responses arrive in any order`() async throws {
            let heads = Locked<[UInt32]>([])
            let server = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                if stream == 1 { return HTTP2Frame.answer("first", to: stream) }
                let waiting = heads.withLock { heads in
                    heads.append(stream)
                    return heads.count == 20 ? heads : []
                }
                return waiting.reversed().flatMap { HTTP2Frame.answer("\($0)", to: $0) }
            }
            // Opens the connection that the others share.
            _ = try await lab.send(try lab.request(to: server))

            let bodies = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    let request = try lab.request(to: server)
                    group.addTask { [lab] in
                        let response = try await lab.send(request)
                        #expect(response.metrics?.networkProtocol == "h2")
                        #expect(response.metrics?.reusedConnection == true)
                        return String(decoding: try await response.bytes(), as: UTF8.self)
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }

            #expect(bodies == Set(heads.withLock { $0 }.map { "\($0)" }))
            #expect(bodies.count == 20)
        }

        @Test func `cancelling a request does not affect the other requests on its connection`() async throws {
            let asked = Latch()
            let wasReset = Locked(false)
            let server = try lab.serve { event in
                switch event {
                case .head(3, _): return [.head([":status": "200"], of: 3)]
                case .head(5, _): asked.open()
                case .reset(5): wasReset.withLock { $0 = true }
                case .head(7, _): return [.data("still here", of: 3)] + HTTP2Frame.answer("last", to: 7)
                case .head(let stream, _): return HTTP2Frame.answer("first", to: stream)
                default: break
                }
                return []
            }
            _ = try await lab.send(try lab.request(to: server))
            let other = try await lab.send(try lab.request(to: server, .stream))
            let doomed = try lab.request(to: server)
            let abandoned = Task { [lab] in try await lab.send(doomed) }
            await asked.wait()

            abandoned.cancel()

            await #expect(throws: TransportError.self) { try await abandoned.value }
            // libcurl 7.88 sends the reset together with the next request.
            #expect(try await lab.send(try lab.request(to: server)).bytes() == Data("last".utf8))
            #expect(try await other.bytes() == Data("still here".utf8))
            #expect(wasReset.withLock { $0 })
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream], [HTTPMethod.get, .head])
        func `a response with a head larger than a frame and without a body is returned`(
            _ delivery: HTTPRequest.Delivery,
            _ method: HTTPMethod
        ) async throws {
            let server = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return HTTP2Frame.longHead(of: stream)
            }

            let response = try await lab.send(try lab.request(to: server, method: method, delivery))

            #expect(response.headers.values(of: "x-long").count == 400)
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `interim heads and trailers do not become part of the response head`(_ delivery: HTTPRequest.Delivery)
            async throws
        {
            let server = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return [
                    .head([":status": "103", "x-from": "hint"], of: stream),
                    .head([":status": "200", "x-from": "head"], of: stream),
                    .data("body", of: stream, ends: false),
                    .head(["x-from": "trailer"], of: stream, ends: true),
                ]
            }

            let response = try await lab.send(try lab.request(to: server, delivery))

            #expect(response.status == 200)
            #expect(response.headers.values(of: "x-from") == ["head"])
            #expect(try await response.bytes() == Data("body".utf8))
        }
    }
#endif
