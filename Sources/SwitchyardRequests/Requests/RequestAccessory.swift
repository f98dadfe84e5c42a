import SwitchyardAPI
public import SwitchyardClient

/// Goes along with a request, a batch or a chain: an activity indicator, a log, a measurement.
///
/// The three come on the queue of what it goes along with, in this order, each once, wherever the answer comes from:
///
///     willStart       before anything is sent
///     willStop        the outcome is known, nobody has been told
///     didStop         everybody has been told
///
/// What is cancelled before it starts comes with none of them.
public protocol RequestAccessory: Sendable {
    /// It is about to start.
    func willStart(_ subject: AccessorySubject)
    /// Its outcome is known, and its handlers are about to be called.
    func willStop(_ subject: AccessorySubject)
    /// Its handlers have been called.
    func didStop(_ subject: AccessorySubject)
}

extension RequestAccessory {
    /// Does nothing.
    public func willStart(_ subject: AccessorySubject) {}
    /// Does nothing.
    public func willStop(_ subject: AccessorySubject) {}
    /// Does nothing.
    public func didStop(_ subject: AccessorySubject) {}
}

/// What an accessory goes along with.
public struct AccessorySubject: Sendable, Hashable {
    /// The kinds.
    public enum Kind: String, Sendable, Hashable {
        /// One request.
        case request
        /// A ``RequestGroup``.
        case group
        /// A ``RequestBatch``.
        case batch
        /// A ``RequestChain``.
        case chain
        /// A ``RequestGraph``.
        case graph
    }

    /// The kind.
    public var kind: Kind
    /// Its name.
    public var id: RequestID
    /// The names that it was given.
    public var tags: Set<String>

    /// Creates a subject.
    public init(kind: Kind, id: RequestID, tags: Set<String> = []) {
        self.kind = kind
        self.id = id
        self.tags = tags
    }
}

/// An accessory made of closures.
///
///     request.adding(ClosureAccessory(willStart: { _ in spinner.start() }, didStop: { _ in spinner.stop() }))
public struct ClosureAccessory: RequestAccessory {
    /// A step.
    public typealias Step = @Sendable (AccessorySubject) -> Void

    private let steps: (willStart: Step?, willStop: Step?, didStop: Step?)

    /// Creates an accessory; a step that is not given does nothing.
    public init(willStart: Step? = nil, willStop: Step? = nil, didStop: Step? = nil) {
        steps = (willStart, willStop, didStop)
    }

    /// Calls the first closure.
    public func willStart(_ subject: AccessorySubject) { steps.willStart?(subject) }
    /// Calls the second closure.
    public func willStop(_ subject: AccessorySubject) { steps.willStop?(subject) }
    /// Calls the third closure.
    public func didStop(_ subject: AccessorySubject) { steps.didStop?(subject) }
}

extension [any RequestAccessory] {
    func willStart(_ subject: AccessorySubject) {
        for accessory in self { accessory.willStart(subject) }
    }

    func willStop(_ subject: AccessorySubject) {
        for accessory in self { accessory.willStop(subject) }
    }

    func didStop(_ subject: AccessorySubject) {
        for accessory in self { accessory.didStop(subject) }
    }
}
