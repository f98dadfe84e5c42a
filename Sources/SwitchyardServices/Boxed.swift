/// A value that never changes, behind one reference: copying it counts one reference, however many it holds.
// `@usableFromInline`, since `package` alone lets no other module compile it into its own code (Swift 6.3).
@usableFromInline package final class Boxed<Value: Sendable>: Sendable {
    @usableFromInline package let value: Value

    @inlinable package init(_ value: Value) {
        self.value = value
    }
}
