import SwitchyardClient
import SwitchyardHTTP
public import SwitchyardServices

/// The requests that a test expects, to be asked at its end whether it was so.
///
///     let expected = ExpectedRequests([
///         RequestExpectation(.get, "/v1/topics", answer: .json("[]")),
///         RequestExpectation(.post, "/v1/topics", answer: .status(201)),
///     ])
///     let transport = StubTransport(expecting: expected)
///     ...
///     #expect(expected.problems == [])
///
/// A request that fits several of them fulfils, of those that have not come as often as they may, the one with the most
/// conditions (values of the query, header fields, the body), and the first of several; in order, the next one.
public final class ExpectedRequests: Sendable {
    private struct State {
        var counts: [Int]
        var unexpected: [String] = []
        /// In order: the expectation that is being fulfilled.
        var current = 0
    }

    private let expectations: [RequestExpectation]
    private let isOrdered: Bool
    private let state: Locked<State>

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - expectations: The requests.
    ///   - inOrder: Whether they have to come in this order; unless told so they need not.
    public init(_ expectations: [RequestExpectation], inOrder: Bool = false) {
        self.expectations = expectations
        isOrdered = inOrder
        state = Locked(State(counts: expectations.map { _ in 0 }))
    }

    /// What was not as expected, in words: requests that nobody expected and how the nearest expectation differs, and
    /// expectations that were not fulfilled.
    public var problems: [String] {
        let (counts, unexpected) = state.withLock { ($0.counts, $0.unexpected) }
        let missing = zip(expectations, counts).compactMap { expectation, count in
            expectation.count.contains(count)
                ? nil : "\(expectation.name) came \(count) times, expected \(expectation.count)"
        }
        return unexpected + missing
    }

    func answer(to request: HTTPRequest) -> StubAnswer {
        let differences = expectations.map { $0.differences(from: request) }
        let fulfilled = state.withLock { state -> Int? in
            guard let index = index(of: differences.map(\.isEmpty), state) else { return nil }
            state.counts[index] += 1
            if isOrdered { state.current = index }
            return index
        }
        if let fulfilled { return expectations[fulfilled].answer }
        let nearest = zip(expectations, differences).min { $0.1.count < $1.1.count }
        let hint = nearest.map { expectation, differences in
            differences.isEmpty
                ? "; \(expectation.name) has come already, or out of order"
                : "; \(expectation.name) differs in \(differences.joined(separator: ", "))"
        }
        let problem = "unexpected \(request)\(hint ?? "")"
        state.withLock { $0.unexpected.append(problem) }
        return .failure(TransportError(.other, message: problem, mayHaveBeenSent: false))
    }

    private func index(of matches: [Bool], _ state: State) -> Int? {
        let counts = state.counts
        let isOpen = { (index: Int) in matches[index] && counts[index] < self.expectations[index].count.upperBound }
        guard isOrdered else {
            // The first of the greatest: `max` would give the last.
            return matches.indices.filter(isOpen).min {
                expectations[$0].conditions > expectations[$1].conditions
            }
        }
        for index in matches.indices.dropFirst(state.current) {
            if isOpen(index) { return index }
            guard expectations[index].count.contains(state.counts[index]) else { return nil }
        }
        return nil
    }
}

extension StubTransport {
    /// Creates a transport that answers the requests which a test expects; others fail.
    ///
    /// - Parameters:
    ///   - expected: The requests with their answers.
    ///   - completion: Where completions are called.
    ///   - time: The clock of the requests' timeouts; `nil` lets them not run.
    public convenience init(
        expecting expected: ExpectedRequests,
        completion: Completion = .queue,
        time: (any TimeSource)? = nil
    ) {
        self.init(completion: completion, time: time) { expected.answer(to: $0) }
    }
}
