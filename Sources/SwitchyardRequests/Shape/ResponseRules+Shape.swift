public import SwitchyardAPI
package import SwitchyardServices

extension ResponseRules {
    /// Creates rules for a response; if `shape` is not `nil`, a JSON body must have this
    /// ``/SwitchyardRequests/JSONShape``.
    public init(
        status: StatusPolicy = .success,
        contentType: ResponseRules.ContentTypeRule = .strict,
        emptyBody: ResponseRules.EmptyBodyRule = .byValue,
        shape: JSONShape?
    ) {
        self.init(status: status, contentType: contentType, emptyBody: emptyBody)
        self.shape = shape
    }

    /// The shape that a JSON body must have.
    ///
    /// If `nil` (the default), any body is accepted.
    public var shape: JSONShape? {
        get { bodyShape as? JSONShape }
        set { bodyShape = newValue }
    }
}

extension JSONShape: BodyShape {
    /// Checks that the body has the required shape, starting at its root.
    package func check(_ body: JSONValue) throws(ShapeViolation) {
        try check(body, at: "")
    }
}
