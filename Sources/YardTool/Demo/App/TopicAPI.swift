import Foundation
import Switchyard
import SwitchyardTransfers

/// The topics of the forum.
///
/// The screen calls these methods and shows what they return, or the message of the error that they throw. It knows no
/// path, no server, no status and no page number.
final class TopicAPI: APIManager {
    let client: NetworkClient
    let module = APIModule(envelope: Envelope(success: [0]))

    private let pages = PageRecorder<Topic>(pageSize: 20, identifiedBy: \.id)

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    /// The topics loaded so far.
    var topics: [Topic] { pages.items }

    /// Whether there are more to load.
    var hasMoreTopics: Bool { pages.hasMore }

    /// Loads the first page; the old topics stay until the new ones are there.
    func refreshTopics() async throws(APIError) -> [Topic] {
        try await pages.refresh(load)
    }

    /// Loads the next page.
    func loadMoreTopics() async throws(APIError) -> [Topic] {
        try await pages.loadMore(load)
    }

    /// One topic, asked for anew each time.
    func topic(id: Topic.ID) async throws(APIError) -> Topic {
        try await topicAnswer(id: id).value
    }

    /// The same with the answer that it came from.
    func topicAnswer(id: Topic.ID) async throws(APIError) -> APIResponse<Topic> {
        try await response(for: APIConfiguration(path: "topics/\(id)"))
    }

    /// How long a headline is good for; short, so that the demo need not wait for it to grow old.
    static let headlineLifetime = Duration.milliseconds(20)

    /// The headline: the stored one at once, however old, and then the forum's.
    func headlines() -> AnswerSequence<Headline> {
        var configuration = APIConfiguration(path: "headline")
        configuration.cacheLifetime = Self.headlineLifetime
        configuration.cache.staleIfError = .seconds(3_600)
        return answers(for: configuration, isContentWithFresh: true)
    }

    /// Sends a file, read from disk while it is sent.
    func attach(
        _ file: URL,
        to topic: Topic.ID,
        progress: @escaping TransferProgressHandler
    ) async throws(APIError) -> Attachment {
        let form = MultipartForm(parts: [.file(file, name: "file")])
        var configuration = APIConfiguration(path: "topics/\(topic)/attachments", method: .post)
        configuration.body = .multipart(form)
        configuration.progress = progress
        return try await value(for: configuration)
    }

    /// Fetches the film of a topic; a fetch that was cut goes on where it stopped.
    func film(
        of topic: Topic.ID,
        to file: URL,
        id: RequestID = RequestID(),
        progress: @escaping TransferProgressHandler
    ) async throws(APIError) -> DownloadedFile {
        let configuration = DownloadConfiguration(path: "topics/\(topic)/film", to: .file(file))
        return try await download(configuration, id: id, progress: progress)
    }

    private func load(_ page: PageRequest) async throws(APIError) -> TopicList {
        try await value(for: APIConfiguration(path: "topics", query: ["page": page.number, "size": page.size]))
    }
}
