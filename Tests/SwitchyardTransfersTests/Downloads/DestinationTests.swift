import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Destinations of downloads and obstacles at the destination.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct DestinationTests {
    private let bytes = DownloadLab.bytes(100_000)

    private func lab(headers: HTTPHeaders = [:]) throws -> DownloadLab {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, entityTag: "\"v1\"", headers: headers))
        return lab
    }

    @Test func `an existing file is kept and no request is sent unless the app allows replacing the file`() async throws
    {
        let lab = try lab()
        try Data("old".utf8).write(to: lab.target)

        let failure = try await lab.failure(of: lab.download())

        #expect(failure.fileReason == .exists)
        #expect(
            "\(failure)" == "download of film: the file “\(lab.target.path)” exists already and must not be replaced"
        )
        #expect(lab.server.requests.isEmpty)
        #expect(try lab.content == Data("old".utf8))
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `the description of a failed download hides the secrets of its URL`() async throws {
        let lab = try lab()
        try Data("old".utf8).write(to: lab.target)
        let secret = DownloadConfiguration(path: "http://me:hush@127.0.0.1/film?token=hush", to: .file(lab.target))
        let failure = try await lab.failure(of: secret)
        lab.client.shutdown()
        let closed = try await lab.failure(of: lab.download())

        #expect("\(failure)".hasPrefix("download of http://***@127.0.0.1/film: the file"))
        #expect("\(closed)".hasPrefix("download of film: "))
    }

    @Test func `the old file at the destination stays until the download is complete`() async throws {
        let lab = try lab()
        try Data("old".utf8).write(to: lab.target)
        let download = lab.download { $0.existingFile = .replace }
        lab.server.fault = .truncate(after: 50_000)
        _ = try await lab.failure(of: download)
        #expect(try lab.content == Data("old".utf8))
        lab.server.fault = nil
        let seen = Recorder<Data?>()

        _ = try await lab.client.download(download) { _ in seen.record(try? lab.content) }

        #expect(try lab.content == bytes)
        #expect(seen.values.dropLast().allSatisfy { $0 == Data("old".utf8) })
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `a downloaded file that is placed next to an existing file gets a number in its name`() async throws {
        let lab = try lab()
        try Data("old".utf8).write(to: lab.target)
        let download = lab.download { $0.existingFile = .makeUnique }

        let second = try await lab.client.download(download)
        let third = try await lab.client.download(download)

        #expect(second.url.lastPathComponent == "film 2.mov")
        #expect(third.url.lastPathComponent == "film 3.mov")
        #expect(try lab.content == Data("old".utf8))
        #expect(try Data(contentsOf: third.url) == bytes)
    }

    @Test func `a missing destination directory is an error unless the download may create it`() async throws {
        let lab = try lab()
        let deep = lab.folder.appendingPathComponent("a/b/c.mov")

        let failure = try await lab.failure(of: lab.download { $0.destination = .file(deep) })
        let file = try await lab.client.download(
            lab.download {
                $0.destination = .file(deep)
                $0.createsDirectories = true
            }
        )

        #expect(failure.fileReason == .directoryMissing)
        #expect(try Data(contentsOf: file.url) == bytes)
    }

    @Test func `a closure chooses the destination of a download from the response`() async throws {
        let lab = try lab(headers: ["X-Kind": "film"])
        let folder = lab.folder
        let temporary = Recorder<URL>()
        let wholes = Recorder<Data>()

        let file = try await lab.client.download(
            lab.download {
                $0.destination = .custom { url, answer in
                    temporary.record(url)
                    wholes.record(try Data(contentsOf: url))
                    return folder.appendingPathComponent(answer.headers["X-Kind"] ?? "?")
                }
            }
        )

        #expect(file.url.lastPathComponent == "film")
        #expect(wholes.values == [bytes])
        #expect(try Data(contentsOf: file.url) == bytes)
        #expect(temporary.values.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })
    }

    @Test func `an error of the destination closure ends the download and leaves no file`() async throws {
        struct No: Error {}
        let lab = try lab()
        let temporary = Recorder<URL>()

        let failure = try await lab.failure(
            of: lab.download {
                $0.destination = .custom { url, _ in
                    temporary.record(url)
                    throw No()
                }
            }
        )

        #expect(failure.reason == .destination("No()"))
        let place = try #require(temporary.values.first)
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test func `a file in a directory has the server's suggested name, or the name from the URL`() async throws {
        let named = try lab(headers: ["Content-Disposition": #"attachment; filename="../../Ein Film.mov""#])
        let plain = try lab()

        let first = try await named.client.download(named.download { $0.destination = .directory(named.folder) })
        let second = try await plain.client.download(plain.download { $0.destination = .directory(plain.folder) })

        #expect(first.url == named.folder.appendingPathComponent("Ein Film.mov"))
        #expect(second.url == plain.folder.appendingPathComponent("film"))
        #expect(try Data(contentsOf: first.url) == bytes)
    }

    @Test func `a destination closure can reject a file whose digest is wrong`() async throws {
        struct Damaged: Error {}
        let lab = try lab()
        let target = lab.target
        try Data("old".utf8).write(to: target)
        func download(_ digest: Data) -> DownloadConfiguration {
            lab.download {
                $0.existingFile = .replace
                $0.destination = .custom { url, _ in
                    guard try MessageDigest.sha256(ofFile: url) == digest else { throw Damaged() }
                    return target
                }
            }
        }

        let failure = try await lab.failure(of: download(MessageDigest.sha256(bytes.dropLast())))
        let before = try lab.content
        _ = try await lab.client.download(download(MessageDigest.sha256(bytes)))

        #expect(failure.reason == .destination("Damaged()"))
        #expect(before == Data("old".utf8))
        #expect(try lab.content == bytes)
    }

    @Test func `a download to a standard directory uses the directory of the current user`() throws {
        let standard = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)

        guard case .directory(let url) = DownloadDestination.suggested(in: .cachesDirectory) else {
            Issue.record("no directory")
            return
        }

        #expect(url == standard)
    }

    @Test func `a suggested file name cannot leave the directory, even if its slashes are joined to other characters`()
        async throws
    {
        let name = "a%2F%E2%80%8D..%2F%E2%80%8D..%2F%E2%80%8Dcaught"
        let lab = try lab(headers: ["Content-Disposition": "attachment; filename*=UTF-8''\(name)"])
        let folder = lab.folder.appendingPathComponent("in")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("a"),
            withIntermediateDirectories: true
        )

        let file = try await lab.client.download(lab.download { $0.destination = .directory(folder) })

        #expect(file.url.path == folder.appendingPathComponent("caught").path)
        #expect(try lab.files == ["in"])
    }

    @Test func `a complete file that waits for its destination keeps the file name that the server suggested`()
        async throws
    {
        let lab = try lab()
        let bytes = bytes
        lab.server.route(.get, "/film") { request in
            var answer = LoopbackContent(bytes, entityTag: "\"v1\"").response(to: request)
            if answer.status == 200 { answer.headers.set("Content-Disposition", "attachment; filename=Ein.mov") }
            return answer
        }
        try Data("old".utf8).write(to: lab.folder.appendingPathComponent("Ein.mov"))
        let download = lab.download { $0.destination = .directory(lab.folder) }
        let failure = try await lab.failure(of: download)
        var again = download
        again.existingFile = .makeUnique

        let file = try await lab.client.download(again)

        #expect(failure.fileReason == .exists)
        #expect(file.receivedBytes == 0)
        #expect(file.url.lastPathComponent == "Ein 2.mov")
    }

    @Test func `a download without a destination goes to a temporary file`() async throws {
        let lab = try lab()

        let file = try await lab.client.download(DownloadConfiguration(path: "film"))

        #expect(file.url.path.hasPrefix(FileManager.default.temporaryDirectory.path))
        #expect(try Data(contentsOf: file.url) == bytes)
        try FileManager.default.removeItem(at: file.url)
    }

    @Test func `a failed temporary download leaves no file`() async throws {
        let lab = try lab()
        let place = lab.folder.appendingPathComponent("tmp")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        lab.server.fault = .truncate(after: 50_000)

        let failure = try await lab.failure(
            of: lab.download {
                $0.destination = .temporary
                $0.partialDirectory = place
                $0.isResumable = false
            }
        )

        #expect(failure.keptBytes == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
    }

    @Test func `a directory at the destination is a typed error before a request is sent`() async throws {
        let lab = try lab()
        try FileManager.default.createDirectory(at: lab.target, withIntermediateDirectories: true)

        let failure = try await lab.failure(of: lab.download { $0.existingFile = .replace })

        #expect(failure.fileReason == .isDirectory)
        #expect(lab.server.requests.isEmpty)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `a file that cannot be moved to its destination is a failure with an event`() async throws {
        let lab = try lab()
        let target = lab.target
        let events = Recorder<DownloadEvent>()
        let download = lab.download {
            $0.existingFile = .replace
            $0.onEvent = { event in
                events.record(event)
                // Creates the obstacle after the check before the start.
                if case .began = event {
                    try? FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
                }
            }
        }

        let failure = try await lab.failure(of: download)

        #expect(failure.fileReason == .isDirectory)
        #expect(events.values.last == .moveFailed(FileFailure(path: target.path, reason: .isDirectory)))
        #expect(failure.keptBytes == 100_000)

        try FileManager.default.removeItem(at: target)
        let file = try await lab.client.download(lab.download { $0.onEvent = { events.record($0) } })

        #expect(file.receivedBytes == 0)
        #expect(events.values.last == .moved(target))
        #expect(try lab.content == bytes)
    }

    @Test func `a second download to the same destination fails while the first is active`() async throws {
        let lab = try lab()
        let (bytes, gate) = (bytes, AsyncStream.makeStream(of: Void.self))
        lab.server.route(.get, "/film") { _ in
            .stream(length: bytes.count) { writer in
                try await writer.write(bytes.prefix(50_000))
                for await _ in gate.stream { break }
                try await writer.write(bytes.dropFirst(50_000))
            }
        }
        let download = lab.download()
        let begun = AsyncStream.makeStream(of: Void.self)

        async let first = lab.client.download(download) { _ in begun.continuation.yield() }
        for await _ in begun.stream { break }
        let failure = try await lab.failure(of: download)
        gate.continuation.yield()
        _ = try await first

        #expect(failure.fileReason == .busy)
        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `a destination that is not a file URL is rejected`() async throws {
        let lab = try lab()
        let url = try #require(URL(string: "http://example.com/film"))

        let failure = try await lab.failure(of: lab.download { $0.destination = .file(url) })

        #expect(failure.fileReason == .notAFileURL)
        #expect(lab.server.requests.isEmpty)
    }

    #if canImport(Glibc)
        // Two folders on one device between which rename fails; only root can create them.
        @Test(.enabled(if: geteuid() == 0 && BindMount.isAllowed))
        func `a file is moved to another mount of the same device`() async throws {
            let lab = try lab()
            let kept = lab.folder.appendingPathComponent("kept")
            try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: false)
            let mount = try BindMount(of: kept)
            defer { mount.end() }

            for rule in [ExistingFileRule.refuse, .replace, .makeUnique] {
                let file = try await lab.client.download(
                    lab.download {
                        $0.existingFile = rule
                        $0.partialDirectory = kept
                    }
                )

                #expect(try Data(contentsOf: file.url) == bytes)
            }
            #expect(try lab.files == ["film 2.mov", "film.mov", "kept"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: kept.path).isEmpty)
        }
    #endif
}

#if canImport(Glibc)
    /// A folder that is mounted over itself, which makes it another mount of the same device.
    private struct BindMount {
        private let path: String

        init(of folder: URL) throws {
            path = folder.path
            // MS_BIND
            guard Glibc.mount(path, path, nil, 4_096, nil) == 0 else { throw POSIXError(.EPERM) }
        }

        func end() {
            umount(path)
        }

        /// Whether this process may create mounts.
        static var isAllowed: Bool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mount-\(UUID().uuidString)")
            try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            guard let mount = try? BindMount(of: folder) else { return false }
            mount.end()
            return true
        }
    }
#endif
