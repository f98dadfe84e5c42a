import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import Testing

@testable import SwitchyardRequests

@Suite(.timeLimit(.minutes(5)), .prompt) struct GroupStopOrderTests {
    // RequestAccessory: willStart, willStop and didStop are called in this order, each once.
    @Test func `a request group that is cancelled while its last member ends still calls willStop`() async {
        let diary = Diary()
        let (first, second) = (ManualMember(), ManualMember())
        let group = RequestGroup([first, second], options: .test())
        group.adding(DiaryAccessory(diary: diary))
        group.onProgress { [weak group] progress in
            guard progress.ended == 1 else { return }
            second.end(.succeeded)  // The queue of the group receives this end before the cancellation.
            group?.cancel()
        }
        group.onFinish { _ in diary.write("finish") }
        first.end(.succeeded)

        let report = await group.finished()
        await withCheckedContinuation { continuation in group.queue.async { continuation.resume() } }

        #expect(report.outcome == .cancelled)
        #expect(diary.entries == ["accessory willStart", "accessory willStop", "finish", "accessory didStop"])
    }
}
