#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardServices

    /// The memory in which the pieces of one streamed body travel, used again as soon as a reader is done with a piece.
    ///
    /// Memory that is given back to the system for each piece, from another thread, and asked for again costs more than
    /// the bytes that it holds.
    final class PieceBuffers: Sendable {
        /// Memory from `malloc`.
        ///
        /// @unchecked is sound: it has one owner at a time, who hands it on whole.
        private struct Buffer: @unchecked Sendable {
            var bytes: UnsafeMutableRawPointer
            var capacity: Int
        }

        /// A reader that keeps up has one piece in hand and one under way.
        private static let mostSpare = 3

        private let spare = Locked<[Buffer]>([])

        deinit {
            for buffer in spare.withLock({ $0 }) { free(buffer.bytes) }
        }

        /// The body collected so far, which the handle gives away.
        func takePiece(of handle: OpaquePointer) -> Data {
            var count = 0
            guard let collected = ycurl_body_bytes(handle, &count), count > 0 else { return Data() }
            let capacity = ycurl_body_capacity(handle)
            // Whoever keeps a small piece must not keep the memory of a large one.
            if count <= 4_096 || count < capacity / 4 {
                defer { ycurl_body_clear(handle) }
                return Data(bytes: collected, count: count)
            }
            let next = spare.withLock { $0.popLast() }
            guard let bytes = ycurl_body_swap(handle, next?.bytes, next?.capacity ?? 0) else { return Data() }
            let buffer = Buffer(bytes: bytes, capacity: capacity)
            return Data(bytesNoCopy: bytes, count: count, deallocator: .custom { _, _ in self.give(buffer) })
        }

        private func give(_ buffer: Buffer) {
            let isKept = spare.withLock { spare in
                guard spare.count < Self.mostSpare else { return false }
                spare.append(buffer)
                return true
            }
            if !isKept { free(buffer.bytes) }
        }
    }
#endif
