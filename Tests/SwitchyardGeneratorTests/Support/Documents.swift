import Foundation
import Testing

@testable import SwitchyardGenerator

/// Reads a text as a document with this name.
func read(_ text: String, as name: String = "api.yaml") throws -> Node {
    let files = try DocumentFiles(URL(fileURLWithPath: "/none/\(name)")) { _ in Data(text.utf8) }
    return files.root.node
}

/// The client for a document with these paths and schemas in YAML.
func client(
    paths: String = "  /things: { get: { responses: { \"200\": { description: Fine } } } }",
    schemas: String = "",
    head: String = "",
    options: GeneratorOptions = GeneratorOptions()
) throws -> ClientGenerator.Output {
    let components = schemas.isEmpty ? "" : "components:\n  schemas:\n\(schemas)\n"
    return try client(
        text: "openapi: 3.1.0\ninfo: { title: Test, version: \"1\" }\n\(head)\npaths:\n\(paths)\n\(components)",
        options: options
    )
}

/// The client for a document.
func client(
    text: String,
    named name: String = "api.yaml",
    options: GeneratorOptions = GeneratorOptions()
) throws -> ClientGenerator.Output {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("generator-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent(name)
    try Data(text.utf8).write(to: url)
    return try ClientGenerator(options: options).output(for: url)
}

/// A client whose only operation returns a schema.
func client(returning schema: String, schemas: String = "") throws -> ClientGenerator.Output {
    try client(
        paths: """
              /things:
                get:
                  operationId: things_get
                  tags: [things]
                  responses:
                    "200":
                      description: Fine
                      content: { application/json: { schema: \(schema) } }
            """,
        schemas: schemas
    )
}

extension ClientGenerator.Output {
    /// The text of all generated files except the support file.
    var code: String { files.filter { !$0.path.hasSuffix("Support.swift") }.map(\.text).joined() }
}

/// A node as JSON text for comparisons.
func json(_ node: Node) -> String {
    switch node.value {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .number(let text): text
    case .string(let text): SwiftName.literal(text)
    case .list(let elements): "[" + elements.map(json).joined(separator: ",") + "]"
    case .map(let members):
        "{" + members.map { SwiftName.literal($0.key) + ":" + json($0.value) }.joined(separator: ",") + "}"
    }
}
