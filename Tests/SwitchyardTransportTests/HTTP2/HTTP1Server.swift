#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardFixtures

    /// A TLS server of one connection that uses HTTP/1.1 and responds to one request of any method, or to none.
    final class HTTP1Server {
        private let process: ChildCommand
        private let input: FileHandle
        /// The URL of the server.
        let url: String

        convenience init(_ certificates: Certificates, answering text: String) throws {
            try self.init(certificates)
            // The command sends the response when the handshake is complete.
            let fields = "Content-Length: \(text.utf8.count)\r\nConnection: close"
            input.write(Data("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(text)".utf8))
        }

        /// Reads the head of a request, calls `read`, and closes the connection.
        convenience init(_ certificates: Certificates, hangingUpAfter read: @escaping @Sendable () -> Void) throws {
            try self.init(certificates)
            let (output, input) = (process.output, input)
            Thread.detachNewThread {
                var received = Data()
                while received.range(of: Data(" HTTP/1.1\r\n".utf8)) == nil {
                    let bytes = output.availableData
                    guard !bytes.isEmpty else { return }
                    received.append(bytes)
                }
                read()
                try? input.close()
            }
        }

        private init(_ certificates: Certificates) throws {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw TLSServer.NoPort() }
            // Another server that is started meanwhile would keep the connection open.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            input = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
            defer { close(ends[0]) }
            let launch = try TLSLaunch()
            process = try ChildCommand(
                launch.command + [
                    "-naccept", "1",
                    "-cert", certificates.certificate(.good).path, "-key", certificates.key(.good).path,
                ],
                input: ends[0]
            )
            url = "https://127.0.0.1:\(try launch.port(in: process.output))/"
        }
    }
#endif
