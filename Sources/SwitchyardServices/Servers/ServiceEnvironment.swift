/// A set of base URLs that belong together, such as the test machines or the live ones.
///
/// The set is open: ``test``, ``develop`` and ``release`` are named, and any other non-empty name is as good.
public struct ServiceEnvironment: RawRepresentable, Hashable, Sendable {
    /// The name as it stands in service files.
    public let rawValue: String

    /// The environment of testers.
    public static let test = ServiceEnvironment(rawValue: "test")
    /// The environment of developers.
    public static let develop = ServiceEnvironment(rawValue: "develop")
    /// The live environment.
    public static let release = ServiceEnvironment(rawValue: "release")

    /// Creates the environment of this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

extension ServiceEnvironment: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates the environment of this name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// The name.
    public var description: String { rawValue }
}
