#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardServices

    /// The memory for the chunks of one streamed body.
    ///
    /// As soon as a reader has released a chunk, its memory is reused.
    ///
    /// Freeing memory on another thread and allocating memory again for each chunk costs more than copying the bytes.
    final class PieceBuffers: Sendable {
        /// Memory from `malloc`.
        ///
        /// `@unchecked Sendable` is sound, because only one buffer refers to the memory at a time.
        private struct Buffer: @unchecked Sendable {
            var bytes: UnsafeMutableRawPointer
            var capacity: Int
        }

        /// The maximum number of spare buffers.
        ///
        /// A few buffers are enough, because a reader that is as fast as the transfer holds one chunk while the next
        /// chunk arrives.
        private static let mostFree = 3

        private let spare = Locked<[Buffer]>([])

        deinit {
            for buffer in spare.withLock({ $0 }) { free(buffer.bytes) }
        }

        /// Returns the body received so far, and removes it from the handle.
        func takePiece(of handle: OpaquePointer) -> Data {
            var count = 0
            guard let collected = ycurl_body_bytes(handle, &count), count > 0 else { return Data() }
            let capacity = ycurl_body_capacity(handle)
            // A small chunk is copied, so that a reader that retains it does not retain the memory of a large chunk.
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
                guard spare.count < Self.mostFree else { return false }
                spare.append(buffer)
                return true
            }
            if !isKept { free(buffer.bytes) }
        }
    }
#endif
