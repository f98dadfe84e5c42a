import Foundation

/// Bytes on their way to the socket.
struct OutputQueue {
    private var pieces: [Data] = []
    private var next = 0
    private var offset = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Puts bytes behind those that wait; small ones join the last piece, to save calls to the system.
    mutating func append(_ bytes: Data) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        if next < pieces.count, pieces[pieces.count - 1].count + bytes.count <= Self.joinLimit {
            pieces[pieces.count - 1].append(bytes)
        } else {
            pieces.append(bytes)
        }
    }

    /// Hands the bytes to `send`, piece by piece, until it takes no more; returns what stopped it.
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
