import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

/// Batches, whose type defines the members.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestBatchTests {
    @Test func `a batch returns its values in the order of its requests, not in the order of the responses`()
        async throws
    {
        let gate = Gate()
        let slow = APIRequest<String>.gated("slow", gate)
        let fast = APIRequest<String>.ready("fast").onSuccess { _ in gate.open() }
        let batch = RequestBatch([slow, fast], options: .test(.failFast))

        #expect(try await batch.values() == ["slow", "fast"])
        #expect(batch.group.progress == GroupProgress(ended: 2, total: 2))
    }

    @Test func `the first failure in a batch cancels the other members, and each member ends once`() async {
        let gate = Gate()
        let diary = Diary()
        let done = APIRequest<Int>.ready(1).onFinish { _ in diary.write("done") }
        let waiting = APIRequest<Int>.gated(2, gate).onFinish { _ in diary.write("waiting") }
        let failing = APIRequest<Int> {
            _ = await done.end()
            throw APIError(.status(500))
        }
        failing.onFinish { _ in diary.write("failing") }
        let batch = RequestBatch([done, waiting, failing], options: .test(.failFast))

        let report = await batch.finished()

        #expect(report.outcome == .failed(member: 2))
        #expect(report.failedRequest === failing)
        #expect(report.error?.reason == .status(500))
        #expect(report.values == [1])
        #expect(diary.entries == ["done", "failing", "waiting"])
        gate.open()
    }

    @Test func `a batch with collectAll reports the failed requests and returns the other values`() async throws {
        let requests: [APIRequest<Int>] = [.ready(1), .failing(), .ready(3)]
        let batch = RequestBatch(requests, options: .test(.collectAll))

        let report = await batch.finished()

        #expect(report.outcome == .partial(failed: [1]))
        #expect(report.error == nil && report.failedRequest == nil)
        #expect(try await batch.values() == [1, 3])
    }

    @Test func `failures of some members of an inner collectAll group do not fail the outer group`() async {
        let inner = RequestGroup([APIRequest<Int>.failing()], options: .test(.collectAll))
        let outer = RequestGroup([inner, APIRequest<Int>.ready(1)], options: .test(.failFast))

        #expect(await outer.finished().outcome == .succeeded)
        #expect(inner.report?.outcome == .partial(failed: [0]))
    }

    @Test func `a request that is added through the group of a batch can make the batch fail`() async {
        let gate = Gate()
        let batch = RequestBatch([APIRequest<Int>.gated(1, gate)], options: .test(.failFast))
        batch.group.add(APIRequest<String>.failing())

        let report = await batch.finished()

        #expect(report.outcome == .failed(member: 1) && report.failedRequest == nil)
        #expect(report.error == APIError(.status(500)))
        gate.open()
    }

    @Test func `the accessories of a batch are called before and after its handlers and its members' accessories`()
        async
    {
        let diary = Diary()
        let request = APIRequest<Int>.ready(1)
            .adding(DiaryAccessory(diary: diary, name: "request"))
            .onSuccess { _ in diary.write("request success") }
        let batch = RequestBatch([request], options: .test(.failFast))
            .adding(DiaryAccessory(diary: diary, name: "batch"))
            .onFinish { _ in diary.write("batch finish") }
        batch.resume()

        await withCheckedContinuation { continuation in batch.whenEnded { _ in continuation.resume() } }

        #expect(batch.group.subject.tags == ["test"])
        #expect(
            diary.entries == [
                "batch willStart", "request willStart", "request willStop", "request success", "request didStop",
                "batch willStop", "batch finish", "batch didStop",
            ]
        )
    }

    @Test func `a batch releases its handlers, accessories and delegate after its end`() async {
        final class Canary: Sendable {}
        struct Holder: RequestAccessory { let canary: Canary }
        weak var kept: Canary?
        let batch = RequestBatch([APIRequest<Int>.ready(1)], options: .test(.failFast))
        await withCheckedContinuation { continuation in
            let canary = Canary()
            kept = canary
            batch.adding(Holder(canary: canary)).onFinish { _ in withExtendedLifetime(canary) {} }
            batch.group.onProgress { _ in withExtendedLifetime(canary) {} }
            batch.whenEnded { _ in withExtendedLifetime(canary) { continuation.resume() } }
            batch.resume()
        }

        await until { kept == nil }

        #expect(batch.group.state == .finished)
    }

    @Test func `accessories of a failed batch are notified before the other members are cancelled`() async {
        let diary = Diary()
        let gate = Gate()
        let waiting = APIRequest<Int>.gated(2, gate).onCancel { diary.write("member cancelled") }
        let batch = RequestBatch([waiting, .failing()], options: .test(.failFast))
            .adding(DiaryAccessory(diary: diary, name: "batch"))
            .onFinish { _ in diary.write("batch finish") }
        batch.resume()

        await withCheckedContinuation { continuation in batch.whenEnded { _ in continuation.resume() } }

        #expect(
            diary.entries == [
                "batch willStart", "batch willStop", "member cancelled", "batch finish", "batch didStop",
            ]
        )
        gate.open()
    }

    @Test func `a cancelled batch ends as cancelled with all its members`() async {
        let gate = Gate()
        let batch = RequestBatch((0..<3).map { APIRequest.gated($0, gate) }, options: .test(.failFast))
        batch.resume()

        batch.cancel()

        let error = await #expect(throws: APIError.self) { try await batch.values() }
        #expect(error?.isCancellation == true)
        #expect(batch.requests.allSatisfy { $0.state == .cancelled })
        gate.open()
    }

    @Test func `a batch starts once and does not start again after its end`() async {
        let batch = RequestBatch([APIRequest<Int>.ready(1)], options: .test(.failFast))

        #expect(batch.resume())
        #expect(!batch.resume())
        _ = await batch.finished()

        #expect(!batch.resume())
    }

    @Test func `an empty batch succeeds immediately`() async throws {
        #expect(try await RequestBatch<Int>([], options: .test(.failFast)).values() == [])
    }

    @Test func `cancelling all requests of the manager ends its batches`() async throws {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport))
        let batch = RequestBatch(
            (1...3).map { topics.request(Topic.self, for: TopicAPI.topic($0), on: .global()) },
            options: .test(.failFast)
        )
        batch.resume()
        #expect(await transport.waitForRequests(3))

        topics.cancelAll()

        let report = await batch.finished()
        #expect(report.results.allSatisfy { if case .failure(let error) = $0 { error.isCancellation } else { false } })
    }

    @Test func `cancelling the waiting task cancels the batch`() async {
        let gate = Gate()
        let batch = RequestBatch([APIRequest<Int>.gated(1, gate)], options: .test(.failFast))
        let task = Task { await batch.finished().outcome }
        await gate.waitForArrivals(1)

        task.cancel()

        #expect(await task.value == .cancelled)
        gate.open()
    }

    @Test func `a batch runs no more requests than its limit at the same time`() async throws {
        let running = Locked((now: 0, most: 0))
        let requests = (0..<20).map { number in
            APIRequest(on: .global()) {
                running.withLock { running in
                    running.now += 1
                    running.most = max(running.most, running.now)
                }
                await Task.yield()
                running.withLock { $0.now -= 1 }
                return number
            }
        }

        let values = try await RequestBatch(requests, options: .test(.failFast, limit: 3)).values()

        #expect(values == Array(0..<20))
        #expect(running.withLock { $0.most } <= 3)
    }

    @Test func `a batch of requests of different types returns a typed tuple`() async throws {
        let values = try await RequestGroup.values(
            of: APIRequest<Int>.ready(1),
            APIRequest<String>.ready("two"),
            options: .test(.failFast)
        )

        #expect(values.0 == 1)
        #expect(values.1 == "two")
    }

    @Test func `the failure of one request in a tuple is thrown and cancels the other requests`() async {
        let gate = Gate()
        let waiting = APIRequest<String>.gated("two", gate)

        let error = await #expect(throws: APIError.self) {
            _ = try await RequestGroup.values(of: waiting, APIRequest<Int>.failing(), options: .test(.failFast))
        }

        #expect(error?.reason == .status(500))
        #expect(waiting.state == .cancelled)
        gate.open()
    }
}
