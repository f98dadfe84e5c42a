import Foundation
import SwitchyardGenerator

/// A command that generates a client for a service from an OpenAPI document.
struct GenerateCommand: Command {
    static let name = "generate"
    static let summary =
        "Generates a client from an OpenAPI document (3.0 or 3.1, JSON or YAML)."
    static let positional = "DOCUMENT"
    static let options: [Arguments.Option] = [
        .value("into", "FOLDER", "The folder for the generated files (required without --check)."),
        .value("name", "NAME", "The name of the root type (default: derived from the title of the document)."),
        .value("only", "LIST", "The tags, operationIds and paths to generate, separated by commas (default: all)."),
        .value("server", "NAME=URL,…", "Additional servers of the service, separated by commas."),
        .value("access", "LEVEL", "The access level of the code: internal, package or public (default: internal)."),
        .value("config", "FILE", "A JSON file with options. Command-line options take precedence over it."),
        .flag("hashable", "Makes the models Hashable."),
        .flag("check", "Prints the notes and a summary, and writes no files."),
        .flag("allow", "Accepts skipped parts of the document: --check exits with 0, other runs print no notes."),
    ]

    private let document: URL
    private let folder: URL?
    private let isAllowed: Bool
    private let options: GeneratorOptions

    init(_ arguments: Arguments) throws(UsageError) {
        guard let path = arguments.positional.first, arguments.positional.count == 1, !path.isEmpty else {
            throw UsageError("exactly one argument is required: the OpenAPI document")
        }
        guard !path.contains("://") else {
            throw UsageError("the document \"\(path)\" is invalid: must be a file, so download the document first")
        }
        document = URL(fileURLWithPath: path)
        let isCheck = arguments.has("check")
        folder = isCheck ? nil : URL(fileURLWithPath: try arguments.requiredText("into"))
        isAllowed = arguments.has("allow")
        var options = try arguments.text("config").map(GenerateConfiguration.options) ?? GeneratorOptions()
        try options.apply(arguments)
        options.command = options.commandLine(document.lastPathComponent)
        self.options = options
    }

    func run() async throws -> Int32 {
        let output: ClientGenerator.Output
        do throws(GeneratorError) {
            output = try ClientGenerator(options: options).output(for: document)
        } catch {
            Terminal.complain("yard generate: \(error)")
            return 1
        }
        let skipped = output.notes.count { $0.kind == .skipped }
        if folder == nil || (skipped > 0 && !isAllowed) {
            for note in output.notes { print(note) }
        }
        let lines = output.files.reduce(0) { $0 + $1.text.utf8.count { $0 == 0x0A } }
        let head =
            "\(output.name): \(output.operations) operations, \(output.types) types, \(output.files.count) files, \(lines) lines"
        print("\(head); \(skipped) skipped parts, \(output.notes.count - skipped) other notes")
        if !output.files.contains(where: { $0.path.hasPrefix("Services/") }) {
            print(
                "no service file was generated, because the document has no absolute server URL: set one with --server NAME=URL"
            )
        }
        guard write(output) else { return 1 }
        return skipped > 0 && !isAllowed && folder == nil ? 1 : 0
    }
}

extension GenerateCommand {
    /// Writes the files of a client, and returns whether this has succeeded.
    private func write(_ output: ClientGenerator.Output) -> Bool {
        guard let folder else { return true }
        do {
            try FolderWriter(folder).write(output.files)
            return true
        } catch {
            let reason = error.localizedDescription
            Terminal.complain("yard generate: the folder \"\(folder.path)\" cannot be written: \(reason)")
            return false
        }
    }
}

extension GeneratorOptions {
    /// Applies the options of a command line.
    fileprivate mutating func apply(_ arguments: Arguments) throws(UsageError) {
        if let name = arguments.text("name") { self.name = name }
        if let name, name.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) == nil {
            throw UsageError("--name requires a capital letter followed by letters and digits, found \"\(name)\"")
        }
        if let list = arguments.text("only") { only = list.split(separator: ",").map(String.init) }
        for text in arguments.text("server")?.split(separator: ",") ?? [] {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw UsageError("--server requires NAME=URL, found \"\(text)\"") }
            servers.append(Server(name: parts[0], url: parts[1]))
        }
        if let text = arguments.text("access") {
            guard let level = Access(rawValue: text) else {
                throw UsageError.unknown(text, for: "access", known: Access.allCases.map(\.rawValue))
            }
            access = level
        }
        if arguments.has("hashable") { isHashable = true }
    }

    /// Returns the command line that generates the same files, with the name of the document instead of its path.
    fileprivate func commandLine(_ document: String) -> String {
        var words = ["yard generate", document]
        if let name { words.append("--name \(name)") }
        if !only.isEmpty { words.append("--only \(only.joined(separator: ","))") }
        if !servers.isEmpty {
            words.append("--server " + servers.map { "\($0.name)=\($0.url)" }.joined(separator: ","))
        }
        if access != .internal { words.append("--access \(access.rawValue)") }
        if isHashable { words.append("--hashable") }
        return words.joined(separator: " ")
    }
}
