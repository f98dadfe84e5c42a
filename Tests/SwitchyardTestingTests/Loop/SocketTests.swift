#if os(Linux)
    import Foundation
    import Testing

    @testable import SwitchyardTesting

    @Suite struct SocketTests {
        @Test func `a closed listening socket accepts no connections although its descriptor was duplicated`() throws {
            let (descriptor, port) = try UnchosenPort.first { try Socket.listen(port: $0, backlog: 8) }
            let copy = dup(descriptor)
            defer { Socket.close(copy) }

            Socket.stopListening(descriptor)
            Socket.close(descriptor)

            #expect(throws: RawSocket.Failure.refused) { try RawSocket(port: port) }
        }
    }
#endif
