import SwitchyardServices

/// A value of any type with its key and metadata, so that entries of different types share one cache.
class CacheBox: @unchecked Sendable {
    // @unchecked is sound: this class and its only subclass have constants of Sendable types and three variables. The
    // table's lock protects `isMarked`, and the queue's lock protects the neighbors.

    // The neighbours in the queue. Unowned is sound: see EvictionQueue.
    unowned(unsafe) var older: CacheBox?
    unowned(unsafe) var newer: CacheBox?
    let record: CacheRecord
    // The properties that a hit reads come last, so that they share one cache line with the value in most cases.
    let key: CacheKey
    let type: ObjectIdentifier
    let freshUntil: MonotonicTime
    /// Whether the entry was used since the queue's hand came by.
    var isMarked = false

    init(type: ObjectIdentifier, key: CacheKey, freshUntil: MonotonicTime, record: CacheRecord) {
        self.type = type
        self.key = key
        self.freshUntil = freshUntil
        self.record = record
    }

    /// Whether this entry holds the same part of a response that was requested later, so that `other` must not replace
    /// it.
    func overtakes(_ other: CacheBox, now: MonotonicTime) -> Bool {
        let (own, others) = (record.facts, other.record.facts)
        return own.turn > others.turn && own.stamp == others.stamp && type == other.type && record.expires > now
    }

    /// The box with its value, when the value is of that type.
    @inline(__always) final func holding<Value: Sendable>(_ type: Value.Type) -> ValueBox<Value>? {
        // The cast is sound: only ValueBox<Value> is made with the identifier of Value (see its initialiser).
        self.type == ObjectIdentifier(type) ? unsafeDowncast(self, to: ValueBox<Value>.self) : nil
    }
}

/// A box with a value of one type.
final class ValueBox<Value: Sendable>: CacheBox, @unchecked Sendable {
    // @unchecked is sound: the subclass adds a constant of a Sendable type to the state that CacheBox accounts for.

    let value: Value

    init(_ value: Value, key: CacheKey, freshUntil: MonotonicTime, record: CacheRecord) {
        self.value = value
        super.init(type: ObjectIdentifier(Value.self), key: key, freshUntil: freshUntil, record: record)
    }
}

/// The metadata of an entry that no hit reads, kept apart so that the properties a hit reads are adjacent.
final class CacheRecord: Sendable {
    let created: MonotonicTime
    /// When the entry goes, be it fresh or not.
    let expires: MonotonicTime
    let facts: CacheFacts

    init(created: MonotonicTime, expires: MonotonicTime, facts: CacheFacts) {
        self.created = created
        self.expires = expires
        self.facts = facts
    }
}

/// The metadata that is stored with a value.
struct CacheFacts: Sendable {
    var cost = 0
    var tags: Set<String> = []
    var answer: CachedResponse?
    /// The response with its times, if HTTP's own rules decide on it.
    var http: HTTPStoredResponse?
    var stamp = CacheStamp()
    /// The number of the request for the response, or of its storage by the app; 0 for a response that was read from
    /// disk.
    var turn = 0
}
