/// The result of a run in one sentence: which servers failed, and how many calls failed.
package struct Verdict: Codable, Sendable, Equatable {
    /// The assessment of a run, which determines the color of the sentence.
    package enum Level: String, Codable, Sendable {
        /// At most as many calls failed as are tolerated, and every server that failed is back.
        case good
        /// At most as many calls failed as are tolerated, but a server that failed is not known to be back.
        case ongoing
        /// More calls failed than are tolerated.
        case bad
        /// No call has ended, or no server failed and no failure is the fault of a server.
        case none
    }

    /// The assessment of the run.
    package var level: Level
    /// The sentence.
    package var headline: String
    /// Further sentences, such as the errors by kind and the number of calls that succeeded although their first server
    /// failed.
    package var details: [String]

    /// Creates a verdict.
    package init(level: Level, headline: String, details: [String] = []) {
        self.level = level
        self.headline = headline
        self.details = details
    }

    /// The sentence and the further sentences, each on its own line.
    package var text: String { ([headline] + details).joined(separator: "\n") }

    /// Creates the verdict of a run from its totals.
    package init(_ facts: VerdictFacts) {
        let tolerated = facts.tolerance * Double(facts.calls)
        let counted = facts.isStrict ? facts.failed : facts.failedBecauseOfServers
        let isNeutral = facts.calls == 0 || facts.failed > counted && !facts.hasFailedServer
        let isOver = isNeutral ? Level.none : facts.hasOpenFault ? .ongoing : .good
        level = Double(counted) > tolerated ? .bad : isOver
        headline = [facts.servers, facts.callers].compactMap(\.self).joined(separator: " ")
        details = [facts.errors, facts.obstacles, facts.requestErrors, facts.saved.sentence].compactMap(\.self)
    }
}

