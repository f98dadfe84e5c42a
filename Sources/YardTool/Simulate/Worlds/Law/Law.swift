import Switchyard

/// Judges a world that was played.
enum Law {
    /// How many requests a call may cost on average, those apart that other failures account for.
    static let requestsPerCall = 1.05
    /// How many requests more a world may cost, however small it is.
    static let spareRequests = 20.0
    /// By how much the end of a call may miss its deadline, in seconds: the clock counts in nanoseconds.
    private static let tolerance = 0.001

    /// What was broken, call by call and then on the whole.
    static func violations(in played: PlayedWorld) -> [Violation] {
        played.calls.flatMap { [harm(to: $0), overrun(of: $0), repetition(of: $0)].compactMap(\.self) }
            + Registers.violations(in: played)
            + (played.world.isAlike ? [excess(in: played), switching(in: played)].compactMap(\.self) : [])
    }

    /// Whether a client without switching would have got a better answer.
    private static func harm(to call: PlayedCall) -> Violation? {
        let first = harm(to: call, comparedWith: call.byFirst)
        let preferred = harm(to: call, comparedWith: call.byCurrent)
        guard let kind = first ?? preferred else { return nil }
        let witness: Violation.Witness = first == nil ? .preferred : preferred == nil ? .first : .both
        return Violation(kind: kind, witness: witness, call: call)
    }

    private static func harm(
        to call: PlayedCall,
        comparedWith reference: PlayedCall.Reference
    ) -> Violation.Kind? {
        guard let status = reference.status else { return nil }
        switch call.outcome {
        case .answered(let own):
            // Who loses calls on the way has more left of a quota for those behind them, and is not better for it.
            return status < 400 && own >= 400 && !reference.reply.owesToLosses ? .worseAnswer : nil
        case .failed(.overloaded) where call.sendings.isEmpty: return .refusedUnsent
        case .failed(.deadlineExceeded): return .tooLate
        case .failed, nil: return .failed
        }
    }

    private static func overrun(of call: PlayedCall) -> Violation? {
        call.endTime > call.time + call.deadline + tolerance ? Violation(kind: .overran, call: call) : nil
    }

    private static func repetition(of call: PlayedCall) -> Violation? {
        let isAllowed = zip(call.sendings, call.sendings.dropFirst()).allSatisfy { earlier, next in
            let hadEnded = earlier.end != nil && earlier.endTime <= next.time
            return call.kind.resendRule.allowsResend(after: hadEnded ? earlier.fate(of: call.kind) : .open)
        }
        return isAllowed ? nil : Violation(kind: .writtenTwice, call: call)
    }

    private static func excess(in played: PlayedWorld) -> Violation? {
        let (sent, failovers) = (played.record.writtenRequests, played.record.witnessedFailovers)
        let most = requestsPerCall * Double(played.calls.count) + Double(failovers) + spareRequests
        guard Double(sent) > most else { return nil }
        let figures = "\(sent) requests for \(played.calls.count) calls, \(failovers) of them failovers that helped"
        return Violation(kind: .tooManyRequests, figures: figures)
    }

    /// Whether a server was left for one that is no better, though it answered; one that answers nothing well can be left
    /// by nobody's loss.
    private static func switching(in played: PlayedWorld) -> Violation? {
        let isAnyAnswered = played.calls.contains { ($0.byFirst.status ?? 500) < 400 }
        guard played.switches > 0, isAnyAnswered else { return nil }
        return Violation(kind: .switchedAmongEquals, figures: "\(played.switches) switches")
    }
}
