#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTransport
    import Testing

    /// The data that a TLS server sends, and how its connections end.
    @Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct TLSConnectionTests {
        /// A TLS server that sends the text of a test: the `openssl` command, fed through a pipe.
        private final class Server {
            private let process: ChildCommand
            private let input: Int32
            private let heard = Locked("")
            let url: RequestURL
            private let certificates: Certificates

            init(_ certificates: Certificates, options: [String] = []) throws {
                self.certificates = certificates
                var ends: [Int32] = [0, 0]
                try #require(pipe(&ends) == 0)
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                let identity = [
                    "-cert", certificates.certificate(.good).path, "-key", certificates.key(.good).path,
                ]
                let launch = try TLSLaunch()
                process = try ChildCommand(launch.command + identity + options, input: ends[0])
                close(ends[0])
                input = ends[1]
                let port = try launch.port(in: process.output)
                url = try #require(RequestURL("https://127.0.0.1:\(port)/"))
            }

            deinit { close(input) }

            func transport() throws -> any Transport {
                try Transports.systemDefault(tls: TLSConfiguration(trustRoots: .file(certificates.authority)))
            }

            func say(_ text: String) {
                _ = text.withCString { write(input, $0, strlen($0)) }
            }

            /// Waits until the command has written one of the texts after the previous match.
            ///
            /// Returns `false` if it ended.
            func hears(_ texts: String...) async -> Bool {
                let (output, heard) = (process.output, heard)
                // A read blocks its thread, and the threads of tasks are few.
                return await withCheckedContinuation { continuation in
                    Thread.detachNewThread {
                        continuation.resume(returning: heard.withLock { Self.reads(output, into: &$0, until: texts) })
                    }
                }
            }

            private static func reads(_ output: FileHandle, into heard: inout String, until texts: [String]) -> Bool {
                while true {
                    if let range = texts.compactMap({ heard.range(of: $0) }).first {
                        heard = String(heard[range.upperBound...])
                        return true
                    }
                    let bytes = output.availableData
                    guard !bytes.isEmpty else { return false }
                    heard += String(decoding: bytes, as: UTF8.self)
                }
            }

            /// Kills the command as in a crash.
            ///
            /// Its connections end without a TLS closure alert.
            func die() { process.kill() }
        }

        private static let named = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright"

        /// Sends a request that the server responds to with a text, on its own thread because it blocks.
        private func send(
            _ server: Server,
            on transport: any Transport,
            answering text: String = named
        ) async throws -> HTTPResponse {
            let request = HTTPRequest(url: server.url, timeouts: .init(total: .seconds(240)))
            async let response = transport.send(request)
            #expect(await server.hears("\r\n\r\n"))
            server.say(text)
            return try await response
        }

        /// Options of the command for TLS versions.
        ///
        /// Version 1.3 sends unsolicited session tickets.
        private static let versions = [["-tls1_3"], ["-tls1_2"]]

        @Test func `a TLS connection is reused with and without session tickets`() async throws {
            let certificates = try Certificates.ready()
            for version in Self.versions {
                let server = try Server(certificates, options: version)
                let transport = try server.transport()

                for number in 0..<4 {
                    let response = try await send(server, on: transport)
                    #expect(response.metrics?.reusedConnection == (number > 0))
                }
            }
        }

        @Test func `unexpected bytes on an idle TLS connection close the connection`() async throws {
            let certificates = try Certificates.ready()
            for version in Self.versions {
                try await endIdleConnection(to: Server(certificates, options: version))
            }
        }

        private func endIdleConnection(to server: Server) async throws {
            let transport = try server.transport()
            _ = try await send(server, on: transport)

            server.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
            #expect(await server.hears("DONE\n", "ERROR\n"))
            let response = try await send(server, on: transport)

            #expect(try await response.bytes() == Data("right".utf8))
            #expect(response.metrics?.reusedConnection == false)
        }

        // RFC 9112 section 9.8.
        @Test func `a response body that ends without a TLS closure alert is reported as truncated`() async throws {
            let certificates = try Certificates.ready()
            for head in [
                "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n",
            ] {
                try await cut(Server(certificates), behind: head)
            }
        }

        private func cut(_ server: Server, behind head: String) async throws {
            let transport = try server.transport()
            let (arrivals, arrival) = AsyncStream<Void>.makeStream()
            let request = HTTPRequest(url: server.url, timeouts: .init(total: .seconds(240)))
            async let outcome = withCheckedContinuation { continuation in
                _ = transport.start(request) { progress in
                    if progress.direction == .download, progress.completed >= 4 { arrival.yield() }
                } completion: {
                    continuation.resume(returning: $0)
                }
            }

            #expect(await server.hears("\r\n\r\n"))
            server.say(head + "half")
            for await _ in arrivals { break }
            server.die()

            let result = await outcome
            #expect { try result.get() } throws: { ($0 as? TransportError)?.kind == .truncated }
        }
    }
#endif
