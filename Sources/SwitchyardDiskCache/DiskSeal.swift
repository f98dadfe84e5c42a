public import Foundation

/// How a disk cache keeps its entries from other eyes, with any cipher.
///
/// With CryptoKit:
///
///     DiskSeal(
///         seal: { try ChaChaPoly.seal($0, using: key).combined },
///         open: { try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: $0), using: key) }
///     )
public struct DiskSeal: Sendable {
    /// Makes bytes unreadable.
    public var seal: @Sendable (Data) throws -> Data
    /// Makes them readable again; an error means that they are damaged, or were sealed with another key.
    public var open: @Sendable (Data) throws -> Data

    /// Creates a seal.
    public init(
        seal: @escaping @Sendable (Data) throws -> Data,
        open: @escaping @Sendable (Data) throws -> Data
    ) {
        self.seal = seal
        self.open = open
    }
}
