import Foundation
import Switchyard
import SwitchyardTesting
import Testing

@testable import yard

@Suite struct FaultScheduleTests {
    /// A clock on which every timer fires immediately.
    private struct PassedTime: TimeSource {
        struct Timer: ScheduledTimer {
            func cancel() {}
        }

        var now: MonotonicTime { .zero }

        func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
            action()
            return Timer()
        }
    }

    @Test func `a fault with a duration of zero is not listed`() throws {
        let machine = ForumServer("topics/primary", ForumRoutes(.release))
        let board = FaultSchedule([machine], time: PassedTime())
        let order = try FaultOrder(query: [], json: Data(#"{"fault": "hang", "for": 0}"#.utf8))

        board.carryOut(order)

        #expect(machine.server.fault == nil)
        #expect(board.orders.isEmpty)
    }
}
