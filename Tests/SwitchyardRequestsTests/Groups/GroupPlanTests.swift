import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import Testing

@testable import SwitchyardRequests

/// The rules of groups, without clocks and threads.
@Suite struct GroupPlanTests {
    private func plan(_ count: Int, _ policy: GroupPolicy, limit: Int? = nil) -> GroupPlan {
        var plan = GroupPlan(policy: policy, limit: limit)
        for _ in 0..<count { _ = plan.add() }
        return plan
    }

    @Test func `a request group with collectAll ends when its last member ends and reports the failed members`() {
        var plan = plan(3, .collectAll)

        #expect(plan.start()?.start == [0, 1, 2])
        #expect(plan.memberEnded(1, .failed(.status(500))) == GroupPlan.Effects())
        #expect(plan.memberEnded(0, .cancelled) == GroupPlan.Effects())
        let last = plan.memberEnded(2, .succeeded)

        #expect(last.report?.outcome == .partial(failed: [0, 1]))
        #expect(last.report?.members == [.cancelled, .failed(.status(500)), .succeeded])
    }

    @Test func `with failFast, the first failure of a request group cancels only the members that have not ended`() {
        var plan = plan(3, .failFast)
        _ = plan.start()
        _ = plan.memberEnded(0, .succeeded)

        let stop = plan.memberEnded(1, .failed(.status(500)))

        #expect(stop == GroupPlan.Effects(willStop: true, cancel: [2]))
        #expect(plan.memberEnded(2, .cancelled).report?.outcome == .failed(member: 1))
    }

    @Test func `a request group with firstSuccess ends as soon as one member succeeds`() {
        var plan = plan(3, .firstSuccess)
        _ = plan.start()
        _ = plan.memberEnded(2, .failed(.status(500)))

        #expect(plan.memberEnded(0, .succeeded).cancel == [1])
        #expect(plan.memberEnded(1, .cancelled).report?.outcome == .succeeded)
    }

    @Test
    func `a quorum group succeeds as soon as the quorum succeeds, and fails when the quorum cannot succeed any more`() {
        var enough = plan(4, .quorum(2))
        _ = enough.start()
        _ = enough.memberEnded(3, .succeeded)
        #expect(enough.memberEnded(1, .succeeded).cancel == [0, 2])

        var tooFew = plan(3, .quorum(2))
        _ = tooFew.start()
        _ = tooFew.memberEnded(0, .cancelled)
        #expect(tooFew.memberEnded(2, .cancelled).cancel == [1])
        #expect(tooFew.memberEnded(1, .cancelled).report?.outcome == .failed(member: 2))

        var nobody = plan(1, .quorum(0))
        #expect(nobody.start()?.cancel == [0])
        #expect(nobody.memberEnded(0, .cancelled).report?.outcome == .succeeded)

        var impossible = plan(1, .quorum(2))
        #expect(impossible.start()?.cancel == [0])
    }

    @Test func `a request group runs no more members than its limit at the same time`() {
        var plan = plan(4, .collectAll, limit: 2)

        #expect(plan.start()?.start == [0, 1])
        #expect(plan.memberEnded(2, .cancelled).start == [])
        #expect(plan.memberEnded(0, .succeeded).start == [3])
        #expect(plan.progress == GroupProgress(ended: 2, total: 4))
    }

    @Test func `group members that ended before their group starts count as ended`() {
        var plan = plan(2, .collectAll)
        _ = plan.memberEnded(0, .succeeded)
        _ = plan.memberEnded(1, .succeeded)

        #expect(plan.start()?.report?.outcome == .succeeded)
    }

    @Test func `a request group with collectAll reports members that failed before its start`() {
        var plan = plan(2, .collectAll)
        _ = plan.memberEnded(1, .failed(.status(500)))
        _ = plan.memberEnded(0, .succeeded)

        #expect(plan.start()?.report?.outcome == .partial(failed: [1]))
    }

