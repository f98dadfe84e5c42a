/// A value that never changes, behind one reference: copying it counts one reference, however many it holds.
package final class Boxed<Value: Sendable>: Sendable {
    package let value: Value

    @inlinable package init(_ value: Value) {
        self.value = value
    }
}
