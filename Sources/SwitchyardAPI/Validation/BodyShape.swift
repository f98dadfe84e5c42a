package import SwitchyardServices

/// The shape that a JSON body must have.
///
/// `JSONShape` in `SwitchyardRequests` conforms to this protocol.
package protocol BodyShape: Sendable {
    /// Checks that the body has this shape.
    ///
    /// - Throws: ``ShapeViolation`` for the first violation.
    func check(_ body: JSONValue) throws(ShapeViolation)
}
