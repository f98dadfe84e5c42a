import SwitchyardHTTP
import SwitchyardServices

/// Identifies endpoints by their method and the form of their path.
///
/// The health of a server is recorded per endpoint.
///
/// The first four segments of the call's path or template count. A segment that contains a digit counts as an
/// identifier. Therefore `users/7/posts`, `users/8/posts` and `users/{id}/posts` are the same endpoint.
enum EndpointName {
    private static let segments = 4
    private static let prime: UInt64 = 0x100_0000_01B3
    private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Returns the number that identifies an endpoint.
    ///
    /// The number is an FNV-1a hash folded to 32 bits, which is the same in every launch.
    static func number(of path: String, method: HTTPMethod) -> UInt32 {
        let start = method.name.withContiguousUTF8 { $0.reduce(basis) { ($0 ^ UInt64($1)) &* prime } }
        let hash = path.withContiguousUTF8 { Self.hash(of: $0, from: start) }
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }

    /// Adds the segments of a path to a hash.
    private static func hash(of path: UnsafeBufferPointer<UInt8>, from start: UInt64) -> UInt64 {
        var hash = start
        var (segment, isIdentifier, count) = (basis, false, 0)
        for byte in path {
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            if byte == UInt8(ascii: "/") {
                guard segment != basis else { continue }
                hash = mix(hash, segment, isIdentifier)
                (segment, isIdentifier, count) = (basis, false, count + 1)
                if count == segments { break }
            } else {
                if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { isIdentifier = true }
                segment = (segment ^ UInt64(byte)) &* prime
            }
        }
        return segment == basis ? hash : mix(hash, segment, isIdentifier)
    }

    private static func mix(_ hash: UInt64, _ segment: UInt64, _ isIdentifier: Bool) -> UInt64 {
        (hash ^ (isIdentifier ? 0x2A : segment)) &* prime
    }
}

extension APIConfiguration {
    /// The properties on which the choice of a server may depend.
    var traits: RequestTraits {
        RequestTraits(
            priority: priority,
            session: session,
            endpoint: EndpointName.number(of: path, method: sentMethod),
            mayBeRepeated: resendRule == .anytime
        )
    }
}
