#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardFixtures
    import Testing

    @testable import SwitchyardTesting

    @Suite struct SocketTests {
        @Test func `a closed listening socket accepts no connections even if its descriptor was duplicated`() throws {
            let (descriptor, port) = try UnchosenPort.first { port in
                do { return try Socket.listen(port: port, backlog: 8) } catch LoopbackError.portInUse { return nil }
            }
            let copy = dup(descriptor)
            defer { Socket.close(copy) }

            Socket.stopListening(descriptor)
            Socket.close(descriptor)

            #expect(throws: RawSocket.Failure.refused) { try RawSocket(port: port) }
        }

        @Test func `a connection ends when it is closed even if its descriptor was duplicated`() throws {
            let (client, server) = try connection()
            let copy = dup(server)
            defer { for descriptor in [client, copy] { Socket.close(descriptor) } }

            Socket.end(server)

            #expect(received(by: client) == .ended)
        }

        @Test func `a connection is reset even if its descriptor was duplicated`() throws {
            let (client, server) = try connection()
            let copy = dup(server)
            defer { for descriptor in [client, copy] { Socket.close(descriptor) } }

            Socket.reset(server)

            #expect(received(by: client) == .failed(ECONNRESET))
        }

        private func connection() throws -> (client: Int32, server: Int32) {
            let (listener, port) = try UnchosenPort.first { port in
                do { return try Socket.listen(port: port, backlog: 8) } catch LoopbackError.portInUse { return nil }
            }
            defer { Socket.close(listener) }
            let client = try #require(Socket.connect(port: port))
            var poll = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            try #require(Glibc.poll(&poll, 1, 10_000) == 1)
            guard case .connection(let server, _) = Socket.accept(on: listener) else {
                throw RawSocket.Failure.refused
            }
            return (client, server)
        }

        /// What a socket receives within ten seconds.
        private func received(by descriptor: Int32) -> Socket.Transfer {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = Glibc.poll(&poll, 1, 10_000)
            return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) {
                Socket.receive(descriptor, into: $0)
            }
        }
    }
#endif