    @Test(arguments: [GroupPolicy.collectAll, .failFast, .firstSuccess])
    func `an empty group of requests succeeds immediately`(policy: GroupPolicy) {
        var plan = plan(0, policy)

        #expect(plan.start()?.report == GroupReport(outcome: .succeeded, members: []))
        #expect(plan.start() == nil)
    }

    @Test func `a group member starts when all its dependencies have succeeded`() {
        var plan = plan(3, .collectAll)
        plan.require([(0, [1, 2])])

        #expect(plan.start()?.start == [1, 2])
        #expect(plan.memberEnded(2, .succeeded).start == [])
        #expect(plan.memberEnded(1, .succeeded).start == [0])
    }

    @Test func `a failed group member cancels only the members that depend on it`() {
        var plan = plan(3, .collectAll)
        plan.require([(1, [0])])
        _ = plan.start()

        #expect(plan.memberEnded(0, .failed(.status(500))).cancel == [1])
        #expect(plan.memberEnded(1, .cancelled).report == nil)
        #expect(plan.memberEnded(2, .succeeded).report?.outcome == .partial(failed: [0, 1]))
    }

    @Test func `in random histories, every group ends exactly once, when its last member ends`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            var run = PlanRun(&random)
            run.play(&random)
            #expect(run.problems == [])
        }
    }

    @Test(arguments: [1, -1, Int.max, Int.min])
    func `the failure of a group report is nil if the outcome names a member that does not exist`(
        member: Int
    ) {
        #expect(GroupReport(outcome: .failed(member: member), members: [.cancelled]).failure == nil)
    }
}

/// A random history of a plan, with the problems that were found.
private struct PlanRun {
    private var plan: GroupPlan
    private var open: Set<Int>
    private var started: Set<Int> = []
    private var reports = 0
    private let limit: Int
    private let description: String
    private(set) var problems: [String] = []

    init(_ random: inout SeededGenerator) {
        let count = Int.random(in: 0...8, using: &random)
        limit = Int.random(in: 1...4, using: &random)
        let policies: [GroupPolicy] = [
            .collectAll, .failFast, .firstSuccess, .quorum(Int.random(in: 0...9, using: &random)),
        ]
        let policy = policies[Int.random(in: 0..<4, using: &random)]
        description = "\(policy), \(count) members, limit \(limit)"
        plan = GroupPlan(policy: policy, limit: limit)
        for _ in 0..<count { _ = plan.add() }
        for index in 0..<count where index > 0 && Bool.random(using: &random) {
            plan.require([(index, [Int.random(in: 0..<index, using: &random)])])
        }
        open = Set(0..<count)
    }

    mutating func play(_ random: inout SeededGenerator) {
        take(plan.start())
        while let next = open.sorted().randomElement(using: &random) {
            if Int.random(in: 0..<12, using: &random) == 0 { take(plan.stop(.cancelled)) }
            let isUnderWay = started.contains(next)
            let outcomes: [MemberOutcome] = isUnderWay ? [.succeeded, .failed(.status(500)), .cancelled] : [.cancelled]
            if !isUnderWay, !started.isEmpty, Bool.random(using: &random) { continue }
            open.remove(next)
            started.remove(next)
            take(plan.memberEnded(next, outcomes.randomElement(using: &random) ?? .cancelled))
            take(plan.memberEnded(next, .succeeded))
        }
        if reports != 1 { problems.append("\(reports) reports: \(description)") }
    }

    private mutating func take(_ effects: GroupPlan.Effects?) {
        guard let effects else { return }
        started.formUnion(effects.start)
        if started.count > limit { problems.append("over the limit: \(description)") }
        if !effects.cancel.allSatisfy(open.contains) { problems.append("cancels what has ended: \(description)") }
        guard effects.report != nil else { return }
        reports += 1
        if !open.isEmpty { problems.append("ended before its members: \(description)") }
    }
}
