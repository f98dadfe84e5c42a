import SwitchyardHTTP
import SwitchyardServices

/// A cache entry: a value of any type with its key and metadata, so that values of different types share one cache.
class CacheBox: @unchecked Sendable {
    // @unchecked is sound: this class and its only subclass have constants of Sendable types and three variables. The
    // table's lock protects `isMarked`, and the queue's lock protects `older` and `newer`.

    // The entries before and after this entry in the eviction queue. `unowned(unsafe)` is sound: see EvictionQueue.
    unowned(unsafe) var older: CacheBox?
    unowned(unsafe) var newer: CacheBox?
    let record: CacheRecord
    // The properties that a cache hit reads are declared last, so that they usually share one cache line with the
    // value.
    let key: CacheKey
    let type: ObjectIdentifier
    let freshUntil: MonotonicTime
    /// Whether the entry was used since the hand of the eviction queue last visited it (``EvictionQueue``).
    var isMarked = false

    init(type: ObjectIdentifier, key: CacheKey, freshUntil: MonotonicTime, record: CacheRecord) {
        self.type = type
        self.key = key
        self.freshUntil = freshUntil
        self.record = record
    }

    /// Returns whether this entry is newer than `other`, so that `other` must not replace it.
    ///
    /// An entry is newer if its response was requested later, it contains the same part of the response, and it has not
    /// expired.
    func overtakes(_ other: CacheBox, now: MonotonicTime) -> Bool {
        let (own, others) = (record.facts, other.record.facts)
        return own.turn > others.turn && own.stamp == others.stamp && type == other.type && record.expires > now
    }

    /// Returns the box with its value if the value has the given type, otherwise `nil`.
    @inline(__always) final func holding<Value: Sendable>(_ type: Value.Type) -> ValueBox<Value>? {
        // The cast is sound: only ValueBox<Value> is created with the identifier of Value (see its initializer).
        self.type == ObjectIdentifier(type) ? unsafeDowncast(self, to: ValueBox<Value>.self) : nil
    }
}

final class ValueBox<Value: Sendable>: CacheBox, @unchecked Sendable {
    // @unchecked is sound: the subclass adds a constant of a Sendable type to the state that CacheBox accounts for.

    let value: Value

    init(_ value: Value, key: CacheKey, freshUntil: MonotonicTime, record: CacheRecord) {
        self.value = value
        super.init(type: ObjectIdentifier(Value.self), key: key, freshUntil: freshUntil, record: record)
    }
}

/// The metadata of an entry that a cache hit does not read.
///
/// It is a separate object so that the properties that a hit reads are adjacent in memory.
final class CacheRecord: Sendable {
    let created: MonotonicTime
    /// The time at which the entry is removed.
    ///
    /// The time may be later than the end of the entry's freshness.
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
    var cost: Int
    var tags: Set<String> = []
    var answer: HTTPResponse?
    /// The URL to which redirects led, or `nil` if there was no redirect.
    var redirectedTo: String?
    /// The head and times of the response if HTTP's rules decide how long it is fresh (``CachePolicy/Freshness/http``),
    /// otherwise `nil`.
    var http: HTTPFreshness?
    var stamp = CacheStamp()
    /// A number that is larger for a response that was requested later.
    ///
    /// The cache also gives such a number to a value that the app stores. The number is 0 for a response that was read
    /// from disk.
    var turn = 0
}
