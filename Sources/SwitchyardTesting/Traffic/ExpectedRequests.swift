import SwitchyardClient
import SwitchyardHTTP
public import SwitchyardServices

/// The requests that a test expects, which the test verifies at its end.
///
///     let expected = ExpectedRequests([
///         RequestExpectation(.get, "/v1/topics", answer: .json("[]")),
///         RequestExpectation(.post, "/v1/topics", answer: .status(201)),
///     ])
///     let transport = StubTransport(expecting: expected)
///     ...
///     #expect(expected.problems == [])
///
/// If a request matches several expectations that have not reached their maximum count, it fulfills the expectation
/// with the most conditions (query values, header fields, the body), and the first of these if there are several. With
/// `inOrder`, it fulfills the next expectation.
public final class ExpectedRequests: Sendable {
    private struct State {
        var counts: [Int]
        var unexpected: [String] = []
        /// The index of the expectation that is being fulfilled; used only with `inOrder`.
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

    /// Descriptions of the unexpected requests and of the expectations that were not fulfilled.
    ///
    /// The description of an unexpected request states how it differs from the nearest expectation.
    public var problems: [String] {
        let (counts, unexpected) = state.withLock { ($0.counts, $0.unexpected) }
        let missing = zip(expectations, counts).compactMap { expectation, count in
            expectation.count.contains(count)
                ? nil : "\(expectation.name) came \(count) times, expected \(expectation.count)"
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
            // If several expectations have the most conditions, the first one wins; `max` would return the last one.
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
    /// Creates a transport that responds to the expected requests; other requests fail.
    ///
    /// - Parameters:
    ///   - expected: The expected requests with their responses.
    ///   - completion: The context in which completion handlers are called.
    ///   - time: The clock of the requests' timeouts. If `nil`, the timeouts do not run.
    public convenience init(
        expecting expected: ExpectedRequests,
        completion: Completion = .queue,
        time: (any TimeSource)? = nil
    ) {
        self.init(completion: completion, time: time) { expected.answer(to: $0) }
    }
}
