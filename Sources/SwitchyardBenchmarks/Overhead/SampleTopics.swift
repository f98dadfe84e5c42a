import Switchyard

/// An item of the small response that the benchmarks request repeatedly.
struct SampleTopic: Decodable, Sendable {
    let id: Int
    let title: String
    let replies: Int
}

enum SampleTopics {
    /// The JSON of the response.
    static let json = #"[{"id":1,"title":"Points and crossings","replies":12},{"id":2,"title":"Signals","replies":3}]"#
}

/// A manager like one in an app.
final class SampleTopicAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    func topics(at path: String) async throws(APIError) -> [SampleTopic] {
        try await value(for: APIConfiguration(path: path))
    }
}
