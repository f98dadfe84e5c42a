import SwitchyardClient
import SwitchyardServices

/// The states of a resource, now and whenever it changes; ends with its resource.
///
/// A reader that is slow gets the newest state and misses those between.
public struct ResourceUpdates<Value: Sendable>: AsyncSequence, Sendable {
    /// The state.
    public typealias Element = ResourceSnapshot<Value>
    /// It never fails.
    public typealias Failure = Never

    let state: Locked<ResourceState<Value>>
    let time: any TimeSource
    let expiration: Duration

    /// Starts with the state at this moment.
    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: self, signals: state.signals(to: \.listeners).makeAsyncIterator())
    }

    /// Reads the states.
    public struct Iterator: AsyncIteratorProtocol {
        let updates: ResourceUpdates
        var signals: AsyncStream<Void>.Iterator

        /// Returns the state after the next change, or `nil` when the resource is gone.
        public mutating func next() async -> ResourceSnapshot<Value>? {
            guard await signals.next() != nil else { return nil }
            return updates.state.withLock { $0.snapshot(at: updates.time.now, updates.expiration) }
        }
    }
}

extension APIResource {
    /// What is known, now and whenever it changes.
    public var updates: ResourceUpdates<Value> {
        ResourceUpdates(state: state, time: time, expiration: expiration)
    }
}
