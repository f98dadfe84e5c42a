import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

/// Rows J1 to J5; rules TAF-G1 to TAF-G10: members are counted by their own ends, so that there is nothing to observe, to
/// wait on, or to forget.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestGroupTests {
    @Test func `J1, TAF-G7: one notification, after the last callback of the last member`() async {
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

    @Test func `J1: an empty group reports on its queue, after resume has returned`() async {
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

    @Test func `J1: an empty group of which no queue is said reports on the main queue, after resume has returned`()
        async
    {
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

    @Test func `J2, J5: requests and other things together, each of them once`() async {
        let message = ManualMember()
        let request = APIRequest<Int>.ready(1)
        let group = RequestGroup([message, request], options: .test())

        #expect(!group.add(message))
        #expect(group.add(ManualMember()))
        #expect(group.members.count == 3)
        group.resume()
        while message.starts == 0 { await Task.yield() }
        (group.members[2] as? ManualMember)?.end(.failed(.status(404)))
        message.end(.succeeded)

        #expect(await group.finished().members == [.succeeded, .succeeded, .failed(.status(404))])
        #expect(message.starts == 1)
    }

    @Test func `J3, J18, YTK-40: a group under way keeps itself alive, and lets go at its end`() async {
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
        while released != nil { await Task.yield() }
    }

    @Test func `J4, TAF-G8: a cancelled group ends once, and so do its members`() async {
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

    @Test func `a group that is cancelled before its start ends with all its members, unsent`() async {
        let member = ManualMember()
        let group = RequestGroup([member], options: .test())

        group.cancel()

        #expect(await group.finished().outcome == .cancelled)
        #expect(member.starts == 0)
        #expect(!group.resume())
    }

    @Test func `TAF-G5, TAF-G4: a member that has ended before the start counts as ended`() async {
        let member = APIRequest<Int>.ready(1)
        _ = try? await member.value()

        let report = await RequestGroup([member], options: .test()).finished()

        #expect(report.members == [.succeeded])
    }

    @Test func `TAF-G10: members can be added while the group is under way, and not after its end`() async {
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

    @Test func `J19: a group that takes too long is cancelled by its timeout`() async {
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

    @Test func `TAF-G9, J19: progress counts every member, and outcomes come in order`() async {
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

    @Test func `a group can be a member of another one`() async {
        let inner = RequestGroup([APIRequest<Int>.failing()], options: .test(.failFast))
        let outer = RequestGroup([inner, APIRequest<Int>.ready(1)], options: .test())

        #expect(await outer.finished().members == [.failed(.status(500)), .succeeded])
    }

    @Test func `a group can be asked how far it is, and what became of it`() async {
        let members = [ManualMember(), ManualMember()]
        let group = RequestGroup(members, options: .test())
        group.resume()
        members[0].end(.succeeded)
        while group.progress.ended < 1 { await Task.yield() }

        #expect(group.progress.fraction == 0.5)
        #expect(group.report == nil)
        members[1].end(.failed(.status(500)))

        let report = await group.finished()
        #expect(report.members == [.succeeded, .failed(.status(500))])
        #expect(group.report == report)
        #expect(group.progress.fraction == 1)
        #expect(GroupProgress(ended: 0, total: 0).fraction == 1)
    }

    @Test func `TAF-G6: members that end on many threads at once are counted once each`() async {
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

    @Test func `a group is no member of itself, by whatever way`() async {
        let (outer, inner) = (RequestGroup(options: .test()), RequestGroup(options: .test()))
        let batch = RequestBatch([APIRequest<Int>.ready(1)], options: .test())

        #expect(!outer.add(outer))
        #expect(outer.add(inner))
        #expect(!inner.add(outer))
        #expect(inner.add(batch))
        #expect(!batch.group.add(batch))
        #expect(!batch.group.add(outer))

        #expect(outer.members.count == 1 && inner.members.count == 1 && batch.group.members.count == 1)
        // What was refused is not waited for.
        guard outer.members.count == 1, inner.members.count == 1, batch.group.members.count == 1 else { return }
        #expect(await outer.finished().outcome == .succeeded)
    }
}
