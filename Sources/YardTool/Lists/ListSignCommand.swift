import Foundation
import Switchyard
import SwitchyardServerLists

/// A command that signs the servers of a service file as a server list.
struct ListSignCommand: Command {
    static let name = "sign"
    static let summary = "Signs the servers of a service file as a server list."
    static let positional = "SERVICE.json"
    static let options: [Arguments.Option] = [
        .value("keys", "FILE,...", "The files of the private keys: one, or two while the keys are rotated."),
        .value("version", "N", "The version of the list, higher than that of every list before it."),
        .value("days", "N", "The number of days until the list expires (default: 30)."),
        .value("output", "FILE", "The file of the list (default: the standard output)."),
        .flag("force", "Replaces the file of --output if it exists."),
    ]

    private let file: String
    private let keyFiles: [String]
    private let version: Int
    private let days: Double
    private let output: String?
    private let replacesFile: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        file = try arguments.only("the service file")
        keyFiles = try arguments.parts("keys")
        guard let version = try arguments.integer("version", in: 1...Int.max) else {
            throw UsageError("--version is missing")
        }
        self.version = version
        days = try arguments.number("days", in: 0.001...3_650) ?? 30
        output = arguments.text("output")
        replacesFile = arguments.has("force")
        guard output != nil || !replacesFile else { throw UsageError("--force requires --output") }
    }

    func run() async throws -> Int32 {
        if let output, !replacesFile, FileManager.default.fileExists(atPath: output) {
            throw ListProblem("\(output): the file exists already; use --force to replace it")
        }
        let document = try document(at: Date())
        guard let output else {
            Terminal.standardOutput.write(String(decoding: document, as: UTF8.self) + "\n")
            return 0
        }
        try document.write(to: URL(fileURLWithPath: output), options: .atomic)
        Terminal.standardOutput.write(try Self.summary(of: document))
        return 0
    }

    /// Returns the contents of a signed list as text, and a statement about the apps that refuse the list because of
    /// its environments.
    static func summary(of document: Data) throws -> String {
        let list = try ServerListDocument(unverified: document)
        let names = Set(list.servers.flatMap(\.baseURLs.keys).map(\.rawValue)).sorted()
        let environments = names.joined(separator: ", ")
        return ListText(list).text
            + "\nAn app whose service has an environment other than \(environments) refuses the list.\n"
    }

    /// Returns the signed list, with the given time of issue.
    func document(at date: Date) throws -> Data {
        let url = URL(fileURLWithPath: file)
        let service = try ServiceCatalog.service(contentsOf: url)
        // The servers are signed as they are written in the file, so that no key of a server is lost.
        let written = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: url))
        let payload: JSONValue = [
            "service": .string(service.name), "version": .number(JSONNumber(version)),
            "issued": .string(date.iso8601), "expires": .string((date + days * 86_400).iso8601),
            "servers": written["servers"] ?? [],
        ]
        let keys = try keyFiles.map { try SigningKeyFile(contentsOf: $0) }
        guard Set(keys.map(\.name)).count == keys.count else {
            throw ListProblem("--keys has two keys with the same name, but names must be unique")
        }
        let signers = keys.map { (name: $0.name, privateKey: $0.privateKey) }
        guard let document = try ServerListEnvelope.signing(payload.data, with: signers) else {
            throw ListProblem("a private key of --keys is invalid: must be an Ed25519 key")
        }
        _ = try ServerListDocument(unverified: document)
        return document
    }
}
