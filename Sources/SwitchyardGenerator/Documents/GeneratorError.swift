/// An error in a document that prevents the generation of a client, with its location.
public struct GeneratorError: Error, Sendable, Hashable {
    /// A message that states what is wrong, the value, and what is allowed.
    public var message: String
    /// The name of the file, or an empty string if the error does not concern a file.
    public var file: String
    /// The line in the file, counted from 1, or 0 if the line is unknown.
    public var line: Int
    /// The column in the line, counted from 1, or 0 if the line is unknown.
    public var column: Int
    /// The JSON pointer of the value (RFC 6901).
    ///
    /// It is empty for the whole document.
    public var pointer: String

    /// Creates an error.
    ///
    /// By default, it has no location.
    public init(_ message: String, file: String = "", line: Int = 0, column: Int = 0, pointer: String = "") {
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.pointer = pointer
    }
}

extension GeneratorError: CustomStringConvertible {
    /// The error on one line: `FILE:LINE:COLUMN: MESSAGE (at POINTER)`.
    public var description: String {
        let place = file.isEmpty ? "" : line > 0 ? "\(file):\(line):\(column): " : "\(file): "
        return place + message + (pointer.isEmpty ? "" : " (at \(pointer))")
    }
}
