public import Foundation

/// Generates a client for this library from an OpenAPI document.
///
/// The output depends only on the document and the options. The same input produces the same bytes.
public struct ClientGenerator: Sendable {
    /// The options for the generated client.
    public let options: GeneratorOptions

    /// Creates a generator with the given options, by default the options of `yard generate`.
    public init(options: GeneratorOptions = GeneratorOptions()) {
        self.options = options
    }

    /// A generated client.
    ///
    /// Its files have not been written to the disk.
    public struct Output: Sendable {
        /// The files, sorted by path.
        public let files: [GeneratedFile]
        /// Notes about parts of the document that were skipped, or that the generated code represents less precisely.
        public let notes: [GeneratorNote]
        /// The number of operations for which methods were generated.
        public let operations: Int
        /// The number of generated model types.
        public let types: Int
        /// The name of the client's root type.
        public let name: String
    }

    /// Reads a document and generates its client without writing any file.
    ///
    /// - Parameter url: The document in JSON or YAML, of OpenAPI 3.0 or 3.1. Other files to which the document refers
    ///   are read from its folder.
    /// - Returns: The generated files.
    /// - Throws: ``GeneratorError`` for the first error in the document.
    public func output(for url: URL) throws(GeneratorError) -> Output {
        // The readers of schemas call themselves for each schema within another one, so they need a large stack.
        try LargeStack.run { () throws(GeneratorError) in
            try output(of: DocumentFiles(url), named: url.lastPathComponent)
        }
    }

    /// Generates the client of a document whose main file has been read.
    func output(of files: DocumentFiles, named name: String) throws(GeneratorError) -> Output {
        let document = try OpenAPIDocument(files)
        var planner = Planner(document, options: options)
        guard planner.options.name?.isEmpty == false,
            SwiftName.type(of: planner.options.name ?? "") == planner.options.name || options.name != nil
        else {
            throw (document.root["info"] ?? document.root).error(
                "the document has no title: use --name to name the client"
            )
        }
        let outcome = try planner.outcome()
        let writer = ClientWriter(
            plan: outcome.plan,
            graph: outcome.graph,
            options: planner.options,
            document: name
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
