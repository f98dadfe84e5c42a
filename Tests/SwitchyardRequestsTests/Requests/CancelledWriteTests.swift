import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

/// A write that ends with its request object or its group says whether a server may have executed it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CancelledWriteTests {
    /// A server that executes what it has read after its clients have gone.
    private struct Backend {
        let server = LoopbackServer()
        let client: NetworkClient
        let topics: TopicAPI
        private let executed = Locked(0)

        init() throws {
            server.route(.post, "/topics") { [executed] _ in
                executed.withLock { $0 += 1 }
                return .json(#"{"id": 1, "title": "one"}"#, status: 201)
            }
            server.route(.get, "/missing", answering: .text("", status: 404))
            try server.start()
            client = try NetworkClient(service: .loopback([server], switching: .off))
            topics = TopicAPI(client: client)
        }

        var executions: Int { executed.withLock { $0 } }
        var hasWrite: Bool { server.requests.contains { $0.method == .post } }

        func write() -> APIRequest<Topic> {
            var write = APIConfiguration(path: "topics", method: .post, body: .text("one"))
            write.timeout = .seconds(60)
            return topics.request(Topic.self, for: write, on: .global())
        }

        func missing() -> APIRequest<Topic> {
            topics.request(Topic.self, for: APIConfiguration(path: "missing"), on: .global())
        }

        func pause() { server.setFault(.pause, on: LoopbackRoute(.post, "/topics")) }

        /// Lets the server execute what it has read.
        func wakeUp() async {
            server.clearFaults()
            _ = await server.waitUntilIdle()
            server.stop()
            client.shutdown()
        }
    }

    private func error<Value>(_ request: APIRequest<Value>) -> APIError? {
        if case .failure(let error) = request.outcome { error } else { nil }
    }

    @Test func `a write that is cancelled after a server has received it may have been executed`() async throws {
        let backend = try Backend()
        backend.pause()
        let write = backend.write()
        write.resume()
        await until { backend.hasWrite }

        write.cancel()
        #expect(await write.end() == .cancelled)
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error(write)?.mayHaveBeenExecuted == true)
    }

    @Test func `a write whose waiting task is cancelled may have been executed`() async throws {
        let backend = try Backend()
        backend.pause()
        let write = backend.write()
        let task = Task { () -> APIError? in
            do throws(APIError) {
                _ = try await write.value()
                return nil
            } catch { return error }
        }
        await until { backend.hasWrite }

        task.cancel()
        let error = await task.value
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error?.mayHaveBeenExecuted == true)
    }

    @Test func `a write that was not started has not been executed`() async throws {
        let backend = try Backend()
        let write = backend.write()

        write.cancel()
        _ = await write.end()
        await backend.wakeUp()

        #expect(error(write)?.mayHaveBeenExecuted == false)
    }

    @Test func `a batch member that is cancelled because another member failed may have been executed`() async throws {
        let backend = try Backend()
        backend.pause()
        let (write, missing) = (backend.write(), backend.missing())
        let batch = RequestBatch([write, missing], options: .test(.failFast, limit: nil))
        backend.server.setFault(.hang, on: LoopbackRoute(.get, "/missing"))
        batch.resume()
        await until { backend.hasWrite }
        backend.server.setFault(nil, on: LoopbackRoute(.get, "/missing"))

        let report = await batch.finished()
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error(write)?.mayHaveBeenExecuted == true)
        #expect(report.error?.mayHaveBeenExecuted == true)
        #expect(throws: APIError.self) { try report.results[0].get() }
    }

    /// The ends of a batch whose write a server has.
    enum End: CaseIterable { case cancelled, timedOut }

    @Test(arguments: End.allCases)
    func `a batch that ends while a server processes its write may have been executed`(end: End) async throws {
        let backend = try Backend()
        backend.pause()
        let clock = ManualClock()
        let batch = RequestBatch([backend.write()], options: .test(.failFast, timeout: .seconds(1), time: clock))
        let values = Task { () -> APIError? in
            do throws(APIError) {
                _ = try await batch.values()
                return nil
            } catch { return error }
        }
        await until { backend.hasWrite }
        if end == .cancelled { batch.cancel() } else { clock.advance(by: .seconds(1)) }

        let error = await values.value
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error?.mayHaveBeenExecuted == true)
    }

    @Test(arguments: End.allCases)
    func `requests of several types that end while a server processes a write may have been executed`(end: End)
        async throws
    {
        let backend = try Backend()
        backend.pause()
        let clock = ManualClock()
        let (write, other) = (backend.write(), APIRequest<Int>.ready(1))
        let values = Task { () -> APIError? in
            do throws(APIError) {
                _ = try await RequestGroup.values(
                    of: write,
                    other,
                    options: .test(.failFast, timeout: .seconds(1), time: clock)
                )
                return nil
            } catch { return error }
        }
        await until { backend.hasWrite }
        if end == .cancelled { values.cancel() } else { clock.advance(by: .seconds(1)) }

        let error = await values.value
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error?.mayHaveBeenExecuted == true)
    }

    @Test func `a batch may have been executed if it fails after one of its writes succeeded`() async throws {
        let backend = try Backend()
        let batch = RequestBatch([backend.write(), backend.missing()], options: .test(.failFast, limit: 1))

        let report = await batch.finished()
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(report.error?.mayHaveBeenExecuted == true)
    }

    @Test func `the active write of a cancelled chain may have been executed`() async throws {
        let backend = try Backend()
        backend.pause()
        let (write, later) = (backend.write(), backend.write())
        let chain = RequestChain(options: .test(.failFast))
        chain.add(write)
        chain.add(later)
        chain.resume()
        await until { backend.hasWrite }

        chain.cancel()
        _ = await chain.finished()
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error(write)?.mayHaveBeenExecuted == true)
        #expect(error(later)?.mayHaveBeenExecuted == false)
    }

    @Test func `a cancelled chained request may have been executed if its follow-up is a write`() async throws {
        let backend = try Backend()
        backend.pause()
        let write = backend.write()
        let chained = backend.missing().chained { _ in .pass(to: write) }
        chained.resume()
        await until { backend.hasWrite }

        chained.cancel()
        _ = await chained.end()
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error(chained)?.mayHaveBeenExecuted == true)
    }

    @Test func `a cancelled operation that sends a write may have been executed`() async throws {
        let backend = try Backend()
        backend.pause()
        let topics = backend.topics
        let operation = APIRequest<Topic>(on: .global()) {
            try await topics.value(for: APIConfiguration(path: "topics", method: .post, body: .text("one")))
        }
        operation.resume()
        await until { backend.hasWrite }

        operation.cancel()
        _ = await operation.end()
        await backend.wakeUp()

        #expect(backend.executions == 1)
        #expect(error(operation)?.mayHaveBeenExecuted == true)
    }

    @Test func `a suspended write that is cancelled may have been executed`() async throws {
        let backend = try Backend()
        let write = backend.write()
        write.resume()
        write.suspend()
        await until { backend.executions == 1 }

        write.cancel()
        _ = await write.end()
        await backend.wakeUp()

        #expect(error(write)?.mayHaveBeenExecuted == true)
    }

    @Test
    func `the error of a write says that it may have been executed, even if a filter throws another call's error`()
        async throws
    {
        let backend = try Backend()
        let other = backend.missing()
        _ = try? await other.value()
        let foreign = try #require(error(other))
        let (write, early) = (backend.write(), backend.write())
        write.filtering { _ in throw foreign }
        early.preprocessing { _ in throw foreign }

        for request in [write, early] { _ = try? await request.value() }
        await backend.wakeUp()

        #expect(backend.executions == 2)
        #expect(error(write)?.mayHaveBeenExecuted == true)
        #expect(error(early)?.mayHaveBeenExecuted == true)
    }

    @Test func `a write whose manager was released may have been executed`() async throws {
        let server = LoopbackServer()
        let executed = Locked(0)
        server.route(.post, "/topics") { _ in
            executed.withLock { $0 += 1 }
            return .json(#"{"id": 1, "title": "one"}"#, status: 201)
        }
        try server.start()
        server.fault = .pause
        let client = try NetworkClient(service: .loopback([server], switching: .off))
        var topics: TopicAPI? = TopicAPI(client: client)
        let configuration = APIConfiguration(path: "topics", method: .post, body: .text("one"))
        let write = try #require(topics?.request(Topic.self, for: configuration, on: .global()))
        write.resume()
        _ = await server.waitForRequests(1)
        topics = nil

        _ = await write.end()
        server.fault = nil
        _ = await server.waitUntilIdle()
        server.stop()

        #expect(executed.withLock { $0 } == 1)
        #expect(error(write)?.mayHaveBeenExecuted == true)
    }
}
