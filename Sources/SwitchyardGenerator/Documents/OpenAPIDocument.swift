/// An OpenAPI document of version 3.0 or 3.1.
///
/// Its parts are read when they are needed.
struct OpenAPIDocument {
    let files: DocumentFiles
    /// The root value of the document.
    var root: Place { files.root }
    /// The title of the API.
    let title: String
    let version: String
    /// The version of the OpenAPI Specification.
    let openAPIVersion: String

    /// Checks that the main file is an OpenAPI document and reads its title and version.
    ///
    /// - Throws: ``GeneratorError`` if it is not an OpenAPI document of a supported version.
    init(_ files: DocumentFiles) throws(GeneratorError) {
        self.files = files
        let root = files.root
        guard root.node.isMap else { throw root.error("the document must be an object, not \(root.node.kindName)") }
        if root.node["swagger"] != nil {
            throw root.error("OpenAPI 2 (\"swagger\") is not supported: must be OpenAPI 3.0 or 3.1")
        }
        guard let version = root.text("openapi") else {
            throw root.error("the document has no version in \"openapi\": must be 3.0 or 3.1")
        }
        guard version == "3.0" || version == "3.1" || version.hasPrefix("3.0.") || version.hasPrefix("3.1.") else {
            throw (root["openapi"] ?? root).error(
                "OpenAPI \(version) is not supported: must be OpenAPI 3.0 or 3.1"
            )
        }
        openAPIVersion = version
        let info = try root.object("info")
        title = info?.text("title") ?? ""
        self.version = info?.text("version") ?? ""
    }

    /// Returns the value to which the reference at `place` points, following further references if necessary.
    ///
    /// If `place` is not a reference, returns `place`.
    ///
    /// - Throws: ``GeneratorError`` if a reference has no target or the references form a cycle.
    func resolved(_ place: Place) throws(GeneratorError) -> Place {
        var current = place
        var seen: Set<String> = []
        while let reference = try current.string("$ref") {
            guard seen.insert(current.key).inserted else {
                throw place.error("the reference \"\(reference)\" is circular")
            }
            current = try files.target(of: reference, at: current)
        }
        return current
    }

    /// The descriptions of the document's tags, by name.
    var tagDescriptions: [String: String] {
        var texts: [String: String] = [:]
        for tag in root["tags"]?.elements ?? [] {
            if let name = tag.text("name") { texts[name] = tag.text("description") }
        }
        return texts
    }
}
