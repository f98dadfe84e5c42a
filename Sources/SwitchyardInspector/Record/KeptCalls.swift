/// The sequence numbers of the kept calls, and the rule by which calls are dropped.
///
/// Special calls (``InspectedCall/isSpecial``), such as failed and slow calls, are kept longer than other calls: up to
/// half of the limit is for them.
struct KeptCalls: Sendable {
    private let limit: Int
    /// The newest calls in the order of dispatch.
    private var newest: ArraySlice<Int> = []
    /// Older special calls, in the order of dispatch.
    private var special: ArraySlice<Int> = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Adds a call, and returns the sequence number of the call to drop, or `nil` if the limit is not exceeded.
    ///
    /// `isSpecial` returns whether the call with this sequence number is special.
    mutating func add(_ number: Int, isSpecial: (Int) -> Bool) -> Int? {
        newest.append(number)
        guard newest.count + special.count > limit else { return nil }
        while let oldest = newest.popFirst() {
            guard isSpecial(oldest) else { return oldest }
            special.append(oldest)
            if special.count > limit / 2 { return special.popFirst() }
        }
        return special.popFirst()
    }
}

extension InspectedCall {
    /// The duration in milliseconds from which a call counts as slow.
    static let slow = 1_000.0

    /// Whether the call failed, was sent more than once, was slow, or is still active, or whether its stream is open.
    var isSpecial: Bool {
        guard let end, let outcome else { return true }
        if let stream, stream.end == nil { return true }
        return outcome.kind != nil || attempts.count > 1 || end - start >= Self.slow
    }
}
