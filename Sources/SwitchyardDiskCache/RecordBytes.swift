import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A writer of a record's fields in sequence.
///
/// A text is preceded by its length.
struct RecordWriter {
    private(set) var bytes = Data()

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    mutating func write(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ value: Double) {
        write(value.bitPattern)
    }

    mutating func write(_ text: String) {
        write(UInt32(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes an optional text.
    ///
    /// `nil` is distinct from an empty text.
    mutating func write(optional text: String?) {
        write(UInt8(text == nil ? 0 : 1))
        if let text { write(text) }
    }

    /// Appends bytes without their length.
    ///
    /// The reader must know the length, or the bytes must be the last field.
    mutating func append(_ data: Data) {
        bytes.append(data)
    }
}

/// A reader of a record's fields.
///
/// The reader throws `DiskRecord.Failure.damaged` if a field is incomplete or invalid. It never stops the process.
struct RecordReader {
    private let bytes: Data
    private var position: Int

    init(_ bytes: Data) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(DiskRecord.Failure) -> Value
    {
        let part = try data(count: MemoryLayout<Value>.size)
        return Value(littleEndian: part.withUnsafeBytes { $0.loadUnaligned(as: Value.self) })
    }

    mutating func double() throws(DiskRecord.Failure) -> Double {
        let value = Double(bitPattern: try integer())
        guard value.isFinite else { throw .damaged }
        return value
    }

    mutating func text() throws(DiskRecord.Failure) -> String {
        let length = Int(try integer(UInt32.self))
        guard let text = String(validUTF8: try data(count: length)) else { throw .damaged }
        return text
    }

    mutating func optionalText() throws(DiskRecord.Failure) -> String? {
        switch try integer(UInt8.self) {
        case 0: nil
        case 1: try text()
        default: throw .damaged
        }
    }

    /// Reads and returns the number of fields that follow, each of at least `size` bytes.
    mutating func count(ofSize size: Int) throws(DiskRecord.Failure) -> Int {
        let count = Int(try integer(UInt32.self))
        guard count <= (bytes.endIndex - position) / size else { throw .damaged }
        return count
    }

    mutating func data(count: Int) throws(DiskRecord.Failure) -> Data {
        guard count >= 0, count <= bytes.endIndex - position else { throw .damaged }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Returns all remaining bytes.
    mutating func rest() -> Data {
        defer { position = bytes.endIndex }
        return Data(bytes[position...])
    }
}
