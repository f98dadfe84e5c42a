import Foundation
import SwitchyardAPI

/// A binary property list, whose objects refer to each other by number.
///
/// Objects are stored in any order. A table contains the offset of each object, and arrays, sets and dictionaries refer
/// to their members by object number.
struct BinaryPropertyList {
    /// The maximum number of values in a list.
    ///
    /// An object with several references counts once per reference.
    private static let maximumSize = 10_000_000
    /// The maximum number of bytes by which the text and data in the expanded list may exceed the file's size.
    ///
    /// An object with several references counts once per reference.
    private static let maximumGrowth = 64 << 20

    private let bytes: [UInt8]
    private let table: Int
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int

    /// Reads the trailer of the list, which contains the sizes of numbers and the position of the offset table.
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

    /// Checks the nesting depth of the list, and its size after all references are expanded.
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

// MARK: - Visiting the objects

extension BinaryPropertyList {
    /// A container (an array, a set or a dictionary) whose members are being visited.
    private struct Visit {
        let object: Int
        let members: [Int]
        var next = 0
    }

    /// The state of the depth-first walk over the objects.
    private struct Walk {
        /// The containers from the top object to the current object.
        var path: [Visit] = []
        /// The nesting depth of each visited object.
        ///
        /// It is 0 for an object without members.
        var heights: [Int?]
        /// For each object, the number of values in its subtree: the object itself and everything nested in it.
        var sizes: [Int]
        /// For each object, the number of bytes of text and data in its subtree: the object itself and everything
        /// nested in it.
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
        // In a valid file, every reference has its own bytes, so there are at most as many references as bytes.
        guard walk.references <= bytes.count else { throw Self.malformed }
        guard walk.path.count < limit else { throw DecodingFailure(.tooDeep(limit: limit)) }
        walk.path.append(Visit(object: object, members: members))
        // While the walk is inside this object, a member that refers to the object forms a cycle. The depth that is set
        // here makes such a member exceed every limit.
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
            throw DecodingFailure(.corrupted, detail: "the property list has too many values or is too large")
        }
        walk.heights[visit.object] = height + 1
        walk.sizes[visit.object] = size
        walk.bytes[visit.object] = length
    }
}

// MARK: - Reading

extension BinaryPropertyList {
    private static let malformed = DecodingFailure(.malformed(offset: nil))

    /// Returns the object numbers of an object's members, or `nil` if the object is not a container.
    private func members(of object: Int) throws(DecodingFailure) -> [Int]? {
        let start = try start(of: object)
        let kind = bytes[start] >> 4
        // Arrays, ordered sets, sets and dictionaries. A dictionary has its keys before its values.
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

    /// Returns the number of bytes of a text or data object, or 0 for any other object, because any other object is
    /// small.
    private func leafLength(of object: Int) throws(DecodingFailure) -> Int {
        let start = try start(of: object)
        let kind = bytes[start] >> 4
        // Data, ASCII text, UTF-16 text and UTF-8 text. The length of UTF-16 text counts two-byte units.
        guard (4...7).contains(kind) else { return 0 }
        return min(try head(at: start).length, bytes.count) * (kind == 6 ? 2 : 1)
    }

    private func start(of object: Int) throws(DecodingFailure) -> Int {
        let entry = table + object * offsetSize
        guard let start = Self.number(bytes[entry..<(entry + offsetSize)]), start < table else { throw Self.malformed }
        return start
    }

    /// Returns the number of members of a container, or of units of a text or data object, and the position of the
    /// first one.
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

    /// Returns the number in big-endian bytes, or `nil` if it exceeds `Int`.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
