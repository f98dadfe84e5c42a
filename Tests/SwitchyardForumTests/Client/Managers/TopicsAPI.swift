// Generated from forum.yaml: Forum, version 1, OpenAPI 3.1.0.
// Command: yard generate forum.yaml --name ForumClient
// Changes to this file are lost when it is generated again.

import Foundation
import Switchyard

/// Topics and their attachments.
final class TopicsAPI: APIManager {
    let client: NetworkClient
    let module = ForumClient.module

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    /// List topics.
    func list(page: Int? = nil, size: Int? = nil) async throws(APIError) -> ListTopicsResponse {
        try await value(.get, "topics", query: ["page": page, "size": size])
    }

    /// Reads the list of `list` page by page.
    func listPages(pageSize: Int = 20) -> PagedList<Topic> {
        PagedList(pageSize: pageSize, strategy: .pageNumber) { [self] page in
            let list = try await self.list(page: page.number, size: page.size)
            return Page(list.data.items, total: list.data.total)
        }
    }

    /// Get a topic.
    func get(id: Int) async throws(APIError) -> TopicsGetTopicResponse {
        try await value(.get, "topics/{id}", values: ["id": id])
    }

    /// Attach a file to a topic.
    func attachTo(id: Int, body: TopicsAttachToTopicBody) async throws(APIError) -> TopicsAttachToTopicResponse {
        try await value(.post, "topics/{id}/attachments", values: ["id": id], body: .multipart(body))
    }

    /// Returns the configuration of `topicFilm` for reading its response as events or into a file.
    func topicFilmConfiguration(id: Int) -> APIConfiguration {
        APIConfiguration(.get, "topics/{id}/film", values: ["id": id])
    }

    /// Download the film of a topic.
    func topicFilm(id: Int) async throws(APIError) -> Data {
        let call = topicFilmConfiguration(id: id)
        return try await response(for: call, with: .data).value
    }

    /// Read the headline.
    func readHeadline() async throws(APIError) -> TopicsReadHeadlineResponse {
        try await value(.get, "headline")
    }
}
