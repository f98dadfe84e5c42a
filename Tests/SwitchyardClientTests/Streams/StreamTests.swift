import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Responses that are read while they arrive.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct StreamTests {
    private let bytes = DownloadLab.bytes(300_000)

    @Test func `the chunks of a streamed response arrive before the response is complete`() async throws {
        let lab = try DownloadLab()
        let gate = lab.serveLive()

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        var pieces = answer.bytes.makeAsyncIterator()
        let first = try await pieces.next()
        gate.yield()
        let second = try await pieces.next()
        let end = try await pieces.next()

        #expect(answer.status == 200)
        #expect(first == Data("one".utf8))
        #expect(second == Data("two".utf8))
        #expect(end == nil)
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `a streamed response has timing metrics`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live", answering: .text("x"))

        let whole = try await lab.client.send(APIConfiguration(path: "live"))

        let measured = try #require(whole.response.metrics)
        #expect(measured.bytesReceived == 1)
        #expect(measured.total >= measured.firstByte ?? .zero)
        #if os(Linux)
            // The metrics are available with the head. `URLSession` provides them only at the end.
            let answer = try await lab.client.stream(APIConfiguration(path: "live"))
            let metrics = try #require(answer.metrics)
            #expect(try #require(metrics.firstByte) > .zero)
            #expect(metrics.networkProtocol == "http/1.1")
        #endif
    }

    @Test func `the body of a streamed response is collected up to a limit, and a longer body fails`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/data", answering: .data(bytes))

        let small = try await lab.client.stream(APIConfiguration(path: "data")).bytes.collect(upTo: 300_000)
        let answer = try await lab.client.stream(APIConfiguration(path: "data"))
        let failure = await failure { () throws(RequestFailure) in _ = try await answer.bytes.collect(upTo: 299_999) }

        #expect(small == bytes)
        #expect(failure?.kind == .bodyTooLarge)
        await lab.server.waitUntilIdle()
    }

    @Test func `a reader of a body that pauses makes the server stop sending`() async throws {
        let lab = try DownloadLab()
        let sent = Locked(0)
        let piece = Data(count: 65_536)
        lab.server.route(.get, "/other", answering: .text("x"))
        lab.server.route(.get, "/endless") { _ in
            .stream { writer in
                while true {
                    try await writer.write(piece)
                    sent.withLock { $0 += piece.count }
                }
            }
        }

        let answer = try await lab.client.stream(APIConfiguration(path: "endless"))
        var pieces = answer.bytes.makeAsyncIterator()
        _ = try await pieces.next()
        // The stream is not read while the server responds to two hundred other requests. Without flow control it could
        // send gigabytes meanwhile.
        for _ in 0..<200 { _ = try await lab.client.send(APIConfiguration(path: "other")) }
        let last = sent.withLock { $0 }
        var more = 0
        while more < 2 * last, let piece = try await pieces.next() { more += piece.count }
        answer.cancel()

        #expect(last < 32 << 20)
        #expect(more >= 2 * last)
        await lab.server.waitUntilIdle()
    }

    @Test func `cancelling a stream by its identifier ends it while the body is read`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live") { _ in
            .stream { writer in
                try await writer.write("one")
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        let id = RequestID()

        let answer = try await lab.client.stream(APIConfiguration(path: "live"), id: id)
        #expect(lab.client.activeRequests == [id])
        var pieces = answer.bytes.makeAsyncIterator()
        _ = try await pieces.next()
        let waiting = Task { [pieces] in
            var pieces = pieces
            _ = try await pieces.next()
        }
        lab.client.cancel(id)
        let result = await waiting.result

        #expect(throws: RequestFailure.self) { try result.get() }
        #expect(lab.client.activeRequests.isEmpty)
        await lab.server.waitUntilIdle()
    }

    @Test func `cancelling the task that reads a streamed body ends the transfer`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live") { _ in
            .stream { writer in
                while true {
                    try await writer.write("tick\n")
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
        }
        let ticks = AsyncStream.makeStream(of: Void.self)

        let reader = Task { () throws -> Void in
            let answer = try await lab.client.stream(APIConfiguration(path: "live"))
            for try await _ in answer.bytes.lines { ticks.continuation.yield() }
        }
        for await _ in ticks.stream { break }
        reader.cancel()
        let result = await reader.result

        let error = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(error?.isCancellation == true)
        await lab.server.waitUntilIdle()
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `releasing a streamed response cancels its transfer`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live") { _ in
            .stream { writer in
                try await writer.write("one")
                try await Task.sleep(for: .seconds(3_600))
            }
        }

        _ = try await lab.client.stream(APIConfiguration(path: "live"))

        await lab.server.waitUntilIdle()
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `a truncated body is an error and counts against its server`() async throws {
        let lab = try DownloadLab(2)
        lab.server.route(.get, "/data", answering: .data(bytes))
        lab.server.fault = .truncate(after: 100_000)

        let answer = try await lab.client.stream(APIConfiguration(path: "data"))
        let failure = await failure { () throws(RequestFailure) in
            var pieces = answer.bytes.makeAsyncIterator()
            while try await pieces.next() != nil {}
        }

        #expect(failure?.kind == .truncated)
        #expect(lab.client.servers[0].statistics.lastFailure == .truncated)
        #expect(lab.client.servers[1].statistics.lastFailure == nil)
    }

    @Test func `the timeout of a streamed call covers the body too`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live") { _ in
            .stream { writer in
                try await writer.write("one")
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        let configuration = APIConfiguration(path: "live", timeout: .seconds(1))

        var reason: RequestFailure.Reason?
        do throws(RequestFailure) {
            var pieces = try await lab.client.stream(configuration).bytes.makeAsyncIterator()
            while try await pieces.next() != nil {}
        } catch {
            reason = error.reason
        }

        #expect(reason == .deadlineExceeded)
    }

    @Test func `the body of a streamed response can be read as an input stream`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/data", answering: .data(bytes))

        let answer = try await lab.client.stream(APIConfiguration(path: "data"))
        let read: Data = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let stream = answer.inputStream()
                stream.open()
                var bytes = Data()
                var buffer = [UInt8](repeating: 0, count: 10_000)
                while stream.hasBytesAvailable {
                    let count = stream.read(&buffer, maxLength: buffer.count)
                    guard count > 0 else { break }
                    bytes.append(contentsOf: buffer[..<count])
                }
                #expect(stream.streamStatus == .atEnd)
                stream.close()
                continuation.resume(returning: bytes)
            }
        }

        #expect(read == bytes)
    }

    @Test func `an input stream reports an error if the body is truncated`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/data", answering: .data(bytes))
        lab.server.fault = .truncate(after: 100_000)

        let answer = try await lab.client.stream(APIConfiguration(path: "data"))
        let (count, hasError) = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let stream = answer.inputStream()
                stream.open()
                var buffer = [UInt8](repeating: 0, count: 10_000)
                var (total, count) = (0, 1)
                while count > 0 {
                    count = stream.read(&buffer, maxLength: buffer.count)
                    total += max(0, count)
                }
                continuation.resume(returning: (total, count == -1 && stream.streamError is RequestFailure))
            }
        }

        #expect(count == 100_000)
        #expect(hasError)
    }

    // Foundation traps if a stream subclass lacks one of these methods. (Scheduling is tested on Linux only, because
    // the type-check stubs for Apple's systems have no main run loop.)
    @Test func `an input stream of a response accepts calls for features that it does not support`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/data", answering: .data(bytes))
        let key = Stream.PropertyKey(rawValue: "any")

        let stream = try await lab.client.stream(APIConfiguration(path: "data")).inputStream()
        #if os(Linux)
            stream.schedule(in: .main, forMode: .default)
            stream.remove(from: .main, forMode: .default)
        #endif

        #expect(stream.property(forKey: key) == nil)
        #expect(!stream.setProperty(nil, forKey: key))
        #expect(stream.streamStatus == .notOpen)
        stream.close()
    }

    @Test func `a streamed response can be saved as a download`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        try Data("old".utf8).write(to: lab.target)

        let answer = try await lab.client.stream(APIConfiguration(path: "film"))
        let place = try await answer.save(to: lab.target, existingFile: .replace)

        #expect(place == lab.target)
        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov"])
    }

    // RFC 9110 section 8.6: the field counts the bytes of the encoded body.
    @Test func `the Content-Length of a compressed response is not used as the body's length`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/film", answering: Compressed.response(Compressed.hellos))
        let reports = Recorder<TransferProgress>()

        let answer = try await lab.client.stream(APIConfiguration(path: "film"))
        try await answer.save(to: lab.target) { reports.record($0) }

        #expect(answer.announcedLength == nil)
        #expect(reports.values.first?.total == nil)
        #expect(reports.values.last == TransferProgress(direction: .download, completed: 6_000, total: 6_000))
    }

    @Test func `a response that is truncated while it is saved leaves the old file unchanged`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        try Data("old".utf8).write(to: lab.target)
        lab.server.fault = .truncate(after: 100_000)

        let answer = try await lab.client.stream(APIConfiguration(path: "film"))
        let error = await #expect(throws: DownloadFailure.self) {
            try await answer.save(to: lab.target, existingFile: .replace)
        }

        #expect(error?.transportKind == .truncated)
        #expect(try lab.content == Data("old".utf8))
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `the progress of a data request is reported while the response body arrives`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/data", answering: .data(bytes))
        let reports = Recorder<TransferProgress>()

        _ = try await lab.client.send(APIConfiguration(path: "data")) { reports.record($0) }

        let counts = reports.values.filter { $0.direction == .download }.map(\.completed)
        #expect(counts == counts.sorted())
        #expect(counts.last == 300_000)
        #expect(reports.values.last?.total == 300_000)
    }

    private func failure(_ body: () async throws(RequestFailure) -> Void) async -> TransportError? {
        do throws(RequestFailure) {
            try await body()
        } catch {
            if case .transport(let error) = error.reason { return error }
        }
        return nil
    }
}
