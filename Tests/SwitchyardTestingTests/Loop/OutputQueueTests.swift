import Foundation
import Testing

@testable import SwitchyardTesting

@Suite struct OutputQueueTests {
    @Test func `the output queue sends bytes in order, however few the socket accepts at a time`() {
        var queue = OutputQueue()
        var sent = Data()
        let pieces = [Data("abc".utf8), Data(count: 20_000), Data("def".utf8)]
        for piece in pieces { queue.append(piece) }

        _ = queue.flush { bytes in
            sent.append(contentsOf: bytes.prefix(7))
            return .moved(min(7, bytes.count))
        }

        #expect(sent == pieces.reduce(Data(), +))
        #expect(queue.isEmpty)
    }

    @Test func `bytes that the socket does not accept stay in the output queue`() {
        var queue = OutputQueue()
        queue.append(Data("abcdef".utf8))
        var calls = 0

        let result = queue.flush { _ in
            calls += 1
            return calls == 1 ? .moved(2) : .wouldBlock
        }
        queue.append(Data("gh".utf8))

        #expect(result == .wouldBlock)
        #expect(queue.count == 6)
        var rest = Data()
        _ = queue.flush { bytes in
            rest.append(contentsOf: bytes)
            return .moved(bytes.count)
        }
        #expect(rest == Data("cdefgh".utf8))
    }
}
