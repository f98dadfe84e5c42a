import SwitchyardServices

/// The spans that wait to be exported, up to a limit.
final class SpanBuffer: Sendable {
    private struct State {
        var spans: [Span] = []
        var statistics = OpenTelemetryExporter.Statistics()
        var isClosed = false
    }

    private let batch: Int
    private let limit: Int
    private let state = Locked(State())

    /// Creates a buffer.
    ///
    /// - Parameters:
    ///   - batch: The maximum number of spans in a batch.
    ///   - limit: The maximum number of spans that wait. Further spans are dropped.
    init(batch: Int, limit: Int) {
        self.limit = max(1, limit)
        self.batch = min(max(1, batch), self.limit)
    }

    /// The numbers of exported, waiting and dropped spans until now.
    var statistics: OpenTelemetryExporter.Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waitingSpans = state.spans.count
            return statistics
        }
    }

    var backlog: ExportLoop.Backlog {
        state.withLock { $0.spans.isEmpty ? .none : $0.spans.count < batch ? .some : .full }
    }

    /// Adds spans, and drops the spans that exceed the limit.
    func add(_ spans: [Span]) {
        state.withLock { state in
            let room = state.isClosed ? 0 : max(0, limit - state.spans.count)
            state.spans += spans.prefix(room)
            state.statistics.droppedSpans += max(0, spans.count - room)
        }
    }

    /// Removes and returns the oldest spans, at most one batch.
    func take() -> [Span] {
        state.withLock { state in
            let batch = Array(state.spans.prefix(batch))
            state.spans.removeFirst(batch.count)
            return batch
        }
    }

    /// Counts the spans of a batch that was sent.
    func settle(_ count: Int, _ delivery: Collector.Delivery) {
        state.withLock { state in
            switch delivery {
            case .accepted(let rejected):
                state.statistics.exportedSpans += count - min(rejected, count)
                state.statistics.droppedSpans += min(rejected, count)
            case .failed: state.statistics.droppedSpans += count
            }
        }
    }

    /// Drops all waiting spans and all spans that are added later.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.statistics.droppedSpans += state.spans.count
            state.spans = []
        }
    }
}
