#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// The chunks of a streamed body, whose memory is reused.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlPieceTests {
        private let server = LoopbackServer()
        private let content = Data.pattern(24 << 20)

        init() throws {
            server.route(.get, "/large", answering: .data(content))
            try server.start()
        }

        private func stream() async throws -> HTTPBodyStream {
            let url = try #require(RequestURL(server.baseURL + "/large"))
            let response = try await CurlTransport().send(HTTPRequest(url: url, delivery: .stream))
            guard case .stream(let stream) = response.body else { throw TransportError(.other, message: "no stream") }
            return stream
        }

        @Test func `retained chunks of a body stay unchanged while other chunks arrive`() async throws {
            var pieces: [Data] = []
            for try await piece in try await stream() { pieces.append(piece) }

            #expect(pieces.reduce(into: Data()) { $0.append($1) } == content)
        }

        @Test func `changing a received chunk does not affect later chunks`() async throws {
            var offset = 0
            for try await piece in try await stream() {
                let isRight = piece == content[offset..<offset + piece.count]
                offset += piece.count
                var changed = piece
                changed.resetBytes(in: changed.startIndex..<changed.endIndex)
                changed.append(Data(count: 100_000))
                guard isRight, changed.count == piece.count + 100_000 else { break }
            }

            #expect(offset == content.count)
        }

        @Test func `bodies that their readers abandoned do not affect the bodies that are read`() async throws {
            for _ in 0..<8 {
                let left = try await stream()
                var pieces = left.makeAsyncIterator()
                let kept = try await pieces.next()
                left.cancel()
                #expect(kept.map { $0 == content.prefix($0.count) } == true)
            }
            var count = 0
            for try await piece in try await stream() { count += piece.count }

            #expect(count == content.count)
        }
    }
#endif
