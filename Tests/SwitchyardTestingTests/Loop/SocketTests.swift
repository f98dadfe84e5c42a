#if os(Linux)
    import Foundation
    import SwitchyardFixtures
    import Testing

    @testable import SwitchyardTesting

    @Suite struct SocketTests {
        @Test func `a closed listening socket accepts no connections although its descriptor was duplicated`() throws {
            let (descriptor, port) = try UnchosenPort.first { port in
                do { return try Socket.listen(port: port, backlog: 8) } catch LoopbackError.portInUse { return nil }
            }
            let copy = dup(descriptor)
            defer { Socket.close(copy) }

            Socket.stopListening(descriptor)
            Socket.close(descriptor)

            #expect(throws: RawSocket.Failure.refused) { try RawSocket(port: port) }
        }
    }
#endif
