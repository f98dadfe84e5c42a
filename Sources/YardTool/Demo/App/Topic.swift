import Switchyard

/// A topic of the forum.
struct Topic: Codable, Sendable, Hashable, Identifiable {
    var id: Int
    var title: String
    var author: Int
}

/// A page of topics in the forum's response format.
struct TopicList: Codable, Sendable, PageContent {
    var items: [Topic]
    /// The number of topics in the whole list.
    var total: Int

    var page: Page<Topic> { Page(items, total: total) }
}

/// The forum's response to a file that was attached to a topic.
struct Attachment: Codable, Sendable, Hashable {
    var name: String
    /// The size of the received file in bytes.
    var bytes: Int
}
