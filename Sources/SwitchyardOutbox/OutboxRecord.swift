import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The records of an outbox file, which is only ever appended to: a magic line, then for each record its length, its
/// checksum (both 32 bits, little-endian) and its bytes.
///
/// A file that was cut off at any byte has whole records and then a torn one, which never happened.
enum OutboxRecord: Hashable {
    case stored(OutboxEntry)
    /// It is on its way for the first time.
    case begun(UInt64)
    case done(UInt64)
    /// How much time has passed since the file was made.
    case time(OutboxTimeline.Reading)

    /// The number of the write; 0, which is that of none, where the record is of no write.
    var id: UInt64 {
        switch self {
        case .stored(let entry): entry.id
        case .begun(let id), .done(let id): id
        case .time: 0
        }
    }

    static let magic = Data("switchyard outbox 3\n".utf8)
    /// What stood there before there were records of what has begun, whose readers would take one for damage.
    static let oldMagic = Data("switchyard outbox 1\n".utf8)
    /// What stood there before: behind the first, before there were records of time.
    static let oldMagics = [oldMagic, Data("switchyard outbox 2\n".utf8)]
    /// No record is longer; a length beyond it is damage.
    static let longest = 64 << 20

    var bytes: Data {
        get throws {
            let payload: Data
            switch self {
            case .stored(let entry): payload = Data([UInt8(ascii: "A")]) + (try JSONEncoder().encode(entry))
            case .begun(let id): payload = Data([UInt8(ascii: "B")]) + Self.bytes(of: id)
            case .done(let id): payload = Data([UInt8(ascii: "D")]) + Self.bytes(of: id)
            case .time(let reading):
                let numbers = [reading.elapsed, reading.date.timeIntervalSince1970].map(\.bitPattern)
                payload = Data([UInt8(ascii: "T")]) + Self.bytes(of: numbers[0]) + Self.bytes(of: numbers[1])
            }
            // Whoever reads the file would take it for damage, and drop it with all that is behind it.
            guard payload.count <= Self.longest else { throw OutboxError.unstorableBody }
            return Self.bytes(of: UInt32(payload.count)) + Self.bytes(of: CRC32.checksum(payload)) + payload
        }
    }

    /// The whole records of a file, and how many of its bytes they and the magic line take; `nil` when the file is of
    /// another kind.
    static func records(in file: Data) -> (records: [OutboxRecord], length: Int)? {
        let bytes = [UInt8](file)
        let magics = [magic] + oldMagics
        guard bytes.count >= magic.count else {
            // The very first write was cut off.
            return magics.contains { $0.starts(with: bytes) } ? ([], 0) : nil
        }
        guard magics.contains(where: { bytes.starts(with: $0) }) else { return nil }
        var records: [OutboxRecord] = []
        var position = magic.count
        while let (record, end) = record(in: bytes, at: position) {
            records.append(record)
            position = end
        }
        return (records, position)
    }

    private static func record(in bytes: [UInt8], at start: Int) -> (OutboxRecord, end: Int)? {
        guard start + 8 < bytes.count else { return nil }
        let length = Int(number(bytes[start..<start + 4]))
        guard length > 0, length <= longest, start + 8 + length <= bytes.count else { return nil }
        let payload = bytes[start + 8..<start + 8 + length]
        guard CRC32.checksum(payload) == UInt32(number(bytes[start + 4..<start + 8])) else { return nil }
        return parsed(payload).map { ($0, start + 8 + length) }
    }

    private static func parsed(_ payload: ArraySlice<UInt8>) -> OutboxRecord? {
        switch payload.first {
        case UInt8(ascii: "A"):
            (try? JSONDecoder().decode(OutboxEntry.self, from: Data(payload.dropFirst()))).map(OutboxRecord.stored)
        case UInt8(ascii: "B"): payload.count == 9 ? .begun(number(payload.dropFirst())) : nil
        case UInt8(ascii: "D"): payload.count == 9 ? .done(number(payload.dropFirst())) : nil
        case UInt8(ascii: "T"): payload.count == 17 ? reading(payload.dropFirst()).map(OutboxRecord.time) : nil
        default: nil
        }
    }

    private static func reading(_ bytes: ArraySlice<UInt8>) -> OutboxTimeline.Reading? {
        let elapsed = Double(bitPattern: number(bytes.prefix(8)))
        let seconds = Double(bitPattern: number(bytes.dropFirst(8)))
        guard elapsed.isFinite, elapsed >= 0, seconds.isFinite else { return nil }
        return OutboxTimeline.Reading(elapsed: elapsed, date: Date(timeIntervalSince1970: seconds))
    }

    private static func bytes(of number: some FixedWidthInteger) -> Data {
        withUnsafeBytes(of: number.littleEndian) { Data($0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
