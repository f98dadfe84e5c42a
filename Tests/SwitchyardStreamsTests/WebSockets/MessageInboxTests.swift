import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardStreams

/// The inbox of received messages, without a WebSocket.
@Suite(.timeLimit(.minutes(5)), .prompt) struct MessageInboxTests {
    private let asked: AsyncStream<Void>
    private let questions = Locked(0)
    private let inbox: MessageInbox<String>

    init() {
        let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
        self.asked = asked
        inbox = MessageInbox { [questions] _ in
            questions.withLock { $0 += 1 }
            continuation.yield()
        }
    }

    private func waitForQuestion() async {
        for await _ in asked { return }
    }

    @Test func `the inbox of a WebSocket requests no message from the system until next() is called`() async throws {
        #expect(questions.withLock { $0 } == 0)

        async let message = inbox.next()
        await waitForQuestion()
        inbox.take(.success("a"))

        #expect(try await message == "a")
        #expect(questions.withLock { $0 } == 1)
    }

    @Test func `cancelling a call of next() ends its wait for a message immediately`() async {
        let waiting = Task { [inbox] in try await inbox.next() }
        await waitForQuestion()

        waiting.cancel()

        await #expect { try await waiting.value } throws: { ($0 as? TransportError)?.kind == .cancelled }
    }

    @Test func `a call of next() that is cancelled before it waits requests no message from the system`() async {
        let latch = Latch()
        let waiting = Task { [inbox] in
            await latch.wait()
            return try await inbox.next()
        }
        waiting.cancel()
        latch.open()

        await #expect { try await waiting.value } throws: { ($0 as? TransportError)?.kind == .cancelled }
        #expect(questions.withLock { $0 } == 0)
    }

    @Test func `a message that a cancelled call of next() had requested is delivered to the next call`() async throws {
        let waiting = Task { [inbox] in try await inbox.next() }
        await waitForQuestion()
        waiting.cancel()
        _ = await waiting.result

        inbox.take(.success("kept"))

        #expect(try await inbox.next() == "kept")
        #expect(questions.withLock { $0 } == 1)
    }

    @Test func `a message is not requested again after its call of next() was cancelled`() async throws {
        let waiting = Task { [inbox] in try await inbox.next() }
        await waitForQuestion()
        waiting.cancel()
        _ = await waiting.result
        let next = Task { [inbox] in try await inbox.next() }
        await until { inbox.waiterCount == 1 }

        inbox.take(.success("a"))

        #expect(try await next.value == "a")
        #expect(questions.withLock { $0 } == 1)
    }

    @Test func `two concurrent calls of next() each receive a different message`() async throws {
        let first = Task { [inbox] in try await inbox.next() }
        await waitForQuestion()
        let second = Task { [inbox] in try await inbox.next() }
        await until { inbox.waiterCount == 2 }

        inbox.take(.success("a"))
        #expect(try await first.value == "a")
        await waitForQuestion()
        inbox.take(.success("b"))

        #expect(try await second.value == "b")
    }

    @Test func `when the connection ends, waiting and later calls of next() end too`() async {
        let end = TransportError(.connectionReset, message: "gone")
        let waiting = Task { [inbox] in try await inbox.next() }
        await waitForQuestion()

        inbox.take(.failure(end))

        await #expect { try await waiting.value } throws: { ($0 as? TransportError)?.kind == .connectionReset }
        await #expect { try await inbox.next() } throws: { ($0 as? TransportError)?.kind == .connectionReset }
        #expect(questions.withLock { $0 } == 1)
    }
}
