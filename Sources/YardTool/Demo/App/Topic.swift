import Switchyard

/// A topic of the forum.
struct Topic: Codable, Sendable, Hashable, Identifiable {
    var id: Int
    var title: String
    var author: Int
}

/// One page of topics as the forum answers it.
struct TopicList: Codable, Sendable, PageContent {
    var items: [Topic]
    /// How many topics the whole list has.
    var total: Int

    var page: Page<Topic> { Page(items, total: total) }
}

/// What the forum says about a file that was attached to a topic.
struct Attachment: Codable, Sendable, Hashable {
    var name: String
    /// The size of the file as it arrived, in bytes.
    var bytes: Int
}
