/// A user of the forum.
struct User: Codable, Sendable, Hashable, Identifiable {
    var id: Int
    var name: String
}
