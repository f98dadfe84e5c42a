public import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// One entry of a disk cache.
///
/// The response and its description are in one file, so that neither exists without the other.
///
///     4 bytes   "SYCR"
///     2 bytes   version of this format
///     2 bytes   flags: 1 is encrypted
///     8 bytes   checksum over all bytes after it, with version and flags as its seed
///     the rest  the fields, encrypted or not
///
/// Numbers are little-endian. Only the digest of the cache key is stored, because the key itself may contain parts of
/// the request.
struct DiskRecord: Sendable {
    /// The reason why bytes cannot be read as a record.
    enum Failure: Error {
        /// The bytes are incomplete, or they are not a record.
        case damaged
        /// The bytes were written by a newer version of this library.
        case newer
    }

    /// The newest version of the file format.
    ///
    /// Version 2 adds the URL after redirects. Version 3 adds the accepted media types, for a response that depends on
    /// the accepted media types.
    static let formatVersion: UInt16 = 3
    private static let magic = Data("SYCR".utf8)
    private static let headLength = 16

    var digest: Data
    var partition: CachePartition
    var method: String
    var path: String
    var answer: StoredResponse
    /// A number that distinguishes the record from other records that wait to be written under the same name.
    ///
    /// It is not stored.
    var number = 0

    init(_ key: CacheKey, digest: Data, _ answer: StoredResponse) {
        let parts = key.parts
        self.digest = digest
        partition = parts.partition
        method = parts.method
        path = parts.path
        self.answer = answer
    }

    /// Returns the record as bytes, encrypted if `seal` is not `nil`.
    func encoded(_ seal: DiskEncryption?) throws -> Data {
        let fields = try seal?.seal(self.fields) ?? self.fields
        let flags: UInt16 = seal == nil ? 0 : 1
        var writer = RecordWriter(capacity: Self.headLength + fields.count)
        writer.append(Self.magic)
        writer.write(version)
        writer.write(flags)
        writer.write(Self.checksum(of: fields, version, flags))
        writer.append(fields)
        return writer.bytes
    }

    /// Reads a record.
    ///
    /// - Throws: ``Failure``. If decryption fails, the record counts as damaged.
    init(_ bytes: Data, _ seal: DiskEncryption?) throws(Failure) {
        var head = RecordReader(bytes)
        guard try head.data(count: 4) == Self.magic else { throw .damaged }
        let version = try head.integer(UInt16.self)
        guard version <= Self.formatVersion else { throw .newer }
        let flags = try head.integer(UInt16.self)
        let sum = try head.integer(UInt64.self)
        let fields = head.rest()
        guard sum == Self.checksum(of: fields, version, flags) else { throw .damaged }
        try self.init(fields: try Self.opened(fields, isSealed: flags & 1 == 1, seal), version)
    }

    private static func opened(_ fields: Data, isSealed: Bool, _ seal: DiskEncryption?) throws(Failure) -> Data {
        guard isSealed == (seal != nil) else { throw .damaged }
        guard let seal else { return fields }
        do {
            return try seal.open(fields)
        } catch {
            throw .damaged
        }
    }

    private static func checksum(of fields: Data, _ version: UInt16, _ flags: UInt16) -> UInt64 {
        fields.withUnsafeBytes { Checksum.of($0, seed: UInt64(version) << 16 | UInt64(flags)) }
    }
}

// MARK: - Fields

extension DiskRecord {
    /// The oldest format version that can store the record's fields, so that older versions of this library can read as
    /// many records as possible.
    private var version: UInt16 { types != nil ? 3 : answer.redirectedTo != nil ? 2 : 1 }

    /// The accepted media types if the response depends on them, otherwise `nil`.
    private var types: String? { answer.dependsOnTypes ? answer.accept : nil }