/// The totals of a run, from which its ``Verdict`` is created.
///
/// A call has failed if it received no response or a response with a status of at least 400. Its failure is a request
/// error if it is not the fault of a server, such as a response with status 404. A call was saved (``saved``) if it
/// succeeded at another server although its first server had failed.
package struct VerdictFacts: Sendable, Equatable {
    /// The number of servers of the service.
    package var serverCount = 1
    /// The names of the servers that failed, without repetitions.
    package var failedServers: [String] = []
    /// Whether all failed servers are known to be in service again.
    package var areBack = false
    /// The names of the servers whose failure or slowness had not ended at the end of a run that is over.
    package var notRecovered: [String] = []
    /// Whether a server that failed has not been tried since, so that it is unknown whether it is back.
    package var hasUntriedServer = false
    /// The names of the servers that were out of service only because they were slow, without repetitions.
    package var slowServers: [String] = []
    /// The time in seconds for which no server responded, or `nil` if a server always responded.
    package var secondsWithoutServer: Double?
    /// Whether every server failed and none has responded since.
    package var isDownNow = false
    /// Whether no server responded until the end of a run that is over.
    package var wasDownAtEnd = false
    /// The names of the servers that are out of service now.
    package var outOfService: [String] = []
    /// The name of the server that receives the calls while others are out of service, or `nil` if it is unknown.
    package var heir: String?
    /// The failures in the environments that the client has left, in the order in which it left them.
    package var elsewhere: [EnvironmentFailures] = []
    /// The number of calls that ended.
    package var calls = 0
    /// The number of calls that failed.
    package var failed = 0
    /// The number of calls that succeeded at another server although their first server had failed.
    package var saved = SavedCalls()
    /// The number of failed calls by kind of failure, such as `refused` or `http503`.
    ///
    /// A failed call whose kind is not counted here counts as the fault of a server.
    package var failures: [String: Int] = [:]
    /// The number of calls that failed because of a server and were not sent to another server, by the reason why not,
    /// such as `must not be sent again`.
    package var stops: [String: Int] = [:]
    /// The deadline of the calls in seconds, or `nil` if it is unknown.
    package var deadline: Double?
    /// The maximum share of failed calls, from 0 to 1, with which the assessment is still ``Verdict/Level/good``.
    package var tolerance = 0.0
    /// Whether failures that are not the fault of a server, such as a response with status 404, make the
    /// ``Verdict/level`` worse.
    package var isStrict = true

    /// The number of calls that failed because of a server.
    fileprivate var failedBecauseOfServers: Int {
        max(0, failures.reduce(failed) { $0 - (VerdictText.blamesServer($1.key) ? 0 : $1.value) })
    }

    /// Creates the totals of a run without calls.
    package init() {}

    /// Whether the failure of a server has not ended, or it is unknown whether it has ended.
    fileprivate var hasOpenFault: Bool {
        !outOfService.isEmpty || !notRecovered.isEmpty || hasUntriedServer || isDownNow || wasDownAtEnd
    }

    fileprivate var hasFailedServer: Bool { !failedServers.isEmpty || !outOfService.isEmpty || !elsewhere.isEmpty }

    fileprivate var servers: String? {
        let sentences = [present, past, slow].compactMap(\.self) + elsewhere.map { $0.sentence(servers: serverCount) }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// The servers that are out of service now, and the server that receives their calls.
    private var present: String? {
        guard !outOfService.isEmpty, !isDownNow else { return nil }
        let target = heir.map { ", and calls go to \($0)" } ?? ""
        return "\(VerdictText.servers(outOfService)) \(outOfService.count == 1 ? "is" : "are") out of service\(target)."
    }

    /// The failures in the current environment, except failures of servers that are out of service now.
    private var past: String? {
        if let seconds = secondsWithoutServer {
            let time = wasDownAtEnd ? "the last \(VerdictText.seconds(seconds))" : VerdictText.seconds(seconds)
            return EnvironmentFailures.outage(of: serverCount, for: time, isDownNow: isDownNow)
        }
        let names = failedServers.filter { !outOfService.contains($0) }
        guard !names.isEmpty else { return nil }
        guard outOfService.isEmpty else { return "\(VerdictText.servers(names)) failed earlier." }
        let back = areBack ? " and \(names.count == 1 ? "is" : "are") back" : ""
        return "\(VerdictText.servers(names)) failed\(ending(of: names) ?? back)."
    }

    /// Returns the end of a sentence about failed or slow servers that had not recovered at the end of the run.
    private func ending(of names: [String]) -> String? {
        let open = names.filter(notRecovered.contains)
        guard !open.isEmpty else { return nil }
        let subject = open.count == names.count ? "" : "\(VerdictText.list(open)) "
        return "\(subject.isEmpty ? "" : ",") and \(subject)had not recovered by the end"
    }

    /// The servers that only were slow in the current environment, except those that are out of service now.
    private var slow: String? {
        let names = slowServers.filter { !failedServers.contains($0) && !outOfService.contains($0) }
        guard !names.isEmpty else { return nil }
        return "\(VerdictText.servers(names)) \(names.count == 1 ? "was" : "were") slow\(ending(of: names) ?? "")."
    }

    fileprivate var callers: String {
        guard calls > 0 else { return "No call has ended." }
        if isUnrelated {
            return failed == 1 ? "One call failed, but for another reason." : "Calls failed, but for other reasons."
        }
        if failed > 0 {
            let isRequestError = failedBecauseOfServers == 0
            let reason = onlyReason.map { ": \(VerdictText.failure($0, deadline: deadline))" } ?? ""
            return (isRequestError && isStrict ? "No server failed. " : "")
                + "\(VerdictText.count(failed)) of \(VerdictText.count(calls)) calls failed"
                + (isRequestError ? " with a request error" : "") + "\(reason)."
        }
        return calls == 1 ? "The only call succeeded." : "All \(VerdictText.count(calls)) calls succeeded."
    }

    /// Whether servers failed, but every failed call failed for another reason.
    private var isUnrelated: Bool { failed > 0 && failedBecauseOfServers == 0 && servers != nil }

    /// The kind that all failures have, or `nil` if there are several kinds or the verdict names a server.
    private var onlyReason: String? {
        failures.count == 1 && servers == nil && failures.first?.value == failed ? failures.keys.first : nil
    }

    /// The failures that are the fault of a server.
    fileprivate var errors: String? {
        let errors = failures.filter { VerdictText.blamesServer($0.key) }
        guard !errors.isEmpty, onlyReason == nil else { return nil }
        return "Errors: \(VerdictText.list(of: errors, deadline: deadline))."
    }

    /// The reasons why calls that a server failed were not sent to another server.
    fileprivate var obstacles: String? {
        guard !stops.isEmpty, secondsWithoutServer == nil else { return nil }
        return "No further server was tried: \(VerdictText.list(of: stops))."
    }

    /// The failures that are not the fault of a server.
    fileprivate var requestErrors: String? {
        let errors = failures.filter { !VerdictText.blamesServer($0.key) }
        guard failed > 0, let first = errors.first, onlyReason == nil else { return nil }
        let count = errors.values.reduce(0, +)
        let calls = count == 1 ? "1 call" : "\(VerdictText.count(count)) calls"
        let names = errors.count == 1 ? VerdictText.failure(first.key) : VerdictText.list(of: errors)
        return "\(calls) failed with a request error: \(names)."
    }
}
