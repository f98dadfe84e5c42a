import Testing

@testable import yard

@Suite struct ArgumentsTests {
    private static let options: [Arguments.Option] = [
        .flag("json", "a flag"), .value("timeout", "S", "a value"), .value("port", "P", "another value"),
    ]

    @Test func `the command line distinguishes flags, values and positional arguments`() throws {
        let arguments = try Arguments(
            ["--json", "folder", "--timeout", "2.5", "--port", "80"],
            options: Self.options,
            maximumPositional: 1
        )

        #expect(arguments.has("json"))
        #expect(try arguments.number("timeout", in: 0...10) == 2.5)
        #expect(try arguments.integer("port", in: 1...100) == 80)
        #expect(arguments.positional == ["folder"])
    }

    @Test func `on the command line, a value may be attached to its option with an equals sign`() throws {
        let arguments = try Arguments(["--timeout=2.5", "--port=", "--json"], options: Self.options)

        #expect(arguments.text("timeout") == "2.5")
        #expect(arguments.text("port") == "")
        #expect(arguments.has("json"))
    }

    @Test(arguments: [
        (["--json=yes"], "--json takes no value"),
        (["--timeout=1", "--timeout", "2"], "--timeout is given twice"),
        (["--=1"], "unknown option \"--=1\": must be one of --json, --timeout, --port"),
        (["--yaml"], "unknown option \"--yaml\": must be one of --json, --timeout, --port"),
        (["--timeout"], "--timeout requires a value: S"),
        (["--timeout", "--json"], "--timeout requires a value: S"),
        (["--json", "--json"], "--json is given twice"),
        (["--port", "1", "--port", "2"], "--port is given twice"),
        (["folder", "other"], "unexpected argument \"other\""),
    ])
    func `the error for an invalid command line names the expected input`(words: [String], message: String) {
        #expect(throws: UsageError(message)) {
            try Arguments(words, options: Self.options, maximumPositional: 1)
        }
    }

    @Test(arguments: ["abc", "11", "-1", "nan", ""])
    func `a command-line value that is out of range or not a number is rejected`(text: String) throws {
        let arguments = try Arguments(["--timeout", text], options: Self.options)

        #expect(throws: UsageError("--timeout requires a number from 0.0 to 10.0, found \"\(text)\"")) {
            try arguments.number("timeout", in: 0...10)
        }
    }

    @Test func `a fraction is rejected where an option requires a whole number`() throws {
        let arguments = try Arguments(["--port", "80.5"], options: Self.options)

        #expect(throws: UsageError("--port requires a whole number from 1 to 100, found \"80.5\"")) {
            try arguments.integer("port", in: 1...100)
        }
    }
}
