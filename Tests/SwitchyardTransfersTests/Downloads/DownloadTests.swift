import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Downloads without faults.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct DownloadTests {
    private let bytes = DownloadLab.bytes(700_000)

    @Test func `a downloaded file is complete, and no temporary file stays`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))

        let file = try await lab.client.download(lab.download())

        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov"])
        #expect(file.url == lab.target)
        #expect(file.length == 700_000)
        #expect(file.receivedBytes == 700_000)
        #expect(file.resumedBytes == 0)
        #expect(file.answer.status == 200)
        #expect(file.context.server == "primary")
    }

    @Test func `the progress of a download rises and ends with all bytes`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        let reports = Recorder<TransferProgress>()

        _ = try await lab.client.download(lab.download()) { reports.record($0) }

        let counts = reports.values.map(\.completed)
        #expect(counts == counts.sorted())
        #expect(counts.first == 0)
        #expect(reports.values.last == TransferProgress(direction: .download, completed: 700_000, total: 700_000))
        #expect(reports.values.allSatisfy { $0.direction == .download })
    }

    @Test(arguments: [0, 100_000, 700_000]) func `a download reports no progress value twice`(_ count: Int) async throws
    {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes.prefix(count)))
        let reports = Recorder<TransferProgress>()

        _ = try await lab.client.download(lab.download()) { reports.record($0) }

        let total = Int64(count)
        #expect(reports.values.last == TransferProgress(direction: .download, completed: total, total: total))
        #expect(zip(reports.values, reports.values.dropFirst()).allSatisfy { $0 != $1 })
        #expect(reports.values.count { $0.fraction == 1 } <= 1)
    }

    @Test func `a saved response reports no progress value twice`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        lab.server.route(.get, "/nothing") { _ in .text("") }
        let reports = Recorder<TransferProgress>()
        let ofNothing = Recorder<TransferProgress>()

        let answer = try await lab.client.stream(APIConfiguration(path: "film"))
        _ = try await answer.save(to: lab.target) { reports.record($0) }
        let nothing = try await lab.client.stream(APIConfiguration(path: "nothing"))
        _ = try await nothing.save(to: lab.folder.appendingPathComponent("nothing")) { ofNothing.record($0) }

        #expect(reports.values.last?.completed == 700_000)
        #expect(reports.values.count { $0.fraction == 1 } == 1)
        #expect(ofNothing.values == [TransferProgress(direction: .download, completed: 0, total: 0)])
    }

    @Test func `if the total is unknown, the fraction of a download's progress is nil until it is 1 at the end`()
        async throws
    {
        let lab = try DownloadLab()
        lab.server.route(.get, "/film") { [bytes] _ in
            .stream { writer in
                try await writer.write(bytes.prefix(100_000))
                try await writer.write(bytes.dropFirst(100_000))
            }
        }
        let reports = Recorder<TransferProgress>()

        _ = try await lab.client.download(lab.download()) { reports.record($0) }

        let fractions = reports.values.map(\.fraction)
        #expect(fractions.dropLast().allSatisfy { $0 == nil })
        #expect(fractions.last == 1)
        #expect(try lab.content == bytes)
    }

    @Test func `the completion form of a download calls back on its queue and reports progress before the end`()
        async throws
    {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        let queue = DispatchQueue(label: "test.downloads")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let calls = Recorder<(isOnQueue: Bool, isEnd: Bool)>()

        let result = await withCheckedContinuation { continuation in
            lab.client.download(lab.download(), on: queue) { _ in
                calls.record((DispatchQueue.getSpecific(key: key) ?? false, false))
            } completion: { result in
                calls.record((DispatchQueue.getSpecific(key: key) ?? false, true))
                continuation.resume(returning: result)
            }
        }

        #expect(try result.get().length == 700_000)
        #expect(calls.values.allSatisfy { $0.isOnQueue })
        #expect(calls.values.last?.isEnd == true)
        #expect(calls.values.filter { $0.isEnd }.count == 1)
    }

    @Test func `an empty response body becomes an empty file`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(Data(), entityTag: "\"v1\""))

        let file = try await lab.client.download(lab.download())

        #expect(file.length == 0)
        #expect(try lab.content.isEmpty)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `a download is never served from the cache and asks for no compression`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))
        let download = lab.download {
            $0.request.cacheLifetime = .seconds(60)
            $0.existingFile = .replace
        }

        _ = try await lab.client.download(download)
        _ = try await lab.client.download(download)

        #expect(lab.server.requests.count == 2)
        #expect(lab.server.requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
    }

    @Test func `a POST can be downloaded to a file`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.post, "/report", answering: .data(bytes))
        let request = APIConfiguration(path: "report", method: .post, body: .json(["year": 2026]))

        _ = try await lab.client.download(DownloadConfiguration(request, to: .file(lab.target)))

        #expect(try lab.content == bytes)
        #expect(lab.server.requests.first?.text == #"{"year":2026}"#)
    }

    @Test func `a cancelled download fails even if all of its bytes have arrived`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/report", answering: .data(bytes))
        let request = APIConfiguration(path: "report")
        let id = RequestID()

        let failure = await #expect(throws: DownloadFailure.self) {
            try await lab.client.download(DownloadConfiguration(request, to: .file(lab.target)), id: id) { report in
                if report.direction == .download { lab.client.cancel(id) }
            }
        }

        #expect(failure?.isCancellation == true)
        #expect(!FileManager.default.fileExists(atPath: lab.target.path))
    }

    @Test func `a POST that downloads a file can be cancelled`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.post, "/report", answering: .data(bytes))
        lab.server.fault = .drip(bytes: 20_000, every: .milliseconds(5))
        let request = APIConfiguration(path: "report", method: .post, body: .json(["year": 2026]))
        let id = RequestID()

        let failure = await #expect(throws: DownloadFailure.self) {
            try await lab.client.download(DownloadConfiguration(request, to: .file(lab.target)), id: id) { report in
                if report.direction == .download, report.completed > 100_000 { lab.client.cancel(id) }
            }
        }

        #expect(failure?.isCancellation == true)
        #expect(!FileManager.default.fileExists(atPath: lab.target.path))
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `if the app sets a Range header field, the file contains the partial response as it arrives`()
        async throws
    {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))

        let file = try await lab.client.download(lab.download { $0.request.headers["Range"] = "bytes=10-19" })

        #expect(try lab.content == bytes[10..<20])
        #expect(file.answer.status == 206)
    }

    @Test func `the timeout of a configuration rule limits the whole download`() async throws {
        let lab = try DownloadLab()
        let (asked, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        lab.server.route(.get, "/film") { _ in
            .stream { writer in
                try await writer.write("one")
                asked.continuation.yield()
                for await _ in gate.stream { break }
            }
        }
        let clock = ManualClock()
        let client = try NetworkClient(service: .loopback(lab.servers), time: clock)
        defer { client.shutdown() }
        client.rules.add("/**") { $0.timeout = .seconds(5) }
        let download = lab.download()
        let task = Task { try await client.download(download) }
        for await _ in asked.stream { break }

        clock.advance(by: .seconds(5))

        let failure = await #expect(throws: DownloadFailure.self) { try await task.value }
        #expect(failure?.reason == .request(.deadlineExceeded))
        gate.continuation.finish()
    }

    @Test func `a download completes its path with the client's request generator`() async throws {
        var options = NetworkClient.Options(seed: 1)
        options.generator.join = .relative
        options.generator.transforms = [{ $0.pathValues = ["name": "film"] }]
        let lab = try DownloadLab(options: options)
        lab.serve(LoopbackContent(DownloadLab.bytes(10)))

        for path in ["folder/../film", "{name}"] {
            var download = lab.download { $0.existingFile = .replace }
            download.request.path = path
            #expect(try await lab.client.download(download).length == 10)
        }
    }
}
