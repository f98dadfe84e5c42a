/// A command of `yard`.
protocol Command {
    /// The word that invokes the command.
    static var name: String { get }
    /// A summary of the command on one line.
    static var summary: String { get }
    /// The options of the command.
    static var options: [Arguments.Option] { get }
    /// The positional arguments for the help text, or an empty string if there are none.
    static var positional: String { get }
    /// The subcommands. A subcommand is invoked by the name of this command followed by its own name.
    static var subcommands: [CommandEntry] { get }

    /// Reads the arguments.
    init(_ arguments: Arguments) throws(UsageError)

    /// Runs the command and returns the exit code.
    func run() async throws -> Int32
}

extension Command {
    static var positional: String { "" }
    static var subcommands: [CommandEntry] { [] }

    /// The help text.
    static var help: String { help(calledBy: name) }

    /// Returns the help text for a command.
    ///
    /// For a subcommand, `name` includes the parent command.
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

/// An entry in the list of all commands.
struct CommandEntry {
    /// The word that invokes the command, without the parent command.
    let name: String
    let summary: String
    let help: String
    /// The subcommands.
    ///
    /// A subcommand is invoked by the name of this command followed by its own name.
    let subcommands: [CommandEntry]
    /// A function that parses the words after the command, runs the command, and returns the exit code.
    let run: ([String]) async throws -> Int32

    /// Creates an entry for a command or a subcommand of `parent`.
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

    /// Returns the command or subcommand that the words invoke, and the remaining words.
    func called(by words: [String]) -> (command: CommandEntry, rest: [String]) {
        guard let word = words.first, let command = subcommands.first(where: { $0.name == word }) else {
            return (self, words)
        }
        return command.called(by: Array(words.dropFirst()))
    }
}
