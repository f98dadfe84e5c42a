/// A value behind one reference, which is copied when it is changed while others share it.
///
/// Passing it on counts one reference, however many the value holds.
// `@usableFromInline`, since `package` alone lets no other module compile the accessors into its own code (Swift 6.3).
@usableFromInline package struct CopyOnWrite<Value: Sendable>: Sendable {
    // @unchecked is sound: `value` is changed only through the one reference that is known to be the only one.
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

    /// The value; reading a part of it copies that part alone.
    @inlinable package var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}

/// A value that never changes, behind one reference: copying it counts one reference, however many it holds.
// `@usableFromInline`, since `package` alone lets no other module compile it into its own code (Swift 6.3).
@usableFromInline package final class Boxed<Value: Sendable>: Sendable {
    @usableFromInline package let value: Value

    @inlinable package init(_ value: Value) {
        self.value = value
    }
}
