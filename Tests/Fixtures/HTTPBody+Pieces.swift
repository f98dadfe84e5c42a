package import Foundation
package import SwitchyardHTTP

extension HTTPBody.Stream {
    /// A stream of prepared chunks.
    package static func of(_ pieces: [Data], length: Int64?) -> HTTPBody.Stream {
        HTTPBody.Stream(length: length) {
            AsyncStream<Data> { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
    }
}
