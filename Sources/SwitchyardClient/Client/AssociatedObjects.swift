import SwitchyardServices

/// Objects of modules above the client, such as caches, one object per type.
///
/// The client does not use these objects. It only retains them, so that they are released with the client.
package final class AssociatedObjects: Sendable {
    /// The objects.
    ///
    /// They are in an array because there are few, and comparing a few types is cheaper than hashing one.
    private let objects = Locked<[(type: ObjectIdentifier, object: any AnyObject & Sendable)]>([])

    init() {}

    /// Returns the object of a type, which the first call creates.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - make: A closure that creates the object. If two threads make the first call at the same time, both may call
    ///     it, and one of the objects is discarded.
    /// - Returns: The object, which is the same for every caller.
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

    /// Returns the object of a type, or `nil` if none has been created.
    package func existing<Object: AnyObject & Sendable>(_ type: Object.Type = Object.self) -> Object? {
        let identifier = ObjectIdentifier(type)
        // The cast is safe, because an object is only stored under the identifier of its own type.
        return objects.withLock { $0.first { $0.type == identifier }?.object }.map { unsafeDowncast($0, to: type) }
    }

    /// Stores an object in place of the current object of its type.
    package func replace<Object: AnyObject & Sendable>(_ object: Object) {
        let replaced = objects.withLock { objects in
            let old = objects.first { $0.type == ObjectIdentifier(Object.self) }
            objects.removeAll { $0.type == ObjectIdentifier(Object.self) }
            objects.append((ObjectIdentifier(Object.self), object))
            return old?.object
        }
        // The old object is released after the lock, because its `deinit` may run arbitrary code.
        withExtendedLifetime(replaced) {}
    }
}
