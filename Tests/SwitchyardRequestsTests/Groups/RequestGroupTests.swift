import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

/// Groups: the group counts the ends of its members itself, so the app
/// has no counter to keep.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestGroupTests {
    @Test func `a request group notifies once, after the last callback of its last member`() async {
        let diary = Diary()
        let first = APIRequest<Int>.ready(1).onFinish { _ in diary.write("first") }
        let second = APIRequest<Int>.ready(2).onFinish { _ in diary.write("second") }
        let group = RequestGroup([first, second], options: .test())
        group.onFinish { _ in diary.write("group") }

        let report = await group.finished()

        #expect(report == GroupReport(outcome: .succeeded, members: [.succeeded, .succeeded]))
        #expect(diary.entries.count == 3)
        #expect(diary.entries.last == "group")
    }

    @Test func `an empty group reports on its queue after resume has returned`() async {
        let queue = DispatchQueue(label: "group-test")
        let group = RequestGroup(options: GroupOptions(policy: .collectAll, queue: queue))
        let diary = Diary()

        await withCheckedContinuation { continuation in
            group.onFinish { _ in
                dispatchPrecondition(condition: .onQueue(queue))
                diary.write("report")
                continuation.resume()
            }
            queue.sync {
                group.resume()
                diary.write("returned")
            }
        }

        #expect(diary.entries == ["returned", "report"])
    }

    @Test func `an empty request group without a queue reports on the main queue after resume has returned`() async {
        let (mark, diary) = (DispatchSpecificKey<Bool>(), Diary())
        DispatchQueue.main.setSpecific(key: mark, value: true)

        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                let group = RequestGroup()
                group.onFinish { _ in
                    diary.write("report on main: \(DispatchQueue.getSpecific(key: mark) ?? false)")
                    continuation.resume()
                }
                group.resume()
                diary.write("returned")
            }
        }

        #expect(diary.entries == ["returned", "report on main: true"])
    }

    @Test func `a group contains requests and other members, and each member only once`() async {
        let message = ManualMember()
        let request = APIRequest<Int>.ready(1)
        let group = RequestGroup([message, request], options: .test())

        #expect(!group.add(message))
        #expect(group.add(ManualMember()))
        #expect(group.members.count == 3)
        group.resume()
        await until { message.starts != 0 }
        (group.members[2] as? ManualMember)?.end(.failed(.status(404)))
        message.end(.succeeded)

        #expect(await group.finished().members == [.succeeded, .succeeded, .failed(.status(404))])
        #expect(message.starts == 1)
    }

    @Test func `an active request group keeps itself alive and is released at its end`() async {
        let gate = Gate()
        weak var released: RequestGroup?
        let members: [APIRequest<Int>] = [.gated(1, gate), .gated(2, gate)]
        let report = await withCheckedContinuation { continuation in
            let group = RequestGroup(members, options: .test())
            released = group
            group.onFinish { continuation.resume(returning: $0) }
            group.resume()
            gate.open()
        }

        #expect(report.outcome == .succeeded)
        await until { released == nil }
    }

    @Test func `a cancelled request group ends once, and so does each member`() async {
        let gate = Gate()
        let done = APIRequest<Int>.ready(1)
        let waiting = APIRequest<Int>.gated(2, gate)
        let group = RequestGroup([done, waiting], options: .test())
        let reports = Locked(0)
        group.onFinish { _ in reports.withLock { $0 += 1 } }
        group.resume()
        _ = await done.end()

        group.cancel()
        group.cancel()
        let report = await group.finished()

        #expect(report == GroupReport(outcome: .cancelled, members: [.succeeded, .cancelled]))
        #expect(group.state == .cancelled)
        #expect(waiting.state == .cancelled)
        #expect(reports.withLock { $0 } == 1)
        gate.open()
    }

    @Test func `cancelling a request group before its start ends all members without starting them`() async {
        let member = ManualMember()
        let group = RequestGroup([member], options: .test())

        group.cancel()

        #expect(await group.finished().outcome == .cancelled)
        #expect(member.starts == 0)
        #expect(!group.resume())
    }

    @Test func `a member that ended before its group starts counts as ended`() async {
        let member = APIRequest<Int>.ready(1)
        _ = try? await member.value()

        let report = await RequestGroup([member], options: .test()).finished()

        #expect(report.members == [.succeeded])
    }

    @Test func `members can be added to a request group while it is active, but not after its end`() async {
        let first = ManualMember()
        let group = RequestGroup([first], options: .test())
        group.resume()
        let late = ManualMember()

        #expect(group.add(late))
        late.end(.succeeded)
        first.end(.succeeded)

        #expect(await group.finished().members.count == 2)
        #expect(!group.add(ManualMember()))
    }

    @Test func `the timeout of a request group cancels its members`() async {
        let clock = ManualClock()
        let member = ManualMember()
        let group = RequestGroup([member], options: .test(timeout: .seconds(5), time: clock))
        group.resume()
        await clock.waitForTimers(1)

        clock.advance(by: .seconds(5))

        #expect(await group.finished().outcome == .timedOut)
        #expect(member.outcome == .cancelled)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `the progress of a request group counts every member, and its outcomes have the order of the members`()
        async
    {
        let diary = Diary()
        let members = [ManualMember(), ManualMember(), ManualMember()]
        let group = RequestGroup(members, options: .test())
        group.onProgress { diary.write("\($0.ended)/\($0.total)") }
        group.resume()

        for (member, outcome) in zip(members.reversed(), [MemberOutcome.succeeded, .cancelled, .failed(.status(1))]) {
            member.end(outcome)
        }

        #expect(await group.finished().members == [.failed(.status(1)), .cancelled, .succeeded])
        #expect(diary.entries == ["1/3", "2/3", "3/3"])
    }

    @Test func `a request group can be a member of another group`() async {
        let inner = RequestGroup([APIRequest<Int>.failing()], options: .test(.failFast))
        let outer = RequestGroup([inner, APIRequest<Int>.ready(1)], options: .test())

        #expect(await outer.finished().members == [.failed(.status(500)), .succeeded])
    }

    @Test func `a group reports its progress while active and its report after the end`() async {
        let members = [ManualMember(), ManualMember()]
        let group = RequestGroup(members, options: .test())
        group.resume()
        members[0].end(.succeeded)
        await until { group.progress.ended >= 1 }

        #expect(group.progress.fraction == 0.5)
        #expect(group.report == nil)
        members[1].end(.failed(.status(500)))

        let report = await group.finished()
        #expect(report.members == [.succeeded, .failed(.status(500))])
        #expect(group.report == report)
        #expect(group.progress.fraction == 1)
        #expect(GroupProgress(ended: 0, total: 0).fraction == 1)
    }

    @Test func `members of a request group that end at the same time are counted once each`() async {
        for _ in 0..<50 {
            let members = (0..<40).map { _ in ManualMember() }
            let group = RequestGroup(members, options: .test())
            let reports = Locked(0)
            group.onFinish { _ in reports.withLock { $0 += 1 } }
            group.resume()

            await withTaskGroup(of: Void.self) { tasks in
                for member in members {
                    tasks.addTask { member.end(.succeeded) }
                    tasks.addTask { member.cancel() }
                }
            }

            #expect(await group.finished().members.count == 40)
            #expect(reports.withLock { $0 } == 1)
        }
    }

    @Test func `a request group cannot contain itself, directly or indirectly`() async {
        let (outer, inner) = (RequestGroup(options: .test()), RequestGroup(options: .test()))
        let batch = RequestBatch([APIRequest<Int>.ready(1)], options: .test())

        #expect(!outer.add(outer))
        #expect(outer.add(inner))
        #expect(!inner.add(outer))
        #expect(inner.add(batch))
        #expect(!batch.group.add(batch))
        #expect(!batch.group.add(outer))

        #expect(outer.members.count == 1 && inner.members.count == 1 && batch.group.members.count == 1)
        // A rejected member is not awaited.
        guard outer.members.count == 1, inner.members.count == 1, batch.group.members.count == 1 else { return }
        #expect(await outer.finished().outcome == .succeeded)
    }

    @Test func `a request group reads the owner (the user and environment) of each member once`() async {
        let members = (0..<20).map { _ in CountedMember() }

        let report = await RequestGroup(members, options: .test(limit: 1)).finished()

        #expect(report.outcome == .succeeded)
        #expect(members.map(\.reads) == Array(repeating: 1, count: 20))
    }
}

/// A member that ends when it starts, and counts how often its owner is read.
private final class CountedMember: GroupMember, OwnedMember {
    private let member = ManualMember()
    private let count = Locked(0)

    var reads: Int { count.withLock { $0 } }
    var owner: CallOwner? {
        count.withLock { $0 += 1 }
        return nil
    }

    func resume() -> Bool {
        defer { member.end(.succeeded) }
        return member.resume()
    }

    func cancel() { member.cancel() }
    func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { member.whenEnded(observer) }
}
