import Foundation
import SwitchyardAPI

/// The references between the objects of a property list in binary form.
///
/// Objects stand anywhere, a table says where each begins, and arrays, sets and dictionaries name theirs by number.
struct BinaryPropertyList {
    /// The most values that a list may come to when everything that is named twice is read twice.
    private static let maximumSize = 10_000_000
    /// The most bytes that its texts and data may then come to, beyond those of the file.
    private static let maximumGrowth = 64 << 20

    private let bytes: [UInt8]
    private let table: Int
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int

    /// Reads what stands at the end of the list: the sizes of numbers, and where the table is.
    init(_ bytes: [UInt8]) throws(DecodingFailure) {
        self.bytes = bytes
        guard bytes.count >= 40 else { throw Self.malformed }
        let end = bytes.count - 32
        offsetSize = Int(bytes[end + 6])
        referenceSize = Int(bytes[end + 7])
        let numbers = [8, 16, 24].map { Self.number(bytes[(end + $0)..<(end + $0 + 8)]) }
        guard let count = numbers[0], let top = numbers[1], let table = numbers[2], (1...8).contains(offsetSize),
            (1...8).contains(referenceSize), count <= bytes.count, top < count, table <= end,
            count * offsetSize <= end - table
        else { throw Self.malformed }
        (self.count, self.top, self.table) = (count, top, table)
    }

    /// Checks how deep the list nests, and how large it is when it is read.
    func check(limit: Int) throws(DecodingFailure) {
        var walk = Walk(count: count)
        try enter(top, &walk, limit: limit)
        while var visit = walk.path.popLast() {
            guard visit.next < visit.members.count else {
                try leave(visit, &walk)
                continue
            }
            let member = visit.members[visit.next]
            visit.next += 1
            walk.path.append(visit)
            if let height = walk.heights[member] {
                guard walk.path.count + height <= limit else { throw DecodingFailure(.tooDeep(limit: limit)) }
            } else {
                try enter(member, &walk, limit: limit)
            }
        }
    }
}

// MARK: - Walking

extension BinaryPropertyList {
    /// An array, a set or a dictionary whose members are being looked at.
    private struct Visit {
        let object: Int
        let members: [Int]
        var next = 0
    }

    /// How far the look at the objects has come.
    private struct Walk {
        /// From the top to what is being looked at.
        var path: [Visit] = []
        /// How deep each object nests that was looked at; 0 for what holds nothing.
        var heights: [Int?]
        /// To how many values each comes.
        var sizes: [Int]
        /// To how many bytes of texts and data each comes.
        var bytes: [Int]
        var references = 0

        init(count: Int) {
            heights = Array(repeating: nil, count: count)
            sizes = Array(repeating: 1, count: count)
            bytes = Array(repeating: 0, count: count)
        }
    }

    private func enter(_ object: Int, _ walk: inout Walk, limit: Int) throws(DecodingFailure) {
        guard let members = try members(of: object) else {
            walk.heights[object] = 0
            walk.bytes[object] = try leafLength(of: object)
            return
        }
        walk.references += members.count
        // No two of them share their references: together they have no more than there are bytes.
        guard walk.references <= bytes.count else { throw Self.malformed }
        guard walk.path.count < limit else { throw DecodingFailure(.tooDeep(limit: limit)) }
        walk.path.append(Visit(object: object, members: members))
        // Whoever meets it before it is left holds itself, and nests without end.
        walk.heights[object] = .max >> 1
    }

    private func leave(_ visit: Visit, _ walk: inout Walk) throws(DecodingFailure) {
        var (height, size, length) = (0, 1, 0)
        let longest = bytes.count + Self.maximumGrowth
        for member in visit.members {
            height = max(height, walk.heights[member] ?? 0)
            size = min(size + walk.sizes[member], Self.maximumSize)
            length = min(length + walk.bytes[member], longest)
        }
        guard size < Self.maximumSize, length < longest else {
            throw DecodingFailure(.corrupted, detail: "more values than a list may come to")
        }
        walk.heights[visit.object] = height + 1
        walk.sizes[visit.object] = size
        walk.bytes[visit.object] = length
    }
}

// MARK: - Reading

extension BinaryPropertyList {
    private static let malformed = DecodingFailure(.malformed(offset: nil))

    /// The numbers of the objects that an object holds; `nil` when it is no kind that holds any.
    private func members(of object: Int) throws(DecodingFailure) -> [Int]? {
        let start = try start(of: object)
        let kind = bytes[start] >> 4
        // Arrays, ordered sets and sets; dictionaries, with as many keys in front of their values.
        guard (0xA...0xD).contains(kind) else { return nil }
        var (position, length) = try head(at: start)
        guard length <= (table - position) / referenceSize else { throw Self.malformed }
        if kind == 0xD { length *= 2 }
        guard length <= (table - position) / referenceSize else { throw Self.malformed }
        var members: [Int] = []
        members.reserveCapacity(length)
        for index in 0..<length {
            let start = position + index * referenceSize
            guard let member = Self.number(bytes[start..<(start + referenceSize)]), member < count else {
                throw Self.malformed
            }
            members.append(member)
        }
        return members
    }

    /// The bytes that a text or data come to; 0 for everything that is small.
    private func leafLength(of object: Int) throws(DecodingFailure) -> Int {
        let start = try start(of: object)
        let kind = bytes[start] >> 4
        // Data, text in ASCII, in UTF-16 and in UTF-8; of UTF-16 the length counts pairs of bytes.
        guard (4...7).contains(kind) else { return 0 }
        return min(try head(at: start).length, bytes.count) * (kind == 6 ? 2 : 1)
    }

    private func start(of object: Int) throws(DecodingFailure) -> Int {
        let entry = table + object * offsetSize
        guard let start = Self.number(bytes[entry..<(entry + offsetSize)]), start < table else { throw Self.malformed }
        return start
    }

    /// How many members or units an object has, and where the first stands.
    private func head(at start: Int) throws(DecodingFailure) -> (position: Int, length: Int) {
        let (position, length) = (start + 1, Int(bytes[start] & 15))
        guard length == 15 else { return (position, length) }
        guard position < table, bytes[position] >> 4 == 1 else { throw Self.malformed }
        let size = 1 << Int(bytes[position] & 15)
        guard size <= 8, position + 1 + size <= table,
            let number = Self.number(bytes[(position + 1)..<(position + 1 + size)])
        else { throw Self.malformed }
        return (position + 1 + size, number)
    }

    /// The whole number of some bytes, the highest first; `nil` when it is larger than any place in memory.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
