/// The results for one policy with one transport.
struct SoakReport: Codable {
    var policy: String
    var transport: String
    var requests: Int
    var ended: Int
    var doubled: Int
    var answered: Int
    var cancelled: Int
    /// The number of requests left in the client's table, or -1 if the client did not become idle.
    var left: Int
    /// The number of exchanges or connections that are still open.
    var open: Int
    var seconds: Double

    var isSound: Bool { ended == requests && doubled == 0 && left == 0 && open == 0 }

    var text: String {
        let rate = Int(Double(requests) / seconds)
        return
            "\(policy) over \(transport): \(ended) of \(requests) completed (\(answered) with a response, \(cancelled) cancelled, "
            + "\(ended - answered - cancelled) failed), \(doubled) completed twice, \(left) left in the table, "
            + "\(open) exchanges or connections open, \(rate)/s"
    }
}

/// The results for all policies and transports.
struct SoakSummary: Codable {
    /// The tolerated growth of memory, as a fraction of the memory at the start.
    ///
    /// Pools and caches may grow once.
    static let tolerance = 0.1

    var runs: [SoakReport]
    var before: ProcessFootprint
    var after: ProcessFootprint

    var growth: Double { after.growth(since: before) }

    /// Descriptions of the conditions that the run did not meet.
    var breaches: [String] {
        var breaches = runs.filter { !$0.isSound }.map {
            "\($0.policy) over \($0.transport): not every request completed exactly once"
        }
        if growth > Self.tolerance { breaches.append("memory grew") }
        if after.threads > before.threads { breaches.append("threads remain") }
        if after.descriptors > before.descriptors { breaches.append("descriptors remain") }
        return breaches
    }

    var text: String {
        let percent = Int((growth * 1_000).rounded())
        return "before: \(before.text)\nafter:  \(after.text) (\(percent < 0 ? "" : "+")\(Double(percent) / 10) %)"
    }
}