    private var fields: Data {
        var writer = RecordWriter(capacity: 512 + answer.body.count)
        writer.append(digest)
        for part in [partition.service, partition.environment, method, path] { writer.write(part) }
        for part in [partition.user, answer.charset, answer.appVersion] { writer.write(optional: part) }
        writer.write(answer.created.timeIntervalSince1970)
        for time in [answer.transit, answer.lifetime, answer.staleFor] { writer.write(time) }
        writer.write(Int64(answer.version))
        writer.write(Int32(truncatingIfNeeded: answer.status))
        writer.write(digest: answer.sensitiveDigest)
        writer.write(UInt32(answer.tags.count))
        for tag in answer.tags.sorted() { writer.write(tag) }
        writer.write(UInt32(answer.headers.count))
        for field in answer.headers {
            writer.write(field.name)
            writer.write(field.echo)
        }
        if let types {
            for part in [answer.redirectedTo, types] { writer.write(optional: part) }
        } else if let place = answer.redirectedTo {
            writer.write(place)
        }
        writer.append(answer.body)
        return writer.bytes
    }

    private init(fields: Data, _ version: UInt16) throws(Failure) {
        var reader = RecordReader(fields)
        digest = Data(try reader.data(count: CacheKey.digestLength))
        partition = CachePartition(service: try reader.text(), environment: try reader.text())
        method = try reader.text()
        path = try reader.text()
        partition.user = try reader.optionalText()
        let charset = try reader.optionalText()
        let appVersion = try reader.optionalText()
        let created = Date(timeIntervalSince1970: try reader.double())
        let transit = try reader.duration()
        answer = StoredResponse(body: Data(), created: created, lifetime: try reader.duration())
        answer.transit = transit
        answer.staleFor = try reader.duration()
        answer.charset = charset
        answer.appVersion = appVersion
        answer.version = Int(try reader.integer(Int64.self))
        answer.status = Int(try reader.integer(Int32.self))
        answer.sensitiveDigest = try reader.optionalDigest()
        for _ in 0..<(try reader.count(ofSize: 4)) { answer.tags.insert(try reader.text()) }
        for _ in 0..<(try reader.count(ofSize: 8)) {
            answer.headers.add(HTTPHeaders.Field(name: try reader.text(), echo: try reader.text()))
        }
        if version > 1 { answer.redirectedTo = version > 2 ? try reader.optionalText() : try reader.text() }
        if version > 2 { answer.accept = try reader.optionalText() }
        answer.body = reader.rest()
    }
}

extension RecordReader {
    /// Reads an optional digest.
    ///
    /// Its length is stored only if it differs from `CacheKey.digestLength`.
    fileprivate mutating func optionalDigest() throws(DiskRecord.Failure) -> Data? {
        switch try integer(UInt8.self) {
        case 0: nil
        case 1: Data(try data(count: CacheKey.digestLength))
        case 2: Data(try data(count: try count(ofSize: 1)))
        default: throw .damaged
        }
    }

    /// Reads a duration in seconds.
    ///
    /// A duration of more than a hundred years counts as damage.
    fileprivate mutating func duration() throws(DiskRecord.Failure) -> Duration {
        let seconds = try double()
        guard abs(seconds) <= RecordWriter.longestTime else { throw .damaged }
        return .seconds(seconds)
    }
}

extension RecordWriter {
    /// Writes an optional digest.
    fileprivate mutating func write(digest: Data?) {
        guard let digest else { return write(UInt8(0)) }
        let isOurs = digest.count == CacheKey.digestLength
        write(UInt8(isOurs ? 1 : 2))
        if !isOurs { write(UInt32(digest.count)) }
        append(digest)
    }

    /// The maximum duration in seconds: a hundred years.
    fileprivate static let longestTime = 3_155_760_000.0

    /// Writes a duration in seconds, limited to a hundred years.
    fileprivate mutating func write(_ time: Duration) {
        write(min(max(time.inSeconds, -Self.longestTime), Self.longestTime))
    }
}

/// The encryption of a disk cache's entries, with any cipher.
///
/// With CryptoKit:
///
///     DiskEncryption(
///         seal: { try ChaChaPoly.seal($0, using: key).combined },
///         open: { try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: $0), using: key) }
///     )
public struct DiskEncryption: Sendable {
    /// Encrypts bytes.
    public var seal: @Sendable (Data) throws -> Data
    /// Decrypts bytes, and throws if they are damaged or were encrypted with another key.
    public var open: @Sendable (Data) throws -> Data

    /// Creates an encryption from the closures that encrypt and decrypt.
    public init(
        seal: @escaping @Sendable (Data) throws -> Data,
        open: @escaping @Sendable (Data) throws -> Data
    ) {
        self.seal = seal
        self.open = open
    }
}
