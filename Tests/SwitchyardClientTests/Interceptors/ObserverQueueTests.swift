import Dispatch
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt) struct ObserverQueueTests {
    /// An event with a text of 4 MiB.
    private static var event: StreamEvent {
        let message = StreamMessage(.received, type: "text", text: String(repeating: "a", count: 4 << 20))
        return StreamEvent(stream: RequestID(), id: RequestID(), time: .zero, kind: .message(message))
    }

    @Test func `messages that wait for a blocked observer are delivered without text once the texts exceed the limit`()
        async
    {
        let queue = ObserverQueue()
        let gate = DispatchSemaphore(value: 0)
        let sizes = Locked<[Int?]>([])
        let observer = MessageObserver(bytes: .max) { event in
            guard case .message(let message) = event.kind else { return }
            sizes.withLock { $0.append(message.text?.utf8.count) }
        }
        queue.afterEvents { gate.wait() }

        for _ in 1...3 { queue.send(Self.event, to: observer) }
        gate.signal()
        await until { sizes.withLock { $0.count } == 3 }
        queue.send(Self.event, to: observer)
        await until { sizes.withLock { $0.count } == 4 }

        #expect(sizes.withLock { $0 } == [4 << 20, 4 << 20, nil, 4 << 20])
    }
}
