#if os(Linux)
    import Foundation
    import Switchyard

    /// A benchmark of the first requests of a client to a TLS server, with and without waiting for the first
    /// connection.
    ///
    /// Each burst uses a new transport, so that it has no connection. The server delays each handshake.
    struct SharingBenchmark {
        var calls = 32
        var isJSON = false
        /// The number of bursts of each contender for each server.
        var rounds = 21

        func run() async throws {
            var sheet = FigureSheet(isJSON: isJSON)
            for version in HandshakeServer.Version.allCases {
                for delay in [1, 30, 150] {
                    let server = try HandshakeServer(version, delay: delay)
                    try await measure(server, "\(version.rawValue), handshake after \(delay) ms", &sheet)
                }
            }
            try sheet.finish()
        }

        private func measure(_ server: HandshakeServer, _ title: String, _ sheet: inout FigureSheet) async throws {
            let contenders = [false, true]
            var times: [Bool: [Double]] = [:]
            var opened: [Bool: [Double]] = [:]
            for round in 0..<rounds {
                for waits in round.isMultiple(of: 2) ? contenders : contenders.reversed() {
                    let calls = try await burst(to: server, waits: waits)
                    times[waits, default: []] += calls.map(\.milliseconds)
                    opened[waits, default: []].append(Double(calls.count { $0.opensConnection }))
                }
            }
            for waits in contenders {
                let name = waits ? "waits" : "does not wait"
                let sorted = times[waits, default: []].sorted()
                sheet.add(title, "\(name), 50th percentile", sorted[sorted.count / 2], "ms")
                sheet.add(title, "\(name), 99th percentile", sorted[sorted.count * 99 / 100], "ms")
                sheet.add(title, "\(name), connections", Spread(opened[waits, default: []]), "")
            }
        }

        private struct Call: Sendable {
            var milliseconds: Double
            var opensConnection: Bool
        }

        private func burst(to server: HandshakeServer, waits: Bool) async throws -> [Call] {
            var configuration = CurlTransport.Configuration()
            configuration.tls = TLSConfiguration(trustRoots: .file(server.authority))
            configuration.waitsForMultiplexing = waits
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let request = HTTPRequest(url: server.url)
            let start = ContinuousClock.now
            return try await withThrowingTaskGroup(of: Call.self) { group in
                for _ in 0..<calls {
                    group.addTask {
                        let response = try await transport.send(request)
                        return Call(
                            milliseconds: (ContinuousClock.now - start) / .milliseconds(1),
                            opensConnection: response.metrics?.reusedConnection == false
                        )
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
    }

    /// A TLS server that delays each handshake, in a child process of Node.js.
    private final class HandshakeServer {
        enum Version: String, CaseIterable {
            case http2 = "HTTP/2"
            case http1 = "HTTP/1.1"
        }

        let url: RequestURL
        /// The file of the server's certificate, which is self-signed.
        let authority: URL
        private let folder: URL
        private let process = Process()

        private static let script = """
            const [version, delay, key, cert] = process.argv.slice(1)
            const read = require("fs").readFileSync
            const options = { key: read(key), cert: read(cert) }
            const respond = (_, response) => response.end("ok")
            const server = version === "HTTP/2"
              ? require("http2").createSecureServer(options, respond) : require("https").createServer(options, respond)
            const listener = require("net").createServer({ pauseOnConnect: true }, (socket) => {
              socket.setNoDelay(true)
              setTimeout(() => server.emit("connection", socket), Number(delay))
            })
            listener.listen(0, "127.0.0.1", () => console.log(listener.address().port))
            """

        init(_ version: Version, delay: Int) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "handshakes-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let (key, certificate) = (folder.appending(path: "key.pem"), folder.appending(path: "certificate.pem"))
            authority = certificate
            let subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
            let kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            let environment = URL(fileURLWithPath: "/usr/bin/env")
            try ChildProcess.run(
                environment,
                arguments: ["openssl"] + kind + subject + ["-keyout", key.path, "-out", certificate.path]
            )
            let output = Pipe()
            process.executableURL = environment
            process.arguments = ["node", "-e", Self.script, version.rawValue, "\(delay)", key.path, certificate.path]
            process.standardOutput = output
            try process.run()
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)),
                let url = RequestURL("https://127.0.0.1:\(port)/")
            else { throw BenchmarkError("node printed \"\(line)\" instead of its port") }
            self.url = url
        }

        deinit {
            process.terminate()
            try? FileManager.default.removeItem(at: folder)
        }
    }
#endif
