import Foundation
import Testing

@testable import yard

@Suite struct GenerateCommandTests {
    private static let good = """
        openapi: 3.0.0
        info: { title: Small, version: "1" }
        servers: [{ url: https://api.example.com }]
        paths:
          /things: { get: { responses: { "200": { description: Fine } } } }
        """

    private func run(_ document: String, _ words: [String], in folder: URL) async -> Int32 {
        let url = folder.appendingPathComponent("api.yaml")
        _ = FileManager.default.createFile(atPath: url.path, contents: Data(document.utf8))
        return await Yard.run(["generate", url.path] + words)
    }

    @Test func `the generate command writes the files and removes obsolete generated files`() async throws {
        try await withTemporaryFolder { folder in
            let output = folder.appendingPathComponent("out")
            let into = ["--into", output.path]
            #expect(await run(Self.good, into, in: folder) == 0)
            let file = output.appendingPathComponent("Managers/ThingsAPI.swift")
            #expect(FileManager.default.fileExists(atPath: file.path))
            try Data("let own = 1\n".utf8).write(to: output.appendingPathComponent("Managers/Own.swift"))

            #expect(await run(Self.good.replacing("/things", with: "/others"), into, in: folder) == 0)

            let names = try FileManager.default.contentsOfDirectory(atPath: output.path + "/Managers")
            #expect(names.sorted() == ["OthersAPI.swift", "Own.swift"])
        }
    }

    @Test(arguments: [
        "openapi: 2", "a: [", "{\"openapi\": \"3.0.0\"}", "", "\u{0}\u{1}\u{2}PNG", "<html></html>", "swagger: '2.0'",
        "[]",
        good.replacing("description: Fine", with: "$ref: '#/components/responses/None'"),
        good.replacing("description: Fine", with: "$ref: '#/paths/~1things/get/responses/200'"),
        good + "\n  /more: { get: { operationId: a }, put: { operationId: a } }",
        good
            + "\n  /more: { get: { parameters: [{ name: a, in: query, schema: { allOf: [{ type: string }, { type: integer }] } }] } }",
        good + "\nx-a: &a [1, 1, 1]\nx-b: *c",
    ])
    func `the generate command writes no file for an invalid document`(document: String) async throws {
        try await withTemporaryFolder { folder in
            let output = folder.appendingPathComponent("out")

            #expect(await run(document, ["--into", output.path], in: folder) == 1)

            #expect(!FileManager.default.fileExists(atPath: output.path))
        }
    }

    @Test func `the generate command fails if the folder cannot be written`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("file")
            try Data().write(to: file)

            #expect(await run(Self.good, ["--into", file.path], in: folder) == 1)
        }
    }

    @Test(arguments: ["a=api.example.com", "a=ftp://api.example.com", "a=https://api.example.com?a=b", "a=/v1"])
    func `the generate command rejects a server whose URL is not a base URL`(server: String) async throws {
        try await withTemporaryFolder { folder in
            #expect(await run(Self.good, ["--check", "--server", server], in: folder) == 1)
        }
    }

    @Test func `the generate command rejects a document on another machine`() async {
        #expect(await Yard.run(["generate", "https://api.example.com/openapi.json", "--check"]) == 2)
    }

    @Test(arguments: ["/none/api.yaml", "/"])
    func `the generate command rejects a document that cannot be read`(path: String) async {
        #expect(await Yard.run(["generate", path, "--check"]) == 1)
    }

    @Test func `generate --check writes no file and fails for skipped parts unless --allow is given`() async throws {
        try await withTemporaryFolder { folder in
            let skipping = Self.good.replacing("https://api.example.com", with: "/v1")

            #expect(await run(Self.good, ["--check"], in: folder) == 0)
            #expect(await run(skipping, ["--check"], in: folder) == 1)
            #expect(await run(skipping, ["--check", "--allow"], in: folder) == 0)

            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names == ["api.yaml"])
        }
    }

    @Test(arguments: [
        [], ["--name", "lower"], ["--access", "open"], ["--server", "a"], ["--config", "/none.json"], ["more"],
    ])
    func `the generate command rejects an invalid command line`(words: [String]) async throws {
        try await withTemporaryFolder { folder in
            let into = words.isEmpty ? [] : ["--into", folder.path]
            #expect(await run(Self.good, into + words, in: folder) == 2)
        }
    }

    @Test func `the generate command can read its options from a file`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("generate.json")
            try Data(#"{"name": "Renamed", "access": "package"}"#.utf8).write(to: file)
            let output = folder.appendingPathComponent("out")

            #expect(await run(Self.good, ["--into", output.path, "--config", file.path], in: folder) == 0)
            let text = try String(contentsOf: output.appendingPathComponent("Renamed.swift"), encoding: .utf8)
            #expect(text.contains("package struct Renamed: Sendable {"))

            try Data(#"{"nam": "Renamed"}"#.utf8).write(to: file)
            #expect(await run(Self.good, ["--check", "--config", file.path], in: folder) == 2)
        }
    }
}
