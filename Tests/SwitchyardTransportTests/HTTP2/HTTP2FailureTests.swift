#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import Testing

    /// Streams and connections that end early.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct HTTP2FailureTests {
        private let lab: HTTP2Lab

        init() throws {
            lab = try HTTP2Lab()
        }

        // libcurl before 8.1 does not report a reset without an error in the middle of a body.
        @Test(
            arguments: [HTTP2Frame.Code.internalError, .cancel, .enhanceYourCalm],
            [HTTPRequest.Delivery.whole, .stream]
        )
        func `a body whose stream is reset before its end is reported as truncated`(
            _ code: HTTP2Frame.Code,
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let server = try lab.serve { event in
                switch event {
                case .head(let stream, _):
                    [.head([":status": "200"], of: stream), .data("part", of: stream, ends: false), .ping]
                case .pong: [.reset(1, code)]
                default: []
                }
            }

            #expect(await lab.failure(of: try lab.request(to: server, delivery))?.kind == .truncated)
        }

        @Test(arguments: [HTTP2Frame.Code.internalError, .cancel, .enhanceYourCalm])
        func `a stream that is reset before its response head is a lost connection`(_ code: HTTP2Frame.Code)
            async throws
        {
            let server = try lab.serve { event in
                if case .head(let stream, _) = event { [.reset(stream, code)] } else { [] }
            }

            let error = await lab.failure(of: try lab.request(to: server))

            #expect(error?.kind == .connectionReset)
            #expect(error?.mayHaveBeenSent == true)
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a connection that ends before the response head is a lost connection`(_ delivery: HTTPRequest.Delivery)
            async throws
        {
            let server = try lab.serve { event in
                if case .head = event { nil } else { [] }
            }

            let error = await lab.failure(
                of: try lab.request(to: server, method: .post, body: .data(Data("x".utf8)), delivery)
            )

            #expect(error?.kind == .connectionReset)
            #expect(error?.mayHaveBeenSent == true)
        }

        @Test func `a request whose stream is above the last stream ID of a GOAWAY was certainly not sent`()
            async throws
        {
            let server = try lab.serve { event in
                guard case .head(let stream, _) = event else { return [] }
                return stream == 1 ? HTTP2Frame.answer("first", to: 1) : [.goAway(last: 1)]
            }
            _ = try await lab.send(try lab.request(to: server))

            // The request is sent again, but the server accepts no further connection.
            let error = await lab.failure(of: try lab.request(to: server, method: .post))

            #expect(error?.mayHaveBeenSent == false)
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `a body whose connection ends early is reported as truncated`(_ delivery: HTTPRequest.Delivery)
            async throws
        {
            let server = try lab.serve { event in
                switch event {
                case .head(let stream, _):
                    [.head([":status": "200"], of: stream), .data("part", of: stream, ends: false), .ping]
                case .pong: nil
                default: []
                }
            }

            #expect(await lab.failure(of: try lab.request(to: server, delivery))?.kind == .truncated)
        }
    }
#endif
