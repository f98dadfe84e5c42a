import SwitchyardServices

/// Objects of the layers above that live as long as a client: one of each type.
///
/// A client knows nothing of caches or of calls that wait for one; it only keeps them, so that they go with it.
package final class AssociatedObjects: Sendable {
    /// In a list, since there are few, and comparing them all costs less than hashing one.
    private let objects = Locked<[(type: ObjectIdentifier, object: any AnyObject & Sendable)]>([])

    init() {}

    /// The object of a type; the first call makes it.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - make: Makes the object. It may be called without need, when two threads ask for the first time.
    /// - Returns: The object, the same for every caller.
    package func object<Object: AnyObject & Sendable>(
        _ type: Object.Type = Object.self,
        make: () -> Object
    ) -> Object {
        if let object = existing(type) { return object }
        let new = make()
        return objects.withLock { objects in
            if let known = objects.first(where: { $0.type == ObjectIdentifier(type) }) {
                return unsafeDowncast(known.object, to: type)
            }
            objects.append((ObjectIdentifier(type), new))
            return new
        }
    }

    /// The object of a type; `nil` when none was made.
    package func existing<Object: AnyObject & Sendable>(_ type: Object.Type = Object.self) -> Object? {
        // The cast is sound: an object is only ever entered under the identifier of its own type.
        guard let object = object(of: ObjectIdentifier(type)) else { return nil }
        return unsafeDowncast(object, to: type)
    }

    /// Apart from the cast: this much needs no generic code.
    private func object(of type: ObjectIdentifier) -> (any AnyObject & Sendable)? {
        objects.withLock { objects in
            for entry in objects where entry.type == type { return entry.object }
            return nil
        }
    }

    /// Puts an object in the place of the object of its type.
    package func replace<Object: AnyObject & Sendable>(_ object: Object) {
        let replaced = objects.withLock { objects in
            let old = objects.first { $0.type == ObjectIdentifier(Object.self) }
            objects.removeAll { $0.type == ObjectIdentifier(Object.self) }
            objects.append((ObjectIdentifier(Object.self), object))
            return old?.object
        }
        // It goes after the lock is released: its end may be anything.
        withExtendedLifetime(replaced) {}
    }
}
