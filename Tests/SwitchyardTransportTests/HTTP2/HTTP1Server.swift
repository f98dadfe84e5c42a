#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardFixtures

    /// A server of one connection over TLS that speaks HTTP/1.1, and answers one request whatever its method.
    final class HTTP1Server {
        private let process: ChildCommand
        private let input: FileHandle
        /// Where it can be reached.
        let url: String

        init(_ certificates: Certificates, answering text: String) throws {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw TLSServer.NoPort() }
            input = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
            defer { close(ends[0]) }
            process = try ChildCommand(
                [
                    "openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "1",
                    "-cert", certificates.certificate(.good).path, "-key", certificates.key(.good).path,
                ],
                input: ends[0]
            )
            url = "https://127.0.0.1:\(try TLSServer.port(in: process.output))/"
            // The command sends it when the handshake is over.
            input.write(Data("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8))
        }
    }
#endif
