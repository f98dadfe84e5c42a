#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// The thread of a transport: its clock, and the descriptors that it watches.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlLoopTests {
        @Test func `the first request of a transport has its whole idle time, however old the transport is`()
            async throws
        {
            let listener = try TCPListener()
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
            async let asked = listener.serveOne { SOCKSRequest.serve($0, answering: answer, wantsCredentials: true) }
            var configuration = CurlTransport.Configuration()
            // A proxy that wants to know who asks: the connection takes several steps, as it does with TLS.
            configuration.proxy = .local(.socks5, listener.port)
            let transport = try CurlTransport(configuration: configuration)
            try await Task.sleep(for: .milliseconds(2100))  // The passing of time is what is tested.

            let url = try #require(RequestURL("http://service.invalid/"))
            let response = try await transport.send(HTTPRequest(url: url, timeouts: .init(idle: .seconds(2))))

            #expect(response.status == 200)
            #expect(await asked.target == "service.invalid:80")
        }

        /// What the descriptors of this process stand for.
        private func descriptors() throws -> [(number: Int32, target: String)] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return Int32(name).flatMap { number in target.map { (number, $0) } }
            }
        }

        @Test func `the file of a body is closed with the end of its exchange`() async throws {
            let folder = try TemporaryFolder.made()
            let file = try folder.file("body", Data.pattern(100_000))
            try await Lab.run(.curl) { lab in
                let response = try await lab.transport.send(try lab.request("/echo", method: .put, body: .file(file)))

                #expect(response.status == 200)
                #expect(try descriptors().allSatisfy { !$0.target.hasPrefix(file.path) })
            }
        }

        /// Whether a descriptor is the client's end of a connection to a port of this machine.
        private func leads(_ descriptor: Int32, to port: UInt16) -> Bool {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
            }
            return status == 0 && UInt16(bigEndian: address.sin_port) == port
        }

        /// Whether an epoll set of this process has the socket with this number of its own.
        private func isWatched(_ inode: Int) throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").contains { name in
                let info = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
                return info?.contains("ino:\(String(inode, radix: 16)) ") == true
            }
        }

        /// Those for events that a program would have as well.
        ///
        /// One that is closed meanwhile, and its number another's, may look so once.
        private func eventDescriptorsPassedOn() throws -> Set<Int32> {
            let events = try descriptors().filter { $0.target.hasPrefix("anon_inode:[event") }
            return Set(events.map(\.number).filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 })
        }

        @Test func `connections are closed in programs that the process starts`() async throws {
            try await Lab.run(.curl) { lab in
                let response = try await lab.get("/text")
                let connections = try descriptors().filter { leads($0.number, to: lab.server.port) }

                #expect(response.status == 200)
                #expect(!connections.isEmpty)
                #expect(connections.allSatisfy { fcntl($0.number, F_GETFD) & FD_CLOEXEC != 0 })
                // Those that watch them; anyone who else has one in this process closes it as well.
                #expect(try eventDescriptorsPassedOn().intersection(eventDescriptorsPassedOn()).isEmpty)
            }
        }

        /// A process that was forked, and has not become another program, has copies of all descriptors.
        @Test func `a connection that someone has a copy of is not watched once it is closed`() async throws {
            try await Lab.run(.curl) { server in
                // No more than is taken without a reader: a transport does not watch what it would have to keep.
                server.route(.get, "/endless") { _ in
                    .stream { writer in
                        try await writer.write(Data(count: 1000))
                        try await Task.sleep(for: .seconds(3600))
                    }
                }
            } _: { lab in
                var copy: Int32 = -1
                var inode = 0
                defer { close(copy) }
                do {
                    let response = try await lab.transport.send(try lab.request("/endless", delivery: .stream))
                    let connection = try #require(try descriptors().first { leads($0.number, to: lab.server.port) })
                    copy = dup(connection.number)
                    inode = try #require(Int(connection.target.filter(\.isNumber)))
                    #expect(try response.status == 200 && isWatched(inode))
                }
                // The next answer shows that the transport has given the stream up before.
                _ = try await lab.get("/text")

                #expect(try !isWatched(inode))
            }
        }
    }
#endif
