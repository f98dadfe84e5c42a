import Switchyard

/// The rules that the results of a world (a random scenario, ``World``) must obey: no call has a worse result than
/// without switching, and the client sends few additional requests.
enum Law {
    /// The maximum mean number of requests per call, not counting failovers that succeeded.
    static let requestsPerCall = 1.05
    /// The number of additional requests that are allowed in every world, even in a small one.
    static let spareRequests = 20.0
    /// The tolerance for the deadline of a call in seconds, which is needed because the clock counts nanoseconds.
    private static let tolerance = 0.001

    /// Returns the violations of individual calls, then the violations of the whole world.
    static func violations(in played: PlayedWorld) -> [Violation] {
        played.calls.flatMap { [harm(to: $0), overrun(of: $0), repetition(of: $0)].compactMap(\.self) }
            + Registers.violations(in: played) + [unsuitable(in: played)].compactMap(\.self)
            + (played.world.isAlike ? [excess(in: played), switching(in: played)].compactMap(\.self) : [])
    }

    /// Returns a violation if a client without switching would have received a better response.
    private static func harm(to call: PlayedCall) -> Violation? {
        let first = harm(to: call, comparedWith: call.byFirst)
        let preferred = harm(to: call, comparedWith: call.byCurrent)
        guard let kind = first ?? preferred else { return nil }
        let baseline: Violation.Baseline = first == nil ? .preferred : preferred == nil ? .first : .both
        return Violation(kind: kind, baseline: baseline, call: call)
    }

    private static func harm(
        to call: PlayedCall,
        comparedWith reference: PlayedCall.Reference
    ) -> Violation.Kind? {
        guard let status = reference.status else { return nil }
        switch call.outcome {
        case .answered(let own):
            // If requests that the client without switching sends are lost before they reach a server, that client uses
            // less of its quota. Later calls of that client succeed only for this reason, so their responses do not
            // count as better.
            return status < 400 && own >= 400 && !reference.reply.owesToLosses ? .worseResponse : nil
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

    private static func unsuitable(in played: PlayedWorld) -> Violation? {
        let count = played.record.unsuitable
        return count == 0 ? nil : Violation(kind: .sentToUnsuitable, figures: "\(count) requests")
    }

    private static func excess(in played: PlayedWorld) -> Violation? {
        let (sent, failovers) = (played.record.writtenRequests, played.record.confirmedFailovers)
        let most = requestsPerCall * Double(played.calls.count) + Double(failovers) + spareRequests
        guard Double(sent) > most else { return nil }
        let figures = "\(sent) requests for \(played.calls.count) calls; \(failovers) were failovers that helped"
        return Violation(kind: .tooManyRequests, figures: figures)
    }

    /// Returns a violation if the client switched to a server that is not better than the previous server.
    ///
    /// If no server responds successfully, a switch is not a violation, because the switch makes no call fail.
    private static func switching(in played: PlayedWorld) -> Violation? {
        let isAnyAnswered = played.calls.contains { ($0.byFirst.status ?? 500) < 400 }
        guard played.switches > 0, isAnyAnswered else { return nil }
        return Violation(kind: .switchedAmongEquals, figures: "\(played.switches) switches")
    }
}
