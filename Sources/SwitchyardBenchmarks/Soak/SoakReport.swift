/// What came of a soak under one policy, over one transport.
struct SoakReport: Codable {
    var policy: String
    var transport: String
    var requests: Int
    var ended: Int
    var doubled: Int
    var answered: Int
    var cancelled: Int
    /// Requests that are still in the client's table; -1 when it never became idle.
    var left: Int
    /// Exchanges, or connections, that are still open.
    var open: Int
    var seconds: Double

    var isSound: Bool { ended == requests && doubled == 0 && left == 0 && open == 0 }

    var text: String {
        let rate = Int(Double(requests) / seconds)
        return
            "\(policy) over \(transport): \(ended) of \(requests) ended (\(answered) answered, \(cancelled) cancelled, "
            + "\(ended - answered - cancelled) failed), \(doubled) twice, \(left) left, \(open) open, \(rate)/s"
    }
}

/// What came of all of them.
struct SoakSummary: Codable {
    /// The growth of the memory that is no leak: what pools and caches take up once.
    static let tolerance = 0.1

    var runs: [SoakReport]
    var before: ProcessFootprint
    var after: ProcessFootprint

    var growth: Double { after.growth(since: before) }

    /// What is not as it has to be.
    var breaches: [String] {
        var breaches = runs.filter { !$0.isSound }.map {
            "\($0.policy) over \($0.transport): not every request ended once"
        }
        if growth > Self.tolerance { breaches.append("memory grew") }
        if after.threads > before.threads { breaches.append("threads are left") }
        if after.descriptors > before.descriptors { breaches.append("descriptors are left") }
        return breaches
    }

    var text: String {
        let percent = Int((growth * 1_000).rounded())
        return "before: \(before.text)\nafter:  \(after.text) (\(percent < 0 ? "" : "+")\(Double(percent) / 10) %)"
    }
}
