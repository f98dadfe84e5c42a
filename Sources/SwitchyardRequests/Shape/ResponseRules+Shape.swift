public import SwitchyardAPI
package import SwitchyardServices

extension ResponseRules {
    /// Creates rules that require a JSON body of a shape.
    public init(
        status: StatusPolicy = .success,
        contentType: ContentTypePolicy = .strict,
        emptyBody: EmptyBodyPolicy = .byValue,
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
    /// Checks the body from its root.
    package func check(_ body: JSONValue) throws(ShapeViolation) {
        try check(body, at: "")
    }
}
