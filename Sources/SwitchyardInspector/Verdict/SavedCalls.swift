/// The number of calls that were saved: they succeeded at another server although their first server had failed.
package struct SavedCalls: Codable, Sendable, Equatable {
    /// The number of saved calls that were sent to another server after the first server had failed them or was taken
    /// out of service.
    package var failedOver = 0
    /// The number of saved calls that were hedged: they were also sent to a second server, because the first was slow.
    ///
    /// A hedged call is saved only if the first server was out of service or about to be, and was not only slow.
    package var hedged = 0

    /// Creates a number of saved calls.
    package init(failedOver: Int = 0, hedged: Int = 0) {
        (self.failedOver, self.hedged) = (failedOver, hedged)
    }

    /// Adds two numbers of saved calls.
    package static func + (one: SavedCalls, other: SavedCalls) -> SavedCalls {
        SavedCalls(failedOver: one.failedOver + other.failedOver, hedged: one.hedged + other.hedged)
    }

    /// The number of all saved calls.
    package var count: Int { failedOver + hedged }

    /// The number of saved calls as a sentence, or `nil` if there are none.
    package var sentence: String? {
        guard count > 0 else { return nil }
        let ways = [(failedOver, "failed over"), (hedged, "hedged")].filter { $0.0 > 0 }
            .map { "\(VerdictText.count($0.0)) \($0.1)" }
        let calls = count == 1 ? "1 call was saved: its" : "\(VerdictText.count(count)) calls were saved: their"
        return "\(calls) first server had failed, but another responded (\(ways.joined(separator: ", ")))."
    }
}
