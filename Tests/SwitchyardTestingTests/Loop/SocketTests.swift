#if os(Linux)
    import Foundation
    import Testing

    @testable import SwitchyardTesting

    @Suite struct SocketTests {
        @Test func `a queue that was ended takes no connections, though its descriptor was copied`() throws {
            let (descriptor, port) = try UnchosenPort.first { try Socket.listen(port: $0, backlog: 8) }
            let copy = dup(descriptor)
            defer { Socket.close(copy) }

            Socket.stopListening(descriptor)
            Socket.close(descriptor)

            #expect(throws: RawSocket.Failure.refused) { try RawSocket(port: port) }
        }
    }
#endif
