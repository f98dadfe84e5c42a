#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import SwitchyardTransport
    import Testing

    /// A connection to a host with an IPv6 address that does not respond (RFC 8305).
    @Suite(.timeLimit(.minutes(5)), .prompt) struct HappyEyeballsTests {
        /// An IPv6 socket that listens on `port` and whose queue is full, so that the system drops each further SYN.
        private final class BlackHole {
            private var descriptors: [Int32] = []

            init(port: UInt16) throws {
                let kind = Int32(SOCK_STREAM.rawValue)
                let listener = socket(AF_INET6, kind, 0)
                descriptors.append(listener)
                var one: Int32 = 1
                setsockopt(listener, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size))
                try #require(Self.call(bind, listener, port) == 0)
                try #require(listen(listener, 0) == 0)
                for _ in 0..<4 {
                    let client = socket(AF_INET6, kind | Int32(SOCK_NONBLOCK.rawValue), 0)
                    descriptors.append(client)
                    _ = Self.call(connect, client, port)
                }
            }

            deinit {
                for descriptor in descriptors { close(descriptor) }
            }

            /// Calls `bind` or `connect` with the loopback address.
            private static func call(
                _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
                _ descriptor: Int32,
                _ port: UInt16
            ) -> Int32 {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_addr = in6addr_loopback
                address.sin6_port = port.bigEndian
                return withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                    }
                }
            }
        }

        @Test func `a host whose IPv6 address does not respond is reached over IPv4 within 300 ms`() async throws {
            let server = LoopbackServer()
            server.route(.get, "/text", answering: .text("hello"))
            try server.start()
            defer { server.stop() }
            let hole = try BlackHole(port: UInt16(server.port))
            defer { withExtendedLifetime(hole) {} }
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [
                .init(host: "two.example", port: Int(server.port), addresses: ["::1", "127.0.0.1"])
            ]
            let request = HTTPRequest(url: try #require(RequestURL("http://two.example:\(server.port)/text")))

            // On a busy machine, a single attempt may be late.
            var shortest = Duration.seconds(60)
            for _ in 0..<20 where shortest >= .milliseconds(300) {
                let transport = try CurlTransport(configuration: configuration)
                defer { transport.shutdown() }
                let start = ContinuousClock.now
                #expect(try await transport.send(request).status == 200)
                shortest = min(shortest, ContinuousClock.now - start)
            }

            // The IPv6 address is tried first, so the connection takes libcurl's delay of 200 ms.
            #expect(shortest > .milliseconds(150) && shortest < .milliseconds(300))
        }
    }
#endif
