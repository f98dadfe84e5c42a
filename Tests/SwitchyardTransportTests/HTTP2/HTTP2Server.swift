import SwitchyardFixtures

#if os(Linux)
    import Foundation
    import Glibc

    /// A server of one connection that sends the HTTP/2 frames of the test.
    ///
    /// The `openssl` command handles TLS.
    final class HTTP2Server {
        /// An event from the client.
        enum Event: Sendable {
            /// The head of a request, whose fields are ignored.
            ///
            /// The request ends with it if it has no body.
            case head(stream: UInt32, ends: Bool)
            case data(Data, stream: UInt32, ends: Bool)
            case reset(stream: UInt32)
            /// The client has read all frames before a ``HTTP2Frame/ping``.
            case pong
        }

        /// Returns the frames to send, or `nil` to close the connection.
        typealias Handler = @Sendable (Event) -> [HTTP2Frame]?

        private let process: ChildCommand
        /// The URL of the server.
        let url: String

        /// Starts a server.
        ///
        /// - Parameters:
        ///   - certificates: The certificates of the lab.
        ///   - window: The initial window for each body.
        ///   - streams: The maximum number of concurrent requests, or `nil` for no limit.
        ///   - sendsSettings: Whether the server sends its settings when a client has connected. If `false`, the handler
        ///     must send ``HTTP2Frame/greeting(window:streams:)``.
        ///   - handler: The handler of the client's events.
        /// - Throws: An error if the command does not start.
        init(
            _ certificates: Certificates,
            window: UInt32 = 1 << 20,
            streams: UInt32? = nil,
            sendsSettings: Bool = true,
            _ handler: @escaping Handler
        ) throws {
            // A socket, because writing to a closed pipe ends the process.
            var ends: [Int32] = [0, 0]
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw TLSServer.NoPort() }
            let input = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
            defer { close(ends[1]) }
            let launch = try TLSLaunch()
            process = try ChildCommand(
                launch.command + [
                    "-naccept", "1", "-alpn", "h2",
                    "-cert", certificates.certificate(.good).path, "-key", certificates.key(.good).path,
                ],
                input: ends[1]
            )
            url = "https://127.0.0.1:\(try launch.port(in: process.output))/"
            let greeting = sendsSettings ? HTTP2Frame.greeting(window: window, streams: streams) : []
            let conversation = Conversation(
                output: process.output,
                input: input,
                greeting: greeting,
                handler: handler
            )
            Thread.detachNewThread { conversation.run() }
        }
    }

    /// The frames of a connection in both directions.
    private struct Conversation: Sendable {
        /// The bytes that the command has decrypted.
        let output: FileHandle
        /// The bytes that the command is to encrypt.
        let input: FileHandle
        let greeting: [HTTP2Frame]
        let handler: HTTP2Server.Handler

        /// The connection preface of a client (RFC 9113 section 3.4).
        private static let preface = Data("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

        func run() {
            guard var received = awaitPreface() else { return }
            send(greeting)
            while true {
                while let frame = HTTP2Frame(takenFrom: &received) {
                    guard let answer = answer(to: frame) else {
                        shutdown(input.fileDescriptor, Int32(SHUT_WR))
                        return
                    }
                    send(answer)
                }
                let bytes = output.availableData
                guard !bytes.isEmpty else { return }
                received.append(bytes)
            }
        }

        /// Skips the command's own output about the handshake, and returns the bytes after the preface.
        private func awaitPreface() -> Data? {
            var received = Data()
            while true {
                if let preface = received.range(of: Self.preface) { return Data(received[preface.upperBound...]) }
                let bytes = output.availableData
                guard !bytes.isEmpty else { return nil }
                received.append(bytes)
            }
        }

        private func answer(to frame: HTTP2Frame) -> [HTTP2Frame]? {
            switch frame.kind {
            // The first frame of a server must not acknowledge settings.
            case .settings where !frame.hasFirstFlag && !greeting.isEmpty:
                [HTTP2Frame(kind: .settings, flags: HTTP2Frame.acknowledges)]
            case .ping where frame.hasFirstFlag: handler(.pong)
            case .headers: handler(.head(stream: frame.stream, ends: frame.hasFirstFlag))
            case .data: handler(.data(frame.payload, stream: frame.stream, ends: frame.hasFirstFlag))
            case .resetStream: handler(.reset(stream: frame.stream))
            default: []
            }
        }

        private func send(_ frames: [HTTP2Frame]) {
            let bytes = frames.reduce(into: Data()) { $0.append($1.bytes) }
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                    let count = Glibc.send(input.fileDescriptor, start, rest.count, Int32(MSG_NOSIGNAL))
                    guard count > 0 else { return }  // The client has closed the connection.
                    rest = rest.dropFirst(count)
                }
            }
        }
    }
#endif
