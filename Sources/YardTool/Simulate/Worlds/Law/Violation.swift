import Switchyard

/// A violation of the rule that no caller may be worse off with the client than without switching, or of a related
/// rule.
struct Violation: Sendable {
    /// The kind of violation.
    enum Kind: String, Sendable, CaseIterable, Codable {
        /// The call was given up before anything was sent, although it succeeds without switching.
        case refusedUnsent = "refused unsent"
        /// The call met its deadline, although it succeeds without switching.
        case tooLate = "too late"
        /// The call failed in another way, although it succeeds without switching.
        case failed
        /// The call received an error status, although it succeeds without switching.
        case worseResponse = "worse response"
        /// The call ended after its deadline.
        case overran = "past the deadline"
        /// A write was sent again although an earlier copy could still be executed.
        case writtenTwice = "written twice"
        /// A late copy of a write has overwritten a newer one, and both were reported as done.
        case undone = "newer write undone"
        /// A write was executed although it was reported as certainly not executed.
        case executedUnreported = "executed unreported"
        /// More requests were sent than calls and failures justify.
        case tooManyRequests = "too many requests"
        /// A server was left although no other server was better.
        case switchedAmongEquals = "switched among equals"
    }

    /// The client without switching that would have received the response.
    enum Witness: String, Sendable, Codable {
        /// Both the client that uses the first server and the client that uses the currently preferred server.
        case both = "first and preferred server"
        /// Only the client that uses the first server of the list.
        case first = "first server only"
        /// Only the client that uses the currently preferred server.
        case preferred = "preferred server only"
    }

    var kind: Kind
    /// The client that would have received the response, or `nil` if the rule does not concern a response.
    var witness: Witness?
    /// The call, or `nil` if the violation concerns the whole world.
    var call: PlayedCall?
    /// The figures, if the violation concerns the whole world.
    var figures = ""

    /// The class of the violation.
    var group: ViolationGroup { ViolationGroup(self) }
}

/// A class of violations: the kind, the calls, and the clients that would have done better.
struct ViolationGroup: Sendable, Hashable, Codable {
    var kind: Violation.Kind
    var witness: Violation.Witness?
    /// Whether the call had low priority.
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
    /// A short description of the class.
    var description: String {
        let call = [isLow ? "low priority" : nil, isWrite ? "write without key" : nil].compactMap(\.self)
        return ([kind.rawValue] + call + [witness?.rawValue].compactMap(\.self)).joined(separator: ", ")
    }
}
