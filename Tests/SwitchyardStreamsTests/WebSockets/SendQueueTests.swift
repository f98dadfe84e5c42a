import SwitchyardServices
import Testing

@testable import SwitchyardStreams

/// Each message of a queue has exactly one outcome.
@Suite struct SendQueueTests {
    private final class Outcomes: Sendable {
        private let state = Locked<[UInt64: [Result<Void, WebSocketSendFailure>]]>([:])

        var all: [UInt64: [Result<Void, WebSocketSendFailure>]] { state.withLock { $0 } }

        func entry(_ id: UInt64, _ text: String = "x") -> SendQueue.Entry {
            SendQueue.Entry(id: id, message: .text(text)) { outcome in
                self.state.withLock { $0[id, default: []].append(outcome) }
            }
        }

        func tell(_ ended: [SendQueue.Ended]) {
            for end in ended { end.waiter(.failure(end.failure)) }
        }
    }

    private enum Move: CaseIterable { case add, take, sent, brokeSent, brokeUnsent, fail, again, takeBack }

    @Test(arguments: 0..<200)
    func `every queued message has exactly one outcome in any sequence of events`(seed: UInt64) {
        var random = SplitMix(state: seed)
        let outcomes = Outcomes()
        var queue = SendQueue(messages: 4, bytes: 8)
        var (added, refused) = (UInt64(0), 0)
        for _ in 0..<200 {
            switch Move.allCases.randomElement(using: &random) ?? .add {
            case .add:
                added += 1
                let entry = outcomes.entry(added, String(repeating: "x", count: Int.random(in: 0...5, using: &random)))
                if let refusal = queue.add(entry) {
                    entry.waiter(.failure(refusal))
                    refused += 1
                }
            case .take: _ = queue.take()
            case .sent: queue.sent()?(.success(()))
            case .brokeSent: outcomes.tell(queue.broke(mayHaveBeenDelivered: true).map { [$0] } ?? [])
            case .brokeUnsent: outcomes.tell(queue.broke(mayHaveBeenDelivered: false).map { [$0] } ?? [])
            case .fail: outcomes.tell(queue.settle(.fail))
            case .again: outcomes.tell(queue.settle(.sendAgain))
            case .takeBack:
                let id = UInt64.random(in: 0...added, using: &random)
                outcomes.tell(queue.takeBack(id).map { [$0] } ?? [])
            }
        }
        outcomes.tell(queue.close(.ended))

        #expect(outcomes.all.count == Int(added))
        #expect(outcomes.all.values.allSatisfy { $0.count == 1 })
    }

    /// The way in which a message that waits to be sent again ends.
    enum End: CaseIterable { case takenBack, closed, takenBackUnderWay, closedAfterUnsent }

    @Test(arguments: End.allCases)
    func `a message that an earlier connection may have delivered fails with this information in every case`(end: End) {
        let outcomes = Outcomes()
        var queue = SendQueue(messages: 4, bytes: 8)
        _ = queue.add(outcomes.entry(1))
        _ = queue.take()
        _ = queue.broke(mayHaveBeenDelivered: true)
        _ = queue.settle(.sendAgain)

        switch end {
        case .takenBack: outcomes.tell(queue.takeBack(1).map { [$0] } ?? [])
        case .closed: outcomes.tell(queue.close(.ended))
        case .takenBackUnderWay:
            _ = queue.take()
            _ = queue.takeBack(1)
            outcomes.tell(queue.broke(mayHaveBeenDelivered: false).map { [$0] } ?? [])
        case .closedAfterUnsent:
            _ = queue.take()
            _ = queue.broke(mayHaveBeenDelivered: false)
            #expect(queue.interrupted.map(\.id) == [1], "the app must decide again")
            outcomes.tell(queue.close(.ended))
        }

        guard case .failure(let failure)? = outcomes.all[1]?.first else {
            Issue.record("\(outcomes.all)")
            return
        }
        #expect(failure == .mayHaveBeenDelivered)
    }

    /// The way in which a message leaves the queue.
    enum Exit: CaseIterable { case sent, takenBack, takenBackAfterBreak, givenUp, failed }

    @Test(arguments: Exit.allCases)
    func `a message that has left the send queue takes no room in the queue`(exit: Exit) {
        var queue = SendQueue(messages: 4, bytes: 8)
        _ = queue.add(Outcomes().entry(1, "12345678"))
        if exit != .takenBack { _ = queue.take() }

        switch exit {
        case .sent: _ = queue.sent()
        case .takenBack: _ = queue.takeBack(1)
        case .takenBackAfterBreak:
            _ = queue.broke(mayHaveBeenDelivered: true)
            _ = queue.takeBack(1)
        case .givenUp:
            _ = queue.takeBack(1)
            _ = queue.broke(mayHaveBeenDelivered: true)
        case .failed:
            _ = queue.broke(mayHaveBeenDelivered: true)
            _ = queue.settle(.fail)
        }

        #expect(queue.add(Outcomes().entry(2, "1234")) == nil)
        #expect(queue.add(Outcomes().entry(3, "1234")) == nil)
        #expect(queue.add(Outcomes().entry(4, "1")) == .queueFull(messages: 2, bytes: 8))
    }

    @Test func `the empty send queue of a reconnecting WebSocket accepts a message of any size`() {
        var queue = SendQueue(messages: 4, bytes: 2)

        #expect(queue.add(Outcomes().entry(1, "longer")) == nil)
        #expect(queue.add(Outcomes().entry(2, "")) == .queueFull(messages: 1, bytes: 6))
    }

    @Test func `a WebSocket message that was not sent is sent first on the next connection`() {
        var queue = SendQueue(messages: 4, bytes: 100)
        for id in 1...2 { _ = queue.add(Outcomes().entry(UInt64(id))) }

        _ = queue.take()
        _ = queue.broke(mayHaveBeenDelivered: false)

        #expect(queue.take()?.id == 1)
    }

    @Test func `cancelling a queued WebSocket message does not cancel the next message`() {
        var queue = SendQueue(messages: 4, bytes: 100)
        for id in 1...2 { _ = queue.add(Outcomes().entry(UInt64(id))) }
        _ = queue.take()
        _ = queue.takeBack(1)
        #expect(queue.broke(mayHaveBeenDelivered: false)?.failure == .cancelled)

        _ = queue.take()
        #expect(queue.broke(mayHaveBeenDelivered: false) == nil)

        #expect(queue.take()?.id == 2)
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
