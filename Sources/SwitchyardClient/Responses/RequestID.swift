import SwitchyardServices

/// Identifies a handle of a client through which requests are sent.
typealias OwnerID = UInt64

/// Identifies one request from its dispatch to its end, over all attempts and servers.
///
/// The identifier exists before anything is sent and is unique in the process. The request can be cancelled by its
/// identifier at any time.
public struct RequestID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The sequence number of the request.
    ///
    /// Later requests have larger numbers.
    public let number: UInt64

    private static let last = Locked<UInt64>(0)

    /// Creates a new identifier.
    public init() {
        number = Self.last.withLock { last in
            last += 1
            return last
        }
    }

    /// Returns whether `left` was created before `right`.
    public static func < (left: RequestID, right: RequestID) -> Bool {
        left.number < right.number
    }

    /// The number with a hash sign: `#17`.
    public var description: String { "#\(number)" }
}
