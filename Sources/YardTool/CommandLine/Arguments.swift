/// The parsed words after a command: `--name value` or `--name=value`, `--flag`, and positional words.
struct Arguments {
    /// An option of a command.
    struct Option {
        let name: String
        /// The placeholder for the value in the help text, or `nil` for a flag.
        let value: String?
        let help: String

        static func flag(_ name: String, _ help: String) -> Option { Option(name: name, value: nil, help: help) }

        static func value(_ name: String, _ value: String, _ help: String) -> Option {
            Option(name: name, value: value, help: help)
        }
    }

    private var values: [String: String] = [:]
    private var flags: Set<String> = []
    private(set) var positional: [String] = []

    /// Parses the words.
    ///
    /// - Throws: ``UsageError`` for an unknown option, a missing value, a repeated option or too many words.
    init(_ words: [String], options: [Option], maximumPositional: Int = 0) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("-"), word != "-" else {
                guard positional.count < maximumPositional else { throw UsageError("unexpected argument \"\(word)\"") }
                positional.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, let option = options.first(where: { "--\($0.name)" == name }) else {
                throw UsageError(
                    "unknown option \"\(word)\": must be one of "
                        + options.map { "--\($0.name)" }.joined(separator: ", ")
                )
            }
            try take(option, parts.count > 1 ? String(parts[1]) : nil, from: &rest)
        }
    }

    /// Reads an option and its value.
    ///
    /// The value follows an equals sign or is the next word.
    private mutating func take(
        _ option: Option,
        _ attached: String?,
        from rest: inout ArraySlice<String>
    ) throws(UsageError) {
        guard !flags.contains(option.name), values[option.name] == nil else {
            throw UsageError("--\(option.name) is given twice")
        }
        guard let valueName = option.value else {
            guard attached == nil else { throw UsageError("--\(option.name) takes no value") }
            flags.insert(option.name)
            return
        }
        if let attached { return values[option.name] = attached }
        guard let value = rest.popFirst(), !value.hasPrefix("--") else {
            throw UsageError("--\(option.name) requires a value: \(valueName)")
        }
        values[option.name] = value
    }

    /// Returns whether the flag was given.
    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// Returns the value of an option, or `nil` if it was not given.
    func text(_ name: String) -> String? { values[name] }

    /// Returns the value of a required option.
    func requiredText(_ name: String) throws(UsageError) -> String {
        guard let text = values[name] else { throw UsageError("--\(name) is missing") }
        return text
    }

    /// Returns the number value of an option, or `nil` if it was not given.
    ///
    /// - Throws: ``UsageError`` unless the value is a number within `range`.
    func number(_ name: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
        guard let text = values[name] else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw UsageError(
                "--\(name) requires a number from \(range.lowerBound) to \(range.upperBound), found \"\(text)\""
            )
        }
        return number
    }

    /// Returns the integer value of an option, or `nil` if it was not given.
    ///
    /// - Throws: ``UsageError`` unless the value is an integer within `range`.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "--\(name) requires a whole number from \(range.lowerBound) to \(range.upperBound), found \"\(text)\""
            )
        }
        return number
    }
}

/// An error for invalid arguments.
///
/// The tool prints it on one line and exits with code 2.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
