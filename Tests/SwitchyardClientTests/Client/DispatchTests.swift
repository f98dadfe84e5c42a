import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct DispatchTests {
    @Test func `the async form of send returns the response`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .json("[1]") }

        let response = try await client.send(APIConfiguration(path: "list"))

        #expect(response.status == 200)
        #expect(response.text == "[1]")
        #expect(response.context.server == "primary")
        #expect(response.context.attempts == 1)
    }

    @Test func `the completion form of send returns the identifier before it calls the completion handler`()
        async throws
    {
        let (client, _) = try NetworkClient.stubbed { _ in .status(204) }
        let queue = DispatchQueue(label: "callbacks")

        let (id, answered): (RequestID, RequestID) = await withCheckedContinuation { continuation in
            queue.async {
                let ids = Exchanged<RequestID>()
                let id = client.send(APIConfiguration(path: "list"), on: queue) { result in
                    guard let first = ids.value else { return }
                    continuation.resume(returning: (first, (try? result.get().id) ?? RequestID()))
                }
                ids.value = id
            }
        }

        #expect(id == answered)
    }

    @Test func `a completion handler without a queue runs on the main queue`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(204) }
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)

        let isOnMain = await withCheckedContinuation { continuation in
            client.send(APIConfiguration(path: "list")) { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
            }
        }

        #expect(isOnMain)
    }

    @Test func `every request has its own identifier even if it cannot be built`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let (results, continuation) = AsyncStream.makeStream(of: Bool.self)

        let paths = ["a", "a", "bad\npath"]
        let ids = paths.map { path in
            client.send(APIConfiguration(path: path)) { result in
                continuation.yield((try? result.get()) != nil)
            }
        }

        #expect(Set(ids).count == 3)
        var outcomes: [Bool] = []
        for await outcome in results {
            outcomes.append(outcome)
            if outcomes.count == 3 { break }
        }
        #expect(outcomes.count { $0 } == 2)
    }

    @Test func `a request that cannot be built fails with invalidRequest`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }

        let reason = await client.failure(of: APIConfiguration(path: "a\r\nb"))

        guard case .invalidRequest = reason else {
            Issue.record("expected invalidRequest, got \(String(describing: reason))")
            return
        }
        #expect(transport.requestCount == 0)
        #expect(client.activeRequests.isEmpty)
    }

    @Test func `a cancelled request ends once, as cancelled, and leaves the active requests`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let id = RequestID()

        let failure = Task { await client.failure(of: APIConfiguration(path: "list"), id: id) }
        #expect(await transport.waitForRequests(1))
        #expect(client.activeRequests == [id])
        client.cancel(id)

        #expect(await failure.value == .cancelled)
        #expect(client.activeRequests.isEmpty)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `only the requests with the given identifiers are cancelled`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let (ended, continuation) = AsyncStream.makeStream(of: RequestID.self)
        let ids = (0..<4).map { _ in
            client.send(APIConfiguration(path: "list")) { result in
                if case .failure(let failure) = result { continuation.yield(failure.id) }
            }
        }
        #expect(await transport.waitForRequests(4))

        client.cancel([ids[1], ids[3], RequestID()])

        var seen: Set<RequestID> = []
        for await id in ended {
            seen.insert(id)
            if seen.count == 2 { break }
        }
        #expect(seen == [ids[1], ids[3]])
        #expect(client.activeRequests == [ids[0], ids[2]])
    }

    @Test func `a task that is already cancelled sends nothing`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }

        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.failure(of: APIConfiguration(path: "list"))
        }

        #expect(await task.value == .cancelled)
        #expect(transport.requestCount == 0)
        #expect(client.activeRequests.isEmpty)
    }

    @Test func `cancelling the task cancels the transfer`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let task = Task { await client.failure(of: APIConfiguration(path: "list")) }
        #expect(await transport.waitForRequests(1))

        task.cancel()

        #expect(await task.value == .cancelled)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `no request is lost when cancelAll runs while requests are sent`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .never }

        let ended = await withTaskGroup(of: RequestFailure.Reason?.self) { group in
            for number in 0..<400 {
                group.addTask { await client.failure(of: APIConfiguration(path: "\(number)")) }
            }
            group.addTask {
                while !client.activeRequests.isEmpty || !Task.isCancelled {
                    client.cancelAll()
                    await Task.yield()
                }
                return nil
            }
            var cancelled = 0
            for await reason in group {
                if reason == .cancelled { cancelled += 1 }
                if cancelled == 400 { group.cancelAll() }
            }
            return cancelled
        }

        #expect(ended == 400)
        #expect(client.activeRequests.isEmpty)
    }

    @Test func `an identifier that is already in use fails with duplicateID and leaves the first request running`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let id = RequestID()
        let first = Task { await client.failure(of: APIConfiguration(path: "a"), id: id) }
        #expect(await transport.waitForRequests(1))

        #expect(await client.failure(of: APIConfiguration(path: "b"), id: id) == .duplicateID)

        #expect(client.activeRequests == [id])
        client.cancel(id)
        #expect(await first.value == .cancelled)
    }

    @Test func `a cancelled task that reuses an identifier leaves the first request running`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let id = RequestID()
        let first = Task { await client.failure(of: APIConfiguration(path: "a"), id: id) }
        #expect(await transport.waitForRequests(1))

        let second = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.failure(of: APIConfiguration(path: "b"), id: id)
        }
        #expect(await second.value != nil)

        #expect(client.activeRequests == [id])
        client.cancel(id)
        #expect(await first.value == .cancelled)
    }
}

/// A value that one closure passes to another on the same serial queue.
final class Exchanged<Value: Sendable>: Sendable {
    private let box = Locked<Value?>(nil)

    var value: Value? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
