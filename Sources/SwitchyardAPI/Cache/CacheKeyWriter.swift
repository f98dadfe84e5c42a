import Foundation

/// A writer of the parts of a cache key, each preceded by its length.
package struct CacheKeyWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {
        bytes.reserveCapacity(128)
    }

    package mutating func write(_ text: String) {
        write(count: text.utf8.count)
        // The text is copied as a whole, because the bytes of a `String`'s view would be visited one by one.
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Writes a text that may be `nil`, which is distinct from an empty text.
    mutating func write(optional text: String?) {
        bytes.append(text == nil ? 0 : 1)
        if let text { write(text) }
    }

    /// Writes data that may be `nil`, which is distinct from empty data.
    mutating func write(optional data: Data?) {
        bytes.append(data == nil ? 0 : 1)
        guard let data else { return }
        write(count: data.count)
        bytes.append(contentsOf: data)
    }

    /// Writes pairs sorted by name.
    ///
    /// Pairs with the same name keep their order.
    mutating func write(_ pairs: [(name: String, value: String)]) {
        write(count: pairs.count)
        for pair in pairs.count < 2 ? pairs : Self.sorted(pairs) {
            write(pair.name)
            write(pair.value)
        }
    }

    private mutating func write(count: Int) {
        var rest = UInt64(count)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func sorted(_ pairs: [(name: String, value: String)]) -> [(name: String, value: String)] {
        pairs.enumerated()
            .sorted { left, right in
                left.element.name == right.element.name
                    ? left.offset < right.offset : left.element.name < right.element.name
            }
            .map(\.element)
    }
}

/// The parts of a cache key, decoded from its bytes.
package struct CacheKeyParts {
    package let partition: CachePartition
    package let method: String
    package let path: String

    init(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes[...])
        let service = reader.text()
        let environment = reader.text()
        partition = CachePartition(service: service, environment: environment, user: reader.optionalText())
        method = reader.text()
        path = reader.text()
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func text() -> String {
            let length = count()
            let part = bytes.prefix(length)
            bytes = bytes.dropFirst(part.count)
            return String(decoding: part, as: UTF8.self)
        }

        mutating func optionalText() -> String? {
            bytes.popFirst() == 1 ? text() : nil
        }

        private mutating func count() -> Int {
            var value = 0
            var shift = 0
            while let byte = bytes.popFirst() {
                value |= Int(byte & 0x7F) << shift
                if byte < 0x80 { break }
                shift += 7
            }
            return value
        }
    }
}
