public import Foundation

/// Generates a client for this library from an OpenAPI document.
///
/// The output depends on the document and the options alone: the same input gives the same bytes.
public struct ClientGenerator: Sendable {
    /// What the client is generated with.
    public let options: GeneratorOptions

    /// Creates a generator.
    public init(options: GeneratorOptions = GeneratorOptions()) {
        self.options = options
    }

    /// A client, before it is written.
    public struct Output: Sendable {
        /// The files, in the order of their paths.
        public let files: [GeneratedFile]
        /// What is not generated as the document says it.
        public let notes: [GeneratorNote]
        /// The number of operations.
        public let operations: Int
        /// The number of types.
        public let types: Int
        /// The name of the root type.
        public let name: String
    }

    /// Reads a document and generates its client; nothing is written.
    ///
    /// - Parameter url: The document, JSON or YAML of OpenAPI 3.0 or 3.1. Files that it refers to are read from its folder.
    /// - Returns: The files.
    /// - Throws: ``GeneratorError`` at the first mistake of the document.
    public func output(for url: URL) throws(GeneratorError) -> Output {
        let document = try OpenAPIDocument(DocumentFiles(url))
        var planner = Planner(document, options: options)
        guard planner.options.name?.isEmpty == false,
            SwiftName.type(of: planner.options.name ?? "") == planner.options.name || options.name != nil
        else {
            throw GeneratorError("the document has no title; name the client with --name", file: document.root.file)
        }
        let outcome = try planner.outcome()
        let writer = ClientWriter(
            plan: outcome.plan,
            graph: outcome.graph,
            options: planner.options,
            document: url.lastPathComponent
        )
        return Output(
            files: writer.files(),
            notes: outcome.notes,
            operations: outcome.operations,
            types: outcome.graph.used.count,
            name: outcome.plan.name
        )
    }
}
