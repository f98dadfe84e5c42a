import SwitchyardClient
import SwitchyardServices

/// A value of any type with what belongs to it, so that entries of different types share one cache.
class CacheBox: @unchecked Sendable {
    // @unchecked is sound: this class and its only subclass hold `let`s of Sendable types and nothing else.

    let type: ObjectIdentifier
    let created: MonotonicTime
    let freshUntil: MonotonicTime
    let tags: Set<String>
    let answer: CachedAnswer?

    init(
        type: ObjectIdentifier,
        created: MonotonicTime,
        freshUntil: MonotonicTime,
        tags: Set<String>,
        answer: CachedAnswer?
    ) {
        self.type = type
        self.created = created
        self.freshUntil = freshUntil
        self.tags = tags
        self.answer = answer
    }

    /// What stands in a place that is free.
    static let empty = CacheBox(
        type: ObjectIdentifier(Never.self),
        created: .zero,
        freshUntil: .zero,
        tags: [],
        answer: nil
    )

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

    init(
        _ value: Value,
        created: MonotonicTime,
        freshUntil: MonotonicTime,
        tags: Set<String>,
        answer: CachedAnswer?
    ) {
        self.value = value
        super.init(
            type: ObjectIdentifier(Value.self),
            created: created,
            freshUntil: freshUntil,
            tags: tags,
            answer: answer
        )
    }
}
