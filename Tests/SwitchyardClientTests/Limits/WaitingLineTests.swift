import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt) struct WaitingLineTests {
    /// What one who enters is told at once; `nil` when it has to wait.
    private func answer(_ prepare: (inout WaitingLine<Int>) -> Void) async -> Bool? {
        var line = WaitingLine<Int>()
        prepare(&line)
        let answer = Locked<Bool?>(nil)
        _ = await withUnsafeContinuation { (continuation: WaitingLine<Int>.Continuation) in
            answer.withLock { $0 = line.enter(1, continuation) }
            continuation.resume(returning: true)
        }
        return answer.withLock { $0 }
    }

    @Test func `a turn that comes before a cancel counts, so that it can be handed back`() async {
        #expect(await answer { _ in } == nil)
        #expect(await answer { _ = $0.admit(1) } == true)
        #expect(await answer { _ = $0.leave(1) } == false)
        #expect(await answer { line in _ = (line.admit(1), line.leave(1)) } == true)
    }
}
