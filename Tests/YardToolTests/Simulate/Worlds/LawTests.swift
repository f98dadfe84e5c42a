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

    @Test func `a call may fail that no single server answers either`() {
        #expect(violations(of: call(.failed(.deadlineExceeded), first: silence)).isEmpty)
    }

    @Test func `a call must not fail that the first server alone answers`() {
        let found = violations(of: call(.failed(.deadlineExceeded), first: well, preferred: silence))

        #expect(found.map(\.kind) == [.tooLate])
        #expect(found.map(\.witness) == [.first])
    }

    @Test func `an error status is an answer too, and must not be lost`() {
        let found = violations(of: call(.failed(.overloaded), first: refusal))

        #expect(found.map(\.kind) == [.refusedUnsent])
        #expect(found.map(\.witness) == [.both])
    }

    @Test func `a good answer must not become an error status`() {
        #expect(violations(of: call(.answered(503), first: silence, preferred: well)).map(\.kind) == [.worseAnswer])
        #expect(violations(of: call(.answered(503), first: refusal)).isEmpty)
    }

    @Test func `what is left of a quota by losing calls is no better than what answering them has used`() {
        var lucky = well
        lucky.owesToLosses = true

        #expect(violations(of: call(.answered(429), first: lucky)).isEmpty)
        #expect(violations(of: call(.failed(.overloaded), first: lucky)).map(\.kind) == [.refusedUnsent])
    }

    @Test func `a call ends by its deadline`() {
        var late = call(.answered(200), first: well)
        late.endTime = 3.1

        #expect(violations(of: late).map(\.kind) == [.overran])
    }

    @Test func `a write without key may be sent again only where it was certainly not sent`() {
        let sent = TrafficRecord.Sending(server: 0, time: 1, role: .first, end: .failure(.timeout, wasSent: true))
        var unsent = sent
        unsent.end = .failure(.connectionRefused, wasSent: false)
        let again = TrafficRecord.Sending(server: 1, time: 1, role: .failover, end: .answer(200, retryAfter: nil))

        let outcome = PlayedCall.Outcome.answered(200)
        let twice = call(outcome, first: well, kind: .write, sendings: [sent, again])
        let once = call(outcome, first: well, kind: .write, sendings: [unsent, again])
        let repeatable = call(outcome, first: well, kind: .keyedWrite, sendings: [sent, again])

        #expect(violations(of: twice).map(\.kind) == [.writtenTwice])
        #expect(violations(of: once).isEmpty)
        #expect(violations(of: repeatable).isEmpty)
    }

    @Test func `among equals nothing switches`() {
        let answered = call(.answered(200), first: well)

        #expect(violations(of: answered, switches: 1).map(\.kind) == [.switchedAmongEquals])
        #expect(violations(of: answered, switches: 1, [Trouble(.hang, server: 1)]).isEmpty)
    }

    @Test func `among equals calls cost no more requests than they should`() throws {
        let world = World.sample([Trouble(.reset)])
        let played = try WorldPlay.play(world, policy: .recommended)
        var quiet = played
        quiet.record = TrafficRecord(calls: 100)

        let isExcessive = Double(played.record.requests) > 1.05 * 100 + 12
        #expect(Law.violations(in: played).contains { $0.kind == .tooManyRequests } == isExcessive)
        #expect(!Law.violations(in: quiet).contains { $0.kind == .tooManyRequests })
    }
}
