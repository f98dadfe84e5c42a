import Foundation
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A sink that posts its entries to a server in batches, as a JSON array.
///
/// Post with a client that does not itself log to this sink. Entries stay in memory until they are posted. If the
/// server is unavailable for a long time, only the newest entries are kept.
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
        /// The number of entries that were written since the last post started.
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
    ///   - client: The client that sends the entries.
    ///   - destination: The configuration of the posted request. The sink sets the method and the body.
    ///   - batch: The number of entries that are collected before they are posted, at most `limit`. The default is 50.
    ///   - limit: The maximum number of entries that are kept while they cannot be posted. The default is 1,000.
    public init(client: NetworkClient, destination: APIConfiguration, batch: Int = 50, limit: Int = 1_000) {
        self.client = client
        self.destination = destination
        self.limit = max(1, limit)
        self.batch = min(max(1, batch), self.limit)
    }

    /// The number of entries that have not been posted yet.
    public var waitingCount: Int { state.withLock { $0.entries.count } }

    /// Stores the entry.
    ///
    /// If enough entries for a batch are stored, posts all stored entries.
    ///
    /// After a failed post, the next post starts when another batch of new entries has been written.
    public func write(_ entry: LogEntry) {
        let isFull = state.withLock { state in
            state.entries.append(entry)
            state.entries.removeFirst(max(0, state.entries.count - limit))
            state.fresh += 1
            return state.fresh >= batch
        }
        if isFull { flush() }
    }

    /// Posts the stored entries, unless a post is in progress.
    ///
    /// If the post fails, the entries are kept.
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
            // The entries that were written during the post may already be enough for a batch.
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
