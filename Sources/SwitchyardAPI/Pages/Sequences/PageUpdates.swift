import SwitchyardServices

/// The states of a paged list, now and whenever it changes; ends with its recorder.
///
/// A reader that is slow gets the newest state and misses those between.
public struct PageUpdates<Item: Sendable>: AsyncSequence, Sendable {
    /// The state of the list.
    public typealias Element = PageSnapshot<Item>
    /// It never fails.
    public typealias Failure = Never

    let state: Locked<RecorderState<Item>>

    /// Starts with the state at this moment.
    public func makeAsyncIterator() -> Iterator {
        Iterator(state: state, signals: state.signals(to: \.listeners).makeAsyncIterator())
    }

    /// Reads the states.
    public struct Iterator: AsyncIteratorProtocol {
        let state: Locked<RecorderState<Item>>
        var signals: AsyncStream<Void>.Iterator

        /// Returns the state after the next change, or `nil` when the recorder is gone.
        public mutating func next() async -> PageSnapshot<Item>? {
            // Looked at after the signal, so that what is read is never older than what was signalled.
            guard await signals.next() != nil else { return nil }
            return state.withLock { $0.snapshot }
        }
    }
}

extension PageRecorder {
    /// What is loaded and what is under way, now and whenever it changes.
    public var updates: PageUpdates<Item> { PageUpdates(state: state) }
}
