/// The headline at the top of the forum.
struct Headline: Codable, Sendable, Hashable {
    /// A number that increases with every response.
    var edition: Int
    var text: String
}
