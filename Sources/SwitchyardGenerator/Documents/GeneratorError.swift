/// A document that no client can be generated from, with the place of the fault.
public struct GeneratorError: Error, Sendable, Hashable {
    /// What is wrong, the value, and what is allowed.
    public var message: String
    /// The file, as it was named; empty when the fault is in no file.
    public var file: String
    /// The line, counted from 1; 0 when the fault is in no line.
    public var line: Int
    /// The column, counted from 1; 0 when the fault is in no line.
    public var column: Int
    /// The JSON pointer of the value (RFC 6901); empty for the whole document.
    public var pointer: String

    /// Creates an error.
    public init(_ message: String, file: String = "", line: Int = 0, column: Int = 0, pointer: String = "") {
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.pointer = pointer
    }
}

extension GeneratorError: CustomStringConvertible {
    /// The error in one line: `FILE:LINE:COLUMN: MESSAGE (at POINTER)`.
    public var description: String {
        let place = file.isEmpty ? "" : line > 0 ? "\(file):\(line):\(column): " : "\(file): "
        return place + message + (pointer.isEmpty ? "" : " (at \(pointer))")
    }
}
