import Switchyard

/// A breach of the law that no caller may fare worse with the client than without it, and of what follows from that.
struct Violation: Sendable {
    /// What was broken.
    enum Kind: String, Sendable, CaseIterable, Codable {
        /// A call that a client without switching gets answered was given up before anything was sent.
        case refusedUnsent = "refused unsent"
        /// Such a call met its deadline.
        case tooLate = "too late"
        /// Such a call failed in another way.
        case failed
        /// A call that a client without switching gets answered well was answered with an error status.
        case worseAnswer = "worse answer"
        /// A call ended behind its deadline.
        case overran = "behind the deadline"
        /// A write was sent again although an earlier copy may still be executed.
        case writtenTwice = "written twice"
        /// A late copy of a write has undone a newer one, and both were reported as done.
        case undone = "newer write undone"
        /// A write that was reported as certainly not executed was executed.
        case executedUnreported = "executed unreported"
        /// More requests were sent than calls and failures account for.
        case tooManyRequests = "too many requests"
        /// A server was left although no other was better.
        case switchedAmongEquals = "switched among equals"
    }

    /// Which client without switching would have got the answer.
    enum Witness: String, Sendable, Codable {
        /// The one that asks the first server, as well as the one that asks the server preferred at the moment.
        case both = "first and preferred server"
        /// Only the one that asks the first server of the list.
        case first = "first server only"
        /// Only the one that asks the server preferred at the moment.
        case preferred = "preferred server only"
    }

    var kind: Kind
    /// Who would have got the answer; `nil` where the law is not about an answer.
    var witness: Witness?
    /// The call; `nil` where it is about the whole world.
    var call: PlayedCall?
    /// The figures, where it is about the whole world.
    var figures = ""

    /// What it has in common with others of its class.
    var group: ViolationGroup { ViolationGroup(self) }
}

/// A class of violations: what was broken, for which calls, and who would have done better.
struct ViolationGroup: Sendable, Hashable, Codable {
    var kind: Violation.Kind
    var witness: Violation.Witness?
    /// Whether the call was of low priority.
    var isLow = false
    /// Whether the call was a write without a key.
    var isWrite = false

    fileprivate init(_ violation: Violation) {
        kind = violation.kind
        witness = violation.witness
        isLow = violation.call?.priority == .low
        isWrite = violation.call?.kind == .write || violation.call?.kind == .replacement
    }
}

extension ViolationGroup: CustomStringConvertible {
    /// The class in a few words.
    var description: String {
        let call = [isLow ? "low priority" : nil, isWrite ? "write without key" : nil].compactMap(\.self)
        return ([kind.rawValue] + call + [witness?.rawValue].compactMap(\.self)).joined(separator: ", ")
    }
}
