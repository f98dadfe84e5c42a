import SwitchyardClient
import SwitchyardHTTP
public import SwitchyardServices

/// The requests that a test expects.
///
/// At its end, the test verifies that ``problems`` is empty.
///
///     let expected = ExpectedRequests([
///         RequestExpectation(.get, "/v1/topics", answer: .json("[]")),
///         RequestExpectation(.post, "/v1/topics", answer: .status(201)),
///     ])
///     let transport = StubTransport(expecting: expected)
///     ...
///     #expect(expected.problems == [])
///
/// A request can match several expectations that have not reached their maximum count. The request then fulfills the
/// expectation with the most conditions (query values, header fields, the body). If several expectations have equally
/// many conditions, the request fulfills the first of them. With `inOrder`, the request fulfills the next expectation
/// in the list.
public final class ExpectedRequests: Sendable {
    private struct State {
        var counts: [Int]
        var unexpected: [String] = []
        /// The index of the expectation that was fulfilled last; used only with `inOrder`.
        var current = 0
    }

    private let expectations: [RequestExpectation]
    private let isOrdered: Bool
    private let state: Locked<State>

    /// Creates a list of expected requests.
    ///
    /// - Parameters:
    ///   - expectations: The expected requests.
    ///   - inOrder: Whether the requests must arrive in this order. The default is `false`.
    public init(_ expectations: [RequestExpectation], inOrder: Bool = false) {
        self.expectations = expectations
        isOrdered = inOrder
        state = Locked(State(counts: expectations.map { _ in 0 }))
    }

    /// Descriptions of the unexpected requests and of the unfulfilled expectations; empty if all requests were expected
    /// and all expectations are fulfilled.
    ///
    /// The description of an unexpected request states how it differs from the most similar expectation.
    public var problems: [String] {
        let (counts, unexpected) = state.withLock { ($0.counts, $0.unexpected) }
        let missing = zip(expectations, counts).compactMap { expectation, count in
            expectation.count.contains(count)
                ? nil : "\(expectation.name) was received \(count) times, expected \(expectation.count)"
        }
        return unexpected + missing
    }

    func answer(to request: HTTPRequest) -> StubResponse {
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
                ? "; \(expectation.name) was already received often enough, or is expected in another order"
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
            // `min` returns the first expectation with the most conditions; `max` would return the last such
            // expectation.
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
    /// Creates a transport that responds to the expected requests.
    ///
    /// All other requests fail.
    ///
    /// - Parameters:
    ///   - expected: The expected requests with their responses.
    ///   - completion: The queue or thread on which completion handlers are called.
    ///   - time: The clock of the requests' timeouts. If it is `nil`, the timeouts do not run.
    public convenience init(
        expecting expected: ExpectedRequests,
        completion: Completion = .queue,
        time: (any TimeSource)? = nil
    ) {
        self.init(completion: completion, time: time) { expected.answer(to: $0) }
    }
}
