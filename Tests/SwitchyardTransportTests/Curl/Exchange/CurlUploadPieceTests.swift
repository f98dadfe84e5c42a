#if os(Linux)
    import Foundation
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    @testable import SwitchyardClient
    @testable import SwitchyardTransport

    /// The chunks of a body that is generated while it is sent.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlUploadPieceTests {
        @Test func `the next chunk of an upload is read only after libcurl has taken the previous chunk`() async throws
        {
            let pieces = [Data("one".utf8), Data("two".utf8), Data("three".utf8)]
            let upload = try CurlUpload(HTTPBody.Stream(length: nil) { PiecesReader(pieces) })
            let (deliveries, wishes) = AsyncStream.makeStream(of: String.self)
            let deliver = { (wish: String) -> @Sendable (Result<Data?, TransportError>) -> Void in
                { piece in
                    let text = (try? piece.get()).map { String(decoding: $0, as: UTF8.self) }
                    wishes.yield("\(wish): \(text ?? "-")")
                }
            }
            var given = deliveries.makeAsyncIterator()

            upload.readNext(deliver: deliver("first"))
            #expect(await given.next() == "first: one")
            // The transfer has run out of data meanwhile and asks again for the chunk that is being read.
            upload.readNext(deliver: deliver("early"))
            upload.hasTaken()
            upload.readNext(deliver: deliver("second"))

            #expect(await given.next() == "second: two")
        }
    }
#endif
