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

    /// Reads its arguments.
    init(_ arguments: Arguments) throws(UsageError)

    /// Does its work and returns the exit code.
    func run() async throws -> Int32
}

extension Command {
    static var positional: String { "" }

    /// The text for `--help`.
    static var help: String {
        let head =
            "usage: yard \(name)\(options.isEmpty ? "" : " [options]")\(positional.isEmpty ? "" : " \(positional)")"
        let lines = options.map { option in
            let left = "  --\(option.name)" + (option.value.map { " \($0)" } ?? "")
            return left + String(repeating: " ", count: max(2, 26 - left.count)) + option.help
        }
        return ([head, "", summary] + (lines.isEmpty ? [] : [""] + lines)).joined(separator: "\n")
    }
}

/// A command in the list of commands.
struct CommandEntry {
    let name: String
    let summary: String
    let help: String
    /// Reads the words behind the command and carries it out.
    let run: ([String]) async throws -> Int32

    init<Chosen: Command>(_ command: Chosen.Type) {
        name = command.name
        summary = command.summary
        help = command.help
        run = { words in
            let maximum = command.positional.isEmpty ? 0 : Int.max
            let arguments = try Arguments(words, options: command.options, maximumPositional: maximum)
            return try await command.init(arguments).run()
        }
    }
}
