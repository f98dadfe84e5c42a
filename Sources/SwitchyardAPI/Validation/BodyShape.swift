package import SwitchyardServices

/// The shape that a JSON body must have; `JSONShape` of `SwitchyardRequests` is one.
package protocol BodyShape: Sendable {
    /// Checks the body.
    ///
    /// - Throws: ``ShapeViolation`` for the first difference.
    func check(_ body: JSONValue) throws(ShapeViolation)
}
