import Foundation
import Switchyard
import SwitchyardResources
import SwitchyardTransfers

/// The topics of the forum.
///
/// The screen calls these methods and shows the results, or the message of the thrown error. It does not handle paths,
/// servers, statuses or page numbers.
final class TopicAPI: APIManager {
    let client: NetworkClient
    let module = APIModule(envelope: Envelope(success: [0]))

    private let pages = PageRecorder<Topic>(pageSize: 20, identifiedBy: \.id)

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    /// The topics that have been loaded.
    var topics: [Topic] { pages.items }

    /// Whether there are more topics to load.
    var hasMoreTopics: Bool { pages.hasMore }

    /// Loads the first page.
    ///
    /// The old topics stay in the list until the new topics have arrived.
    func refreshTopics() async throws(APIError) -> [Topic] {
        try await pages.refresh(load)
    }

    /// Loads the next page.
    func loadMoreTopics() async throws(APIError) -> [Topic] {
        try await pages.loadMore(load)
    }

    /// Loads one topic without the cache.
    func topic(id: Topic.ID) async throws(APIError) -> Topic {
        try await topicResponse(id: id).value
    }

    /// Loads one topic and returns the complete response.
    func topicResponse(id: Topic.ID) async throws(APIError) -> APIResponse<Topic> {
        try await response(for: APIConfiguration(path: "topics/\(id)"))
    }

    /// The lifetime of a stored headline.
    ///
    /// It is short so that the headline is stale soon, and the demo does not have to wait.
    static let headlineLifetime = Duration.milliseconds(20)

    /// Returns the stored headline immediately, even if it is stale, and then the forum's current headline.
    func headlines() -> ResponseSequence<Headline> {
        var configuration = APIConfiguration(path: "headline")
        configuration.cacheLifetime = Self.headlineLifetime
        configuration.cache.staleIfError = .seconds(3_600)
        return responses(for: configuration, skipsNetworkWhenFresh: true)
    }

    /// Loads the current headline without the cache.
    func headline() async throws(APIError) -> Headline {
        try await value(for: APIConfiguration(path: "headline"))
    }

    /// Uploads a file, which is read from disk while it is sent.
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

    /// Downloads the film of a topic, and resumes an interrupted download.
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
