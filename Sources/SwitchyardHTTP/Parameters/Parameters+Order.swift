import Foundation

extension [Parameters.Item] {
    /// Whether the names ascend already, so that nothing has to be sorted.
    var areKeysAscending: Bool {
        guard count > 1 else { return true }
        for index in 1..<count where self[index].key.precedes(self[index - 1].key) { return false }
        return true
    }

    /// The items in ascending order of the UTF-8 bytes of their names; those of one name keep their order.
    var stablySortedByKey: [Parameters.Item] {
        indices.sorted { left, right in
            if self[left].key.precedes(self[right].key) { return true }
            return left < right && !self[right].key.precedes(self[left].key)
        }
        .map { self[$0] }
    }
}

extension String {
    /// Whether the UTF-8 bytes come before those of `other`; the order of Swift's strings, which normalises, is slower.
    fileprivate func precedes(_ other: String) -> Bool {
        let isBefore = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                for index in 0..<Swift.min(left.count, right.count) where left[index] != right[index] {
                    return left[index] < right[index]
                }
                return left.count < right.count
            }
        }
        return isBefore.flatMap(\.self) ?? utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension Data {
    /// Base 64 for URLs, without padding (RFC 4648 section 5).
    package var base64URLText: String {
        let text = base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
