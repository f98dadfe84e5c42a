/// One command of `yard`.
protocol Command {
    /// The word that calls it.
    static var name: String { get }
    /// What it does, in one line.
    static var summary: String { get }
    /// The options it understands.
    static var options: [Arguments.Option] { get }
    /// What stands behind it without a dash, for the help; empty when nothing does.
    static var positional: String { get }
    /// Commands that are called by its name and theirs.
    static var subcommands: [CommandEntry] { get }

    /// Reads its arguments.
    init(_ arguments: Arguments) throws(UsageError)

    /// Does its work and returns the exit code.
    func run() async throws -> Int32
}

extension Command {
    static var positional: String { "" }
    static var subcommands: [CommandEntry] { [] }

    /// The text for `--help`.
    static var help: String { help(calledBy: name) }

    /// The same for a command that is called by more than its own name.
    fileprivate static func help(calledBy name: String) -> String {
        let head =
            "usage: yard \(name)\(options.isEmpty ? "" : " [options]")\(positional.isEmpty ? "" : " \(positional)")"
        let lines = options.map { option in
            line("--\(option.name)" + (option.value.map { " \($0)" } ?? ""), option.help)
        }
        let others = subcommands.map { line("\(name) \($0.name)", $0.summary) }
        let parts = [lines, others].filter { !$0.isEmpty }
        return ([head, "", summary] + parts.flatMap { [""] + $0 }).joined(separator: "\n")
    }

    private static func line(_ left: String, _ help: String) -> String {
        "  " + left + String(repeating: " ", count: max(2, 24 - left.count)) + help
    }
}

/// A command in the list of commands.
struct CommandEntry {
    /// The word that calls it, behind that of the command it belongs to.
    let name: String
    let summary: String
    let help: String
    /// Commands that are called by its name and theirs.
    let subcommands: [CommandEntry]
    /// Reads the words behind the command and carries it out.
    let run: ([String]) async throws -> Int32

    /// Enters a command, or one that belongs to another of that name.
    init<Chosen: Command>(_ command: Chosen.Type, of parent: String? = nil) {
        name = command.name
        summary = command.summary
        subcommands = command.subcommands
        help = command.help(calledBy: [parent, command.name].compactMap(\.self).joined(separator: " "))
        run = { words in
            let maximum = command.positional.isEmpty ? 0 : Int.max
            let arguments = try Arguments(words, options: command.options, maximumPositional: maximum)
            return try await command.init(arguments).run()
        }
    }

    /// The command that words call, itself or one that belongs to it, and the words behind it.
    func called(by words: [String]) -> (command: CommandEntry, rest: [String]) {
        guard let word = words.first, let command = subcommands.first(where: { $0.name == word }) else {
            return (self, words)
        }
        return command.called(by: Array(words.dropFirst()))
    }
}
