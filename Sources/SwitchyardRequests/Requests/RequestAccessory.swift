import SwitchyardAPI
public import SwitchyardClient

/// An observer of a request, group, batch, chain or graph, such as an activity indicator, a log or a measurement.
///
/// The observed object is the subject. Each of the three methods is called once on the subject's queue, in this order,
/// whether the response comes from a server or a cache:
///
///     willStart       before anything is sent
///     willStop        the outcome is known, no handler has been called
///     didStop         all handlers have been called
///
/// If the subject is cancelled before it starts, none of the methods is called.
public protocol RequestAccessory: Sendable {
    /// Called when the subject is about to start.
    func willStart(_ subject: AccessorySubject)
    /// Called when the outcome of the subject is known and its handlers are about to be called.
    func willStop(_ subject: AccessorySubject)
    /// Called when the handlers of the subject have been called.
    func didStop(_ subject: AccessorySubject)
}

extension RequestAccessory {
    /// By default, does nothing.
    public func willStart(_ subject: AccessorySubject) {}
    /// By default, does nothing.
    public func willStop(_ subject: AccessorySubject) {}
    /// By default, does nothing.
    public func didStop(_ subject: AccessorySubject) {}
}

/// The request, group, batch, chain or graph that a ``RequestAccessory`` observes.
public struct AccessorySubject: Sendable, Hashable {
    /// The kind of an observed object.
    public enum Kind: String, Sendable, Hashable {
        /// An `APIRequest`.
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

    /// The kind of the observed object.
    public var kind: Kind
    /// The identifier of the observed object.
    public var id: RequestID
    /// The tags of the request's configuration or of the group's options.
    public var tags: Set<String>

    /// Creates the description of an observed object.
    ///
    /// By default, there are no tags.
    public init(kind: Kind, id: RequestID, tags: Set<String> = []) {
        self.kind = kind
        self.id = id
        self.tags = tags
    }
}

/// An observer made of closures.
///
///     request.adding(ClosureAccessory(willStart: { _ in spinner.start() }, didStop: { _ in spinner.stop() }))
public struct ClosureAccessory: RequestAccessory {
    /// A closure that implements one of the three methods of ``RequestAccessory``.
    public typealias Step = @Sendable (AccessorySubject) -> Void

    private let steps: (willStart: Step?, willStop: Step?, didStop: Step?)

    /// Creates an observer from closures.
    ///
    /// If a closure is `nil`, its method does nothing.
    public init(willStart: Step? = nil, willStop: Step? = nil, didStop: Step? = nil) {
        steps = (willStart, willStop, didStop)
    }

    /// Calls the `willStart` closure.
    public func willStart(_ subject: AccessorySubject) { steps.willStart?(subject) }
    /// Calls the `willStop` closure.
    public func willStop(_ subject: AccessorySubject) { steps.willStop?(subject) }
    /// Calls the `didStop` closure.
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
