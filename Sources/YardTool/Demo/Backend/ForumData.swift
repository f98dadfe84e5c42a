/// The data of the forum, the demo's backend.
///
/// All servers of an environment have the same data.
struct ForumData: Sendable {
    var topics: [Topic]
    var users: [User]

    /// The data of the live servers (the default environment): 57 topics on three pages.
    static let release = ForumData(topicCount: 57, prefix: "Topic", names: ["Ada", "Grace", "Edsger", "Barbara"])
    /// The data of the server in the test environment: five topics.
    static let test = ForumData(topicCount: 5, prefix: "Test topic", names: ["Tester A", "Tester B"])

    private init(topicCount: Int, prefix: String, names: [String]) {
        topics = (1...topicCount).map { Topic(id: $0, title: "\(prefix) \($0)", author: 1 + $0 % names.count) }
        users = names.enumerated().map { User(id: $0.offset + 1, name: $0.element) }
    }

    /// Returns a page of topics.
    ///
    /// The first page has the number 1. After the last page, the result is an empty page.
    func page(_ number: Int, size: Int) -> TopicList {
        let (start, overflow) = (max(1, number) - 1).multipliedReportingOverflow(by: max(1, size))
        let rest = topics.dropFirst(overflow ? topics.count : start)
        return TopicList(items: Array(rest.prefix(max(1, size))), total: topics.count)
    }
}
