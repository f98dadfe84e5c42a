/// What the forum shows at its top.
struct Headline: Codable, Sendable, Hashable {
    /// Counts up with every answer.
    var edition: Int
    var text: String
}
