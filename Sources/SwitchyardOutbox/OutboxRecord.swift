import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A record of an append-only outbox file.
///
/// The file has a magic line, and then for each record its length, its checksum (both 32 bits, little-endian) and its
/// bytes. If the file was truncated at any byte, its last record may be incomplete. An incomplete record is ignored.
enum OutboxRecord: Hashable {
    case stored(OutboxEntry)
    /// The request with this sequence number was about to be sent for the first time.
    case begun(UInt64)
    case done(UInt64)
    /// The time that has passed since the file was created.
    case time(OutboxTimeline.Reading)

    /// The sequence number of the request, or 0 if the record does not belong to a request.
    var id: UInt64 {
        switch self {
        case .stored(let entry): entry.id
        case .begun(let id), .done(let id): id
        case .time: 0
        }
    }

    static let magic = Data("switchyard outbox 3\n".utf8)
    /// The magic line of files from before `begun` records were added.
    ///
    /// Older versions of the library would treat `begun` records as damage.
    static let oldMagic = Data("switchyard outbox 1\n".utf8)
    /// The magic lines of earlier formats: 1 has neither `begun` nor `time` records, and 2 has no `time` records.
    static let oldMagics = [oldMagic, Data("switchyard outbox 2\n".utf8)]
    /// The maximum length of a record in bytes.
    ///
    /// A greater length means that the file is damaged.
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
            // When the file is read, a longer record would count as damage and be dropped with all records after it.
            guard payload.count <= Self.longest else { throw OutboxError.unstorableBody }
            return Self.bytes(of: UInt32(payload.count)) + Self.bytes(of: CRC32.checksum(payload)) + payload
        }
    }

    /// Returns the complete records of a file, and the number of bytes of the magic line and these records.
    ///
    /// Returns `nil` if the file has another format.
    static func records(in file: Data) -> (records: [OutboxRecord], length: Int)? {
        let bytes = [UInt8](file)
        let magics = [magic] + oldMagics
        guard bytes.count >= magic.count else {
            // The file was truncated while its magic line was written.
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
