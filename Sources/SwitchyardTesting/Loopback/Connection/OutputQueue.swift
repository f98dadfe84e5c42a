import Foundation

/// The bytes that wait to be written to the socket.
struct OutputQueue {
    private var pieces: [Data] = []
    private var next = 0
    private var offset = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Appends bytes to the queue.
    ///
    /// Small numbers of bytes are joined to save system calls.
    mutating func append(_ bytes: Data) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        if next < pieces.count, pieces[pieces.count - 1].count + bytes.count <= Self.joinLimit {
            pieces[pieces.count - 1].append(bytes)
        } else {
            pieces.append(bytes)
        }
    }

    /// Passes the bytes to `send`, one chunk after another, until `send` accepts no more bytes.
    ///
    /// Returns the last result of `send`.
    mutating func flush(_ send: (UnsafeRawBufferPointer) -> Socket.Transfer) -> Socket.Transfer {
        while next < pieces.count {
            let offset = offset
            let result = pieces[next].withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
            guard case .moved(let moved) = result else { return result }
            advance(by: moved)
        }
        return .moved(0)
    }

    private mutating func advance(by moved: Int) {
        count -= moved
        offset += moved
        guard offset == pieces[next].count else { return }
        pieces[next] = Data()
        next += 1
        offset = 0
        if next == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            next = 0
        }
    }

    private static let joinLimit = 16_384
}
