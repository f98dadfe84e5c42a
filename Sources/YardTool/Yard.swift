import Foundation

/// The command-line tool `yard`.
@main
enum Yard {
    static var commands: [CommandEntry] {
        [
            CommandEntry(DemoCommand.self),
            CommandEntry(CheckCommand.self),
            CommandEntry(ListCommand.self),
            CommandEntry(ServeCommand.self),
            CommandEntry(LoadCommand.self),
            CommandEntry(CompareCommand.self),
            CommandEntry(InspectCommand.self),
            CommandEntry(GenerateCommand.self),
            CommandEntry(SimulateCommand.self),
        ]
    }

    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs a command line and returns the exit code: 0 for success, 1 for failure, 2 for invalid arguments.
    static func run(_ words: [String]) async -> Int32 {
        guard let name = words.first, name != "--help", name != "-h", name != "help" else {
            guard let help = help(on: Array(words.dropFirst())) else { return refuse(unknown: words[1]) }
            print(help)
            return words.isEmpty ? 2 : 0
        }
        guard let command = commands.first(where: { $0.name == name }) else { return refuse(unknown: name) }
        let (called, rest) = command.called(by: Array(words.dropFirst()))
        if rest.contains(where: { $0 == "--help" || $0 == "-h" }) {
            print(called.help)
            return 0
        }
        do {
            return try await called.run(rest)
        } catch let error as UsageError {
            Terminal.complain(message(of: error, in: name))
            return 2
        } catch {
            Terminal.complain(message(of: error, in: name))
            return 1
        }
    }

    /// Returns the help for the named command or for all commands, or `nil` if there is no such command.
    static func help(on words: [String]) -> String? {
        guard let name = words.first else { return help }
        return commands.first { $0.name == name }?.called(by: Array(words.dropFirst())).command.help
    }

    /// Returns the message about an error of a command.
    static func message(of error: any Error, in name: String) -> String { "yard \(name): \(error)" }

    private static func refuse(unknown name: String) -> Int32 {
        refuse("unknown command \"\(name)\": must be one of " + commands.map(\.name).joined(separator: ", "))
    }

    private static func refuse(_ message: String) -> Int32 {
        Terminal.complain("yard: \(message)")
        return 2
    }

    private static var help: String {
        let width = commands.map(\.name.count).max() ?? 0
        let lines = commands.map { command in
            "  " + command.name.padding(toLength: width + 3, withPad: " ", startingAt: 0) + command.summary
        }
        return (["usage: yard COMMAND [options]", ""] + lines + ["", "yard COMMAND --help describes a command."])
            .joined(separator: "\n")
    }
}
