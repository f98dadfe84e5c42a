import SwitchyardServices

/// A value of any type with what belongs to it, so that entries of different types share one cache.
class CacheBox: @unchecked Sendable {
    // @unchecked is sound: this class and its only subclass hold `let`s of Sendable types and nothing else.

    let type: ObjectIdentifier
    let facts: CacheFacts

    init(type: ObjectIdentifier, facts: CacheFacts) {
        self.type = type
        self.facts = facts
    }

    /// What stands in a place that is free.
    static let empty = CacheBox(type: ObjectIdentifier(Never.self), facts: CacheFacts())

    /// The box with its value, when the value is of that type.
    final func holding<Value: Sendable>(_ type: Value.Type) -> ValueBox<Value>? {
        // The cast is sound: only ValueBox<Value> is made with the identifier of Value (see its initialiser).
        self.type == ObjectIdentifier(type) ? unsafeDowncast(self, to: ValueBox<Value>.self) : nil
    }
}

/// A box with a value of one type.
final class ValueBox<Value: Sendable>: CacheBox, @unchecked Sendable {
    // @unchecked is sound: see CacheBox.

    let value: Value

    init(_ value: Value, facts: CacheFacts) {
        self.value = value
        super.init(type: ObjectIdentifier(Value.self), facts: facts)
    }
}

/// What is known of a stored value beside the value.
struct CacheFacts: Sendable {
    var created = MonotonicTime.zero
    var freshUntil = MonotonicTime.zero
    var cost = 0
    var tags: Set<String> = []
    var answer: CachedAnswer?
    /// The answer with its times, when HTTP's own rules decide on it.
    var http: HTTPStoredAnswer?
    var stamp = CacheStamp()
}
