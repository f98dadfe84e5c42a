import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransfers

/// Downloads that fail with one typed error and leave the old file unchanged.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct DownloadFailureTests {
    private let bytes = DownloadLab.bytes(700_000)

    private var content: LoopbackContent { LoopbackContent(bytes, entityTag: "\"v1\"") }

    @Test func `a refused download provides the error body up to its limit and leaves no file`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/film", answering: .text(String(repeating: "no ", count: 50_000), status: 403))

        let failure = try await lab.failure(of: lab.download { $0.errorBodyLimit = 1_000 })

        #expect(failure.reason == .status(403))
        #expect(failure.body.count == 1_000)
        #expect(failure.text.hasPrefix("no no "))
        #expect(failure.headers["Content-Type"] == "text/plain; charset=utf-8")
        #expect(try lab.files.isEmpty)
    }

    @Test func `the partial file of a download is removed after a 410 response`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(of: lab.download())
        lab.server.fault = .status(410)

        let failure = try await lab.failure(of: lab.download())

        #expect(failure.reason == .status(410))
        #expect(try lab.files.isEmpty)
    }

    @Test func `the partial file of a download stays after a transient error response`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(of: lab.download())
        lab.server.fault = .status(503)
        let failure = try await lab.failure(of: lab.download())
        lab.server.fault = nil

        let file = try await lab.client.download(lab.download())

        #expect(failure.reason == .status(503))
        #expect(failure.keptBytes == 300_000)
        #expect(file.resumedBytes == 300_000)
    }

    @Test func `a file above the maximum length is rejected with or without Content-Length`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        let bytes = bytes
        lab.server.route(.get, "/unknown") { _ in .stream { try await $0.write(bytes) } }

        let announced = try await lab.failure(of: lab.download { $0.maximumLength = 699_999 })
        let unknown = try await lab.failure(
            of: lab.download {
                $0.request.path = "unknown"
                $0.maximumLength = 100_000
            }
        )

        #expect(announced.transportKind == .bodyTooLarge)
        #expect(unknown.transportKind == .bodyTooLarge)
        #expect(try lab.files.isEmpty)
    }

    @Test func `a destination without write permission is a typed error before a request is sent`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        let locked = lab.folder.appendingPathComponent("locked")
        try FileManager.default.createDirectory(
            at: locked,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o555]
        )
        // Root may write anywhere except in folders that the kernel protects.
        let place = getuid() == 0 ? URL(fileURLWithPath: "/sys") : locked

        let failure = try await lab.failure(
            of: lab.download { $0.destination = .file(place.appendingPathComponent("film.mov")) }
        )

        #expect(failure.fileReason == .noPermission)
        #expect(lab.server.requests.isEmpty)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `a full disk ends a download with a typed error`() throws {
        let descriptor = open("/dev/full", O_WRONLY)
        try #require(descriptor >= 0)
        let file = PartialFile(descriptor: descriptor, path: "/dev/full")

        #expect(throws: FileFailure(path: "/dev/full", reason: .diskFull)) { try file.append(Data(count: 10)) }
    }

    @Test func `every errno value maps to a reason of a file failure`() {
        let table: [(Int32, FileFailure.Reason)] = [
            (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EFBIG, .tooLarge), (EACCES, .noPermission),
            (EPERM, .noPermission), (EROFS, .noPermission), (EISDIR, .isDirectory), (ENOENT, .directoryMissing),
            (ENOTDIR, .directoryMissing), (EEXIST, .exists), (EWOULDBLOCK, .busy),
        ]
        for (code, reason) in table { #expect(FileFailure(errno: code, path: "f").reason == reason) }
        #expect(FileFailure(errno: EIO, path: "f").description.contains("f"))
    }

    @Test func `the errno of a file error is found inside Foundation's error types`() throws {
        let lab = try DownloadLab()
        let long = lab.folder.appendingPathComponent(String(repeating: "n", count: 300))
        let missing = lab.folder.appendingPathComponent("missing/record.json")
        let record = ResumeRecord(source: "", path: "/film", validator: .entityTag("\"v1\""))
        let reason = FileFailure(errno: ENAMETOOLONG, path: "").reason

        #expect(throws: FileFailure(path: long.path, reason: reason)) { try FileFailure.makeDirectory(long) }
        #expect(throws: FileFailure(path: missing.path, reason: .directoryMissing)) { try record.write(to: missing) }
    }

    #if os(Linux)
        @Test(.startsProcess) func `a full disk leaves the old file, and the download resumes later`() async throws {
            await #expect(processExitsWith: .success) {
                let lab = try DownloadLab()
                let bytes = DownloadLab.bytes(700_000)
                lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))
                try Data("old".utf8).write(to: lab.target)
                let download = lab.download { $0.existingFile = .replace }
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 300_000, rlim_max: rlim_t.max)
                try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)

                let failure = try await lab.failure(of: download)
                #expect(failure.fileReason == .tooLarge)
                #expect(failure.keptBytes == 300_000)
                #expect(try lab.content == Data("old".utf8))

                limit.rlim_cur = rlim_t.max
                try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let file = try await lab.client.download(download)
                #expect(file.resumedBytes == 300_000)
                #expect(try lab.content == bytes)
            }
        }

        @Test(.startsProcess) func `a process that is killed in the middle of a body loses no written bytes`()
            async throws
        {
            let lab = try DownloadLab()
            lab.serve(content)
            lab.server.fault = .drip(bytes: 20_000, every: .milliseconds(2))
            let port = lab.server.port
            let target = lab.target.path

            await #expect(processExitsWith: .signal(SIGKILL)) { [port = port as UInt16, target = target as String] in
                let server = try Server(name: "primary", baseURLs: [.test: ServerURL("http://127.0.0.1:\(port)")])
                let service = try Service(name: "loopback", servers: [server], defaultEnvironment: .test)
                let client = try NetworkClient(service: service)
                let destination = DownloadDestination.file(URL(fileURLWithPath: target))
                _ = try await client.download(DownloadConfiguration(path: "film", to: destination)) { report in
                    if report.completed >= 200_000 { kill(getpid(), SIGKILL) }
                }
            }
            lab.server.fault = nil
            let file = try await lab.client.download(lab.download())

            #expect(file.resumedBytes >= 200_000)
            #expect(file.resumedBytes + file.receivedBytes == 700_000)
            #expect(try lab.content == bytes)
            #expect(try lab.files == ["film.mov"])
        }
    #endif

    @Test func `the timeout of a call limits its whole download`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .drip(bytes: 1, every: .milliseconds(20))

        let failure = try await lab.failure(of: lab.download { $0.request.timeout = .milliseconds(500) })

        #expect(failure.reason == .request(.deadlineExceeded))
    }

    @Test func `a 206 response that is longer than its range is rejected`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(of: lab.download())
        lab.server.fault = nil
        let bytes = bytes
        lab.server.route(.get, "/film") { _ in
            var answer = LoopbackResponse.stream(status: 206) { try await $0.write(bytes) }
            answer.headers = ["Content-Range": "bytes 300000-699999/700000", "ETag": "\"v1\""]
            return answer
        }

        let failure = try await lab.failure(of: lab.download())

        guard case .lengthMismatch(announced: 700_000, actual: let actual) = failure.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect(actual > 700_000)
        #expect(try lab.files.isEmpty)
    }

    @Test func `a server with an unusable Content-Range is asked for the range a limited number of times`() async throws
    {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(of: lab.download())
        lab.server.fault = nil
        lab.server.route(
            .get,
            "/film",
            answering: LoopbackResponse(
                status: 206,
                headers: ["Content-Range": "bytes 1-2/3"],
                body: .data(Data(count: 2))
            )
        )

        let failure = try await lab.failure(of: lab.download())

        guard case .unusableRange = failure.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect(lab.server.requests.count == 3)
        #expect(try lab.files.isEmpty)
    }

    @Test func `releasing the client cancels its downloads`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .drip(bytes: 1_000, every: .milliseconds(100))
        let begun = AsyncStream.makeStream(of: Void.self)
        var scoped: NetworkClient? = lab.client.scoped()

        let failure = await withCheckedContinuation { continuation in
            let queue = DispatchQueue(label: "test.released")
            scoped?.download(lab.download(), on: queue) { _ in
                begun.continuation.yield()
            } completion: { result in
                continuation.resume(returning: result)
            }
            Task { [client = scoped] in
                for await _ in begun.stream { break }
                _ = client
            }
            scoped = nil
        }

        guard case .failure(let error) = failure else {
            Issue.record("expected a cancellation")
            return
        }
        #expect(error.isCancellation)
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `a shutdown ends active downloads and rejects later downloads`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .drip(bytes: 1_000, every: .milliseconds(5))

        let failure = try await lab.failure(of: lab.download()) { _ in lab.client.shutdown() }
        let later = try await lab.failure(of: lab.download())

        #expect(failure.reason == .request(.closed))
        #expect(later.reason == .request(.closed))
    }

    @Test func `a request ID that is in use is rejected`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .drip(bytes: 1_000, every: .milliseconds(100))
        let id = RequestID()
        let second = Recorder<RequestFailure.Reason?>()
        let done = AsyncStream.makeStream(of: Void.self)

        async let first: Void = {
            _ = try? await lab.client.download(lab.download(), id: id) { _ in done.continuation.yield() }
        }()
        for await _ in done.stream { break }
        #expect(lab.client.activeRequests == [id])
        do throws(DownloadFailure) {
            _ = try await lab.client.download(lab.download(), id: id)
        } catch {
            if case .request(let reason) = error.reason { second.record(reason) }
        }
        lab.client.cancel(id)
        await first

        #expect(second.values == [.duplicateID])
    }

    @Test func `an invalid request fails before a file is written`() async throws {
        let lab = try DownloadLab()

        let failure = try await lab.failure(of: lab.download { $0.request.path = "a\r\nb" })

        guard case .request(.invalidRequest) = failure.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect(try lab.files.isEmpty)
    }

    @Test func `the description of a failure hides the password of the URL`() async throws {
        let lab = try DownloadLab()
        lab.server.fault = .status(404)
        var download = lab.download()
        download.request.path = "http://me:topsecret@127.0.0.1:\(lab.server.port)/film"

        let failure = try await lab.failure(of: download)

        #expect(failure.description.contains("/film"))
        #expect(!failure.description.contains("topsecret"))
    }
}
