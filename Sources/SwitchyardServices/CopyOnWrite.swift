/// A value held by one reference and copied on mutation if the reference is shared (copy-on-write).
///
/// A copy of this struct costs one reference count, regardless of how many references the value contains.
// `@usableFromInline`, because with `package` alone no other module can inline the accessors (Swift 6.3).
@usableFromInline package struct CopyOnWrite<Value: Sendable>: Sendable {
    // `@unchecked Sendable` is sound: `value` is changed only through a uniquely referenced storage.
    @usableFromInline final class Storage: @unchecked Sendable {
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable init(_ value: Value) {
            self.value = value
        }
    }

    @usableFromInline var storage: Storage

    @inlinable package init(_ value: Value) {
        storage = Storage(value)
    }

    /// The wrapped value; reading one of its properties copies only that property.
    @inlinable package var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}

/// An immutable value held by one reference, so a copy costs one reference count however many references it contains.
// `@usableFromInline`, because with `package` alone no other module can inline this class (Swift 6.3).
@usableFromInline package final class Boxed<Value: Sendable>: Sendable {
    @usableFromInline package let value: Value

    @inlinable package init(_ value: Value) {
        self.value = value
    }
}
