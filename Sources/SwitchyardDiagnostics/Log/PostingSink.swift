import Foundation
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A sink that posts its entries to a server, many at a time, as a list in JSON.
///
/// Give it a client that does not log to it. Entries wait in memory: the newest are kept when a server is long away.
public final class PostingSink: LogSink {
    private struct Line: Encodable {
        let date: Date
        let level: String
        let category: String
        let message: String
        let metadata: [String: String]
    }

    private struct State {
        var entries: [LogEntry] = []
        /// How many came since the last were taken to be posted.
        var fresh = 0
        var isPosting = false
    }

    private let client: NetworkClient
    private let destination: APIConfiguration
    private let batch: Int
    private let limit: Int
    private let state = Locked(State())

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - client: Sends the entries.
    ///   - destination: Where to; the body is the sink's.
    ///   - batch: How many entries are collected before they are posted, `limit` at most; 50 unless given.
    ///   - limit: How many are kept while they cannot be posted; 1,000 unless given.
    public init(client: NetworkClient, destination: APIConfiguration, batch: Int = 50, limit: Int = 1_000) {
        self.client = client
        self.destination = destination
        self.limit = max(1, limit)
        self.batch = min(max(1, batch), self.limit)
    }

    /// How many entries wait.
    public var waitingCount: Int { state.withLock { $0.entries.count } }

    /// Keeps the entry, and posts when there are enough; after a refusal, when as many new ones have come.
    public func write(_ entry: LogEntry) {
        let isFull = state.withLock { state in
            state.entries.append(entry)
            state.entries.removeFirst(max(0, state.entries.count - limit))
            state.fresh += 1
            return state.fresh >= batch
        }
        if isFull { flush() }
    }

    /// Posts what waits, unless something is being posted; what is refused waits on.
    public func flush() {
        let entries = state.withLock { state -> [LogEntry] in
            guard !state.isPosting, !state.entries.isEmpty else { return [] }
            state.isPosting = true
            state.fresh = 0
            defer { state.entries = [] }
            return state.entries
        }
        guard !entries.isEmpty else { return }
        var configuration = destination
        configuration.method = .post
        configuration.body = .json(entries.map(Self.line))
        client.send(configuration, on: .global()) { [self] result in
            let isTaken = if case .success(let answer) = result { answer.status < 400 } else { false }
            let isFull = state.withLock { state in
                state.isPosting = false
                if !isTaken { state.entries = Array((entries + state.entries).suffix(limit)) }
                return isTaken && state.entries.count >= batch
            }
            // What was written meanwhile may be enough without another entry.
            if isFull { flush() }
        }
    }

    private static func line(_ entry: LogEntry) -> Line {
        Line(
            date: entry.date,
            level: "\(entry.level)",
            category: entry.category.rawValue,
            message: entry.message,
            metadata: entry.metadata
        )
    }
}
