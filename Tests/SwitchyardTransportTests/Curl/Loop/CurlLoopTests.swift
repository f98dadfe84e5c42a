#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// The thread of a transport: its clock and the descriptors that it polls.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlLoopTests {
        @Test func `the first request has its whole idle timeout even if its transport was created long before`()
            async throws
        {
            let listener = try TCPListener()
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
            async let asked = listener.serveOne { SOCKSRequest.serve($0, answering: answer, wantsCredentials: true) }
            var configuration = CurlTransport.Configuration()
            // A proxy that requires credentials. Connecting takes several steps, as it does with TLS.
            configuration.proxy = .local(.socks5, listener.port)
            let transport = try CurlTransport(configuration: configuration)
            try await Task.sleep(for: .milliseconds(2100))  // The delay is part of the test.

            let url = try #require(RequestURL("http://service.invalid/"))
            let response = try await transport.send(HTTPRequest(url: url, timeouts: .init(idle: .seconds(2))))

            #expect(response.status == 200)
            #expect(await asked.target == "service.invalid:80")
        }

        /// The targets of this process's descriptors.
        private func descriptors() throws -> [(number: Int32, target: String)] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return Int32(name).flatMap { number in target.map { (number, $0) } }
            }
        }

        @Test func `the file of a body is closed when its exchange ends`() async throws {
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

        /// Whether an epoll set of this process contains the socket with this inode.
        private func isWatched(_ inode: Int) throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").contains { name in
                let info = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
                return info?.contains("ino:\(String(inode, radix: 16)) ") == true
            }
        }

        /// The event descriptors that a child process would inherit.
        ///
        /// A descriptor that is closed and reused meanwhile may appear here once.
        private func eventDescriptorsPassedOn() throws -> Set<Int32> {
            let events = try descriptors().filter { $0.target.hasPrefix("anon_inode:[event") }
            return Set(events.map(\.number).filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 })
        }

        @Test func `connections are not inherited by child processes`() async throws {
            try await Lab.run(.curl) { lab in
                let response = try await lab.get("/text")
                let connections = try descriptors().filter { leads($0.number, to: lab.server.port) }

                #expect(response.status == 200)
                #expect(!connections.isEmpty)
                #expect(connections.allSatisfy { fcntl($0.number, F_GETFD) & FD_CLOEXEC != 0 })
                // The descriptors that poll them. All other event descriptors of this process have the flag too.
                #expect(try eventDescriptorsPassedOn().intersection(eventDescriptorsPassedOn()).isEmpty)
            }
        }

        /// A forked process that has not called exec has copies of all descriptors.
        @Test func `a closed connection is no longer polled even if a copy of its descriptor stays open`() async throws
        {
            try await Lab.run(.curl) { server in
                // Less than the transport buffers without a reader, because it does not poll a connection while its
                // buffer is full.
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
                // The next response shows that the transport has already closed the stream.
                _ = try await lab.get("/text")

                #expect(try !isWatched(inode))
            }
        }
    }
#endif
