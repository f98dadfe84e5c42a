import Switchyard
import Testing

@testable import yard

@Suite struct LawTests {
    private let well = ServerReply(delay: 0.01, end: .answer(200, retryAfter: nil))
    private let refusal = ServerReply(delay: 0.01, end: .answer(503, retryAfter: nil))
    private let silence = ServerReply(delay: .infinity, end: .silence(isConnected: true))

    private func call(
        _ outcome: PlayedCall.Outcome,
        first: ServerReply,
        preferred: ServerReply? = nil,
        kind: CallKind = .read,
        sendings: [TrafficRecord.Sending] = []
    ) -> PlayedCall {
        let preferred = preferred ?? first
        return PlayedCall(
            number: 0,
            kind: kind,
            endpoint: 0,
            priority: .normal,
            time: 1,
            deadline: 2,
            byFirst: .init(server: 0, reply: first, status: first.status(within: 2)),
            byCurrent: .init(server: 1, reply: preferred, status: preferred.status(within: 2)),
            outcome: outcome,
            endTime: 1.1,
            sendings: sendings
        )
    }

    private func violations(
        of call: PlayedCall,
        switches: Int = 0,
        record: TrafficRecord = TrafficRecord(calls: 1),
        _ troubles: [Trouble] = []
    ) -> [ViolationGroup] {
        let played = PlayedWorld(world: .sample(troubles), calls: [call], record: record, switches: switches)
        return Law.violations(in: played).map(\.group)
    }

    @Test func `a simulated call may fail if no single server would have responded`() {
        #expect(violations(of: call(.failed(.deadlineExceeded), first: silence)).isEmpty)
    }

    @Test func `a simulated call must not fail if the first server alone would respond`() {
        let found = violations(of: call(.failed(.deadlineExceeded), first: well, preferred: silence))

        #expect(found.map(\.kind) == [.tooLate])
        #expect(found.map(\.baseline) == [.first])
    }

    @Test func `in a simulation, an error status counts as a response and must not be lost`() {
        let found = violations(of: call(.failed(.overloaded), first: refusal))

        #expect(found.map(\.kind) == [.refusedUnsent])
        #expect(found.map(\.baseline) == [.both])
    }

    @Test func `in a simulation, a successful response must not become an error status`() {
        #expect(violations(of: call(.answered(503), first: silence, preferred: well)).map(\.kind) == [.worseResponse])
        #expect(violations(of: call(.answered(503), first: refusal)).isEmpty)
    }

    @Test
    func `a simulated call may get a 429 if the first server would succeed only because earlier requests were lost`() {
        var lucky = well
        lucky.owesToLosses = true

        #expect(violations(of: call(.answered(429), first: lucky)).isEmpty)
        #expect(violations(of: call(.failed(.overloaded), first: lucky)).map(\.kind) == [.refusedUnsent])
    }

    @Test func `a simulated call ends by its deadline`() {
        var late = call(.answered(200), first: well)
        late.endTime = 3.1

        #expect(violations(of: late).map(\.kind) == [.overran])
    }

    @Test func `a simulated write without a key may be sent again only if it was certainly not sent`() {
        let sent = TrafficRecord.Sending(server: 0, time: 1, role: .first, end: .failure(.timeout, wasSent: true))
        var unsent = sent
        unsent.end = .failure(.connectionRefused, wasSent: false)
        let again = TrafficRecord.Sending(server: 1, time: 1, role: .failover, end: .answer(200, retryAfter: nil))

        let outcome = PlayedCall.Outcome.answered(200)
        let twice = call(outcome, first: well, kind: .write, sendings: [sent, again])
        let once = call(outcome, first: well, kind: .write, sendings: [unsent, again])
        let repeatable = call(outcome, first: well, kind: .keyedWrite, sendings: [sent, again])
        let replacement = call(outcome, first: well, kind: .replacement, sendings: [sent, again])
        var final = sent
        final.end = .answer(500, retryAfter: nil)
        let answered = call(outcome, first: well, kind: .replacement, sendings: [final, again])

        #expect(violations(of: twice).map(\.kind) == [.writtenTwice])
        #expect(violations(of: once).isEmpty)
        #expect(violations(of: repeatable).isEmpty)
        #expect(violations(of: replacement).map(\.kind) == [.writtenTwice])
        #expect(violations(of: answered).isEmpty)
    }

    @Test func `a simulated write that was executed must report that it may have been executed`() {
        var sending = TrafficRecord.Sending(server: 0, time: 1, role: .first, end: .failure(.timeout, wasSent: true))
        sending.executionTime = 20
        var open = call(.failed(.deadlineExceeded), first: silence, kind: .write, sendings: [sending])
        let silent = violations(of: open).map(\.kind)
        open.mayHaveBeenExecuted = true

        #expect(silent == [.executedUnreported])
        #expect(violations(of: open).isEmpty)
    }

    @Test func `a late copy of a simulated write must not undo a newer write that was reported as done`() {
        func write(_ number: Int, at time: Double, executedAt executions: Double...) -> PlayedCall {
            var write = call(.answered(200), first: well, kind: .replacement)
            (write.number, write.time, write.endTime) = (number, time, time + 0.1)
            write.sendings = executions.map { execution in
                var end = ServerReply.End.answer(500, retryAfter: nil)
                if execution == executions.last { end = .answer(200, retryAfter: nil) }
                var sending = TrafficRecord.Sending(server: 0, time: time, role: .first, end: end)
                sending.executionTime = execution
                return sending
            }
            return write
        }
        func found(_ calls: [PlayedCall]) -> [Violation.Kind] {
            let record = TrafficRecord(calls: calls.count)
            let world = World.sample(kinds: [.replacement])
            return Law.violations(in: PlayedWorld(world: world, calls: calls, record: record, switches: 0)).map(\.kind)
        }

        let late = write(0, at: 1, executedAt: 9, 1.1)
        let newer = write(1, at: 2, executedAt: 2.1)
        var told = late
        told.mayHaveBeenExecuted = true

        #expect(found([late, newer]) == [.undone])
        #expect(found([write(0, at: 1, executedAt: 1.1), newer]).isEmpty)
        #expect(found([told, newer]).isEmpty)
    }

    @Test func `a switch among equal servers violates the rules of the simulation`() {
        let answered = call(.answered(200), first: well)

        #expect(violations(of: answered, switches: 1).map(\.kind) == [.switchedAmongEquals])
        #expect(violations(of: answered, switches: 1, [Trouble(.hang, server: 1)]).isEmpty)
    }

    @Test func `calls to equal simulated servers cost no more requests than allowed`() throws {
        let world = World.sample([Trouble(.reset)])
        let played = try WorldPlay.play(world, policy: .recommended)
        var quiet = played
        quiet.record = TrafficRecord(calls: 100)

        let isExcessive = Double(played.record.requests) > 1.05 * 100 + 12
        #expect(Law.violations(in: played).contains { $0.kind == .tooManyRequests } == isExcessive)
        #expect(!Law.violations(in: quiet).contains { $0.kind == .tooManyRequests })
    }
}
