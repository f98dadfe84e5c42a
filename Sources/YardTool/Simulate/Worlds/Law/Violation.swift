import Switchyard

/// A violation of the ``Law`` (no call fares worse than with a client without switching) or of a related rule.
struct Violation: Sendable {
    /// The kind of violation.
    enum Kind: String, Sendable, CaseIterable, Codable {
        /// The call failed before a request was sent, although it succeeds without switching.
        case refusedUnsent = "refused unsent"
        /// The call failed at its deadline, although it succeeds without switching.
        case tooLate = "too late"
        /// The call failed in another way, although it succeeds without switching.
        case failed
        /// The call received an error status, although it succeeds without switching.
        case worseResponse = "worse response"
        /// The call ended after its deadline.
        case overran = "past the deadline"
        /// A write request was sent again although a server could still execute an earlier copy of it.
        case writtenTwice = "written twice"
        /// A late copy of a write request has overwritten a newer write, and both calls had been reported as
        /// successful.
        case undone = "newer write undone"
        /// A write request was executed although the client reported that it was certainly not executed.
        case executedUnreported = "executed unreported"
        /// The client sent more requests than the number of calls and of helpful failovers allows.
        case tooManyRequests = "too many requests"
        /// The client sent a request to a server that does not serve it.
        case sentToUnsuitable = "sent to a server that does not serve it"
        /// The client switched away from a server although no other server was better.
        case switchedAmongEquals = "switched among equals"
    }

    /// The client without switching for which the call would have succeeded.
    enum Baseline: String, Sendable, Codable {
        /// Both the client that uses the first server and the client that uses the server that was preferred at that
        /// time.
        case both = "first and preferred server"
        /// Only the client that uses the first server of the list.
        case first = "first server only"
        /// Only the client that uses the server that was preferred at that time.
        case preferred = "preferred server only"
    }

    var kind: Kind
    /// The client without switching for which the call would have succeeded, or `nil` if the violated rule does not
    /// compare responses.
    var baseline: Baseline?
    /// The call, or `nil` if the violation concerns all calls of the world (the random scenario) together.
    var call: PlayedCall?
    /// The numbers that violate the rule, or an empty string if the violation concerns a single call.
    var figures = ""

    /// The class of the violation.
    var group: ViolationGroup { ViolationGroup(self) }
}

/// A class of violations.
///
/// Two violations are in the same class if their kind, the kind of the call, and the clients for which the call would
/// have succeeded are the same.
struct ViolationGroup: Sendable, Hashable, Codable {
    var kind: Violation.Kind
    var baseline: Violation.Baseline?
    /// Whether the call had low priority.
    var isLow = false
    /// Whether the call was a write request without an idempotency key.
    var isWrite = false

    fileprivate init(_ violation: Violation) {
        kind = violation.kind
        baseline = violation.baseline
        isLow = violation.call?.priority == .low
        isWrite = violation.call?.kind == .write || violation.call?.kind == .replacement
    }
}

extension ViolationGroup: CustomStringConvertible {
    /// A short description of the class.
    var description: String {
        let call = [isLow ? "low priority" : nil, isWrite ? "write without key" : nil].compactMap(\.self)
        return ([kind.rawValue] + call + [baseline?.rawValue].compactMap(\.self)).joined(separator: ", ")
    }
}
