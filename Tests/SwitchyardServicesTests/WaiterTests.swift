import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct WaiterTests {
    @Test func `a Waiter returns an outcome immediately if it arrived before the task waits`() async {
        let waiter = Waiter<Int>()

        #expect(waiter.resume(returning: 1))

        #expect(await waiter.outcome { -1 } == 1)
    }

    @Test func `a Waiter resumes its task with the first outcome and ignores later outcomes`() async {
        let waiter = Waiter<Int>()
        let task = Task { await waiter.outcome { -1 } }

        let results = [waiter.resume(returning: 1), waiter.resume(returning: 2)]

        #expect(await task.value == 1)
        #expect(results == [true, false])
    }

    @Test func `a task that is cancelled before it waits gets the Waiter's result for cancelled tasks`() async {
        let waiter = Waiter<Int>()

        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await waiter.outcome { -1 }
        }

        #expect(await task.value == -1)
        #expect(!waiter.resume(returning: 1))
    }

    @Test func `a task that is cancelled while it waits gets the Waiter's result for cancelled tasks`() async {
        let waiter = Waiter<Int>()
        let task = Task { await waiter.outcome { -1 } }

        task.cancel()

        #expect(await task.value == -1)
    }

    @Test func `a Waiter resumes its task exactly once if an outcome and a cancellation coincide`() async {
        var outcomes: [Int: Int] = [:]
        for _ in 0..<2_000 {
            let waiter = Waiter<Int>()
            let task = Task { await waiter.outcome { -1 } }
            let resumption = Task.detached { waiter.resume(returning: 1) }
            let cancellation = Task.detached { task.cancel() }
            let (outcome, isFirst) = (await task.value, await resumption.value)
            await cancellation.value
            #expect(isFirst == (outcome == 1))
            outcomes[outcome, default: 0] += 1
        }
        #expect(outcomes.values.reduce(0, +) == 2_000)
    }

    @Test func `a WaiterList returns each of its waiters once`() {
        var list = WaiterList<Int>()
        let waiters = (0..<3).map { _ in Waiter<Int>() }
        for waiter in waiters { list.add(waiter) }

        let removals = [list.remove(waiters[1]), list.remove(waiters[1])]
        let rest = list.removeAll()

        #expect(removals == [true, false])
        #expect(Set(rest.map { ObjectIdentifier($0) }) == Set([waiters[0], waiters[2]].map { ObjectIdentifier($0) }))
        #expect(list.isEmpty)
    }
}
